#include "store/event_codec.h"

#include "store/fields.h"

namespace runwarden::store {
namespace {

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum Chunk { chunk_count = 1, chunk_received, chunk_bytes };
enum ChunkBody { event = 1 };
enum IdempotentAnswer { identity = 1, content, answered_at, record_time, record_seq, revision, kind, buffered };
enum Buffered { accepted = 1, reopened, unchanged, first, last, events, previous, ends };
}  // namespace field

void add_buffered(Writer& out, const Buffered& buffered) {
  Writer in(out, field::buffered);
  in.add_uint32(field::accepted, buffered.accepted);
  in.add_bool(field::reopened, buffered.reopened);
  in.add_bool(field::unchanged, buffered.unchanged);
  in.add_sint64(field::first, buffered.buffer.first_ms);
  in.add_sint64(field::last, buffered.buffer.last_ms);
  in.add_uint32(field::events, buffered.buffer.events);
  in.add_uint32(field::previous, buffered.buffer.previous);
  if (buffered.ends) in.add_enum(field::ends, static_cast<std::int32_t>(*buffered.ends));
}

Buffered read_buffered(std::string_view bytes) {
  Buffered buffered;
  read_fields(bytes, [&](Reader& in) {
    switch (in.tag()) {
      case field::accepted: buffered.accepted = in.get_uint32(); return true;
      case field::reopened: buffered.reopened = in.get_bool(); return true;
      case field::unchanged: buffered.unchanged = in.get_bool(); return true;
      case field::first: buffered.buffer.first_ms = in.get_sint64(); return true;
      case field::last: buffered.buffer.last_ms = in.get_sint64(); return true;
      case field::events: buffered.buffer.events = in.get_uint32(); return true;
      case field::previous: buffered.buffer.previous = in.get_uint32(); return true;
      case field::ends: buffered.ends = read_enum(in, model::Resolution::max_events); return true;
      default: return false;
    }
  });
  return buffered;
}

bool take_answer_field(Reader& in, IdempotentAnswer& answer) {
  switch (in.tag()) {
    case field::identity: answer.idempotency.identity = read_digest(in); return true;
    case field::content: answer.idempotency.content = read_digest(in); return true;
    case field::answered_at: answer.created_ms = in.get_sint64(); return true;
    case field::record_time: answer.record.time_ms = in.get_sint64(); return true;
    case field::record_seq: answer.record.seq = in.get_uint64(); return true;
    case field::revision: answer.revision = in.get_uint32(); return true;
    case field::kind: answer.kind = read_enum(in, IdempotentAnswer::Kind::review); return true;
    case field::buffered: answer.buffered = read_buffered(read_view(in)); return true;
    default: return false;
  }
}

}  // namespace

std::string encode_events(std::string_view key, std::int64_t received_ms, std::span<const std::string> events) {
  std::string body;
  std::uint64_t bytes = 0;
  for (const std::string& one : events) bytes += one.size();
  body.reserve(bytes + events.size() * 6);
  Writer rest(body);
  for (const std::string& one : events) add_view(rest, field::event, one);
  std::string head;
  Writer out(head);
  out.add_uint32(field::chunk_count, static_cast<std::uint32_t>(events.size()));
  out.add_sint64(field::chunk_received, received_ms);
  out.add_uint64(field::chunk_bytes, bytes);
  return seal(key, head, body);
}

EventChunk decode_events_head(std::string_view key, std::string_view value) {
  EventChunk chunk;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::chunk_count: chunk.count = in.get_uint32(); return true;
      case field::chunk_received: chunk.received_ms = in.get_sint64(); return true;
      case field::chunk_bytes: chunk.bytes = in.get_uint64(); return true;
      default: return false;
    }
  });
  return chunk;
}

std::vector<std::string> decode_events(std::string_view key, std::string_view value) {
  std::vector<std::string> events;
  read_fields(open_body(key, value), [&](Reader& in) {
    if (in.tag() != field::event) return false;
    events.emplace_back(read_view(in));
    return true;
  });
  return events;
}

std::string encode_answer(std::string_view key, const IdempotentAnswer& answer) {
  std::string head;
  Writer out(head);
  add_digest(out, field::identity, answer.idempotency.identity);
  add_digest(out, field::content, answer.idempotency.content);
  out.add_sint64(field::answered_at, answer.created_ms);
  out.add_sint64(field::record_time, answer.record.time_ms);
  out.add_uint64(field::record_seq, answer.record.seq);
  out.add_uint32(field::revision, answer.revision);
  out.add_enum(field::kind, static_cast<std::int32_t>(answer.kind));
  if (answer.kind == IdempotentAnswer::Kind::events) add_buffered(out, answer.buffered);
  return seal(key, head);
}

IdempotentAnswer decode_answer(std::string_view key, std::string_view value) {
  IdempotentAnswer answer;
  read_fields(open_head(key, value), [&](Reader& in) { return take_answer_field(in, answer); });
  answer.buffered.run = answer.record;
  answer.buffered.revision = answer.revision;
  return answer;
}

}  // namespace runwarden::store
