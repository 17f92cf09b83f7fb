#include "cli/list_option.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace runwarden::cli {
namespace {

std::vector<std::string> elements_of(std::string_view list) {
  std::vector<std::string> elements;
  for (;;) {
    const auto comma = list.find(',');
    elements.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return elements;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

CLI::Option* add_list_option(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                             const std::vector<std::string>& allowed) {
  const std::string choices = CLI::detail::join(allowed, ",");
  const auto check = [allowed, choices](const std::string& list) {
    const auto elements = elements_of(list);
    const bool good = std::all_of(elements.begin(), elements.end(), [&allowed](const std::string& one) {
      return std::find(allowed.begin(), allowed.end(), one) != allowed.end();
    });
    return good ? std::string() : "expected one or more of " + choices + ", with commas between them, got \"" + list + "\"";
  };
  const auto assign = [&names](const std::vector<std::string>& lists) {
    names.clear();
    for (const std::string& list : lists) {
      for (std::string& one : elements_of(list)) names.push_back(std::move(one));
    }
  };
  return command.add_option_function<std::vector<std::string>>(option, assign)
      ->allow_extra_args(false)
      ->check(CLI::Validator(check, "{" + choices + "}"));
}

}  // namespace runwarden::cli
