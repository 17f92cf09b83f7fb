#include "auth/sessions.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace runwarden::auth {
namespace {

struct SessionsTest : ::testing::Test {
  std::unique_ptr<Sessions> reopened(const std::string& secret = std::string(32, 's')) {
    auto made = Sessions::open(secret, file, clock);
    EXPECT_TRUE(made.ok()) << made.error().detail;
    return std::move(*made);
  }

  test::FakeClock clock;
  runwarden::test::TempFolder folder;
  std::filesystem::path file = folder.path() / "sessions.ended";
  std::unique_ptr<Sessions> sessions = reopened();
};

TEST_F(SessionsTest, WhatWasSealed_IsFound_AlsoByTheNextProcess) {
  const auto session = sessions->begin("key_1");
  ASSERT_TRUE(session.ok());
  const std::string sealed = sessions->seal(*session);
  EXPECT_EQ(sealed.find_first_of(" \",;\\"), std::string::npos) << "RFC 6265, section 4.1.1: " << sealed;
  for (int start = 0; start < 2; ++start) {
    const auto by = reopened();
    const auto found = by->find(sealed);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->key_id, "key_1");
    EXPECT_EQ(found->issued_ms, clock.wall_ms());
    EXPECT_EQ(found->csrf, session->csrf);
  }
  EXPECT_NE(sessions->begin("key_1")->csrf, session->csrf) << "each session has its own";
}

TEST_F(SessionsTest, ForgedOrOfAnotherService_ItIsNotFound) {
  const std::string sealed = sessions->seal(*sessions->begin("key_1"));
  EXPECT_FALSE(reopened(std::string(32, 't'))->find(sealed));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string forged = sealed;
    forged[i] = forged[i] == '0' ? '1' : '0';
    EXPECT_FALSE(sessions->find(forged)) << i;
  }
  for (const std::string& text : {std::string(), std::string("..."), sealed + "0", sealed.substr(1), std::string(10'000, '.')}) {
    EXPECT_FALSE(sessions->find(text)) << text;
  }
}

TEST_F(SessionsTest, TwelveHoursLater_ItIsOver) {
  const std::string sealed = sessions->seal(*sessions->begin("key_1"));
  clock.advance_ms(kSessionMs - 1);
  EXPECT_TRUE(sessions->find(sealed));
  clock.advance_ms(1);
  EXPECT_FALSE(sessions->find(sealed));
}

TEST_F(SessionsTest, IssuedInWhatIsNowTheFuture_ItIsRefused) {
  const std::string sealed = sessions->seal(*sessions->begin("key_1"));
  clock.set_wall_ms(clock.wall_ms() - 3'600'000);
  EXPECT_FALSE(sessions->find(sealed));
}

TEST_F(SessionsTest, Ended_ItIsRefused_AlsoByTheNextProcess) {
  const auto ended = *sessions->begin("key_1");
  const auto other = *sessions->begin("key_1");
  ASSERT_TRUE(sessions->end(ended).ok());
  for (int start = 0; start < 3; ++start) {
    EXPECT_FALSE(sessions->find(sessions->seal(ended))) << start;
    EXPECT_TRUE(sessions->find(sessions->seal(other))) << start;
    sessions = reopened();
  }
}

TEST_F(SessionsTest, WhatWouldBeOverAnyway_IsForgotten_AndABrokenLinePassedOver) {
  ASSERT_TRUE(sessions->end(*sessions->begin("key_1")).ok());
  clock.advance_ms(kSessionMs);
  const auto young = *sessions->begin("key_1");
  ASSERT_TRUE(sessions->end(young).ok());
  std::ofstream(file, std::ios::app) << "17900000";
  sessions = reopened();
  EXPECT_FALSE(sessions->find(sessions->seal(young)));
  EXPECT_LT(std::filesystem::file_size(file), 64u) << "one line";
}

TEST_F(SessionsTest, BeyondTheMost_OlderOnesAreRefusedAsAWhole) {
  const auto bystander = *sessions->begin("key_2");
  {
    std::ofstream many(file, std::ios::app);
    for (std::size_t i = 0; i <= Sessions::kMaxEnded; ++i) {
      const std::string digits = std::to_string(i);
      many << clock.wall_ms() << " " << std::string(32 - digits.size(), '0') << digits << "\n";
    }
  }
  sessions = reopened();
  EXPECT_FALSE(sessions->find(sessions->seal(bystander))) << "it may be one of those forgotten";
  clock.advance_ms(1);
  EXPECT_TRUE(sessions->find(sessions->seal(*sessions->begin("key_2"))));
}

TEST_F(SessionsTest, WhereTheFileCannotBe_ItSaysSo) {
  const auto nowhere = Sessions::open(std::string(32, 's'), folder.path() / "nowhere" / "ended", clock);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().detail.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace runwarden::auth
