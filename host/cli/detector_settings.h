// The --settings of the commands that try one detector file. [main] only.
#pragma once

#include <string>

#include "cli/context.h"
#include "config/yaml_tree.h"

namespace runwarden::cli {

// For a detector that could not be created without settings.
constexpr const char* kSettingsHint = "no settings were given; if it needs some, give them with --settings FILE";

// `wanted`: JSON or YAML text of a mapping, or the name of a file; a drop-in file provides its settings. Null, after a message, if they
// are none.
config::NodePtr read_detector_settings(Context& context, const std::string& wanted);

// The same as the JSON text that a detector is given; nothing, told, if they are none.
std::optional<std::string> detector_settings_json(Context& context, const std::string& wanted);

}  // namespace runwarden::cli
