#include "base/arena.h"
#include "base/hex.h"
#include "base/protobuf.h"
#include "intake/otlp/decode.h"

namespace runwarden::intake::otlp {
namespace {

using Reader = protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t kTraceIdBytes = 16;
constexpr std::size_t kSpanIdBytes = 8;

constexpr std::size_t kUsualSpanBytes = 4096;  // attributes without their texts
constexpr std::size_t kUsualResourceBytes = 2048;

// Field numbers of opentelemetry-proto v1, together with the wire type: a known number with another wire type is an unknown field.
constexpr std::uint32_t tag(std::uint32_t field, pbf_wire_type type) {
  return protozero::tag_and_type(field, type);
}
constexpr std::uint32_t bytes_tag(std::uint32_t field) {
  return tag(field, pbf_wire_type::length_delimited);
}

std::string_view view_of(Reader& in) {
  const auto view = in.get_view();
  return {view.data(), view.size()};
}

// Where the values of a span or resource are kept, and how many it may still have.
struct Budget {
  Arena& arena;
  std::size_t left = 0;
  int max_depth = 0;
  std::string fault = {};
  const std::size_t most = left;

  bool take() {
    if (left > 0) return left-- > 0;
    if (fault.empty()) fault = too_many_values(most);
    return false;
  }
  bool allows(int depth) {
    if (depth <= max_depth) return true;
    if (fault.empty()) fault = "has an attribute nested deeper than limits.max_json_depth (" + std::to_string(max_depth) + ")";
    return false;
  }
};

// Each reads into the arena. Texts are views into the body.
void read_any_value(Reader in, int depth, Budget& budget, AnyValue& value);
void read_key_value(Reader in, int depth, Budget& budget, KeyValue& pair);

// If one AnyValue has several values, the last one wins.
void become(AnyValue& value, AnyValue::Kind kind) {
  if (value.kind != AnyValue::Kind::null) value = {};
  value.kind = kind;
}

// Reads the values of an ArrayValue or a KeyValueList. Returns whether the budget was enough for all of them.
template <class Read>
bool read_each(Reader list, Budget& budget, Read read) {
  while (list.next()) {
    if (list.tag_and_type() != bytes_tag(1)) {
      list.skip();
      continue;
    }
    const Reader one = list.get_message();
    if (!budget.take()) return false;
    read(one);
  }
  return true;
}

bool read_items(Reader list, int depth, Budget& budget, AnyValue& value) {
  become(value, AnyValue::Kind::list);
  return read_each(list, budget, [&](Reader item) { read_any_value(item, depth + 1, budget, value.items.append(budget.arena)); });
}

bool read_members(Reader map, int depth, Budget& budget, AnyValue& value) {
  become(value, AnyValue::Kind::map);
  return read_each(map, budget, [&](Reader member) { read_key_value(member, depth + 1, budget, value.members.append(budget.arena)); });
}

void read_any_value(Reader in, int depth, Budget& budget, AnyValue& value) {
  if (!budget.allows(depth)) return;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes_tag(1): {
        const auto text = view_of(in);
        become(value, AnyValue::Kind::text);
        value.text = text;
        break;
      }
      case tag(2, pbf_wire_type::varint):
        become(value, AnyValue::Kind::boolean);
        value.boolean = in.get_bool();
        break;
      case tag(3, pbf_wire_type::varint):
        become(value, AnyValue::Kind::integer);
        value.integer = in.get_int64();
        break;
      case tag(4, pbf_wire_type::fixed64):
        become(value, AnyValue::Kind::number);
        value.number = in.get_double();
        break;
      case bytes_tag(5):
        if (!read_items(in.get_message(), depth, budget, value)) return;
        break;
      case bytes_tag(6):
        if (!read_members(in.get_message(), depth, budget, value)) return;
        break;
      case bytes_tag(7): {
        const auto bytes = view_of(in);
        become(value, AnyValue::Kind::bytes);
        value.text = bytes;
        break;
      }
      default: in.skip();
    }
  }
}

void read_key_value(Reader in, int depth, Budget& budget, KeyValue& pair) {
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes_tag(1): pair.key = view_of(in); break;
      case bytes_tag(2): read_any_value(in.get_message(), depth, budget, pair.value); break;
      default: in.skip();
    }
  }
}

void add_attribute(Reader in, Budget& budget, Attributes& attributes) {
  if (budget.take()) read_key_value(in, 0, budget, attributes.append(budget.arena));
}

void read_event(Reader in, Budget& budget, SpanEvent& event) {
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes_tag(2): event.name = view_of(in); break;
      case bytes_tag(3): add_attribute(in.get_message(), budget, event.attributes); break;
      default: in.skip();
    }
  }
}

void read_status(Reader in, Span& span) {
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes_tag(2): span.status_message = view_of(in); break;
      case tag(3, pbf_wire_type::varint): {
        const std::int32_t code = in.get_enum();
        span.status = code == 2 ? StatusCode::error : code == 1 ? StatusCode::ok : StatusCode::unset;
        break;
      }
      default: in.skip();
    }
  }
}

