// An option whose value is a list of names with commas between them. CLI11's own delimiter drops empty elements, so that `--scopes ingest,`,
// perhaps with a variable that the caller's script did not set, would pass. [main] only.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace runwarden::cli {

// `names` has the default, and outlives the command. If the option is given more than once, its lists are joined.
CLI::Option* add_list_option(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                             const std::vector<std::string>& allowed);

}  // namespace runwarden::cli
