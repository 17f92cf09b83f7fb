#include "evidence/wrapped_call.h"

#include <algorithm>
#include <cstdint>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

/// What the name of a tool says about its arguments.
enum class Wrapper : std::uint8_t { kNone, kCalls, kOrders };

Wrapper wrapper_of(std::string_view name, const CallNames& names) {
  constexpr std::size_t kLongest = 24;
  const auto base = base_name(name);
  if (base.size() > kLongest) return Wrapper::kNone;
  bool calls = false, orders = false;
  std::size_t at = 0;
  for (auto word = next_tool_word(base, at); !word.empty(); word = next_tool_word(base, at)) {
    const bool ordering = names.ordering_words.contains(word);
    if (!ordering && !names.wrapper_words.contains(word)) return Wrapper::kNone;
    (ordering ? orders : calls) = true;
  }
  return orders ? Wrapper::kOrders : calls ? Wrapper::kCalls : Wrapper::kNone;
}

struct Inner {
  std::string_view name;
  std::string_view input;
};

/// Reads the first level of an object: one member names a tool, another holds its arguments.
Inner inner_call(std::string_view input, const CallNames& members) {
  Inner inner;
  JsonScanner cursor(input);
  if (cursor.next() != Token::kObject) return {};
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    const bool names = members.wrapped_name_members.contains(key);
    const bool holds = members.wrapped_argument_members.contains(key);
    token = cursor.next();
    const auto begin = cursor.offset() - 1;
    if (names && inner.name.empty() && token == Token::kString && !cursor.escaped()) inner.name = cursor.text();
    if (token == Token::kObject || token == Token::kArray) {
      const bool object = token == Token::kObject;
      if (!cursor.leave()) return {};
      if (holds && object) inner.input = input.substr(begin, cursor.offset() - begin);
    } else if (token == Token::kBad || token == Token::kEnd) {
      return {};
    }
  }
  return inner;
}

/// The only member of an object, if it is a text without escapes; the input itself, if it is no JSON.
std::string_view only_text(std::string_view input, const CallNames& names) {
  if (!looks_like_json(input)) return input;
  JsonScanner cursor(input);
  if (cursor.next() != Token::kObject || cursor.next() != Token::kKey || !names.ordering_members.contains(cursor.text())) return {};
  if (cursor.next() != Token::kString || cursor.escaped()) return {};
  const auto text = cursor.text();
  return cursor.next() == Token::kObjectEnd ? text : std::string_view{};
}

/// An order in words, "take spoon 1 from drawer 8": its first word names the call, the rest tells what it is about. Nothing for a command
/// line or code.
Inner ordered_call(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  text = trim(text);
  const auto plain = [](char c) { return is_letter_or_digit(c) || std::string_view(" _-',./").find(c) != std::string_view::npos; };
  if (text.size() > kLongest || !std::all_of(text.begin(), text.end(), plain) || text.find(" /") != std::string_view::npos) return {};
  const auto end = std::min(text.find(' '), text.size());
  const auto verb = text.substr(0, end);
  if (verb.empty() || !std::all_of(verb.begin(), verb.end(), [](char c) { return is_letter(c) || c == '_'; })) return {};
  return {verb, trim(text.substr(end))};
}

}  // namespace

void unwrap_calls(RunView& run, const CallNames& names) {
  std::string_view known;  // runs often call one wrapper many times
  auto wraps = Wrapper::kNone;
  for (auto& step : run.steps) {
    if (step.kind != Kind::kTool) continue;
    if (step.name != known || known.data() == nullptr) {
      known = step.name;
      wraps = wrapper_of(known, names);
    }
    if (wraps == Wrapper::kNone) continue;
    run.pace(step.input.size());
    const auto input = trim(step.input);
    auto inner = looks_like_json(input) ? inner_call(input, names) : Inner{};
    const bool calls = !trim(inner.name).empty() && !inner.input.empty();
    if (!calls) inner = wraps == Wrapper::kOrders ? ordered_call(only_text(input, names)) : Inner{};
    if (trim(inner.name).empty()) continue;
    step.name = trim(inner.name);
    step.input = inner.input;
  }
}

}  // namespace runwarden::plugins
