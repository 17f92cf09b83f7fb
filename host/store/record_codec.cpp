#include "store/record_codec.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

namespace runwarden::store {
namespace {

// The numbers are the format: they stay, and are not given to anything else.
namespace field {
enum Run {
  run_time = 1,
  run_seq,
  run_id,
  run_revision,
  run_state,
  run_resolution,
  run_resolved,
  run_content,
  run_max_score,
  run_fired,
  run_failures
};
enum RunBody { document = 1, failures_json, detectors_json, policies_json };
enum Failure { failure_time = 1, failure_seq, failure_id, detector_key, severity, score, fingerprint, failure_run_time, failure_run_seq };
enum FailureBody { failure_json = 1 };
enum Key { key_id = 1, tenant, tenant_name, key_name, may_ingest, may_read, digest, created, expires, revoked, last_used };
enum Answer { identity = 1, content, answered_at, record_time, record_seq, record_revision };
enum Place { place_time = 1, place_seq };
}  // namespace field

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;

void add_digest(Writer& out, int tag, const model::Digest& digest) {
  out.add_bytes(static_cast<protozero::pbf_tag_type>(tag), reinterpret_cast<const char*>(digest.data()), digest.size());
}

model::Digest read_digest(Reader& in) {
  const auto bytes = in.get_view();
  model::Digest digest{};
  if (bytes.size() != digest.size()) throw BadValue("a digest has " + std::to_string(bytes.size()) + " bytes");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()), digest.size(), digest.begin());
  return digest;
}

// Enumerations grow: a member that this program does not know is an error, not a guess.
template <class Enum>
Enum read_enum(Reader& in, Enum last) {
  const int number = in.get_enum();
  if (number < 0 || number > static_cast<int>(last)) throw BadValue("an enumeration holds " + std::to_string(number));
  return static_cast<Enum>(number);
}

// Gives each field to `take`, which reads it and returns true, or returns false to have it skipped.
template <class Take>
void read_fields(std::string_view bytes, Take take) {
  try {
    Reader in(bytes.data(), bytes.size());
    while (in.next()) {
      if (!take(in)) in.skip();
    }
  } catch (const protozero::exception& fault) {
    throw BadValue(std::string("its fields do not read: ") + fault.what());
  }
}

void add_record_keys(Writer& out, const std::vector<model::RecordKey>& keys) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(keys.size() * 2);
  for (const model::RecordKey& key : keys) {
    numbers.push_back(static_cast<std::uint64_t>(key.time_ms));
    numbers.push_back(key.seq);
  }
  if (!numbers.empty()) out.add_packed_fixed64(field::run_failures, numbers.begin(), numbers.end());
}

std::vector<model::RecordKey> read_record_keys(Reader& in) {
  std::vector<model::RecordKey> keys;
  const auto numbers = in.get_packed_fixed64();
  for (auto at = numbers.begin(); at != numbers.end(); ++at) {
    model::RecordKey key;
    key.time_ms = static_cast<std::int64_t>(*at);
    if (++at == numbers.end()) throw BadValue("the list of its failures is cut off");
    key.seq = *at;
    keys.push_back(key);
  }
  return keys;
}

bool take_run_field(Reader& in, StoredRun& stored) {
  model::RunRecord& run = stored.run;
  switch (in.tag()) {
    case field::run_time: run.key.time_ms = in.get_sint64(); return true;
    case field::run_seq: run.key.seq = in.get_uint64(); return true;
    case field::run_id: run.run_id = in.get_string(); return true;
    case field::run_revision: run.revision = in.get_uint32(); return true;
    case field::run_state: run.state = read_enum(in, model::RunState::resolved); return true;
    case field::run_resolution: run.resolution = read_enum(in, model::Resolution::max_events); return true;
    case field::run_resolved: run.resolved_ms = in.get_sint64(); return true;
    case field::run_content: run.content = read_digest(in); return true;
    case field::run_max_score: run.max_score = in.get_sint32(); return true;
    case field::run_fired: run.fired.push_back(in.get_string()); return true;
    case field::run_failures: stored.failures = read_record_keys(in); return true;
    default: return false;
  }
}

