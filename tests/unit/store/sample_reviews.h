// Reviews for the store's tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "unit/store/sample_records.h"

namespace runwarden::store {

inline model::FailureRecord failure_with(const model::RecordKey& key, const std::string& fingerprint, const std::string& summary,
                                         const std::string& detector = "false_success") {
  model::FailureRecord record = sample_failure(key, detector, 90, fingerprint);
  record.json = R"({"failureId":")" + record.id + R"(","title":"title of )" + fingerprint + R"(","summary":")" + summary +
                R"(","estimatedWasteUsd":0.25})";
  return record;
}

inline model::Review review_of(const model::RecordKey& key, const model::FailureRecord& failure, model::ReviewVerdict verdict,
                               const std::string& note = "") {
  model::Review review;
  review.key = key;
  review.run = failure.run;
  review.run_id = "a run";
  review.failure_id = failure.id;
  review.cluster_id = model::cluster_id(model::cluster_key(failure.fingerprint));
  review.detector_key = failure.detector_key;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, note);
  return review;
}

inline model::Review review_of_run(const model::RecordKey& key, const model::RecordKey& run, const std::string& detector,
                                   model::ReviewVerdict verdict) {
  model::Review review;
  review.key = key;
  review.run = run;
  review.run_id = "a run";
  review.detector_key = detector;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, "");
  return review;
}

inline std::map<std::string, model::ReviewCounts> told_counts(Store& store, model::TenantId tenant) {
  std::map<std::string, model::ReviewCounts> counts;
  for (const ReviewedVersion& one : store.reviews().review_counts(tenant, 0)) counts[one.detector_key] += one.counts;
  return counts;
}

// Random runs, reviews, deletions and restarts, and a count of the records themselves.
struct RandomReviews {
  test::FakeClock& clock;
  std::function<std::unique_ptr<Store>()> open;

  static constexpr std::int64_t kHour = 3'600'000;
  static constexpr std::int64_t kDay = 24 * kHour;

  model::RecordKey new_key(Store& store) const {
    clock.advance_ms(7);
    return {clock.wall_ms(), store.next_seq()};
  }
  void run(std::unique_ptr<Store>& store, model::TenantId tenant, unsigned seed, int steps) {
    std::mt19937 random(seed);
    std::vector<model::FailureRecord> made;
    std::vector<model::RecordKey> runs;
    for (int i = 0; i < steps; ++i) {
      clock.advance_ms(static_cast<std::int64_t>(random() % (6 * kHour)));
      const unsigned what = random() % 20;
      if (what < 8 || made.empty()) {
        RunWrite write = sample_run(tenant, new_key(*store));
        write.run.dimensions = {{"version", random() % 2 == 0 ? "1" : "2"}};
        for (unsigned n = random() % 4; n > 0; --n) {
          write.failures.push_back(failure_with(new_key(*store), std::string(1, static_cast<char>('a' + random() % 3)),
                                                "summary " + std::to_string(random() % 4), random() % 2 == 0 ? "d1" : "d2"));
          write.failures.back().shadow = random() % 10 == 0;
          made.push_back(write.failures.back());
        }
        runs.push_back(write.run.key);
        test::commit(*store, std::move(write));
      } else if (what < 17) {
        const auto found = store->find_failure(tenant, made[random() % made.size()].id);
        if (!found) continue;
        const model::ReviewVerdict verdict = std::array{model::ReviewVerdict::none, model::ReviewVerdict::right, model::ReviewVerdict::false_alarm,
                                                 model::ReviewVerdict::false_alarm, model::ReviewVerdict::unsure}[random() % 5];
        test::commit(*store, ReviewWrite{tenant, {review_of(new_key(*store), *found, verdict)}, std::nullopt});
      } else if (what < 18) {
        const auto verdict = random() % 2 == 0 ? model::ReviewVerdict::missed : model::ReviewVerdict::clean;
        test::commit(*store, ReviewWrite{tenant, {review_of_run(new_key(*store), runs[random() % runs.size()], "d3", verdict)}, std::nullopt});
      } else if (what < 19) {
        Retention retention;
        retention.failures_before_ms = clock.wall_ms() - 20 * kDay;
        retention.runs_before_ms = clock.wall_ms() - 25 * kDay;
        retention.changes_before_ms = clock.wall_ms() - 30 * kDay;
        while (store->expire(retention, 5).more) {
        }
      } else {
        store.reset();
        store = open();
      }
    }
  }

  void expect_as_counted(Store& store, model::TenantId tenant) const {
    FailureQuery query;
    query.range.limit = 100'000;
    RunQuery run_query;
    run_query.range.limit = 100'000;
    std::set<model::RecordKey> runs;
    for (const auto& one : store.runs(tenant, run_query).items) runs.insert(one.key);
    std::map<std::string, std::uint64_t> count;
    std::map<std::string, std::uint64_t> of_detector;
    std::map<std::string, std::set<model::RecordKey>> affected;
    std::set<model::RecordKey> any;
    for (const auto& one : store.failures(tenant, query).items) {
      if (one.reviewed == model::ReviewVerdict::false_alarm) continue;
      ++count[one.fingerprint];
      ++of_detector[one.detector_key];
      if (!runs.contains(one.run)) continue;
      affected[one.fingerprint].insert(one.run);
      any.insert(one.run);
    }
    const Span all{clock.wall_ms() - 300 * kDay, clock.wall_ms() + 1};
    GroupStore& groups = store.groups();
    for (const std::string fingerprint : {"a", "b", "c"}) {
      const auto found = groups.find_cluster(tenant, model::cluster_id(model::cluster_key(fingerprint)));
      EXPECT_EQ(found ? found->count : 0, count[fingerprint]) << fingerprint;
      EXPECT_EQ(groups.count_affected(tenant, Subject::of_cluster(model::cluster_key(fingerprint)), all), affected[fingerprint].size())
          << fingerprint;
      EXPECT_EQ(store.count_failures(tenant, fingerprint, kBeginningMs, kEndMs), count[fingerprint]) << fingerprint;
    }
    for (const std::string detector : {"d1", "d2"}) {
      EXPECT_EQ(groups.count_failures_of(tenant, Subject::of_detector(detector), all), of_detector[detector]) << detector;
    }
    EXPECT_EQ(groups.count_affected(tenant, Subject::any(), all), any.size());
  }
};

}  // namespace runwarden::store
