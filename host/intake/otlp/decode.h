// Reads an ExportTraceServiceRequest in either of its encodings, span by span, without building a tree of the request. Pure; any thread.
//
// Skips unknown fields. Passes on a span with a bad id or over a limit together with its fault, and continues.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

enum class Encoding : std::uint8_t { protobuf, json };

struct DecodeLimits {
  int max_value_depth = 64;            // of lists and maps in an attribute
  std::size_t max_values = 100'000;    // of a span, including those in lists and maps
  std::size_t max_resource_values = 10'000;
};

// What is said of a span with more values than that.
std::string too_many_values(std::size_t max_values);

// Receives the spans of a request. A span, its origin and all that they refer to are valid only during the call.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void take(Span& span, const Origin& origin) = 0;
  // Discards all spans so far: the request is read again from the start.
  virtual void restart() = 0;
};

// bad_request if the body is not such a request. An empty body is a request without spans.
Status decode(std::string_view body, Encoding encoding, const DecodeLimits& limits, SpanSink& sink);

Status decode_protobuf(std::string_view body, const DecodeLimits& limits, SpanSink& sink);
Status decode_json(std::string_view body, const DecodeLimits& limits, SpanSink& sink);

}  // namespace runwarden::intake::otlp
