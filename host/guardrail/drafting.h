// Makes a draft from a detector's failure and the run it was found in. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guardrail/draft.h"
#include "model/run.h"

namespace runwarden::guardrail {

// The input for a draft: read from one failure, widened by others of its group.
struct Facts {
  std::string detector_key;
  std::vector<std::string> tools;  // that failed, returned nothing or were repeated; empty: any
  CallOutcome outcome = CallOutcome::any;
  bool last = true;      // the latest call of these tools must have that outcome
  std::string step;      // how texts name the call
  std::string reported;  // what the call returned, shortened
  std::vector<std::string> request_words;
  std::vector<std::string> reply_words;
  bool words_claim = false;           // the reply words claim something; otherwise they only say what the reply is about
  std::uint32_t languages = 0;        // of the replies, one bit each
  std::vector<std::string> admitted;  // admissions that the replies contain in spite of what they claim
  std::int64_t digits = 0;
  std::string verb;                     // what the agent should have done
  std::vector<std::string> tool_words;  // words in the names of tools that do it
  std::int64_t repeats = 0;
  struct Window {
    std::string model;
    std::int64_t tokens = 0;
    bool operator==(const Window&) const = default;
  };
  std::vector<Window> windows;  // those that were exceeded
};

// `failure`: the Failure as the API returns it; `run`: the run it was found in. conflict: that detector has no drafts, or the failure lacks
// the details for one.
Result<Facts> read_facts(std::string_view failure, const model::Run& run);

Draft draft_of(const Facts& facts);

// The facts of a failure, widened as needed for the draft to catch its run. Unchanged if widening does not help.
Result<Facts> facts_that_catch(std::string_view failure, const model::Run& run);

// Merges the facts of another failure of the group: adds its words and tools up to a limit, and takes the smaller numbers.
void widen(Facts& facts, const Facts& other);

}  // namespace runwarden::guardrail
