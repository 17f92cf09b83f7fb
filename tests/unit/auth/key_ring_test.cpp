#include "auth/key_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/fake_clock.h"

namespace runwarden::auth {
namespace {

// The keys of a store, as another process would change them under the ring.
class Keys {
 public:
  void put(model::KeyRecord record) {
    const std::lock_guard lock(mutex_);
    std::erase_if(records_, [&](const auto& held) { return held.id == record.id; });
    records_.push_back(std::move(record));
    ++version_;
  }
  KeySource source() {
    return {[this] {
              const std::lock_guard lock(mutex_);
              ++loads;
              return records_;
            },
            [this] {
              const std::lock_guard lock(mutex_);
              return version_;
            }};
  }
  std::atomic<int> loads = 0;

 private:
  std::mutex mutex_;
  std::vector<model::KeyRecord> records_;
  std::uint64_t version_ = 7;
};

model::KeyRecord record_of(const std::string& id, const std::string& key) {
  model::KeyRecord record;
  record.id = id;
  record.tenant = 3;
  record.tenant_name = "acme";
  record.name = "ci";
  record.may_ingest = true;
  record.digest = digest_of(key);
  return record;
}

struct RingTest : testing::Test {
  test::FakeClock clock;
  Keys keys;
  KeyRing ring{keys.source(), clock};
};

TEST_F(RingTest, AKeyKnownByItsId_IsLookedUpAnewEachTime) {
  keys.put(record_of("key_1", "rw_a_b"));
  const auto principal = ring.admit_id("key_1", Scope::ingest);
  ASSERT_TRUE(principal.ok());
  EXPECT_EQ(principal->tenant_name, "acme");
  EXPECT_EQ(ring.admit_id("key_1", Scope::read).error().code, Code::forbidden);
  EXPECT_EQ(ring.admit_id("key_2", Scope::ingest).error().code, Code::unauthorized);
  auto revoked = record_of("key_1", "rw_a_b");
  revoked.revoked_at_once = true;
  keys.put(revoked);
  EXPECT_EQ(ring.admit_id("key_1", Scope::ingest).error().code, Code::unauthorized);
}

TEST_F(RingTest, WhenTheKeyIsGood_SaysWhoItSpeaksFor) {
  keys.put(record_of("key_1", "rw_a_b"));
  const auto principal = ring.admit({"Bearer rw_a_b"}, Scope::ingest);
  ASSERT_TRUE(principal.ok()) << principal.error().detail;
  EXPECT_EQ(principal->tenant, 3u);
  EXPECT_EQ(principal->tenant_name, "acme");
  EXPECT_EQ(principal->key_id, "key_1");
  EXPECT_EQ(principal->key_name, "ci");
  EXPECT_TRUE(principal->may_ingest);
  EXPECT_FALSE(principal->may_read);
}

struct HeaderCase {
  const char* title;
  std::vector<std::string> authorization;
  bool admitted;
};

class RingHeader : public RingTest, public testing::WithParamInterface<HeaderCase> {};

TEST_P(RingHeader, TakesExactlyOneBearerKey) {
  keys.put(record_of("key_1", "rw_a_b"));
  const auto principal = ring.admit(GetParam().authorization, Scope::ingest);
  ASSERT_EQ(principal.ok(), GetParam().admitted);
  if (!principal.ok()) {
    EXPECT_EQ(principal.error().code, Code::unauthorized);
    EXPECT_THAT(principal.error().detail, testing::Not(testing::HasSubstr("rw_a_b"))) << "a fault must not repeat the key";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RingHeader,
    testing::Values(HeaderCase{"plain", {"Bearer rw_a_b"}, true}, HeaderCase{"lower", {"bearer rw_a_b"}, true},
                    HeaderCase{"upper", {"BEARER rw_a_b"}, true}, HeaderCase{"mixed", {"bEaReR rw_a_b"}, true},
                    HeaderCase{"spaces", {"Bearer   rw_a_b  "}, true}, HeaderCase{"none", {}, false},
                    HeaderCase{"two", {"Bearer rw_a_b", "Bearer rw_a_b"}, false}, HeaderCase{"empty", {""}, false},
                    HeaderCase{"scheme_only", {"Bearer"}, false}, HeaderCase{"scheme_and_space", {"Bearer "}, false},
                    HeaderCase{"no_space", {"Bearerrw_a_b"}, false}, HeaderCase{"other_scheme", {"Basic rw_a_b"}, false},
                    HeaderCase{"longer_scheme", {"Bearers rw_a_b"}, false}, HeaderCase{"tab", {"Bearer\trw_a_b"}, false},
                    HeaderCase{"two_keys", {"Bearer rw_a_b rw_a_b"}, false}, HeaderCase{"list", {"Bearer rw_a_b, Bearer rw_a_b"}, false},
                    HeaderCase{"prefix", {"Bearer rw_a_"}, false}, HeaderCase{"longer", {"Bearer rw_a_bb"}, false},
                    HeaderCase{"other_case", {"Bearer RW_A_B"}, false}, HeaderCase{"key_only", {"rw_a_b"}, false},
                    HeaderCase{"nul", {std::string("Bearer rw_a_b\0", 14)}, false}, HeaderCase{"quoted", {"Bearer \"rw_a_b\""}, false},
                    HeaderCase{"huge", {"Bearer " + std::string(100'000, 'a')}, false}),
    [](const auto& test) { return test.param.title; });

TEST_F(RingTest, WhenTheScopeIsMissing_Forbids) {
  auto both = record_of("key_2", "rw_c_d");
  both.may_read = true;
  keys.put(record_of("key_1", "rw_a_b"));
  keys.put(both);
  const auto refused = ring.admit({"Bearer rw_a_b"}, Scope::read);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::forbidden);
  EXPECT_EQ(refused.error().detail, "the key lacks scope \"read\" (key_1); use one created with --scopes read");
  EXPECT_TRUE(ring.admit({"Bearer rw_c_d"}, Scope::read).ok());
  EXPECT_TRUE(ring.admit({"Bearer rw_c_d"}, Scope::ingest).ok());
}

// The command that revoked it, or the service, may have had a wrong clock.
TEST_F(RingTest, WhenTheKeyIsRevokedAtOnce_RefusesItWhateverTheClockSays) {
  auto record = record_of("key_1", "rw_a_b");
  record.revoked_at_once = true;
  record.revoked_ms = clock.wall_ms() + 8'640'000'000;
  keys.put(record);
  const auto refused = ring.admit({"Bearer rw_a_b"}, Scope::ingest);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, testing::HasSubstr("was revoked"));
}

TEST_F(RingTest, WhenTheKeyExpires_RefusesFromThatMillisecond) {
  auto record = record_of("key_1", "rw_a_b");
  record.expires_ms = clock.wall_ms() + 10;
  keys.put(record);
  clock.advance_ms(9);
  EXPECT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  clock.advance_ms(1);
  const auto refused = ring.admit({"Bearer rw_a_b"}, Scope::read);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unauthorized) << "an expired key is refused before its scopes are looked at";
}

TEST_F(RingTest, WhenTheKeyIsRevoked_RefusesAtOnceThoughItWorkedBefore) {
  auto record = record_of("key_1", "rw_a_b");
  keys.put(record);
  ASSERT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  record.revoked_ms = clock.wall_ms();
  keys.put(record);
  const auto refused = ring.admit({"Bearer rw_a_b"}, Scope::ingest);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unauthorized);
}

TEST_F(RingTest, WhenLookedAtAgain_AKeyThatEndedSinceIsRefused) {
  auto record = record_of("key_1", "rw_a_b");
  record.expires_ms = clock.wall_ms() + 10;
  keys.put(record);
  const auto principal = ring.admit({"Bearer rw_a_b"}, Scope::ingest);
  ASSERT_TRUE(principal.ok());
  (void)ring.take_last_used();
  clock.advance_ms(9);
  EXPECT_FALSE(ring.recheck(*principal));
  clock.advance_ms(1);
  const auto expired = ring.recheck(*principal);
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->code, Code::unauthorized);
  EXPECT_THAT(expired->detail, testing::HasSubstr("expired"));
  record.expires_ms = model::kNever;
  keys.put(record);
  EXPECT_FALSE(ring.recheck(*principal));
  record.revoked_ms = clock.wall_ms() + 5;
  keys.put(record);
  EXPECT_FALSE(ring.recheck(*principal)) << "a rotation that overlaps";
  clock.advance_ms(5);
  const auto revoked = ring.recheck(*principal);
  ASSERT_TRUE(revoked);
  EXPECT_EQ(revoked->code, Code::unauthorized);
  EXPECT_THAT(revoked->detail, testing::HasSubstr("revoked"));
  EXPECT_THAT(ring.take_last_used(), testing::IsEmpty()) << "looking is no use";
}

TEST_F(RingTest, WhenLookedAtAgain_AKeyThatIsGoneIsRefused) {
  keys.put(record_of("key_1", "rw_a_b"));
  auto principal = ring.admit({"Bearer rw_a_b"}, Scope::ingest);
  ASSERT_TRUE(principal.ok());
  principal->key_id = "key_2";
  const auto gone = ring.recheck(*principal);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->code, Code::unauthorized);
}

TEST_F(RingTest, WhileARotationOverlaps_TakesTheOldKeyUntilItsEnd) {
  auto record = record_of("key_1", "rw_a_b");
  record.revoked_ms = clock.wall_ms() + 1000;
  keys.put(record);
  EXPECT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  clock.advance_ms(1000);
  EXPECT_FALSE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
}

TEST_F(RingTest, WhenAKeyIsAdded_TakesItAtTheNextRequest) {
  EXPECT_FALSE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  keys.put(record_of("key_1", "rw_a_b"));
  EXPECT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
}

TEST_F(RingTest, WhenAnotherHostAddedTheKey_LooksForItBeforeItIsRefused) {
  std::vector<model::KeyRecord> known;
  std::uint64_t version = 1;
  int looks = 0;
  const auto look = [&] {
    ++looks;
    known.push_back(record_of("key_1", "rw_a_b"));
    ++version;
    return true;
  };
  KeyRing elsewhere({[&] { return known; }, [&] { return version; }, look}, clock);
  EXPECT_TRUE(elsewhere.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  EXPECT_TRUE(elsewhere.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  EXPECT_EQ(looks, 1) << "a key that is known is not looked for";
}

TEST_F(RingTest, WhenAnotherHostAddedTheKeyOfASession_LooksForItBeforeItIsRefused) {
  std::vector<model::KeyRecord> known;
  std::uint64_t version = 1;
  const auto look = [&] {
    known.push_back(record_of("key_1", "rw_a_b"));
    return ++version > 0;
  };
  KeyRing elsewhere({[&] { return known; }, [&] { return version; }, look}, clock);
  EXPECT_TRUE(elsewhere.admit_id("key_1", Scope::ingest).ok());
  EXPECT_FALSE(elsewhere.admit_id("key_2", Scope::ingest).ok());
}

TEST_F(RingTest, WhileNothingChanges_ReadsTheStoreOnce) {
  keys.put(record_of("key_1", "rw_a_b"));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  EXPECT_EQ(keys.loads, 1);
}

TEST_F(RingTest, WhenKeysWereUsed_TellsTheLatestTimeOnce) {
  keys.put(record_of("key_1", "rw_a_b"));
  keys.put(record_of("key_2", "rw_c_d"));
  ASSERT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  clock.advance_ms(5);
  ASSERT_TRUE(ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok());
  ASSERT_FALSE(ring.admit({"Bearer rw_c_d"}, Scope::read).ok());
  EXPECT_THAT(ring.take_last_used(), testing::ElementsAre(testing::Pair("key_1", clock.wall_ms())));
  EXPECT_THAT(ring.take_last_used(), testing::IsEmpty());
}

TEST_F(RingTest, WhenManyThreadsAskWhileKeysChange_EachSeesAWholeSet) {
  keys.put(record_of("key_1", "rw_a_b"));
  std::atomic<bool> done = false;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) refused += ring.admit({"Bearer rw_a_b"}, Scope::ingest).ok() ? 0 : 1;
    });
  }
  for (int i = 0; i < 200; ++i) {
    const std::string key = "rw_x_" + std::to_string(i);
    keys.put(record_of("key_x", key));
    EXPECT_TRUE(ring.admit({"Bearer " + key}, Scope::ingest).ok()) << "a key counts as soon as it is there";
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace runwarden::auth
