#include "unit/store/random_reviews.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/record_ids.h"
#include "support/commit_together.h"
#include "unit/store/sample_reviews.h"

namespace runwarden::store {

model::RecordKey RandomReviews::new_key(Store& store) const {
  clock.advance_ms(7);
  return {clock.wall_ms(), store.next_seq()};
}

namespace {

constexpr std::int64_t kLeaseMs = 3'600'000;

// A write that ends the next revision of the run; nothing if the run has gone.
std::optional<RunWrite> next_revision(Store& store, model::TenantId tenant, const model::RecordKey& run, const model::RecordKey& at) {
  const auto stored = store.run_at(tenant, run);
  if (!stored) return std::nullopt;
  EventsWrite more;
  more.tenant = tenant;
  more.key = at;
  more.run_id = stored->run_id;
  more.events = {{model::make_run_id(at), "{}"}};
  more.final = true;
  test::commit(store, more);
  const auto claim = store.claim_run(tenant, run, model::Resolution::final, kLeaseMs);
  if (!claim) return std::nullopt;
  RunWrite write = sample_run(tenant, run, more.run_id);
  write.run.revision = claim->revision;
  write.claim = claim;
  return write;
}

}  // namespace

void RandomReviews::run(std::unique_ptr<Store>& store, model::TenantId tenant, unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<model::FailureRecord> made;
  std::vector<model::RecordKey> runs;
  // Most of what earlier revisions had is found again, some of it with another summary.
  const auto revise = [&] {
    auto write = next_revision(*store, tenant, runs[random() % runs.size()], new_key(*store));
    if (!write) return;
    write->run.dimensions = {{"version", random() % 2 == 0 ? "1" : "2"}};
    for (const EarlierFailure& earlier : store->fetch(*write->claim).failures) {
      const auto known = std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.key == earlier.key; });
      ASSERT_NE(known, made.end());
      EXPECT_EQ(known->detector_key, earlier.detector_key);
      EXPECT_EQ(known->shadow, earlier.shadow);
      if (random() % 4 == 0) continue;
      write->failures.push_back(
          failure_with(earlier.key, known->fingerprint, "summary " + std::to_string(random() % 4), earlier.detector_key));
      write->failures.back().shadow = earlier.shadow;
    }
    test::commit(*store, std::move(*write));
  };
  for (int i = 0; i < steps; ++i) {
    clock.advance_ms(static_cast<std::int64_t>(random() % (6 * kHour)));
    const unsigned what = random() % 23;
    if (what >= 20 && !runs.empty()) {
      revise();
      continue;
    }
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
      const model::ReviewVerdict verdict =
          std::array{model::ReviewVerdict::none, model::ReviewVerdict::right, model::ReviewVerdict::false_alarm,
                     model::ReviewVerdict::false_alarm, model::ReviewVerdict::unsure}[random() % 5];
      model::Review review = review_of(new_key(*store), *found, verdict);
      review.of_candidate = random() % 4 == 0;
      test::commit(*store, ReviewWrite{tenant, {std::move(review)}, std::nullopt});
    } else if (what < 18) {
      const auto verdict = random() % 2 == 0 ? model::ReviewVerdict::missed : model::ReviewVerdict::clean;
      test::commit(*store,
                   ReviewWrite{tenant, {review_of_run(new_key(*store), runs[random() % runs.size()], "d3", verdict)}, std::nullopt});
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

void RandomReviews::expect_as_counted(Store& store, model::TenantId tenant) const {
  FailureQuery query;
  query.range.limit = 100'000;
  RunQuery run_query;
  run_query.range.limit = 100'000;
  std::set<model::RecordKey> runs;
  for (const auto& one : store.runs(tenant, run_query).items) runs.insert(one.key);
  std::map<std::string, std::uint64_t> count;
  std::map<std::string, std::int64_t> first_ms;
  std::map<std::string, std::int64_t> last_ms;
  std::map<std::string, std::uint64_t> of_detector;
  std::map<std::string, std::set<model::RecordKey>> affected;
  std::set<model::RecordKey> any;
  for (const auto& one : store.failures(tenant, query).items) {
    if (one.reviewed == model::ReviewVerdict::false_alarm) continue;
    ++count[one.fingerprint];
    first_ms[one.fingerprint] = one.key.time_ms;  // listed newest first
    last_ms.try_emplace(one.fingerprint, one.key.time_ms);
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
    if (found && found->count > 0) {
      EXPECT_LE(found->first_ms, first_ms[fingerprint]) << fingerprint;
      EXPECT_EQ(found->last_ms, last_ms[fingerprint]) << fingerprint;
    }
    EXPECT_EQ(groups.count_affected(tenant, Subject::of_cluster(model::cluster_key(fingerprint)), all), affected[fingerprint].size())
        << fingerprint;
    EXPECT_EQ(store.count_failures(tenant, fingerprint, kBeginningMs, kEndMs), count[fingerprint]) << fingerprint;
  }
  for (const std::string detector : {"d1", "d2"}) {
    EXPECT_EQ(groups.count_failures_of(tenant, Subject::of_detector(detector), all), of_detector[detector]) << detector;
  }
  EXPECT_EQ(groups.count_affected(tenant, Subject::any(), all), any.size());
}

}  // namespace runwarden::store
