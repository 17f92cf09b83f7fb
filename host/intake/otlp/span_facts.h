// Extracts what a run needs from one span, as the mapping's tables specify. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "intake/otlp/span.h"
#include "model/otlp_mapping.h"

namespace runwarden::intake::otlp {

// What is stored of a span: a JSON object, model::DocumentKind::span. Members without a value are omitted:
//
//   type "otlp_span", spanId, parentSpanId, root (bool), spanName, scope, spanKind, startNs, endNs (decimal texts), status
//   ("succeeded", "failed"; absent while the span is running), ok (bool: the status says so)
//   stepName, inputSummary, outputSummary, errorCode, errorMessage     of a step
//   userRequestText, outcomeSummary                                    of spans that may speak for the run
//   metadata                                                           of both
//   from                                                               "stepName=gen_ai.tool.name inputSummary=...": the source of each
struct SpanFacts {
  std::string trace_id;
  std::string span_id;
  bool has_ended = false;
  std::string version;   // identifies this version of the span: equal facts have equal texts
  bool is_root = false;  // no parent, or a parent in another process
  std::string json;
};

// Empty for a span that the mapping drops. The span must not have a fault.
std::optional<SpanFacts> facts_of(const Span& span, const Origin& origin, const model::SpanMapping& mapping);

// The ids of those that have ended, of spans as stored (SpanFacts::json).
std::unordered_set<std::string> ended_spans(const std::vector<std::string>& spans);

// True if the span has no parent, or a parent in another process (SpanFlags in opentelemetry/proto/trace/v1/trace.proto).
bool is_root(const Span& span);

}  // namespace runwarden::intake::otlp
