// Spans for tests, and the requests that carry them in either encoding.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hex.h"
#include "base/json_text.h"
#include "base/protobuf.h"

namespace runwarden::test {

struct OtlpAttribute {
  std::string key;
  std::variant<std::string, std::int64_t, double, bool> value;
};

struct OtlpEvent {
  std::string name;
  std::vector<OtlpAttribute> attributes;
};

struct OtlpSpan {
  std::string trace_id = "0af7651916cd43dd8448eb211c80319c";
  std::string span_id = "b7ad6b7169203331";
  std::string parent_id;
  std::string name = "span";
  std::int64_t start_ms = 1'790'000'000'000;
  std::int64_t end_ms = 1'790'000'001'000;
  int status = 0;
  std::string status_message;
  std::vector<OtlpAttribute> attributes;
  std::vector<OtlpEvent> events;
};

inline void write_value(JsonWriter& out, const OtlpAttribute& attribute) {
  out.begin_object().key("key").string(attribute.key).key("value").begin_object();
  if (const auto* text = std::get_if<std::string>(&attribute.value)) out.key("stringValue").string(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&attribute.value)) out.key("intValue").string(std::to_string(*whole));
  if (const auto* number = std::get_if<double>(&attribute.value)) out.key("doubleValue").number(*number);
  if (const auto* flag = std::get_if<bool>(&attribute.value)) out.key("boolValue").boolean(*flag);
  out.end_object().end_object();
}

inline void write_attributes(JsonWriter& out, const std::vector<OtlpAttribute>& attributes) {
  out.key("attributes").begin_array();
  for (const auto& attribute : attributes) write_value(out, attribute);
  out.end_array();
}

inline std::string span_json(const OtlpSpan& span) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("traceId").string(span.trace_id).key("spanId").string(span.span_id).key("parentSpanId").string(span.parent_id);
  out.key("name").string(span.name).key("kind").integer(1);
  out.key("startTimeUnixNano").string(std::to_string(span.start_ms * 1'000'000));
  out.key("endTimeUnixNano").string(std::to_string(span.end_ms * 1'000'000));
  write_attributes(out, span.attributes);
  out.key("events").begin_array();
  for (const auto& event : span.events) {
    out.begin_object().key("name").string(event.name);
    write_attributes(out, event.attributes);
    out.end_object();
  }
  out.end_array().key("status").begin_object().key("code").integer(span.status);
  if (!span.status_message.empty()) out.key("message").string(span.status_message);
  out.end_object().end_object();
  return text;
}

inline std::string otlp_json(const std::vector<OtlpSpan>& spans, const std::string& scope = "test", const std::string& service = "shop") {
  std::string text = R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":")" + service +
                     R"("}}]},"scopeSpans":[{"scope":{"name":")" + scope + R"("},"spans":[)";
  for (const auto& span : spans) text.append(text.back() == '[' ? "" : ",").append(span_json(span));
  return text + "]}]}]}";
}

inline void add_attribute(protozero::pbf_writer& into, protozero::pbf_tag_type tag, const OtlpAttribute& attribute) {
  protozero::pbf_writer pair(into, tag);
  pair.add_string(1, attribute.key);
  protozero::pbf_writer value(pair, 2);
  if (const auto* text = std::get_if<std::string>(&attribute.value)) value.add_string(1, *text);
  if (const auto* flag = std::get_if<bool>(&attribute.value)) value.add_bool(2, *flag);
  if (const auto* whole = std::get_if<std::int64_t>(&attribute.value)) value.add_int64(3, *whole);
  if (const auto* number = std::get_if<double>(&attribute.value)) value.add_double(4, *number);
}

inline std::string otlp_protobuf(const std::vector<OtlpSpan>& spans, const std::string& scope = "test", const std::string& service = "shop") {
  std::string body;
  protozero::pbf_writer request(body);
  protozero::pbf_writer resource_spans(request, 1);
  {
    protozero::pbf_writer resource(resource_spans, 1);
    add_attribute(resource, 1, {"service.name", service});
  }
  protozero::pbf_writer scope_spans(resource_spans, 2);
  {
    protozero::pbf_writer of_scope(scope_spans, 1);
    of_scope.add_string(1, scope);
  }
  for (const auto& span : spans) {
    protozero::pbf_writer out(scope_spans, 2);
    out.add_bytes(1, bytes_from_hex(span.trace_id).value_or(""));
    out.add_bytes(2, bytes_from_hex(span.span_id).value_or(""));
    if (!span.parent_id.empty()) out.add_bytes(4, bytes_from_hex(span.parent_id).value_or(""));
    out.add_string(5, span.name);
    out.add_fixed64(7, static_cast<std::uint64_t>(span.start_ms) * 1'000'000);
    out.add_fixed64(8, static_cast<std::uint64_t>(span.end_ms) * 1'000'000);
    for (const auto& attribute : span.attributes) add_attribute(out, 9, attribute);
    for (const auto& event : span.events) {
      protozero::pbf_writer of_event(out, 11);
      of_event.add_string(2, event.name);
      for (const auto& attribute : event.attributes) add_attribute(of_event, 3, attribute);
    }
    protozero::pbf_writer status(out, 15);
    if (!span.status_message.empty()) status.add_string(2, span.status_message);
    status.add_enum(3, span.status);
  }
  return body;
}

}  // namespace runwarden::test
