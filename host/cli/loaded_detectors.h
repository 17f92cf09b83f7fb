// The detectors of a configuration, loaded for a command as the service would load them. One thread.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "cli/context.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

// Libraries are copied into memory, so that a command leaves no files behind. Detectors' log lines from level warn up go to `err`. The set
// uses the machine's clock, and the context's streams as long as it lives; the settings only while it is loaded.
detect::LoadContext load_context(Context& context, const config::Settings& settings, std::size_t workers);

// The set, or all its faults, one per line. From here on, the command goes on in a child process (cli/command_process.h), which a detector
// may end: it is named on standard error.
Result<std::shared_ptr<detect::DetectorSet>> try_detectors(Context& context, const config::Settings& settings, std::size_t workers);
// The same, after the warnings about detectors; null on failure, after reporting every fault.
std::shared_ptr<detect::DetectorSet> load_detectors(Context& context, const config::Settings& settings, std::size_t workers);

// A configuration with its detectors. They judge every run: none is quarantined after failures.
struct ConfiguredDetectors {
  config::Settings settings;
  std::shared_ptr<detect::DetectorSet> detectors;
};
// Null on failure, after reporting every fault.
std::unique_ptr<ConfiguredDetectors> load_to_compare(Context& context, config::Settings settings, std::size_t workers);

// Prints detectors with their states as a table.
void print_detectors(std::ostream& out, const std::vector<detect::DetectorInfo>& detectors);
std::string detectors_as_json(const std::vector<detect::DetectorInfo>& detectors);

}  // namespace runwarden::cli
