// Reads an ExportTraceServiceRequest in either of its encodings, span by span, so that no request is ever held as a tree.
// Pure; any thread.
//
// Unknown fields are skipped. A span with a bad id, or one that is over a limit, is handed on with its fault; the request goes on.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

enum class Encoding : std::uint8_t { protobuf, json };

struct DecodeLimits {
  int max_value_depth = 64;            // of lists and maps in an attribute
  std::size_t max_values = 100'000;    // of a span, those in lists and maps included
  std::size_t max_resource_values = 10'000;
};

// What takes the spans of a request. Span and origin, and what they show, are good during the call.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void take(Span& span, const Origin& origin) = 0;
  // What was handed on so far counts for nothing: the request is read anew.
  virtual void restart() = 0;
};

// bad_request where the body is not such a request. An empty body is one without spans.
Status decode(std::string_view body, Encoding encoding, const DecodeLimits& limits, SpanSink& sink);

Status decode_protobuf(std::string_view body, const DecodeLimits& limits, SpanSink& sink);
Status decode_json(std::string_view body, const DecodeLimits& limits, SpanSink& sink);

}  // namespace runwarden::intake::otlp
