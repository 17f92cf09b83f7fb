// Reads the table of how spans become runs. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/otlp_mapping.h"

namespace runwarden::config {

// The table in `yaml`, or every fault found in it. Each row has to name a source that is listed under `sources`.
Result<model::SpanMapping> read_otlp_mapping(std::string_view yaml);

// config/otlp-mapping.yaml, built in.
std::string_view built_in_otlp_mapping();

}  // namespace runwarden::config
