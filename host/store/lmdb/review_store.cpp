#include "store/lmdb/review_store.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "store/lmdb/reviews.h"
#include "store/review_codec.h"

namespace runwarden::store {

template <class Use>
auto LmdbReviewStore::reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
  std::optional<decltype(use(std::declval<const Txn&>()))> result;
  parts_.reading([&] {
    const ReadTxn txn = parts_.env.read();
    result.emplace(use(static_cast<const Txn&>(txn)));
  });
  return std::move(*result);
}

std::vector<model::Review> LmdbReviewStore::reviews_of_run(model::TenantId tenant, const model::RecordKey& run) {
  return reading([&](const Txn& txn) { return store::reviews_of_run(txn, parts_.tables, tenant, run); });
}

std::vector<std::vector<model::Review>> LmdbReviewStore::reviews_of_runs(model::TenantId tenant, std::span<const model::RecordKey> runs) {
  return reading([&](const Txn& txn) {
    std::vector<std::vector<model::Review>> reviews(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      try {
        reviews[i] = store::reviews_of_run(txn, parts_.tables, tenant, runs[i]);
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    return reviews;
  });
}

std::vector<model::Review> LmdbReviewStore::review_history(model::TenantId tenant, const model::RecordKey& run,
                                                           const std::string& failure_id, const Range& range) {
  return reading([&](const Txn& txn) {
    model::Review subject;
    subject.run = run;
    subject.failure_id = failure_id;
    // The reviews of a run have a subject for each detector.
    const KeyBytes prefix = failure_id.empty() ? review_run_prefix(tenant, run) : review_subject_prefix(tenant, subject);
    std::vector<model::RecordKey> places;
    Cursor cursor(txn, parts_.tables.review_index.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      const model::RecordKey at{read_time(cursor.key(), kReviewSubjectKeyBytes), read_be(cursor.key(), kReviewSubjectKeyBytes + 8, 8)};
      const bool in_range = at.time_ms >= range.since_ms && at.time_ms < range.before_ms;
      if (in_range && (!range.after || at < *range.after)) places.push_back(at);
    }
    std::sort(places.begin(), places.end(), std::greater<>());
    std::vector<model::Review> history;
    for (std::size_t i = 0; i < places.size() && history.size() < range.limit; ++i) {
      try {
        auto review = read_review_at(txn, parts_.tables, tenant, places[i]);
        if (review && review->failure_id == failure_id) history.push_back(std::move(*review));
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    return history;
  });
}

std::vector<ReviewedVersion> LmdbReviewStore::review_counts(model::TenantId tenant, std::int64_t since_ms) {
  return reading([&](const Txn& txn) {
    std::map<std::tuple<std::string, std::string, std::string>, model::ReviewCounts> sums;
    const Table& table = parts_.tables.review_index;
    model::Review since;
    since.key.time_ms = since_ms;
    const KeyBytes from = review_day_key(tenant, since);
    const std::string prefix(from.view().substr(0, 5));
    Cursor cursor(txn, table.handle);
    bool more = cursor.at_or_after(from.view().substr(0, 9));
    for (; more && cursor.key().starts_with(prefix); more = cursor.next()) {
      try {
        const ReviewedVersion day = decoded(table, cursor.key(), [&] { return decode_review_counts(cursor.key(), cursor.value()); });
        sums[{day.detector_key, day.detector_version, day.settings_hash}] += day.counts;
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
    }
    std::vector<ReviewedVersion> versions;
    versions.reserve(sums.size());
    for (const auto& [of, counts] : sums) versions.push_back({std::get<0>(of), std::get<1>(of), std::get<2>(of), counts});
    return versions;
  });
}

std::vector<ReviewedRun> LmdbReviewStore::reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after,
                                                        std::size_t most) {
  return reading([&](const Txn& txn) {
    std::vector<ReviewedRun> runs;
    const KeyBytes prefix = KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(ReviewPart::subject));
    KeyBytes from = prefix;
    if (after) from = review_run_prefix(tenant, {after->time_ms, after->seq + 1});
    Cursor cursor(txn, parts_.tables.review_index.handle);
    bool more = cursor.at_or_after(from);
    while (more && cursor.key().starts_with(prefix.view()) && runs.size() < most) {
      const model::RecordKey run{read_time(cursor.key(), 5), read_be(cursor.key(), 13, 8)};
      runs.push_back({run, {}});
      try {
        runs.back().reviews = store::reviews_of_run(txn, parts_.tables, tenant, run);
      } catch (const StoreError& bad) {
        if (parts_.on_unreadable) parts_.on_unreadable(bad.what());
      }
      more = cursor.at_or_after(review_run_prefix(tenant, {run.time_ms, run.seq + 1}));
    }
    return runs;
  });
}

}  // namespace runwarden::store
