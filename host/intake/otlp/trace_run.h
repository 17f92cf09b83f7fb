// Assembles the run of a trace from the facts of its spans, and reports the source of each field. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/otlp_mapping.h"

namespace runwarden::intake::otlp {

// The JSON of the run, as read_run expects it. `spans` are SpanFacts::json in the order of arrival. The last version of a span wins. Texts
// that are not facts of a span are skipped.
std::string run_of_trace(std::string_view run_id, const std::vector<std::string>& spans);

// {"spans", "onlyModelSpan", "fields": [{"field", "spanId", "attribute"}], "missing": [{"field", "spanId", "expected": [...]}],
// "ignoredSpans"}. `field` is a JSON Pointer into the run that run_of_trace() makes of these spans.
std::string mapping_of_trace(const std::vector<std::string>& spans, const model::SpanMapping& mapping);

}  // namespace runwarden::intake::otlp
