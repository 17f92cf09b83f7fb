// What LMDB counts of reviews, against a walk over its rows; and what commands do to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "store/record_codec.h"
#include "store/review_codec.h"
#include "unit/store/maintenance_store.h"
#include "unit/store/random_reviews.h"
#include "unit/store/sample_reviews.h"

namespace runwarden::store {
namespace {

using model::ReviewVerdict;

class ReviewCounts : public MaintenanceTest {
 protected:
  // By a walk over the rows themselves.
  std::map<std::string, model::ReviewCounts> naive_counts(model::TenantId tenant) {
    const Rows all = rows(path_);
    std::map<std::string, model::Review> last;
    if (const auto table = all.find("reviews"); table != all.end()) {
      for (const auto& [key, value] : table->second) {
        if (tenant_of(key) != tenant) continue;
        const model::Review review = decode_review(key, value);
        model::Review& known =
            last[std::to_string(review.run.time_ms) + "/" + std::to_string(review.run.seq) + "/" + review_subject(review)];
        if (known.key <= review.key) known = review;
      }
    }
    std::map<std::string, model::ReviewCounts> counts;
    for (const auto& [subject, review] : last) {
      if (review.verdict != ReviewVerdict::none) ++counts[review.detector_key].of(model::counted_verdict(review));
    }
    return counts;
  }
};

TEST_F(ReviewCounts, AgreeWithTheRecords_AfterReviewsDeletionsRestarts_ExportAndImport) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    path_ = folder_.path() / ("store" + std::to_string(seed));
    auto store = open(path_);
    model::KeyRecord key;
    key.id = "key";
    key.tenant_name = "acme";
    const model::TenantId tenant = store->put_key(key).tenant;
    RandomReviews random{clock_, [this] { return open(path_); }};
    for (int part = 0; part < 4; ++part) {
      random.run(store, tenant, seed * 10 + static_cast<unsigned>(part), 60);
      random.expect_as_counted(*store, tenant);
    }
    const auto told = told_counts(*store, tenant);
    EXPECT_FALSE(told.empty());
    store.reset();
    EXPECT_EQ(told, naive_counts(tenant));
    expect_good(path_);
    const std::filesystem::path target = folder_.path() / ("target" + std::to_string(seed));
    open(target);
    const auto imported = import_lines(maintenance(target), lines_of(exported()));
    ASSERT_TRUE(imported.ok()) << imported.error().detail;
    EXPECT_EQ(imported->conflicts, 0U);
    expect_good(target);
    const auto there = open(target);
    random.expect_as_counted(*there, 1);
    EXPECT_EQ(told_counts(*there, 1), told);
  }
}

TEST_F(ReviewCounts, ImportBesideOtherReviews_TheLastOneCounts) {
  std::string text;
  const std::filesystem::path target = folder_.path() / "target";
  std::string id;
  {
    auto store = open(path_);
    model::KeyRecord key;
    key.id = "key";
    key.tenant_name = "acme";
    const model::TenantId tenant = store->put_key(key).tenant;
    RunWrite write = sample_run(tenant, new_key(*store));
    write.failures = {failure_with(new_key(*store), "a", "s")};
    id = write.failures.front().id;
    commit(*store, std::move(write));
    store.reset();
    open(target);
    ASSERT_TRUE(import_lines(maintenance(target), lines_of(exported())).ok());
    store = open(path_);
    commit(*store,
           ReviewWrite{tenant, {review_of(new_key(*store), *store->find_failure(tenant, id), ReviewVerdict::false_alarm)}, std::nullopt});
    store.reset();
    auto there = open(target);
    commit(*there, ReviewWrite{1, {review_of(new_key(*there), *there->find_failure(1, id), ReviewVerdict::right)}, std::nullopt});
  }
  text = exported();
  auto imported = import_lines(maintenance(target), lines_of(text));
  ASSERT_TRUE(imported.ok()) << imported.error().detail;
  EXPECT_EQ(imported->conflicts, 0U);
  EXPECT_EQ(imported->stored["review"], 1U);
  EXPECT_EQ(open(target)->find_failure(1, id)->reviewed, ReviewVerdict::right) << "said later than what was imported";
  imported = import_lines(maintenance(target), lines_of(text));
  EXPECT_EQ(imported->conflicts, 0U) << "the failure that stands there has a review, and is the same";
  EXPECT_EQ(imported->stored.count("review"), 0U);
  expect_good(target);
}

TEST_F(ReviewCounts, Verify_FindsACountThatIsWrong_AndAFailureThatSaysOtherwise) {
  fill();
  expect_good(path_);
  tamper(path_, "review_index", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    cursor.last();
    ReviewedVersion version = decode_review_counts(cursor.key(), cursor.value());
    ++version.counts.right;
    const std::string key(cursor.key());
    txn.put(in.handle, key, encode_review_counts(key, version));
  });
  tamper(path_, "failures", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) {
      const std::string key(cursor.key());
      model::FailureRecord failure = decode_failure(key, cursor.value());
      if (failure.reviewed != ReviewVerdict::false_alarm) continue;
      failure.reviewed = ReviewVerdict::right;
      return txn.put(in.handle, key, encode_failure(key, failure));
    }
  });
  const auto verified = verify(maintenance(path_));
  ASSERT_TRUE(verified.ok());
  std::set<std::string> tables;
  for (const StoreFault& fault : verified->first_ones) tables.insert(fault.table);
  EXPECT_TRUE(tables.contains("review_index"));
  EXPECT_TRUE(tables.contains("failures"));
}

TEST_F(ReviewCounts, Purge_TakesAllOfIt) {
  fill();
  PurgeQuery query;
  query.tenant = "acme";
  const auto counted = count_purge(maintenance(), query);
  const auto purged = purge(maintenance(), query);
  ASSERT_TRUE(counted.ok() && purged.ok());
  EXPECT_GT(purged->gone.reviews, 0U);
  EXPECT_EQ(counted->reviews, purged->gone.reviews);
  const Rows left = rows(path_);
  for (const char* table : {"reviews", "review_index"}) EXPECT_EQ(left.count(table), 0U) << table;
  expect_good(path_);
}

}  // namespace
}  // namespace runwarden::store
