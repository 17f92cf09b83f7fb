#include "auth/cursor_seal.h"

#include <gtest/gtest.h>

#include <limits>

namespace runwarden::auth {
namespace {

const CursorSeal kSeal(std::string(32, 's'));

TEST(CursorSeal, ACursor_GivesItsPositionBack) {
  for (const model::RecordKey& key :
       {model::RecordKey{0, 0}, model::RecordKey{-1, 1}, model::RecordKey{1'767'225'600'000, 77},
        model::RecordKey{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::uint64_t>::max()}}) {
    const std::string cursor = kSeal.seal(7, "/v1/runs", key);
    EXPECT_EQ(cursor.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), std::string::npos)
        << "URL-safe";
    EXPECT_EQ(kSeal.open(7, "/v1/runs", cursor), key);
  }
}

TEST(CursorSeal, ElsewhereOrForged_ItIsWorthNothing) {
  const std::string cursor = kSeal.seal(7, "/v1/runs", {5, 6});
  EXPECT_FALSE(kSeal.open(8, "/v1/runs", cursor)) << "another tenant";
  EXPECT_FALSE(kSeal.open(7, "/v1/runs\nstate=open", cursor)) << "another query";
  EXPECT_FALSE(CursorSeal(std::string(32, 't')).open(7, "/v1/runs", cursor)) << "another service";
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    std::string forged = cursor;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(kSeal.open(7, "/v1/runs", forged)) << i;
  }
  for (const std::string& text : {std::string(), std::string("A"), std::string("!!"), cursor + "A", cursor.substr(1), cursor + "="}) {
    EXPECT_FALSE(kSeal.open(7, "/v1/runs", text)) << text;
  }
}

}  // namespace
}  // namespace runwarden::auth
