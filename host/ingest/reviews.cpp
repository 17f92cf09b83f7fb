#include "ingest/reviews.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "base/json_members.h"
#include "model/record_ids.h"

namespace runwarden::ingest {
namespace {

// Adds a `review` member to an object.
std::string with_review(std::string object, std::string_view document) {
  object.pop_back();
  if (object.size() > 1) object += ',';
  return object.append("\"review\":").append(document) += '}';
}

// The array with each review's document added to the element that it is about.
std::string reviewed_elements(const std::string& array,
                              const std::function<const model::Review*(const std::vector<JsonMember>& element)>& find) {
  std::string text;
  JsonWriter out(text);
  out.begin_array();
  for (std::string& element : cut_json_elements(array)) {
    const model::Review* const review = find(json_members(element));
    out.raw(review == nullptr ? element : with_review(std::move(element), review->document));
  }
  out.end_array();
  return text;
}

void write_counts(JsonWriter& out, const model::ReviewCounts& counts) {
  out.key("right")
      .integer(static_cast<std::int64_t>(counts.right))
      .key("falseAlarm")
      .integer(static_cast<std::int64_t>(counts.false_alarm));
  out.key("missed").integer(static_cast<std::int64_t>(counts.missed)).key("precision");
  const auto precision = precision_of(counts);
  if (!precision) return static_cast<void>(out.null());
  out.begin_object()
      .key("value")
      .number(precision->value)
      .key("low")
      .number(precision->low)
      .key("high")
      .number(precision->high)
      .end_object();
}

}  // namespace

std::string shown_failure(const model::FailureRecord& failure) {
  return failure.review.empty() ? failure.json : with_review(failure.json, failure.review);
}

void show_confirmed(model::RunRecord& run, std::span<const model::FailureRecord> failures) {
  if (failures.empty()) return;
  const auto score_of = [](std::string_view failure) {
    return std::atoi(std::string(json_member_view(failure, "suspicionScore").value_or("")).c_str());
  };
  const auto merge = [&](std::string& array) {
    std::vector<std::string> elements = cut_json_elements(array);
    for (const model::FailureRecord& failure : failures) elements.push_back(failure.json);
    std::stable_sort(elements.begin(), elements.end(), [&](const std::string& a, const std::string& b) { return score_of(a) > score_of(b); });
    array.clear();
    JsonWriter out(array);
    out.begin_array();
    for (const std::string& element : elements) out.raw(element);
    out.end_array();
  };
  if (!run.failures_json.empty()) merge(run.failures_json);
  if (run.outline && !run.outline->failures.empty()) merge(run.outline->failures);
}

bool is_of_what_was_not_found(const model::Review& review, const model::RunRecord& run) {
  return review.failure_id.empty() && review.revision <= run.revision &&
         std::find(run.fired.begin(), run.fired.end(), review.detector_key) == run.fired.end();
}

void show_reviews(model::RunRecord& run, std::span<const model::Review> reviews) {
  using Members = std::vector<JsonMember>;
  const auto of_failure = [&](const Members& failure) -> const model::Review* {
    const std::string id = json_member_text(failure, "failureId");
    for (const model::Review& review : reviews) {
      if (!id.empty() && review.failure_id == id) return &review;
    }
    return nullptr;
  };
  const auto of_detector = [&](const Members& detector) -> const model::Review* {
    const std::string key = json_member_text(detector, "key");
    for (const model::Review& review : reviews) {
      if (review.detector_key == key && is_of_what_was_not_found(review, run)) return &review;
    }
    return nullptr;
  };
  if (reviews.empty()) return;
  const auto show = [&](std::string& failures, std::string& detectors) {
    if (!failures.empty()) failures = reviewed_elements(failures, of_failure);
    if (!detectors.empty()) detectors = reviewed_elements(detectors, of_detector);
  };
  show(run.failures_json, run.detectors_json);
  if (run.outline) show(run.outline->failures, run.outline->detectors);
}

void show_later_words(model::RunRecord& run, model::TenantId tenant, store::RunStore& runs, store::ReviewStore& reviews) {
  show_later_words(run, tenant, runs, reviews.reviews_of_run(tenant, run.key));
}

void show_later_words(model::RunRecord& run, model::TenantId tenant, store::RunStore& runs, std::span<const model::Review> reviews) {
  std::vector<model::FailureRecord> confirmed;
  for (const model::RecordKey& key : run.confirmed) {
    if (auto failure = runs.find_failure(tenant, model::make_failure_id(key))) confirmed.push_back(std::move(*failure));
  }
  show_confirmed(run, confirmed);
  show_reviews(run, reviews);
}

void show_later_words(std::span<std::optional<model::RunRecord>> of, std::span<const model::RecordKey> keys, model::TenantId tenant,
                      store::RunStore& runs, store::ReviewStore& reviews) {
  std::vector<model::RecordKey> confirmed;
  for (const auto& run : of) {
    if (run) confirmed.insert(confirmed.end(), run->confirmed.begin(), run->confirmed.end());
  }
  auto failures = runs.failures_at(tenant, confirmed);
  const auto said = reviews.reviews_of_runs(tenant, keys);
  auto next = failures.begin();
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (!of[i]) continue;
    std::vector<model::FailureRecord> own;
    for (std::size_t left = of[i]->confirmed.size(); left > 0; --left, ++next) {
      if (*next) own.push_back(std::move(**next));
    }
    show_confirmed(*of[i], own);
    show_reviews(*of[i], said[i]);
  }
}

std::optional<Interval> precision_of(const model::ReviewCounts& counts) {
  const std::uint64_t judged = counts.right + counts.false_alarm;
  if (judged < kFewestReviews) return std::nullopt;
  return share_of({counts.right, judged});
}

void write_review_counts(JsonWriter& out, std::string_view detector, const std::vector<store::ReviewedVersion>& versions) {
  model::ReviewCounts all;
  for (const store::ReviewedVersion& one : versions) {
    if (one.detector_key == detector) all += one.counts;
  }
  out.begin_object().key("window").string(std::to_string(kReviewWindowDays) + "d");
  write_counts(out, all);
  out.key("byVersion").begin_array();
  for (const store::ReviewedVersion& one : versions) {
    if (one.detector_key != detector) continue;
    out.begin_object().key("detectorVersion").string(one.detector_version).key("settingsHash").string(one.settings_hash);
    write_counts(out, one.counts);
    out.end_object();
  }
  out.end_array().end_object();
}

}  // namespace runwarden::ingest
