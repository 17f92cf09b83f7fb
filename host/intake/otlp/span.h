// Spans as OTLP sends them, the same from either encoding. Values; any thread.
//
// Texts, items and members are not the values' own: they live in the body of the request or in an arena.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace runwarden::intake::otlp {

struct KeyValue;

// AnyValue of opentelemetry/proto/common/v1/common.proto. Also what a text of JSON is read into.
struct AnyValue {
  enum class Kind : std::uint8_t { null, text, boolean, integer, number, bytes, list, map };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text;  // of text; of bytes: as they are
  ArenaList<AnyValue> items;
  ArenaList<KeyValue> members;  // in the order sent; a key that comes twice is there twice

  bool is_text() const { return kind == Kind::text; }
  const AnyValue* member(std::string_view key) const;  // the first of that key; null: none
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
  std::string_view trace_id;        // lower-case hexadecimal, 32 digits; empty: bad
  std::string_view span_id;         // 16 digits; empty: bad
  std::string_view parent_span_id;  // empty: none
  std::uint32_t flags = 0;
  std::string_view name;
  std::uint64_t start_ns = 0;  // since 1970, UTC
  std::uint64_t end_ns = 0;
  StatusCode status = StatusCode::unset;
  std::string_view status_message;
  Attributes attributes;
  ArenaList<SpanEvent> events;
  std::string fault;  // why the span cannot be taken; empty: it can
};

// What sent a span: its resource and its instrumentation scope.
struct Origin {
  const Attributes& resource;
  std::string_view scope;  // its name
};

}  // namespace runwarden::intake::otlp
