// Puts the run of a trace together from the facts of its spans, and says where each field of it came from. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/otlp_mapping.h"

namespace runwarden::intake::otlp {

// The JSON of the run that the spans make: what read_run takes. `spans` are SpanFacts::json in the order of arrival; of several versions
// of one span the last counts. A text that is none is passed over.
std::string run_of_trace(std::string_view run_id, const std::vector<std::string>& spans);

// {"spans", "fields": [{"field", "spanId", "attribute"}], "missing": [{"field", "spanId", "expected": [...]}], "ignoredSpans"}: `field` is a
// JSON Pointer into the run that run_of_trace() makes of these spans.
std::string mapping_of_trace(const std::vector<std::string>& spans, const model::SpanMapping& mapping);

}  // namespace runwarden::intake::otlp
