#include "evidence/commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/json_scan.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongest = 2000;  // bytes; longer ones are scripts

/// The words of a command in a list, whose beginning the cursor has just read, in one text; what a shell is given to run stands for all:
/// ["bash", "-lc", "git status"]. False for a list of anything else.
bool join_words(JsonScanner& cursor, std::string& out) {
  std::vector<std::string> words;
  auto token = cursor.next();
  for (; token == Token::kString; token = cursor.next()) unescape(cursor.text(), words.emplace_back());
  if (token != Token::kArrayEnd || words.empty()) return false;
  const bool shell = words.size() == 3 && words[0].ends_with("sh") && words[1].starts_with('-') && words[1].ends_with('c');
  out.clear();
  for (std::size_t i = shell ? 2 : 0; i < words.size(); ++i) out.append(out.empty() ? "" : " ").append(words[i]);
  return true;
}

/// The text, or list of words, in an object that is the command: the only one, or that of a member that names a command beside names and
/// ids, {"host": "build-07", "cmd": "df"}. Empty when there is none, or more than one.
void only_text(std::string_view json, const CallNames& names, std::string& out) {
  constexpr std::string_view kInCommands = " \t\n;|&";
  out.clear();
  JsonScanner cursor(json);
  if (cursor.next() != Token::kObject) return;
  std::string text;
  bool named = false, alone = true;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const bool names_command = names.command_members.contains(cursor.text());
    const auto value = cursor.next();
    const bool text_value = value == Token::kString;
    if (text_value) unescape(cursor.text(), text);
    const bool list = value == Token::kArray && join_words(cursor, text);
    if (value == Token::kObject || value == Token::kBad || (value == Token::kArray && !list)) return out.clear();
    if (!text_value && !list) continue;
    if (out.empty()) {
      out.swap(text);
      named = names_command;
      continue;
    }
    alone = false;
    if (names_command) {
      if (named) return out.clear();
      named = true;
      out.swap(text);
    }
    if (text.find_first_of(kInCommands) != std::string::npos) return out.clear();
  }
  if (!alone && !named) out.clear();
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

/// The program of a command, without its folder and what the shell or `sudo` has before it; moves `command` behind it.
std::string_view next_program(std::string_view& command, const CallNames& names) {
  auto program = next_word(command);
  while (names.leading_commands.contains(program)) program = next_word(command);
  program.remove_prefix(program.rfind('/') + 1);
  return program;
}

/// True for a command that only shows what it would do.
bool is_dry_run(std::string_view command, const CallNames& names) {
  for (auto word = next_word(command); !word.empty(); word = next_word(command)) {
    if (names.dry_run_options.contains(word.substr(0, word.find('=')))) return true;
  }
  return false;
}

/// True when an option makes a program that only reads change something: "-i", and in "-i.bak", "-ni", "--in-place=.bak".
bool writes_by(std::string_view program, std::string_view option, const CallNames& names) {
  if (!option.starts_with('-')) return false;
  std::string named(program);
  const auto is_one = [&](std::string_view text) {
    named.resize(program.size());
    return names.writing_options.contains(named.append(" ").append(text));
  };
  if (is_one(option.substr(0, option.find('=')))) return true;
  if (option.starts_with("--")) return false;
  return std::any_of(option.begin() + 1, option.end(), [&](char letter) { return is_one(std::string("-") + letter); });
}

/// "git branch --show-current", "git remote": a subcommand that changes nothing as it is called here.
bool is_looking_form(std::string_view program, std::string_view command, const CallNames& names) {
  constexpr int kMostWords = 2;  // behind the program
  std::string form(program);
  for (int i = 0; i < kMostWords; ++i) {
    form.append(" ").append(next_word(command));
    if (names.looking_forms.contains(form + " ...") || (trim(command).empty() && names.looking_forms.contains(form))) return true;
  }
  return false;
}

/// One command of a pipe or list.
bool looks(std::string_view command, const CallNames& names) {
  constexpr int kMostNamed = 3;  // "aws s3 ls": the last word that can be the subcommand
  const auto program = next_program(command, names);
  if (program.empty()) return true;
  if (names.reading_commands.contains(program) || names.idle_commands.contains(program)) {
    for (auto word = next_word(command); !word.empty(); word = next_word(command)) {
      if (writes_by(program, word, names)) return false;
    }
    return true;
  }
  if (!names.commanding_programs.contains(program)) return false;
  if (is_dry_run(command, names) || is_looking_form(program, command, names)) return true;
  for (int named = 1; named < kMostNamed; ++named) {
    auto word = next_word(command);
    while (word.starts_with('-')) word = next_word(command);
    if (names.reading_subcommands.contains(word)) return true;
  }
  return false;
}

