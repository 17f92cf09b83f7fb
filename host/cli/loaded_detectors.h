// The detectors of a configuration, loaded for a command as the service would load them. One thread.
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "cli/context.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

// Libraries are copied into memory, so that a command leaves no files behind. Detectors' log lines from level warn up go to `err`.
detect::LoadContext load_context(Context& context, const config::Settings& settings, std::size_t workers, const Clock& clock);

// Null on failure, after reporting every fault. Context, settings and clock must outlive the set.
std::shared_ptr<detect::DetectorSet> load_detectors(Context& context, const config::Settings& settings, std::size_t workers,
                                                    const Clock& clock);

// A configuration with its detectors. They judge every run: none is quarantined after failures.
struct ConfiguredDetectors {
  config::Settings settings;
  std::shared_ptr<detect::DetectorSet> detectors;
};
// Null on failure, after reporting every fault. The clock and the context's streams must outlive the result.
std::unique_ptr<ConfiguredDetectors> load_to_compare(Context& context, config::Settings settings, std::size_t workers, const Clock& clock);

// Prints detectors with their states as a table.
void print_detectors(std::ostream& out, const std::vector<detect::DetectorInfo>& detectors);
std::string detectors_as_json(const std::vector<detect::DetectorInfo>& detectors);

}  // namespace runwarden::cli