// The id as hexadecimal digits; empty if it has another length or is all zeros.
std::string_view id_of(std::string_view bytes, std::size_t wanted, Arena& arena) {
  if (bytes.size() != wanted || bytes.find_first_not_of('\0') == std::string_view::npos) return {};
  return keep_text(arena, bytes_to_hex(bytes));
}

// False if the id has another length. An empty one, or one of zeros, as some exporters write it, is that of a root span.
bool read_parent_id(std::string_view bytes, Arena& arena, Span& span) {
  span.parent_span_id = id_of(bytes, kSpanIdBytes, arena);
  return bytes.empty() || bytes.size() == kSpanIdBytes;
}

std::string id_fault(const Span& span, bool bad_parent) {
  if (span.trace_id.empty()) return "has a traceId that is not 16 bytes, not all zero";
  if (span.span_id.empty()) return "has a spanId that is not 8 bytes, not all zero";
  if (bad_parent) return "has a parentSpanId that is not 8 bytes; leave it empty in a root span";
  return {};
}

void read_span(Reader in, const DecodeLimits& limits, Arena& arena, Span& span) {
  Budget budget{arena, limits.max_values, limits.max_value_depth};
  bool bad_parent = false;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes_tag(1): span.trace_id = id_of(view_of(in), kTraceIdBytes, arena); break;
      case bytes_tag(2): span.span_id = id_of(view_of(in), kSpanIdBytes, arena); break;
      case bytes_tag(4): bad_parent = !read_parent_id(view_of(in), arena, span); break;
      case bytes_tag(5): span.name = view_of(in); break;
      case tag(7, pbf_wire_type::fixed64): span.start_ns = in.get_fixed64(); break;
      case tag(8, pbf_wire_type::fixed64): span.end_ns = in.get_fixed64(); break;
      case bytes_tag(9): add_attribute(in.get_message(), budget, span.attributes); break;
      case bytes_tag(11): {
        const Reader event = in.get_message();
        if (budget.take()) read_event(event, budget, span.events.append(arena));
        break;
      }
      case bytes_tag(15): read_status(in.get_message(), span); break;
      case tag(16, pbf_wire_type::fixed32): span.flags = in.get_fixed32(); break;
      default: in.skip();
    }
  }
  span.fault = id_fault(span, bad_parent);
  if (span.fault.empty()) span.fault = std::move(budget.fault);
}

void read_scope_spans(Reader in, const Attributes& resource, const DecodeLimits& limits, SpanSink& sink) {
  std::string_view scope;
  for (Reader look = in; look.next();) {
    if (look.tag_and_type() != bytes_tag(1)) {
      look.skip();
      continue;
    }
    for (Reader fields = look.get_message(); fields.next();) {
      if (fields.tag_and_type() == bytes_tag(1)) {
        scope = view_of(fields);
      } else {
        fields.skip();
      }
    }
  }
  LocalArena<kUsualSpanBytes> arena;
  while (in.next()) {
    if (in.tag_and_type() != bytes_tag(2)) {
      in.skip();
      continue;
    }
    Span span;
    read_span(in.get_message(), limits, arena.get(), span);
    sink.take(span, {resource, scope});
    arena.release();
  }
}

void read_resource_spans(Reader in, const DecodeLimits& limits, SpanSink& sink) {
  LocalArena<kUsualResourceBytes> arena;
  Attributes resource;
  Budget budget{arena.get(), limits.max_resource_values, limits.max_value_depth};
  for (Reader look = in; look.next();) {
    if (look.tag_and_type() != bytes_tag(1)) {
      look.skip();
      continue;
    }
    for (Reader fields = look.get_message(); fields.next();) {
      if (fields.tag_and_type() == bytes_tag(1)) {
        add_attribute(fields.get_message(), budget, resource);
      } else {
        fields.skip();
      }
    }
  }
  while (in.next()) {
    if (in.tag_and_type() == bytes_tag(2)) {
      read_scope_spans(in.get_message(), resource, limits, sink);
    } else {
      in.skip();
    }
  }
}

}  // namespace

Status decode_protobuf(std::string_view body, const DecodeLimits& limits, SpanSink& sink) {
  try {
    Reader in(body.data(), body.size());
    while (in.next()) {
      if (in.tag_and_type() == bytes_tag(1)) {
        read_resource_spans(in.get_message(), limits, sink);
      } else {
        in.skip();
      }
    }
  } catch (const protozero::exception& fault) {
    return Error{Code::bad_request,
                 std::string("the body is not an ExportTraceServiceRequest in Protocol Buffers encoding (") + fault.what() +
                     "); send one, or send JSON with Content-Type application/json",
                 {},
                 {}};
  }
  return Nothing{};
}

std::string too_many_values(std::size_t max_values) {
  return "has more than " + std::to_string(max_values) +
         " attributes, events and values in lists and maps; record fewer, or lower the attribute limits of the SDK";
}

Status decode(std::string_view body, Encoding encoding, const DecodeLimits& limits, SpanSink& sink) {
  return encoding == Encoding::protobuf ? decode_protobuf(body, limits, sink) : decode_json(body, limits, sink);
}

}  // namespace runwarden::intake::otlp