bool take_failure_field(Reader& in, model::FailureRecord& failure) {
  switch (in.tag()) {
    case field::failure_time: failure.key.time_ms = in.get_sint64(); return true;
    case field::failure_seq: failure.key.seq = in.get_uint64(); return true;
    case field::failure_id: failure.id = in.get_string(); return true;
    case field::detector_key: failure.detector_key = in.get_string(); return true;
    case field::severity: failure.severity = read_enum(in, model::Severity::critical); return true;
    case field::score: failure.score = in.get_sint32(); return true;
    case field::fingerprint: failure.fingerprint = in.get_string(); return true;
    case field::failure_run_time: failure.run.time_ms = in.get_sint64(); return true;
    case field::failure_run_seq: failure.run.seq = in.get_uint64(); return true;
    default: return false;
  }
}

bool take_key_field(Reader& in, model::KeyRecord& record) {
  switch (in.tag()) {
    case field::key_id: record.id = in.get_string(); return true;
    case field::tenant: record.tenant = in.get_uint32(); return true;
    case field::tenant_name: record.tenant_name = in.get_string(); return true;
    case field::key_name: record.name = in.get_string(); return true;
    case field::may_ingest: record.may_ingest = in.get_bool(); return true;
    case field::may_read: record.may_read = in.get_bool(); return true;
    case field::digest: record.digest = read_digest(in); return true;
    case field::created: record.created_ms = in.get_sint64(); return true;
    case field::expires: record.expires_ms = in.get_sint64(); return true;
    case field::revoked: record.revoked_ms = in.get_sint64(); return true;
    case field::last_used: record.last_used_ms = in.get_sint64(); return true;
    default: return false;
  }
}

