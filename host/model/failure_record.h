// A failure as it is stored, with the latest review of it. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/record_key.h"
#include "model/verdict.h"

namespace runwarden::model {

// A person's latest review. Of a failure: right, false_alarm or unsure. Of a run: missed (the detector missed something) or clean.
enum class ReviewVerdict : std::uint8_t { none, right, false_alarm, unsure, missed, clean };

struct FailureRecord {
  std::string id;  // fail_...; encodes its key, see failure_id()
  RecordKey key;   // time of detection
  RecordKey run;   // the run it was found in; filled in by the store
  std::string detector_key;
  Severity severity = Severity::medium;
  int score = 0;
  std::string fingerprint;
  std::string json;     // the Failure object, exactly as answered
  bool shadow = false;  // from a shadow detector: not counted, and listed only separately
  std::string title;    // of the JSON, cut at kMostTitleBytes
  std::int64_t waste_micro_usd = 0;
  std::int64_t executed_ms = kNotExecuted;       // when its run executed: its startedAt, otherwise its receipt
  bool grouped = false;                          // counted in its group; false if an older version wrote it
  std::uint64_t summary_mark = 0;                // distinguishes summaries, see summary_mark(); 0: written by an older version without it
  ReviewVerdict reviewed = ReviewVerdict::none;  // false alarms stay stored and listed, but are not counted
  std::string review;                            // the JSON of that review, when the failure is read from a store; empty: none

  bool is_false_alarm() const { return reviewed == ReviewVerdict::false_alarm; }
};
constexpr std::size_t kMostTitleBytes = 300;

}  // namespace runwarden::model
