#include "store/record_codec.h"

#include <utility>

#include "store/fields.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kPlainHeadBytes = 512;  // of a usual head, without its outline

// Field numbers are part of the format: never change or reuse them.
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
  run_failures,
  run_buffering,
  run_events,
  run_outline,
  run_source,
  run_root_arrived,
  run_grouped,
  run_dimensions,
  run_executed,
  run_policy_content,
  run_confirmed,
  run_end_mark
};
enum Dimension { dimension_name = 1, dimension_value };
enum RunBody { document = 1, failures_json, detectors_json, policies_json };
enum Buffering {
  buffer_first = 1,
  buffer_last,
  buffer_previous,
  buffer_total,
  buffer_cut,
  buffer_ending,
  buffer_tail_final,
  buffer_bytes,
  buffer_max_events,
  buffer_max_bytes
};
enum Outline {
  outline_members = 1,
  outline_output,
  outline_failures,
  outline_detectors,
  outline_policies,
  outline_steps,
  outline_left_out
};
enum Failure {
  failure_time = 1,
  failure_seq,
  failure_id,
  detector_key,
  severity,
  score,
  fingerprint,
  failure_run_time,
  failure_run_seq,
  failure_title,
  failure_waste,
  failure_executed,
  failure_grouped,
  failure_summary_mark,
  failure_reviewed
};
enum FailureBody { failure_json = 1 };
enum Key {
  key_id = 1,
  tenant,
  tenant_name,
  key_name,
  may_ingest,
  may_read,
  digest,
  created,
  expires,
  revoked,
  last_used,
  revoked_at_once,
  may_manage
};
enum RecordKey { place_time = 1, place_seq };
}  // namespace field

void add_record_keys(Writer& out, protozero::pbf_tag_type tag, const std::vector<model::RecordKey>& keys) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(keys.size() * 2);
  for (const model::RecordKey& key : keys) {
    numbers.push_back(static_cast<std::uint64_t>(key.time_ms));
    numbers.push_back(key.seq);
  }
  if (!numbers.empty()) out.add_packed_fixed64(tag, numbers.begin(), numbers.end());
}

std::vector<model::RecordKey> read_record_keys(Reader& in) {
  std::vector<model::RecordKey> keys;
  const auto numbers = in.get_packed_fixed64();
  for (auto at = numbers.begin(); at != numbers.end(); ++at) {
    model::RecordKey key;
    key.time_ms = static_cast<std::int64_t>(*at);
    if (++at == numbers.end()) throw BadValue("its list of failures is truncated");
    key.seq = *at;
    keys.push_back(key);
  }
  return keys;
}

void add_buffering(Writer& out, const Buffering& buffering) {
  Writer in(out, field::run_buffering);
  in.add_sint64(field::buffer_first, buffering.first_ms);
  in.add_sint64(field::buffer_last, buffering.last_ms);
  in.add_uint32(field::buffer_previous, buffering.previous);
  in.add_uint32(field::buffer_total, buffering.total);
  if (buffering.ending) {
    in.add_uint32(field::buffer_cut, buffering.cut);
    in.add_enum(field::buffer_ending, static_cast<std::int32_t>(*buffering.ending));
  }
  in.add_bool(field::buffer_tail_final, buffering.tail_final);
  in.add_uint64(field::buffer_bytes, buffering.bytes);
  in.add_uint32(field::buffer_max_events, buffering.max_events);
  in.add_uint64(field::buffer_max_bytes, buffering.max_bytes);
}

Buffering read_buffering(std::string_view bytes) {
  Buffering buffering;
  read_fields(bytes, [&](Reader& in) {
    switch (in.tag()) {
      case field::buffer_first: buffering.first_ms = in.get_sint64(); return true;
      case field::buffer_last: buffering.last_ms = in.get_sint64(); return true;
      case field::buffer_previous: buffering.previous = in.get_uint32(); return true;
      case field::buffer_total: buffering.total = in.get_uint32(); return true;
      case field::buffer_cut: buffering.cut = in.get_uint32(); return true;
      case field::buffer_ending: buffering.ending = read_enum(in, model::Resolution::max_events); return true;
      case field::buffer_tail_final: buffering.tail_final = in.get_bool(); return true;
      case field::buffer_bytes: buffering.bytes = in.get_uint64(); return true;
      case field::buffer_max_events: buffering.max_events = in.get_uint32(); return true;
      case field::buffer_max_bytes: buffering.max_bytes = in.get_uint64(); return true;
      default: return false;
    }
  });
  return buffering;
}