bool take_answer_field(Reader& in, Answered& answered) {
  switch (in.tag()) {
    case field::identity: answered.idempotency.identity = read_digest(in); return true;
    case field::content: answered.idempotency.content = read_digest(in); return true;
    case field::answered_at: answered.created_ms = in.get_sint64(); return true;
    case field::record_time: answered.record.time_ms = in.get_sint64(); return true;
    case field::record_seq: answered.record.seq = in.get_uint64(); return true;
    case field::record_revision: answered.revision = in.get_uint32(); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_run(std::string_view key, const StoredRun& stored) {
  const model::RunRecord& run = stored.run;
  std::string head;
  Writer out(head);
  out.add_sint64(field::run_time, run.key.time_ms);
  out.add_uint64(field::run_seq, run.key.seq);
  out.add_string(field::run_id, run.run_id);
  out.add_uint32(field::run_revision, run.revision);
  out.add_enum(field::run_state, static_cast<std::int32_t>(run.state));
  out.add_enum(field::run_resolution, static_cast<std::int32_t>(run.resolution));
  out.add_sint64(field::run_resolved, run.resolved_ms);
  add_digest(out, field::run_content, run.content);
  out.add_sint32(field::run_max_score, run.max_score);
  for (const std::string& fired : run.fired) out.add_string(field::run_fired, fired);
  add_record_keys(out, stored.failures);
  std::string body;
  body.reserve(run.document.size() + run.failures_json.size() + run.detectors_json.size() + run.policies_json.size() + 32);
  Writer rest(body);
  rest.add_string(field::document, run.document);
  rest.add_string(field::failures_json, run.failures_json);
  rest.add_string(field::detectors_json, run.detectors_json);
  rest.add_string(field::policies_json, run.policies_json);
  return seal(key, head, body);
}

StoredRun decode_run_head(std::string_view key, std::string_view value) {
  StoredRun stored;
  read_fields(open_head(key, value), [&](Reader& in) { return take_run_field(in, stored); });
  return stored;
}

StoredRun decode_run(std::string_view key, std::string_view value) {
  StoredRun stored = decode_run_head(key, value);
  model::RunRecord& run = stored.run;
  read_fields(open_body(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::document: run.document = in.get_string(); return true;
      case field::failures_json: run.failures_json = in.get_string(); return true;
      case field::detectors_json: run.detectors_json = in.get_string(); return true;
      case field::policies_json: run.policies_json = in.get_string(); return true;
      default: return false;
    }
  });
  return stored;
}

std::string encode_failure(std::string_view key, const model::FailureRecord& failure) {
  std::string head;
  Writer out(head);
  out.add_sint64(field::failure_time, failure.key.time_ms);
  out.add_uint64(field::failure_seq, failure.key.seq);
  out.add_string(field::failure_id, failure.id);
  out.add_string(field::detector_key, failure.detector_key);
  out.add_enum(field::severity, static_cast<std::int32_t>(failure.severity));
  out.add_sint32(field::score, failure.score);
  out.add_string(field::fingerprint, failure.fingerprint);
  out.add_sint64(field::failure_run_time, failure.run.time_ms);
  out.add_uint64(field::failure_run_seq, failure.run.seq);
  std::string body;
  Writer rest(body);
  rest.add_string(field::failure_json, failure.json);
  return seal(key, head, body);
}

model::FailureRecord decode_failure_head(std::string_view key, std::string_view value) {
  model::FailureRecord failure;
  read_fields(open_head(key, value), [&](Reader& in) { return take_failure_field(in, failure); });
  return failure;
}

model::FailureRecord decode_failure(std::string_view key, std::string_view value) {
  model::FailureRecord failure = decode_failure_head(key, value);
  read_fields(open_body(key, value), [&](Reader& in) {
    if (in.tag() != field::failure_json) return false;
    failure.json = in.get_string();
    return true;
  });
  return failure;
}

std::string encode_key(std::string_view key, const model::KeyRecord& record) {
  std::string head;
  Writer out(head);
  out.add_string(field::key_id, record.id);
  out.add_uint32(field::tenant, record.tenant);
  out.add_string(field::tenant_name, record.tenant_name);
  out.add_string(field::key_name, record.name);
  out.add_bool(field::may_ingest, record.may_ingest);
  out.add_bool(field::may_read, record.may_read);
  add_digest(out, field::digest, record.digest);
  out.add_sint64(field::created, record.created_ms);
  out.add_sint64(field::expires, record.expires_ms);
  out.add_sint64(field::revoked, record.revoked_ms);
  out.add_sint64(field::last_used, record.last_used_ms);
  return seal(key, head);
}

model::KeyRecord decode_key(std::string_view key, std::string_view value) {
  model::KeyRecord record;
  read_fields(open_head(key, value), [&](Reader& in) { return take_key_field(in, record); });
  return record;
}

std::string encode_answered(std::string_view key, const Answered& answered) {
  std::string head;
  Writer out(head);
  add_digest(out, field::identity, answered.idempotency.identity);
  add_digest(out, field::content, answered.idempotency.content);
  out.add_sint64(field::answered_at, answered.created_ms);
  out.add_sint64(field::record_time, answered.record.time_ms);
  out.add_uint64(field::record_seq, answered.record.seq);
  out.add_uint32(field::record_revision, answered.revision);
  return seal(key, head);
}

Answered decode_answered(std::string_view key, std::string_view value) {
  Answered answered;
  read_fields(open_head(key, value), [&](Reader& in) { return take_answer_field(in, answered); });
  return answered;
}

std::string encode_place(std::string_view key, const model::RecordKey& place) {
  std::string head;
  Writer out(head);
  out.add_sint64(field::place_time, place.time_ms);
  out.add_uint64(field::place_seq, place.seq);
  return seal(key, head);
}

model::RecordKey decode_place(std::string_view key, std::string_view value) {
  model::RecordKey place;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::place_time: place.time_ms = in.get_sint64(); return true;
      case field::place_seq: place.seq = in.get_uint64(); return true;
      default: return false;
    }
  });
  return place;
}

}  // namespace runwarden::store
