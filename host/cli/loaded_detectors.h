// The detectors of a configuration, loaded for a command as the service would load them. One thread.
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "cli/context.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

// Libraries are copied into memory: a command leaves nothing behind. What detectors log from warnings up goes to `err`.
detect::LoadContext load_context(Context& context, const config::Settings& settings, std::size_t workers, const Clock& clock);

// The set, or null, every fault told. Context, settings and clock outlive it.
std::shared_ptr<detect::DetectorSet> load_detectors(Context& context, const config::Settings& settings, std::size_t workers,
                                                    const Clock& clock);

// A configuration with its detectors, which are asked about every run, whatever came of the ones before it.
struct ConfiguredDetectors {
  config::Settings settings;
  std::shared_ptr<detect::DetectorSet> detectors;
};
// Null, every fault told. The clock and the context's streams outlive it.
std::unique_ptr<ConfiguredDetectors> load_to_compare(Context& context, config::Settings settings, std::size_t workers, const Clock& clock);

// The table, or the array with `json`, of detectors as they stand.
void print_detectors(std::ostream& out, const std::vector<detect::DetectorInfo>& detectors);
std::string detectors_as_json(const std::vector<detect::DetectorInfo>& detectors);

}  // namespace runwarden::cli
