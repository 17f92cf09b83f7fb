// A question for a model about a run, and its answer: the second opinion on a candidate or an alarm. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::model {

// `waiting`: not answered yet. `dead`: no answer came, and the question is not asked again.
enum class OpinionState : std::uint8_t { waiting, confirmed, denied, unclear, dead };

const char* name(OpinionState state);
std::optional<OpinionState> opinion_state(std::string_view text);

// One question about one detector and one revision of a run, stored in the commit that stores the run.
struct Opinion {
  RecordKey key;   // time of detection
  std::string id;  // cand_...; encodes its key
  RecordKey run;   // the run it is about
  std::string run_id;
  std::uint32_t revision = 1;  // of the run
  std::string detector_key;
  std::string detector_version;  // of the library that judged the run; empty: not known
  std::string settings_hash;     // likewise
  std::string rule;              // the rule that kept the candidate below the firing line; empty for an alarm
  std::string reason;            // that rule's reason, or the alarm's summary
  std::string primary_step_id;   // empty: it is about the whole run
  std::optional<double> confidence;  // the detector's, 0 to 1; nothing: it reported none
  std::string failure_id;            // the alarm it is about, or the failure that a confirmed candidate became; empty: none
  bool of_alarm = false;             // false: of a candidate

  OpinionState state = OpinionState::waiting;
  std::uint32_t attempts = 0;
  std::int64_t due_ms = 0;   // waiting: the next attempt; claimed: when it may be claimed again
  std::uint64_t token = 0;   // the current claim; 0: none
  std::string last_error;    // of the last attempt; a short text; empty: none
  std::string review;        // JSON of the model's answer (see review.h); empty: none yet
};

// {"candidateId", "runId", "detectorKey", "rule", "reason", "confidence", "primaryStepId", "state", "review"}; unknown members are omitted.
// Adds "failureId" if it became a failure, and "attempts" and "lastError" if the last attempt failed.
std::string candidate_json(const Opinion& opinion);

// The `confirmedBy` of the failure that a confirmed candidate becomes, and the author of a model's review: "model:" plus the name.
std::string opinion_author(std::string_view model);
// Whether a review's author is a model.
bool is_by_model(std::string_view author);

}  // namespace runwarden::model