/// The text of the commands in a shell call's arguments, as only_look() takes them; empty for none, and for a script.
std::string_view commands_in(std::string_view arguments, const CallNames& names, std::string& buffer) {
  arguments = trim(arguments);
  if (looks_like_json(arguments)) {
    only_text(arguments, names, buffer);
    arguments = trim(buffer);
  }
  return arguments.size() > kLongest ? std::string_view{} : arguments;
}

/// Follows the quotes of a shell.
class Quotes {
 public:
  /// Takes the next character. True when it stands outside of quotes and for itself.
  bool bare(char c) {
    if (escaped_) return escaped_ = false;
    if (c == '\\' && open_ != '\'') {
      escaped_ = true;
    } else if (open_ != 0) {
      if (c == open_) open_ = 0;
    } else if (c == '"' || c == '\'') {
      open_ = c;
    } else {
      return true;
    }
    return false;
  }
  [[nodiscard]] bool open() const { return open_ != 0; }

 private:
  char open_ = 0;
  bool escaped_ = false;
};

/// Passes on each command of a pipe or list until one is refused. False when one was.
template <class Take>
bool each_command(std::string_view text, Take take) {
  constexpr std::string_view kBetween = ";|&\n";
  Quotes quotes;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!quotes.bare(text[at]) || kBetween.find(text[at]) == std::string_view::npos) continue;
    if (text[at] == '&' && at > 0 && text[at - 1] == '>') continue;  // "2>&1" ends no command
    if (!take(text.substr(begin, at - begin))) return false;
    begin = at + 1;
  }
  return begin == text.size() || take(text.substr(begin));
}

/// True for a text that may hide commands in a quote that is not closed, or runs others within one.
bool hides_commands(std::string_view text) {
  Quotes quotes;
  for (const char c : text) quotes.bare(c);
  return quotes.open() || text.find('`') != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

bool all_look(std::string_view text, const CallNames& names) {
  if (text.empty() || hides_commands(text) || writes_file(text)) return false;
  return each_command(text, [&](std::string_view command) { return looks(command, names); });
}

/// The program that a tool is named after, with nothing but words such as "run" beside it: "kubectl" for `run_kubectl`. Empty for none.
std::string_view program_named_by(std::string_view tool, const CallNames& names) {
  std::string_view program;
  for (std::size_t begin = 0; begin < tool.size();) {
    const auto end = std::min(tool.find_first_of("_-. :/", begin), tool.size());
    const auto word = tool.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty() || names.wrapper_words.contains(word)) continue;
    if (!program.empty() || !names.commanding_programs.contains(word)) return {};
    program = word;
  }
  return program;
}

}  // namespace

bool only_look(std::string_view arguments, const CallNames& names) {
  std::string buffer;
  return all_look(commands_in(arguments, names, buffer), names);
}

bool only_look(const StepView& call, const CallNames& names) {
  const auto program = program_named_by(call.name, names);
  if (program.empty()) return only_look(call.input, names);
  std::string buffer;
  const auto arguments = commands_in(call.input, names, buffer);
  auto rest = arguments;
  if (arguments.empty() || next_word(rest) == program) return all_look(arguments, names);
  return all_look(std::string(program).append(" ").append(arguments), names);
}

bool is_program(std::string_view tool, const CallNames& names) {
  return !program_named_by(tool, names).empty();
}

void collect_changing_commands(std::string_view arguments, const CallNames& names, std::vector<std::string>& out) {
  constexpr std::size_t kMost = 8, kOption = 2;
  out.clear();
  std::string buffer;
  each_command(commands_in(arguments, names, buffer), [&](std::string_view command) {
    if (looks(command, names)) return true;
    const auto program = next_program(command, names);
    if (!names.commanding_programs.contains(program)) return true;
    auto word = next_word(command);
    for (; word.starts_with('-'); word = next_word(command)) {
      if (word.size() == kOption) (void)next_word(command);  // "-n prod": an option and its value
    }
    out.push_back(std::string(program).append(" ").append(word));
    return out.size() < kMost;
  });
}

bool complains(std::string_view arguments, std::string_view output, const CallNames& names) {
  output = trim(output);
  const auto line = trim(output.substr(output.find_last_of("\n\r") + 1));
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos || !names.quiet_commands.contains(line.substr(0, colon))) return false;
  std::string buffer;
  return !each_command(commands_in(arguments, names, buffer), [&](std::string_view command) {
    return looks(command, names) || next_program(command, names) != line.substr(0, colon);
  });
}

}  // namespace runwarden::plugins
