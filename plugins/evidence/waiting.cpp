#include "evidence/waiting.h"

#include <algorithm>
#include <vector>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kDeepest = 2;          // objects within each other
constexpr std::size_t kLongestWaiting = 40;  // bytes of a text that names an outcome

/// True when one of the words is in the text, between blanks or signs.
bool names_waiting(std::string_view text, const OutcomeWords& words) {
  std::vector<std::string> parts;
  split_tool_name(text, parts);
  std::string spaced = " ";
  for (const auto& part : parts) spaced.append(part).append(" ");
  return std::any_of(words.waiting.begin(), words.waiting.end(),
                     [&](const auto& word) { return spaced.find(" " + word + " ") != std::string::npos; });
}

}  // namespace

bool is_waiting(const StepView& call, const OutcomeWords& words) {
  JsonScanner cursor(trim(call.output));
  if (cursor.next() != Token::kObject) return false;
  std::string_view key;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    const bool closed = token == Token::kArray || (token == Token::kObject && cursor.depth() > kDeepest);
    if (closed && !cursor.leave()) return false;
    if (token != Token::kString || cursor.text().size() > kLongestWaiting || !among(last_word_of(key), words.members)) continue;
    if (call.input.find(cursor.text()) == std::string_view::npos && names_waiting(cursor.text(), words)) return true;
  }
  return false;
}

bool tells_waiting(std::string_view message, const OutcomeWords& words) {
  std::string folded;
  fold(message, folded);
  return names_waiting(folded, words);
}

}  // namespace runwarden::plugins