void add_dimensions(Writer& out, const std::vector<model::Dimension>& dimensions) {
  for (const model::Dimension& dimension : dimensions) {
    Writer in(out, field::run_dimensions);
    in.add_string(field::dimension_name, dimension.name);
    in.add_string(field::dimension_value, dimension.value);
  }
}

std::string encode_run_body(const model::RunRecord& run) {
  std::string body;
  body.reserve(run.document.size() + run.failures_json.size() + run.detectors_json.size() + run.policies_json.size() + 32);
  Writer rest(body);
  rest.add_string(field::document, run.document);
  rest.add_string(field::failures_json, run.failures_json);
  rest.add_string(field::detectors_json, run.detectors_json);
  rest.add_string(field::policies_json, run.policies_json);
  return body;
}

void add_outline(Writer& out, const model::RunOutline& outline) {
  Writer in(out, field::run_outline);
  in.add_string(field::outline_members, outline.members);
  if (!outline.last_output.empty()) in.add_string(field::outline_output, outline.last_output);
  if (!outline.failures.empty()) in.add_string(field::outline_failures, outline.failures);
  if (!outline.detectors.empty()) in.add_string(field::outline_detectors, outline.detectors);
  if (!outline.policies.empty()) in.add_string(field::outline_policies, outline.policies);
  if (outline.steps != 0) in.add_uint32(field::outline_steps, outline.steps);
  if (outline.left_out != 0) in.add_uint32(field::outline_left_out, outline.left_out);
}

model::RunOutline read_outline(std::string_view bytes) {
  model::RunOutline outline;
  read_fields(bytes, [&](Reader& in) {
    switch (in.tag()) {
      case field::outline_members: outline.members = in.get_string(); return true;
      case field::outline_output: outline.last_output = in.get_string(); return true;
      case field::outline_failures: outline.failures = in.get_string(); return true;
      case field::outline_detectors: outline.detectors = in.get_string(); return true;
      case field::outline_policies: outline.policies = in.get_string(); return true;
      case field::outline_steps: outline.steps = in.get_uint32(); return true;
      case field::outline_left_out: outline.left_out = in.get_uint32(); return true;
      default: return false;
    }
  });
  return outline;
}

