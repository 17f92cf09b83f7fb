// What a run needs to know of one span, read through the table of the mapping. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "intake/otlp/span.h"
#include "model/otlp_mapping.h"

namespace runwarden::intake::otlp {

// The facts are what is kept of a span: an object of JSON, model::DocumentKind::span. Members without a value are left out:
//
//   type "otlp_span", spanId, parentSpanId, root (bool), spanName, scope, spanKind, startNs, endNs (decimal texts), status
//   ("succeeded", "failed"), ok (bool: the status says so)
//   stepName, inputSummary, outputSummary, errorCode, errorMessage     of a step
//   userRequestText, outcomeSummary                                    of what may speak for the run
//   metadata                                                           of either
//   from                                                               "stepName=gen_ai.tool.name inputSummary=...": where each came from
struct SpanFacts {
  std::string trace_id;
  std::string version;   // tells this version of the span from others: the same facts, the same text
  bool is_root = false;  // no parent, or one in another process
  std::string json;
};

// Nothing for a span that the table says to drop. The span is one without a fault.
std::optional<SpanFacts> facts_of(const Span& span, const Origin& origin, const model::SpanMapping& mapping);

// Whether the span's parent is not in the process that sent it (SpanFlags of opentelemetry/proto/trace/v1/trace.proto), or it has none.
bool is_root(const Span& span);

}  // namespace runwarden::intake::otlp
