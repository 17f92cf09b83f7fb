// Bodies of reviews and triage: what is wrong with them as JSON, and as requests.
#include "ingest/json_request.h"

#include <gtest/gtest.h>

#include "ingest/review_ingest.h"
#include "ingest/triage_ingest.h"

namespace runwarden::ingest {
namespace {

constexpr int kDepth = 16;

template <class Read>
void expect_twice(const Result<Read>& read, const std::string& pointer) {
  ASSERT_FALSE(read.ok()) << pointer;
  EXPECT_EQ(read.error().code, Code::malformed_json);
  EXPECT_EQ(read.error().detail, "the member " + pointer + " appears twice; send it once");
}

TEST(JsonRequest, KnownMemberThatIsThereTwice_IsMalformedJson) {
  expect_twice(read_review(R"({"verdict":"right","verdict":"false_alarm"})", Reviewed::failure, kDepth), "/verdict");
  expect_twice(read_review(R"({"detector":"d","verdict":"clean","note":"a","note":"a","own":1})", Reviewed::run, kDepth), "/note");
  expect_twice(read_triage(R"({"action":"reopen","note":null,"note":"a"})", kDepth, 0), "/note");
  expect_twice(read_triage(R"({"action":"ignore","until":{"failures":1,"failures":2}})", kDepth, 0), "/until/failures");
}

TEST(JsonRequest, UnknownMemberThatIsThereTwice_IsToldOnce) {
  const auto read = read_review(R"({"verdict":"right","own":1,"own":2})", Reviewed::failure, kDepth);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::validation_failed);
  ASSERT_EQ(read.error().faults.size(), 1U);
  EXPECT_EQ(read.error().faults[0].code, "unknown_member");
}

TEST(JsonRequest, WholeNumber_IsTakenHoweverItIsWritten) {
  for (const char* three : {"3", "3.0", "3e0", "0.3e1"}) EXPECT_EQ(whole_number_of(three), 3U) << three;
  EXPECT_EQ(whole_number_of("0"), 0U);
  EXPECT_EQ(whole_number_of("-0"), 0U);
  EXPECT_EQ(whole_number_of("9007199254740992"), 9'007'199'254'740'992U);
  for (const char* other : {"9007199254740994", "1e300", "-1", "3.5", "\"3\"", "true", "null", "[3]"})
    EXPECT_FALSE(whole_number_of(other)) << other;
  const auto ignored = read_triage(R"({"action":"ignore","until":{"failures":100.0}})", kDepth, 0);
  ASSERT_TRUE(ignored.ok()) << ignored.error().detail;
  EXPECT_EQ(ignored->until.failures, 100U);
}

TEST(JsonRequest, UntilHasOneOfItsMembers) {
  for (const char* until : {"{}", "[]", "1", R"({"at":null})", R"({"failures":1,"share":0.5})", R"({"own":1})"}) {
    const auto read = read_triage(R"({"action":"ignore","until":)" + std::string(until) + "}", kDepth, 0);
    ASSERT_FALSE(read.ok()) << until;
    EXPECT_EQ(read.error().faults.back().pointer, "/until") << until;
  }
  EXPECT_TRUE(read_triage(R"({"action":"ignore","until":{"share":0.5,"at":null}})", kDepth, 0).ok());
}

}  // namespace
}  // namespace runwarden::ingest
