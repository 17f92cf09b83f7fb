#include "evidence/denied_deed.h"

#include <algorithm>

#include "common/fold.h"
#include "common/json_scan.h"

namespace runwarden::plugins {
namespace {

using Token = JsonCursor::Token;

// Members that say of any call whether it was taken; `"paid": false` of a new order only tells its state.
constexpr std::string_view kTaken[] = {"accepted", "applied", "executed", "succeeded", "successful", "saved", "ack", "acknowledged"};
// Members that are there where the call failed.
constexpr std::string_view kErrors[] = {"err", "error_code", "errorcode", "error_message", "errormessage", "exception", "fault"};
// Members whose text says how the call went.
constexpr std::string_view kOutcomes[] = {"status", "state", "result", "outcome", "decision"};

class Answer {
 public:
  Answer(std::span<const std::uint16_t> groups, const DenyingWords& words, const Lexicon& lexicon)
      : groups_(groups), words_(words), lexicon_(lexicon) {}

  /// Whether a member says that the deed was not done.
  bool denies(std::string_view key, Token token, std::string_view value) {
    if (token == Token::kFalse) return among(key, kTaken) || is_own_deed(key);
    if (token == Token::kString && (among(key, kErrors) || among(key, words_.errors))) return !trim(value).empty();
    return token == Token::kString && among(key, kOutcomes) && among(value, words_.failed_statuses) && !is_own_deed(value);
  }

 private:
  bool is_own_deed(std::string_view participle) {
    fold(participle, word_);
    const auto* entry = lexicon_.find(word_);
    if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormDone) == 0) return false;
    return std::find(groups_.begin(), groups_.end(), lexicon_.verb(entry->verb).group) != groups_.end();
  }

  std::span<const std::uint16_t> groups_;
  const DenyingWords& words_;
  const Lexicon& lexicon_;
  std::string word_;
};

}  // namespace

bool denies_deed(std::string_view output, std::span<const std::uint16_t> groups, const DenyingWords& words, const Lexicon& lexicon) {
  output = trim(output);
  if (output.empty() || output[0] != '{') return false;
  JsonCursor cursor(output);
  if (cursor.next() != Token::kObject) return false;
  Answer answer(groups, words, lexicon);
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    if (token == Token::kArray && among(key, kTaken)) {  // "accepted": []
      if (cursor.next() == Token::kArrayEnd) return true;
      while (cursor.depth() > 1) {
        if (!cursor.leave()) return false;
      }
      continue;
    }
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    if (token == Token::kBad || token == Token::kEnd) return false;
    if (answer.denies(key, token, token == Token::kString ? cursor.text() : std::string_view{})) return true;
  }
  return false;
}

}  // namespace runwarden::plugins
