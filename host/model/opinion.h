// What a model is asked about a run, and what it said: the second opinion on a candidate, or on an alarm. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/records.h"

namespace runwarden::model {

// `waiting`: not answered yet. `dead`: no answer came, and the question is not asked again.
enum class OpinionState : std::uint8_t { waiting, confirmed, denied, unclear, dead };

const char* name(OpinionState state);
std::optional<OpinionState> opinion_state(std::string_view text);

// One question about one detector and one revision of a run, kept from the commit that stored the run.
struct Opinion {
  RecordKey key;   // time of detection
  std::string id;  // cand_...: spells its key
  RecordKey run;   // of the run it is about
  std::string run_id;
  std::uint32_t revision = 1;  // of the run
  std::string detector_key;
  std::string detector_version;  // of the library that judged the run; empty: not known
  std::string settings_hash;     // likewise
  std::string rule;              // that kept the candidate below the firing line; empty for an alarm
  std::string reason;            // what that rule said, or the alarm's summary
  std::string primary_step_id;   // empty: it is about the whole run
  std::optional<double> confidence;  // of the detector, 0 to 1; nothing: it told none
  std::string failure_id;        // the alarm it is about, or the failure that a confirmed candidate has become; empty: none
  bool of_alarm = false;         // else of a candidate

  OpinionState state = OpinionState::waiting;
  std::uint32_t attempts = 0;
  std::int64_t due_ms = 0;   // waiting: the next attempt; claimed: when it may be claimed again
  std::uint64_t token = 0;   // which claim it is under; 0: none
  std::string last_error;    // of the last attempt; a short text; empty: none
  std::string review;        // JSON of what the model said (see review.h); empty: nothing yet
};

// {"candidateId", "runId", "detectorKey", "rule", "reason", "confidence", "primaryStepId", "state", "review"}, what is not known left out;
// with "failureId" where it has become a failure, and "attempts" and "lastError" where the last attempt failed.
std::string candidate_json(const Opinion& opinion);

// The failure that a confirmed candidate becomes has this as its `confirmedBy`, and a review of it as its author: "model:" and the name.
std::string opinion_author(std::string_view model);

}  // namespace runwarden::model
