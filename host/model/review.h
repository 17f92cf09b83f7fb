// Reviews by people or a model: of a failure, or of a run in which a detector found nothing. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/failure_record.h"
#include "model/record_key.h"

namespace runwarden::model {

// The verdict with that name, if a client may give it: right, false_alarm or unsure of a failure, missed or clean of a run.
std::optional<ReviewVerdict> review_verdict(std::string_view name);
const char* name(ReviewVerdict verdict);  // "none" for a review that was taken back
inline bool is_of_failure(ReviewVerdict verdict) {
  return verdict == ReviewVerdict::right || verdict == ReviewVerdict::false_alarm || verdict == ReviewVerdict::unsure;
}
inline bool is_of_run(ReviewVerdict verdict) {
  return verdict == ReviewVerdict::missed || verdict == ReviewVerdict::clean;
}

// One review. The latest for a subject counts; earlier ones are its history.
struct Review {
  RecordKey key;  // time of the review
  RecordKey run;  // the run it is about, or the failure's run
  std::string run_id;
  std::uint32_t revision = 1;  // of the run
  std::string failure_id;      // empty: it is about something not found in the run
  std::string cluster_id;      // of the failure's group; empty: none
  bool of_candidate = false;   // the detector had not found the failure: a model had confirmed what it nearly reported
  std::string detector_key;
  std::string detector_version;  // of the library that judged the run; empty: not known
  std::string settings_hash;     // likewise
  ReviewVerdict verdict = ReviewVerdict::none;
  std::string author;    // name of the API key, or opinion_author() for a model (opinion.h)
  std::string document;  // its JSON text, as stored and answered; see write_document()
};

// {"detector", "verdict", "note", "author", "at"}: the detector only for a review of a run, the note only if there is one. The verdict is
// null if it was taken back. Made once, when the review arrives; everything that shows or proves the review uses this text.
std::string write_document(const Review& review, std::string_view note);

// A model's answer about a run.
struct ModelAnswer {
  std::string opinion;  // "present", "absent" or "unclear"
  std::string reason;
  std::string evidence_json = "[]";  // [{"pointer", "quote"}]
  std::string prompt_version;
  std::uint64_t tokens = 0;  // prompt plus answer
  std::int64_t elapsed_ms = 0;
};
// The same for a model's review: {"detector", "verdict", "opinion", "reason", "evidence", "author", "at", "promptVersion", "tokens",
// "milliseconds"}.
std::string write_document(const Review& review, const ModelAnswer& answer);

// Equal for reviews of the same subject: the failure's id, or the detector's key for something not found in the run.
std::string review_subject(const Review& review);

// The verdict that it gives on the detector, which is silent about what a model confirms: it missed what is right, and was right about the
// rest.
ReviewVerdict counted_verdict(const Review& review);

// How many subjects have each verdict, by the latest review of each.
struct ReviewCounts {
  std::uint64_t right = 0;
  std::uint64_t false_alarm = 0;
  std::uint64_t unsure = 0;
  std::uint64_t missed = 0;
  std::uint64_t clean = 0;

  std::uint64_t& of(ReviewVerdict verdict);  // not for none
  std::uint64_t all() const { return right + false_alarm + unsure + missed + clean; }
  ReviewCounts& operator+=(const ReviewCounts& other);
  bool operator==(const ReviewCounts&) const = default;
};

}  // namespace runwarden::model
