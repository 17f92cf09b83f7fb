#include "auth/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/digest.h"

namespace runwarden::auth {
namespace {

model::KeyRecord wanted() {
  model::KeyRecord record;
  record.tenant_name = "acme";
  record.name = "ci";
  record.may_ingest = true;
  record.created_ms = 1000;
  record.expires_ms = 2000;
  return record;
}

TEST(Key, WhenMade_HasAPublicIdAndA256BitSecret) {
  const auto made = make_key(wanted());
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->key, testing::MatchesRegex("rw_[0-9a-f]{16}_[0-9a-f]{64}"));
  EXPECT_EQ(made->record.id, "key_" + made->key.substr(3, 16));
}

TEST(Key, WhenMade_KeepsOnlyItsDigestAndWhatWasWanted) {
  const auto made = make_key(wanted());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->record.digest, sha256(made->key));
  EXPECT_EQ(made->record.tenant_name, "acme");
  EXPECT_EQ(made->record.name, "ci");
  EXPECT_TRUE(made->record.may_ingest);
  EXPECT_FALSE(made->record.may_read);
  EXPECT_EQ(made->record.created_ms, 1000);
  EXPECT_EQ(made->record.expires_ms, 2000);
  EXPECT_EQ(made->record.revoked_ms, model::kNever);
}

TEST(Key, WhenManyAreMade_NoTwoAreAlike) {
  std::set<std::string> keys;
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const auto made = make_key(wanted());
    ASSERT_TRUE(made.ok());
    keys.insert(made->key.substr(20));
    ids.insert(made->record.id);
  }
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_EQ(ids.size(), 1000u);
}

}  // namespace
}  // namespace runwarden::auth
