// Spans as sent over OTLP, the same for both encodings. Values; any thread.
//
// Values do not own their texts, items and members: these live in the body of the request or in an arena.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace runwarden::intake::otlp {

struct KeyValue;

// AnyValue of opentelemetry/proto/common/v1/common.proto. Also a node of parsed JSON.
struct AnyValue {
  enum class Kind : std::uint8_t { null, text, boolean, integer, number, bytes, list, map };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text;  // of text; of bytes: the raw bytes
  ArenaList<AnyValue> items;
  ArenaList<KeyValue> members;  // in the order sent, including duplicate keys

  bool is_text() const { return kind == Kind::text; }
  const AnyValue* member(std::string_view key) const;  // the first with that key; null if there is none
};

struct KeyValue {
  std::string_view key;
  AnyValue value;
};

using Attributes = ArenaList<KeyValue>;

const AnyValue* find(const Attributes& attributes, std::string_view key);

struct SpanEvent {
  std::string_view name;
  Attributes attributes;
};

enum class StatusCode : std::uint8_t { unset, ok, error };

struct Span {
  std::string_view trace_id;        // 32 lower-case hexadecimal digits; empty: invalid
  std::string_view span_id;         // 16 digits; empty: invalid
  std::string_view parent_span_id;  // empty: none
  std::uint32_t flags = 0;
  std::string_view name;
  std::uint64_t start_ns = 0;  // since 1970, UTC
  std::uint64_t end_ns = 0;
  StatusCode status = StatusCode::unset;
  std::string_view status_message;
  Attributes attributes;
  ArenaList<SpanEvent> events;
  std::string fault;  // why the span is refused; empty: it is valid
};

// The sender of a span: its resource and its instrumentation scope.
struct Origin {
  const Attributes& resource;
  std::string_view scope;  // its name
};

}  // namespace runwarden::intake::otlp
