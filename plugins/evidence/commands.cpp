#include "evidence/commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/fold.h"
#include "common/json_scan.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongest = 2000;  // bytes; longer ones are scripts

/// The only text in an object; empty when there is none, or more than one.
std::string_view only_text(std::string_view json) {
  JsonScanner cursor(json);
  if (cursor.next() != Token::kObject) return {};
  std::string_view text;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto value = cursor.next();
    if (value == Token::kObject || value == Token::kArray || value == Token::kBad) return {};
    if (value != Token::kString) continue;
    if (!text.empty()) return {};
    text = cursor.text();
  }
  return text;
}

/// True for "> file"; not for "2>&1" and "2> /dev/null".
bool writes_file(std::string_view command) {
  for (auto at = command.find('>'); at != std::string_view::npos; at = command.find('>', at + 1)) {
    const auto target = trim(command.substr(at + 1));
    if (!target.starts_with("&1") && !target.starts_with("&2") && !target.starts_with("/dev/null")) return true;
  }
  return false;
}

std::string_view next_word(std::string_view& command) {
  command = trim(command);
  const auto end = std::min(command.find_first_of(" \t"), command.size());
  const auto word = command.substr(0, end);
  command.remove_prefix(end);
  return word;
}

/// One command of a pipe or list.
bool looks(std::string_view command, const CallNames& names) {
  constexpr int kMostNamed = 3;  // "aws s3 ls": where the subcommand stands at the latest
  auto program = next_word(command);
  if (program.empty()) return true;
  program.remove_prefix(program.rfind('/') + 1);
  if (names.reading_commands.contains(program) || names.idle_commands.contains(program)) {
    for (auto word = next_word(command); !word.empty(); word = next_word(command)) {
      if (names.writing_options.contains(word)) return false;
    }
    return true;
  }
  if (!names.commanding_programs.contains(program)) return false;
  for (int named = 1; named < kMostNamed; ++named) {
    auto word = next_word(command);
    while (word.starts_with('-')) word = next_word(command);
    if (names.reading_subcommands.contains(word)) return true;
  }
  return false;
}

}  // namespace

bool only_look(std::string_view arguments, const CallNames& names) {
  arguments = trim(arguments);
  std::string buffer;
  if (looks_like_json(arguments)) {
    unescape(only_text(arguments), buffer);
    arguments = trim(buffer);
  }
  if (arguments.empty() || arguments.size() > kLongest) return false;
  if (arguments.find('`') != std::string_view::npos || arguments.find("$(") != std::string_view::npos || writes_file(arguments)) return false;
  constexpr std::string_view kBetween = ";|&\n";
  while (!arguments.empty()) {
    auto end = arguments.find_first_of(kBetween);
    // "2>&1" ends no command.
    while (end != std::string_view::npos && end > 0 && arguments[end] == '&' && arguments[end - 1] == '>')
      end = arguments.find_first_of(kBetween, end + 1);
    if (!looks(arguments.substr(0, end), names)) return false;
    arguments.remove_prefix(end == std::string_view::npos ? arguments.size() : end + 1);
  }
  return true;
}

}  // namespace runwarden::plugins
