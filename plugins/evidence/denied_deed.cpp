#include "evidence/denied_deed.h"

#include <algorithm>
#include <string>

#include "common/fold.h"
#include "common/json_scan.h"

namespace runwarden::plugins {

bool denies_deed(std::string_view output, std::span<const std::uint16_t> groups, const Lexicon& lexicon) {
  using Token = JsonCursor::Token;
  output = trim(output);
  if (groups.empty() || output.empty() || output[0] != '{' || output.find("alse") == std::string_view::npos) return false;
  JsonCursor cursor(output);
  if (cursor.next() != Token::kObject) return false;
  std::string word;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    if (token == Token::kBad || token == Token::kEnd) return false;
    if (token != Token::kFalse) continue;
    fold(key, word);
    const auto* entry = lexicon.find(word);
    if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormDone) == 0) continue;
    if (std::find(groups.begin(), groups.end(), lexicon.verb(entry->verb).group) != groups.end()) return true;
  }
  return false;
}

}  // namespace runwarden::plugins