model::Dimension read_dimension(std::string_view bytes) {
  model::Dimension dimension;
  read_fields(bytes, [&](Reader& in) {
    switch (in.tag()) {
      case field::dimension_name: dimension.name = in.get_string(); return true;
      case field::dimension_value: dimension.value = in.get_string(); return true;
      default: return false;
    }
  });
  return dimension;
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
    case field::run_confirmed: run.confirmed = read_record_keys(in); return true;
    case field::run_events: run.events = in.get_uint32(); return true;
    case field::run_source: run.source = read_enum(in, model::RunSource::otlp); return true;
    case field::run_end_mark: run.end_mark = in.get_fixed64(); return true;
    case field::run_root_arrived: run.root_arrived = in.get_bool(); return true;
    case field::run_dimensions: run.dimensions.push_back(read_dimension(read_view(in))); return true;
    case field::run_grouped: run.grouped = in.get_bool(); return true;
    case field::run_executed: run.executed_ms = in.get_sint64(); return true;
    case field::run_policy_content: run.policy_contents.push_back(read_digest(in)); return true;
    case field::run_buffering:
      stored.buffering = read_buffering(read_view(in));
      run.buffer = stored.buffering->shown();
      return true;
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
    case field::failure_title: failure.title = in.get_string(); return true;
    case field::failure_waste: failure.waste_micro_usd = in.get_sint64(); return true;
    case field::failure_executed: failure.executed_ms = in.get_sint64(); return true;
    case field::failure_grouped: failure.grouped = in.get_bool(); return true;
    case field::failure_summary_mark: failure.summary_mark = in.get_fixed64(); return true;
    case field::failure_reviewed: failure.reviewed = read_enum(in, model::ReviewVerdict::unsure); return true;
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
    case field::may_manage: record.may_manage = in.get_bool(); return true;
    case field::digest: record.digest = read_digest(in); return true;
    case field::created: record.created_ms = in.get_sint64(); return true;
    case field::expires: record.expires_ms = in.get_sint64(); return true;
    case field::revoked: record.revoked_ms = in.get_sint64(); return true;
    case field::revoked_at_once: record.revoked_at_once = in.get_bool(); return true;
    case field::last_used: record.last_used_ms = in.get_sint64(); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_run(std::string_view key, const StoredRun& stored) {
  const model::RunRecord& run = stored.run;
  std::string head;
  if (run.outline)
    head.reserve(kPlainHeadBytes + run.outline->members.size() + run.outline->failures.size() + run.outline->detectors.size());
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
  add_record_keys(out, field::run_failures, stored.failures);
  add_record_keys(out, field::run_confirmed, run.confirmed);
  if (run.events != 0) out.add_uint32(field::run_events, run.events);
  if (run.end_mark != 0) out.add_fixed64(field::run_end_mark, run.end_mark);
  if (run.source != model::RunSource::client) out.add_enum(field::run_source, static_cast<std::int32_t>(run.source));
  if (run.root_arrived) out.add_bool(field::run_root_arrived, true);
  if (run.grouped) out.add_bool(field::run_grouped, true);
  if (run.executed_ms != model::kNotExecuted) out.add_sint64(field::run_executed, run.executed_ms);
  for (const model::Digest& content : run.policy_contents) add_digest(out, field::run_policy_content, content);
  add_dimensions(out, run.dimensions);
  if (run.outline) add_outline(out, *run.outline);
  if (!stored.buffering) return seal(key, head, encode_run_body(run));
  add_buffering(out, *stored.buffering);
  return seal(key, head);
}

StoredRun decode_run_head(std::string_view key, std::string_view value, OutlineToo outline) {
  StoredRun stored;
  read_fields(open_head(key, value), [&](Reader& in) {
    if (in.tag() != field::run_outline) return take_run_field(in, stored);
    if (outline == OutlineToo::no) return false;
    stored.run.outline = read_outline(read_view(in));
    return true;
  });
  return stored;
}

StoredRun decode_run(std::string_view key, std::string_view value) {
  StoredRun stored = decode_run_head(key, value, OutlineToo::yes);
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
  if (!failure.title.empty()) out.add_string(field::failure_title, failure.title);
  if (failure.waste_micro_usd != 0) out.add_sint64(field::failure_waste, failure.waste_micro_usd);
  if (failure.executed_ms != model::kNotExecuted) out.add_sint64(field::failure_executed, failure.executed_ms);
  if (failure.grouped) out.add_bool(field::failure_grouped, true);
  if (failure.summary_mark != 0) out.add_fixed64(field::failure_summary_mark, failure.summary_mark);
  if (failure.reviewed != model::ReviewVerdict::none) out.add_enum(field::failure_reviewed, static_cast<std::int32_t>(failure.reviewed));
  std::string body;
  Writer rest(body);
  rest.add_string(field::failure_json, failure.json);
  return seal(key, head, body);
}

std::string with_verdict(std::string_view key, std::string_view value, model::ReviewVerdict verdict) {
  std::string head;
  std::string_view rest = open_head(key, value);
  read_fields(rest, [&](Reader& in) {
    const bool drops = in.tag() == field::failure_reviewed;
    in.skip();
    const std::size_t left = in.data().size();
    if (!drops) head += rest.substr(0, rest.size() - left);
    rest = rest.substr(rest.size() - left);
    return true;
  });
  if (verdict != model::ReviewVerdict::none) Writer(head).add_enum(field::failure_reviewed, static_cast<std::int32_t>(verdict));
  return seal(key, head, open_body(key, value));
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
  if (record.may_manage) out.add_bool(field::may_manage, true);
  add_digest(out, field::digest, record.digest);
  out.add_sint64(field::created, record.created_ms);
  out.add_sint64(field::expires, record.expires_ms);
  out.add_sint64(field::revoked, record.revoked_ms);
  out.add_sint64(field::last_used, record.last_used_ms);
  if (record.revoked_at_once) out.add_bool(field::revoked_at_once, true);
  return seal(key, head);
}

model::KeyRecord decode_key(std::string_view key, std::string_view value) {
  model::KeyRecord record;
  read_fields(open_head(key, value), [&](Reader& in) { return take_key_field(in, record); });
  return record;
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
