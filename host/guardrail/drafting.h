// Makes a draft from what a detector said of a run and from the run. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guardrail/draft.h"
#include "model/run.h"

namespace runwarden::guardrail {

// What a draft is made of: read from one failure, widened by others of its group.
struct Facts {
  std::string detector_key;
  std::vector<std::string> tools;  // of the call that failed, gave nothing or was repeated; empty: any
  CallOutcome outcome = CallOutcome::any;
  bool last = true;      // the latest call of these tools has that outcome
  std::string step;      // what the call is named in texts
  std::string reported;  // what it gave, in short
  std::vector<std::string> request_words;
  std::vector<std::string> reply_words;
  std::vector<std::string> admissions;  // words with which a reply owns up to it
  std::int64_t digits = 0;
  std::string verb;                     // what was to be done
  std::vector<std::string> tool_words;  // by which a tool's name tells that it does it
  std::int64_t repeats = 0;
  struct Window {
    std::string model;
    std::int64_t tokens = 0;
    bool operator==(const Window&) const = default;
  };
  std::vector<Window> windows;  // that were exceeded
};

// `failure`: the Failure as answered; `run`: the run that it was found in. conflict: there is no draft for that detector, or the failure
// does not tell enough for one.
Result<Facts> read_facts(std::string_view failure, const model::Run& run);

Draft draft_of(const Facts& facts);

// The draft of a failure, made wide enough to catch its run where that can be.
Result<Facts> facts_that_catch(std::string_view failure, const model::Run& run);

// Adds what another failure of the group tells. Words and tools to a bound, the smaller numbers.
void widen(Facts& facts, const Facts& other);

}  // namespace runwarden::guardrail
