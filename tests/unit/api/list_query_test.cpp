#include "api/list_query.h"

#include <gtest/gtest.h>

namespace runwarden::api {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

const auth::CursorSeal kSeal(std::string(32, 's'));

Result<store::Range> range_of(const Members& members) {
  auto query = ListQuery::read(members, {"state"}, "/v1/runs");
  if (!query.ok()) return std::move(query.error());
  return query->range(1, kSeal);
}

TEST(ListQuery, WithoutMembers_IsTheFirstFifty) {
  const auto range = range_of({});
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->limit, 50u);
  EXPECT_EQ(range->since_ms, store::kBeginningMs);
  EXPECT_EQ(range->before_ms, store::kEndMs);
  EXPECT_FALSE(range->after);
}

TEST(ListQuery, TimesAndLimits) {
  const auto range = range_of({{"since", "1970-01-01T00:00:01Z"}, {"until", "1970-01-01T02:00:02 02:00"}, {"limit", "1000"}});
  ASSERT_TRUE(range.ok()) << range.error().detail;
  EXPECT_EQ(range->since_ms, 1000);
  EXPECT_EQ(range->before_ms, 2000) << "a plus that was not escaped arrives as a space";
  EXPECT_EQ(range->limit, 1000u);
}

TEST(ListQuery, ASpaceBetweenDateAndTime_IsNoPlus) {
  const auto range = range_of({{"since", "1970-01-01 00:00:01Z"}, {"until", "1970-01-01 02:00:02 02:00"}});
  ASSERT_TRUE(range.ok()) << range.error().detail;
  EXPECT_EQ(range->since_ms, 1000);
  EXPECT_EQ(range->before_ms, 2000);
  for (const char* wrong : {"1970-01-01", "1970-01-01 ", " "}) EXPECT_FALSE(range_of({{"since", wrong}}).ok()) << wrong;
}

TEST(ListQuery, WhatIsWrong_IsNamed) {
  const std::pair<Members, const char*> table[] = {
      {{{"limit", "0"}}, "limit"},     {{{"limit", "1001"}}, "limit"},      {{{"limit", "5x"}}, "limit"},
      {{{"limit", ""}}, "limit"},      {{{"state", ""}}, "state is empty"}, {{{"since", "now"}}, "since"},
      {{{"cursor", "abc"}}, "cursor"}, {{{"stat", "open"}}, "\"stat\""},    {{{"Limit", "5"}}, "\"Limit\""},
  };
  for (const auto& [members, name] : table) {
    const auto range = range_of(members);
    ASSERT_FALSE(range.ok()) << name;
    EXPECT_EQ(range.error().code, Code::bad_request);
    EXPECT_NE(range.error().detail.find(name), std::string::npos) << range.error().detail;
  }
}

TEST(ListQuery, OfALimitAndACursorAlone_KnowsNoTimes) {
  EXPECT_TRUE(ListQuery::read_page({{"limit", "5"}}, "/v1/webhooks").ok());
  const auto query = ListQuery::read_page({{"since", "2026-01-01T00:00:00Z"}}, "/v1/webhooks");
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.error().detail, "the query has no member \"since\"; its members are limit, cursor");
}

TEST(ListQuery, ACursor_IsOfItsFilters_WhateverTheirOrderAndLimit) {
  const auto query = ListQuery::read({{"state", "open"}, {"since", "2026-01-01T00:00:00Z"}}, {"state"}, "/v1/runs");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->next_cursor(1, kSeal, std::nullopt), "null");
  std::string cursor = query->next_cursor(1, kSeal, model::RecordKey{5, 6});
  cursor = cursor.substr(1, cursor.size() - 2);
  const auto range = range_of({{"since", "2026-01-01T00:00:00Z"}, {"limit", "7"}, {"cursor", cursor}, {"state", "open"}});
  ASSERT_TRUE(range.ok()) << range.error().detail;
  EXPECT_EQ(range->after, (model::RecordKey{5, 6}));
  EXPECT_FALSE(range_of({{"state", "open"}, {"cursor", cursor}}).ok());
}

TEST(ListQuery, Scores) {
  const auto score = [](const char* text) { return ListQuery::read({{"minScore", text}}, {"minScore"}, "/v1/runs")->score("minScore"); };
  EXPECT_EQ(*score("0"), 0);
  EXPECT_EQ(*score("100"), 100);
  for (const char* bad : {"101", "-1", "1.5", "x"}) EXPECT_FALSE(score(bad).ok()) << bad;
}

}  // namespace
}  // namespace runwarden::api
