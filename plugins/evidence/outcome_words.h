#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/vocabulary.h"

namespace runwarden::plugins {

/// How answers name the outcome of a call. Member names are compared without regard to case.
struct OutcomeWords {
  std::vector<std::string> members;        // members whose text is the outcome: "status"
  std::vector<std::string> failures;       // failed outcomes: "failed", "rejected"; as a member's name: lists failures
  std::vector<std::string> refusing;       // words that say so of any outcome: "expired", not "held"
  std::vector<std::string> good;           // good outcomes: "ok"
  std::vector<std::string> waiting;        // words for outcomes that are still to come: "wait list"
  std::vector<std::string> errors;         // members present when something failed: "errors"
  std::vector<std::string> error_members;  // likewise, for the whole call: "error_code"
  std::vector<std::string> taken;          // members that say whether any call was accepted: "accepted"
  std::vector<std::string> counts;         // members that count what a call did: "rows_affected"
  std::vector<std::string> status_codes;   // members with an HTTP status: "http_status"
  std::vector<std::string> codes;          // members with a number for the outcome: "code"
  std::vector<std::string> explaining;     // members whose text explains a status: "detail"
  std::vector<std::string> reasons;        // members that say why something was not done: "reason"
  std::vector<std::string> asked;          // members that count what was asked for: "requested"
  std::vector<std::string> untroubled;     // texts of error members that tell of no error: "none"
  std::vector<std::string> content;        // members that hold what a record is about: "subject"
  std::vector<std::string> former;         // at the beginning of a member's name, it tells what was before: "previous"
  std::vector<std::string> contradicted;   // a word of the tool's name and an outcome that says the opposite: "start stopped"
  std::vector<std::string> moving;         // members whose value changes by itself: "revision"
  std::vector<std::string> denying;        // at the beginning of an outcome, they deny the deed behind them: "not_"
  std::vector<std::string> opposites;      // likewise, they make the opposite of a state: "un"
  std::vector<std::string> done_endings;   // endings of members that count what was done: "ed"
  std::vector<std::string> error_numbers;  // how members for errors begin that hold a number: "err"
  std::vector<std::string> devices;        // members that hold the state of a device: "state"

  OutcomeWords() = default;
  explicit OutcomeWords(const Vocabulary& vocabulary);
};

/// The last word of a member's name: "status" for "send_status", "Status" for "sendStatus".
[[nodiscard]] std::string_view last_word_of(std::string_view key);

/// True for a member whose text tells nothing of how this call went: it holds what a record is about or what was before, "subject",
/// "last_error".
[[nodiscard]] bool holds_content(std::string_view key, const OutcomeWords& words);

/// True for a folded outcome that is a failure, by itself or by its first or last word: "VALIDATION_FAILED".
[[nodiscard]] bool tells_failure(std::string_view outcome, const OutcomeWords& words);

/// The same for words that say so of any outcome.
[[nodiscard]] bool refuses(std::string_view outcome, const OutcomeWords& words);

}  // namespace runwarden::plugins
