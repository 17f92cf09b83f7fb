#include "ops/ignore_expiry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/lmdb/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/sample_values.h"
#include "support/temp_folder.h"
#include "unit/store/sample_records.h"

namespace runwarden::ops {
namespace {

using ::testing::ElementsAre;

class IgnoreExpiryTest : public ::testing::Test {
 protected:
  IgnoreExpiryTest() {
    store::LmdbSettings settings;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    store_ = std::move(*store::open_lmdb(settings, guard_));
    model::KeyRecord key;
    key.id = "key_1";
    key.tenant_name = "acme";
    tenant_ = store_->put_key(key).tenant;
    expiry_ = std::make_unique<IgnoreExpiry>(IgnoreExpiry::Parts{.store = *store_,
                                                                 .queue = *store_,
                                                                 .clock = guard_,
                                                                 .post = [](const std::function<void()>& work) { work(); },
                                                                 .log = [](LogLevel, std::string_view, LogFields) {}});
  }

  void fail(const std::string& fingerprint) {
    const auto key = [&] { return model::RecordKey{clock_.wall_ms(), store_->next_seq()}; };
    store::RunWrite write = store::sample_run(tenant_, key());
    write.failures = {store::sample_failure(key(), "false_success", 95, fingerprint)};
    test::commit(*store_, std::move(write));
  }
  void ignore(const std::string& fingerprint, const model::IgnoreUntil& until) {
    store::TriageWrite write;
    write.tenant = tenant_;
    write.cluster = model::cluster_key(fingerprint);
    write.entry.key = {clock_.wall_ms(), store_->next_seq()};
    write.entry.action = model::TriageAction::ignore;
    write.entry.until = until;
    test::commit(*store_, std::move(write));
  }
  // A round, and what it has written.
  void round() {
    clock_.advance_ms(kMinute);
    expiry_->start_due();
    fail("another");  // committed after what was queued before
  }
  std::vector<std::string> history(const std::string& fingerprint) {
    std::vector<std::string> actions;
    for (const auto& one : store_->groups().triage_history(tenant_, model::cluster_key(fingerprint), {}))
      actions.emplace_back(name(one.action));
    return actions;
  }

  test::TempFolder folder_;
  test::FakeClock clock_;
  ClockGuard guard_{clock_};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<IgnoreExpiry> expiry_;
  model::TenantId tenant_ = 0;
};

TEST_F(IgnoreExpiryTest, IgnoreWhoseTimeHasPassed_IsEndedOnce) {
  fail("a");
  ignore("a", {.at_ms = clock_.wall_ms() + 90'000, .failures = {}, .share = {}});
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore"));
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended", "ignore"));
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended", "ignore"));
}

TEST_F(IgnoreExpiryTest, IgnoreWhoseShareIsReached_IsEnded_AndOthersStay) {
  fail("a");
  ignore("a", {.at_ms = {}, .failures = {}, .share = 0.9});
  fail("b");
  ignore("b", {.at_ms = {}, .failures = 100, .share = {}});
  for (int i = 0; i < 17; ++i) fail("a");
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore")) << "nineteen runs";
  ignore("a", {.at_ms = {}, .failures = {}, .share = 0.5});
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended", "ignore", "ignore"));
  EXPECT_THAT(history("b"), ElementsAre("ignore"));
}

TEST_F(IgnoreExpiryTest, ClockInDoubt_EndsNothing) {
  fail("a");
  ignore("a", {.at_ms = clock_.wall_ms() + 30'000, .failures = {}, .share = {}});
  clock_.set_wall_ms(clock_.wall_ms() + kDay);
  ASSERT_TRUE(guard_.in_doubt());
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore"));
  guard_.accept();
  round();
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended", "ignore"));
}

}  // namespace
}  // namespace runwarden::ops
