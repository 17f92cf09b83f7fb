// The outcome of an answered question: what to store. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/opinion.h"
#include "model/opinion_prompt.h"
#include "model/review.h"
#include "model/run.h"
#include "opinion/answer.h"
#include "store/review_writes.h"

namespace runwarden::opinion {

struct OutcomeSettings {
  std::string model;
  bool may_confirm = true;   // a candidate becomes a failure
  bool may_silence = false;  // an alarm may be marked false_alarm
};

// Alarms with a higher confidence, or whose detector reported none, are never marked as false.
constexpr double kMostSilencedConfidence = 0.9;

struct AnsweredOpinion {
  model::TenantId tenant = 0;
  model::Opinion opinion;  // as claimed, with the token
  const model::OpinionPrompt& prompt;
  std::string prompt_version;                      // model::prompt_version()
  ParsedAnswer answer;                             // with checked quotes
  std::int64_t elapsed_ms = 0;                     // of the request
  std::int64_t executed_ms = model::kNotExecuted;  // of the run's record
  std::string cluster_id;  // of an alarm's failure: model::cluster_id() of its fingerprint; empty for a shadow detector
  std::vector<model::Review> reviews = {};  // of the run, in force
};

// Keys for what is stored with it: a new seq for the failure and a new key for the review.
struct OutcomeKeys {
  model::RecordKey review;  // time: now
  std::uint64_t failure_seq = 0;
};

// The updated candidate or alarm, with its review, and the failure of a confirmed candidate.
store::OpinionWrite outcome_of(AnsweredOpinion answered, const model::Run& run, const OutcomeSettings& settings, const OutcomeKeys& keys);

}  // namespace runwarden::opinion
