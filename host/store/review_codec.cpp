#include "store/review_codec.h"

#include <vector>

#include "store/fields.h"

namespace runwarden::store {
namespace {

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum Review {
  review_time = 1,
  review_seq,
  run_time,
  run_seq,
  run_id,
  revision,
  failure_id,
  cluster_id,
  detector_key,
  detector_version,
  settings_hash,
  verdict,
  author,
  of_candidate
};
enum ReviewBody { document = 1 };
enum Counts { counts_detector = 1, counts_version, counts_settings, counts };
}  // namespace field

bool take_review_field(Reader& in, model::Review& review) {
  switch (in.tag()) {
    case field::review_time: review.key.time_ms = in.get_sint64(); return true;
    case field::review_seq: review.key.seq = in.get_uint64(); return true;
    case field::run_time: review.run.time_ms = in.get_sint64(); return true;
    case field::run_seq: review.run.seq = in.get_uint64(); return true;
    case field::run_id: review.run_id = in.get_string(); return true;
    case field::revision: review.revision = in.get_uint32(); return true;
    case field::failure_id: review.failure_id = in.get_string(); return true;
    case field::cluster_id: review.cluster_id = in.get_string(); return true;
    case field::detector_key: review.detector_key = in.get_string(); return true;
    case field::detector_version: review.detector_version = in.get_string(); return true;
    case field::settings_hash: review.settings_hash = in.get_string(); return true;
    case field::verdict: review.verdict = read_enum(in, model::ReviewVerdict::clean); return true;
    case field::author: review.author = in.get_string(); return true;
    case field::of_candidate: review.of_candidate = in.get_bool(); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_review(std::string_view key, const model::Review& review) {
  std::string head;
  Writer out(head);
  out.add_sint64(field::review_time, review.key.time_ms);
  out.add_uint64(field::review_seq, review.key.seq);
  out.add_sint64(field::run_time, review.run.time_ms);
  out.add_uint64(field::run_seq, review.run.seq);
  out.add_string(field::run_id, review.run_id);
  out.add_uint32(field::revision, review.revision);
  if (!review.failure_id.empty()) out.add_string(field::failure_id, review.failure_id);
  if (!review.cluster_id.empty()) out.add_string(field::cluster_id, review.cluster_id);
  out.add_string(field::detector_key, review.detector_key);
  if (!review.detector_version.empty()) out.add_string(field::detector_version, review.detector_version);
  if (!review.settings_hash.empty()) out.add_string(field::settings_hash, review.settings_hash);
  out.add_enum(field::verdict, static_cast<std::int32_t>(review.verdict));
  out.add_string(field::author, review.author);
  if (review.of_candidate) out.add_bool(field::of_candidate, true);
  std::string body;
  Writer rest(body);
  rest.add_string(field::document, review.document);
  return seal(key, head, body);
}

model::Review decode_review_head(std::string_view key, std::string_view value) {
  model::Review review;
  read_fields(open_head(key, value), [&](Reader& in) { return take_review_field(in, review); });
  return review;
}

model::Review decode_review(std::string_view key, std::string_view value) {
  model::Review review = decode_review_head(key, value);
  read_fields(open_body(key, value), [&](Reader& in) {
    if (in.tag() != field::document) return false;
    review.document = in.get_string();
    return true;
  });
  return review;
}

std::string encode_review_counts(std::string_view key, const ReviewedVersion& version) {
  const model::ReviewCounts& of = version.counts;
  const std::vector<std::uint64_t> numbers{of.right, of.false_alarm, of.unsure, of.missed, of.clean};
  std::string head;
  Writer out(head);
  out.add_string(field::counts_detector, version.detector_key);
  out.add_string(field::counts_version, version.detector_version);
  out.add_string(field::counts_settings, version.settings_hash);
  out.add_packed_uint64(field::counts, numbers.begin(), numbers.end());
  return seal(key, head);
}

ReviewedVersion decode_review_counts(std::string_view key, std::string_view value) {
  ReviewedVersion version;
  std::vector<std::uint64_t> numbers;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::counts_detector: version.detector_key = in.get_string(); return true;
      case field::counts_version: version.detector_version = in.get_string(); return true;
      case field::counts_settings: version.settings_hash = in.get_string(); return true;
      case field::counts:
        for (const std::uint64_t number : in.get_packed_uint64()) numbers.push_back(number);
        return true;
      default: return false;
    }
  });
  if (numbers.size() != 5) throw BadValue("it has " + std::to_string(numbers.size()) + " counts, expected 5");
  version.counts = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  return version;
}

}  // namespace runwarden::store
