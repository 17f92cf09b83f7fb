#include "webhooks/rising_groups.h"
#include "support/sample_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runwarden::webhooks {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr std::uint64_t kFailures = 8;

// One group, all of whose failures came just before its last. What nobody asks for here is empty.
class OneGroup : public store::GroupStore {
 public:
  enum class Away { no, groups, counts };

  model::Cluster group;
  std::uint64_t commit = 1;
  Away away = Away::no;

  std::uint64_t last_commit(model::TenantId) override { return commit; }
  void visit_clusters(model::TenantId, const std::function<void(const model::Cluster&)>& visit) override {
    if (away == Away::groups) throw store::StoreAway("the database cannot be reached");
    visit(group);
  }
  std::uint64_t count_failures_of(model::TenantId, const store::Subject&, const store::Span& span) override {
    if (away == Away::counts) throw store::StoreAway("the database cannot be reached");
    return group.last_ms >= span.from_ms && group.last_ms < span.before_ms ? group.count : 0;
  }

  store::GroupTotals group_totals(model::TenantId) override { return {}; }
  std::optional<model::Cluster> find_cluster(model::TenantId, std::string_view) override { return {}; }
  std::vector<model::FailureRecord> first_failures(model::TenantId, const model::ClusterKey&, std::size_t) override { return {}; }
  std::uint64_t count_affected(model::TenantId, const store::Subject&, const store::Span&) override { return 0; }
  std::uint64_t count_all_runs(model::TenantId, const store::Span&) override { return 0; }
  std::vector<store::DimensionRow> dimension_values(model::TenantId, const std::optional<store::Span>&, std::size_t) override { return {}; }
  std::uint64_t count_runs_with(model::TenantId, const model::Dimension&, const store::Span&) override { return 0; }
  std::uint64_t count_affected_with(model::TenantId, const store::Subject&, const model::Dimension&, const store::Span&) override { return 0; }
  std::vector<std::uint64_t> most_affected_with(model::TenantId, std::span<const model::ClusterKey>, const model::Dimension&,
                                                const store::Span&) override {
    return {};
  }
  std::optional<model::RecordKey> first_run_with(model::TenantId, const model::Dimension&) override { return {}; }
  std::optional<store::AffectedRuns> runs_just_before(model::TenantId, const model::RecordKey&, std::size_t) override { return {}; }
  std::vector<std::uint64_t> failure_buckets(model::TenantId, const store::Subject&, const store::Span&, const TimeBuckets&) override { return {}; }
  std::vector<std::uint64_t> run_buckets(model::TenantId, const store::Span&, const TimeBuckets&) override { return {}; }
  std::vector<model::TriageEntry> triage_history(model::TenantId, const model::ClusterKey&, const store::Range&) override { return {}; }
  store::Page<model::RunRecord> cluster_runs(model::TenantId, const model::ClusterKey&, const store::RunQuery&) override { return {}; }
  store::ChangeMarks change_marks(model::TenantId, const store::Span&, std::size_t) override { return {}; }
  store::TailPage tail(model::TenantId, std::uint64_t, std::size_t) override { return {}; }
  bool build(std::size_t) override { return false; }
};

class RisingGroupsTest : public ::testing::Test {
 protected:
  RisingGroupsTest() {
    store_.group.count = kFailures;
    store_.group.last_ms = kNow - 2 * kMinute;
  }

  OneGroup store_;
  RisingGroups groups_{store_};
};

TEST_F(RisingGroupsTest, AreFoundOnce_UntilThereIsAnotherFailure) {
  EXPECT_THAT(groups_.look(kTenant, kNow), ElementsAre(store_.group.key));
  EXPECT_THAT(groups_.look(kTenant, kNow + 5 * kMinute), IsEmpty()) << "no commit";
  ++store_.commit;
  EXPECT_THAT(groups_.look(kTenant, kNow + 10 * kMinute), IsEmpty()) << "of something else";
  ++store_.commit;
  store_.group.last_ms = kNow + 12 * kMinute;
  EXPECT_THAT(groups_.look(kTenant, kNow + 15 * kMinute), ElementsAre(store_.group.key));
}

TEST_F(RisingGroupsTest, StoreThatIsAway_IsAskedForTheSameAtTheNextLook) {
  for (const OneGroup::Away away : {OneGroup::Away::groups, OneGroup::Away::counts}) {
    ++store_.commit;
    store_.group.last_ms += 10 * kMinute;
    const std::int64_t now_ms = store_.group.last_ms + kMinute;
    store_.away = away;
    EXPECT_THROW(groups_.look(kTenant, now_ms), store::StoreAway);
    store_.away = OneGroup::Away::no;
    EXPECT_THAT(groups_.look(kTenant, now_ms + 5 * kMinute), ElementsAre(store_.group.key));
  }
}

TEST_F(RisingGroupsTest, Forgotten_AreFoundAgainWithoutACommit) {
  EXPECT_THAT(groups_.look(kTenant, kNow), ElementsAre(store_.group.key));
  groups_.forget(kTenant);
  EXPECT_THAT(groups_.look(kTenant, kNow + 5 * kMinute), ElementsAre(store_.group.key));
}

}  // namespace
}  // namespace runwarden::webhooks
