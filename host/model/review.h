// What people, or a model, say of a failure that was found, or of a run in which a detector found nothing. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/records.h"

namespace runwarden::model {

// Of a failure the first three, of a run the other two, as a client may say it.
std::optional<ReviewVerdict> review_verdict(std::string_view name);
const char* name(ReviewVerdict verdict);  // "none" of a review that was taken back
inline bool is_of_failure(ReviewVerdict verdict) {
  return verdict == ReviewVerdict::right || verdict == ReviewVerdict::false_alarm || verdict == ReviewVerdict::unsure;
}
inline bool is_of_run(ReviewVerdict verdict) {
  return verdict == ReviewVerdict::missed || verdict == ReviewVerdict::clean;
}

// One review. The last one of a subject counts; the others are its history.
struct Review {
  RecordKey key;  // when it was
  RecordKey run;  // that it is about, or whose failure
  std::string run_id;
  std::uint32_t revision = 1;  // of the run
  std::string failure_id;      // empty: it is about what was not found in the run
  std::string cluster_id;      // of the failure's group; empty: none
  std::string detector_key;
  std::string detector_version;  // of the library that judged the run; empty: not known
  std::string settings_hash;     // likewise
  ReviewVerdict verdict = ReviewVerdict::none;
  std::string author;    // name of the API key; of a model opinion_author() (opinion.h)
  std::string document;  // the JSON text of it, as kept and answered; see write_document()
};

// {"detector", "verdict", "note", "author", "at"}: the detector of a run's review only, the note where there is one. Taken back, the
// verdict is null. Made once, when the review is taken in; everything that shows or proves the review uses this text.
std::string write_document(const Review& review, std::string_view note);

// What a model answered about a run.
struct ModelAnswer {
  std::string opinion;  // "present", "absent" or "unclear"
  std::string reason;
  std::string evidence_json = "[]";  // [{"pointer", "quote"}]
  std::string prompt_version;
  std::uint64_t tokens = 0;  // of prompt and answer
  std::int64_t elapsed_ms = 0;
};
// The same of a model's review: {"detector", "verdict", "opinion", "reason", "evidence", "author", "at", "promptVersion", "tokens",
// "milliseconds"}.
std::string write_document(const Review& review, const ModelAnswer& answer);

// Two reviews of one subject have the same text here: the failure's id, or the detector's key for what was not found in the run.
std::string review_subject(const Review& review);

// How many subjects have which verdict, by the last review of each.
struct ReviewCounts {
  std::uint64_t right = 0;
  std::uint64_t false_alarm = 0;
  std::uint64_t unsure = 0;
  std::uint64_t missed = 0;
  std::uint64_t clean = 0;

  std::uint64_t& of(ReviewVerdict verdict);  // not of none
  std::uint64_t all() const { return right + false_alarm + unsure + missed + clean; }
  ReviewCounts& operator+=(const ReviewCounts& other);
  bool operator==(const ReviewCounts&) const = default;
};

}  // namespace runwarden::model
