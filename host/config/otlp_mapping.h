// Reads the table that maps spans to runs. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/otlp_mapping.h"

namespace runwarden::config {

// The table in `yaml`, or every fault found in it. Each row must name a source listed under `sources`.
Result<model::SpanMapping> read_otlp_mapping(std::string_view yaml);

// config/otlp-mapping.yaml, built in.
std::string_view built_in_otlp_mapping();

}  // namespace runwarden::config
