#pragma once

#include <string>
#include <vector>

#include "common/vocabulary.h"

namespace runwarden::plugins {

/// How answers name what came of a call. Names of members are compared without regard to case.
struct OutcomeWords {
  std::vector<std::string> members;        // whose text says it: "status"
  std::vector<std::string> failures;       // such texts: "failed", "rejected"; as a member's name: what failed
  std::vector<std::string> good;           // such texts: "ok"
  std::vector<std::string> waiting;        // words in such texts, for what is not done yet: "wait list"
  std::vector<std::string> errors;         // members that are there where something failed: "errors"
  std::vector<std::string> error_members;  // likewise, of the whole call: "error_code"
  std::vector<std::string> taken;          // that say of any call whether it was taken: "accepted"
  std::vector<std::string> counts;         // that count what a call did: "rows_affected"
  std::vector<std::string> status_codes;   // whose number is an HTTP status: "http_status"
  std::vector<std::string> moving;         // whose value changes by itself: "revision"

  OutcomeWords() = default;
  explicit OutcomeWords(const Vocabulary& vocabulary);
};

}  // namespace runwarden::plugins
