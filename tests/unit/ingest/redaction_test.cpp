#include "ingest/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "intake/change_reader.h"

namespace runwarden::ingest {
namespace {

using nlohmann::json;
using By = model::RedactRule::By;
using DetectorsSee = model::RedactSettings::DetectorsSee;

const model::RedactRule kCard{By::kind, "card", "card"};
const model::RedactRule kEmail{By::kind, "email", "email"};

class RedactionTest : public ::testing::Test {
 protected:
  Redaction redaction_by(std::vector<model::RedactRule> rules, DetectorsSee see = DetectorsSee::before) {
    return {[redactor = make_redactor({see, std::move(rules)})] { return redactor; },
            [this](std::string_view rule, std::uint64_t values) { counts_[std::string(rule)] += values; }};
  }

  std::map<std::string, std::uint64_t> counts_;  // values redacted, by rule
};

TEST_F(RedactionTest, OfAChange_LeavesKindAndTime) {
  auto change =
      intake::read_change(R"({"kind":"code","summary":"of bob@example.com","at":"2026-11-20T15:00:00Z","x":["bob@example.com"]})", 64);
  ASSERT_TRUE(change.ok());
  redaction_by({kEmail}).change(*change);
  EXPECT_EQ(change->document,
            R"({"kind":"code","summary":"of [redacted:email]","at":"2026-11-20T15:00:00.000Z","x":["[redacted:email]"]})");
  EXPECT_EQ(change->kind, "code");
  EXPECT_TRUE(change->at_ms);
  EXPECT_EQ(counts_["email"], 2u);
}

TEST_F(RedactionTest, OfAPolicyRevision_CoversAuthorAndContent) {
  struct Case {
    const char* sent;
    const char* content;
  };
  for (const Case& one : {Case{R"({"to":["bob@example.com"]})", R"({"to":["[redacted:email]"]})"},
                          Case{R"("bob@example.com")", R"("[redacted:email]")"}, Case{"null", "null"}}) {
    auto policy = intake::read_policy(
        R"({"policy":"bob@example.com","revision":7,"author":"bob@example.com","content":)" + std::string(one.sent) + "}", 64);
    ASSERT_TRUE(policy.ok());
    redaction_by({kEmail}).policy(*policy);
    EXPECT_EQ(policy->policy, "bob@example.com") << "names of policies stay";
    EXPECT_EQ(policy->revision, "7");
    EXPECT_EQ(policy->author, "[redacted:email]");
    EXPECT_EQ(policy->content, one.content);
    const auto again = intake::read_policy(policy->document, 64);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->document, policy->document);
    EXPECT_EQ(again->content, policy->content);
    EXPECT_EQ(again->author, policy->author);
  }
  auto without = intake::read_policy(R"({"policy":"p","summary":"bob@example.com"})", 64);
  redaction_by({kEmail}).policy(*without);
  EXPECT_EQ(without->author, std::nullopt);
  EXPECT_EQ(without->content, "null");
}

TEST_F(RedactionTest, OfANote_IsThatOfTheSummaryOfAChange) {
  std::string note = "asked bob@example.com";
  redaction_by({kEmail}).note(note);
  EXPECT_EQ(note, "asked [redacted:email]");
  EXPECT_EQ(counts_["email"], 1u);
  redaction_by({{By::pointer, "/summary", "summary"}}).note(note);
  EXPECT_EQ(note, "[redacted:summary]");
  std::string none;
  redaction_by({{By::pointer, "/summary", "summary"}}).note(none);
  EXPECT_EQ(none, "");
  std::string plain = "plain";
  redaction_by({}).note(plain);
  EXPECT_EQ(plain, "plain");
}

}  // namespace
}  // namespace runwarden::ingest
