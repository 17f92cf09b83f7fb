#include "evidence/unrecorded.h"

#include <algorithm>
#include <vector>

#include "common/json_scan.h"
#include "common/recovery.h"
#include "common/sql.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

bool ends_like_picture(std::string_view name, const CallNames& names) {
  return std::any_of(names.picture_endings.begin(), names.picture_endings.end(), [&](const auto& ending) {
    return name.size() > ending.size() && equal_ignoring_case(name.substr(name.size() - ending.size()), ending);
  });
}

/// True for JSON with a number: {"width": 1860} tells of a picture, and does not show it.
bool tells_figures(std::string_view output) {
  JsonScanner cursor(trim(output));
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token == JsonScanner::Token::kNumber) return true;
  }
  return false;
}

/// True when a command of the line only arranges things or redirects its output into a file.
bool is_quiet(std::string_view command, const CallNames& names) {
  command = trim(command);
  if (command.empty()) return true;
  // "select ... where n > 5" compares.
  if (statement_of(command) == Statement::kQuery) return false;
  auto program = command.substr(0, command.find_first_of(" \t"));
  const auto redirect = command.find('>');
  if (redirect != std::string_view::npos && redirect > 0 && command[redirect - 1] != '2' && command.find('&', redirect) != redirect + 1)
    return true;
  program.remove_prefix(program.rfind('/') == std::string_view::npos ? 0 : program.rfind('/') + 1);
  return names.quiet_commands.contains(program);
}

/// The command in the input: the text itself, or the JSON member that holds it.
std::string_view command_of(std::string_view input, const CallNames& names) {
  if (!looks_like_json(input)) return input;
  std::vector<CallValue> values;
  collect_values(input, names, values);
  for (const auto& value : values) {
    if (names.command_members.contains(value.key)) return value.text;
  }
  return {};
}

}  // namespace

bool shows_picture(const StepView& step, const CallNames& names) {
  constexpr std::size_t kNote = 160;
  constexpr std::size_t kMost = 8;
  if (step.outcome == Outcome::kFailed || step.output.size() > kNote || tells_figures(step.output)) return false;
  if (std::none_of(names.picture_endings.begin(), names.picture_endings.end(),
                   [&](const auto& ending) { return step.input.find(ending) != std::string_view::npos; }))
    return false;
  std::vector<std::string_view> files;
  collect_artifacts(step.input, kMost, files);
  return std::any_of(files.begin(), files.end(), [&](std::string_view file) { return ends_like_picture(file, names); });
}

bool prints_nothing_by_design(std::string_view input, const CallNames& names) {
  const auto command = command_of(input, names);
  if (trim(command).empty()) return false;
  for (std::size_t begin = 0; begin < command.size();) {
    const auto end = std::min({command.find_first_of(";|\n", begin), command.find("&&", begin), command.size()});
    if (!is_quiet(command.substr(begin, end - begin), names)) return false;
    begin = end + (command.substr(end).starts_with("&&") ? 2 : 1);
  }
  return true;
}

}  // namespace runwarden::plugins
