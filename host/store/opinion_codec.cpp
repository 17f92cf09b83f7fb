#include "store/opinion_codec.h"

#include "store/fields.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kRowsBytes = 512;  // besides its texts: its numbers, the rows that lead to it, and overhead

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum Opinion {
  opinion_time = 1,
  opinion_seq,
  opinion_id,
  run_time,
  run_seq,
  run_id,
  revision,
  detector_key,
  detector_version,
  settings_hash,
  rule,
  reason,
  primary_step_id,
  confidence,
  failure_id,
  of_alarm,
  state,
  attempts,
  due,
  token,
  last_error
};
enum OpinionBody { review = 1 };
}  // namespace field

bool take_field(Reader& in, model::Opinion& opinion) {
  switch (in.tag()) {
    case field::opinion_time: opinion.key.time_ms = in.get_sint64(); return true;
    case field::opinion_seq: opinion.key.seq = in.get_uint64(); return true;
    case field::opinion_id: opinion.id = in.get_string(); return true;
    case field::run_time: opinion.run.time_ms = in.get_sint64(); return true;
    case field::run_seq: opinion.run.seq = in.get_uint64(); return true;
    case field::run_id: opinion.run_id = in.get_string(); return true;
    case field::revision: opinion.revision = in.get_uint32(); return true;
    case field::detector_key: opinion.detector_key = in.get_string(); return true;
    case field::detector_version: opinion.detector_version = in.get_string(); return true;
    case field::settings_hash: opinion.settings_hash = in.get_string(); return true;
    case field::rule: opinion.rule = in.get_string(); return true;
    case field::reason: opinion.reason = in.get_string(); return true;
    case field::primary_step_id: opinion.primary_step_id = in.get_string(); return true;
    case field::confidence: opinion.confidence = in.get_double(); return true;
    case field::failure_id: opinion.failure_id = in.get_string(); return true;
    case field::of_alarm: opinion.of_alarm = in.get_bool(); return true;
    case field::state: opinion.state = read_enum(in, model::OpinionState::dead); return true;
    case field::attempts: opinion.attempts = in.get_uint32(); return true;
    case field::due: opinion.due_ms = in.get_sint64(); return true;
    case field::token: opinion.token = in.get_uint64(); return true;
    case field::last_error: opinion.last_error = in.get_string(); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_opinion(std::string_view key, const model::Opinion& opinion) {
  std::string head;
  Writer out(head);
  const auto add_text = [&out](protozero::pbf_tag_type tag, const std::string& text) {
    if (!text.empty()) out.add_string(tag, text);
  };
  out.add_sint64(field::opinion_time, opinion.key.time_ms);
  out.add_uint64(field::opinion_seq, opinion.key.seq);
  out.add_string(field::opinion_id, opinion.id);
  out.add_sint64(field::run_time, opinion.run.time_ms);
  out.add_uint64(field::run_seq, opinion.run.seq);
  out.add_string(field::run_id, opinion.run_id);
  out.add_uint32(field::revision, opinion.revision);
  out.add_string(field::detector_key, opinion.detector_key);
  add_text(field::detector_version, opinion.detector_version);
  add_text(field::settings_hash, opinion.settings_hash);
  add_text(field::rule, opinion.rule);
  add_text(field::reason, opinion.reason);
  add_text(field::primary_step_id, opinion.primary_step_id);
  if (opinion.confidence) out.add_double(field::confidence, *opinion.confidence);
  add_text(field::failure_id, opinion.failure_id);
  if (opinion.of_alarm) out.add_bool(field::of_alarm, true);
  out.add_enum(field::state, static_cast<std::int32_t>(opinion.state));
  out.add_uint32(field::attempts, opinion.attempts);
  out.add_sint64(field::due, opinion.due_ms);
  if (opinion.token != 0) out.add_uint64(field::token, opinion.token);
  add_text(field::last_error, opinion.last_error);
  if (opinion.review.empty()) return seal(key, head);
  std::string body;
  Writer rest(body);
  rest.add_string(field::review, opinion.review);
  return seal(key, head, body);
}

model::Opinion decode_opinion_head(std::string_view key, std::string_view value) {
  model::Opinion opinion;
  read_fields(open_head(key, value), [&](Reader& in) { return take_field(in, opinion); });
  return opinion;
}

model::Opinion decode_opinion(std::string_view key, std::string_view value) {
  model::Opinion opinion = decode_opinion_head(key, value);
  read_fields(open_body(key, value), [&](Reader& in) {
    if (in.tag() != field::review) return false;
    opinion.review = in.get_string();
    return true;
  });
  return opinion;
}

std::size_t stored_bytes(const model::Opinion& opinion) {
  return kRowsBytes + opinion.run_id.size() + opinion.rule.size() + opinion.reason.size() + opinion.review.size() +
         opinion.last_error.size();
}

}  // namespace runwarden::store
