#include "ingest/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "intake/change_reader.h"
#include "intake/run_reader.h"
#include "model/run_outline.h"

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

constexpr std::string_view kRun =
    R"({"runId":"r","userRequestText":"Refund 4111 1111 1111 1111","startedAt":"2026-11-20T15:00:00Z","steps":[{"stepKind":"tool",)"
    R"("stepName":"refund","inputSummary":{"card":"4111111111111111"},"metadata":{"usage":{"input_tokens":5}}}],"outcomeSummary":"Done"})";

Result<model::Run> run_of(std::string_view text) {
  return intake::read_run(text, {}, {});
}

TEST_F(RedactionTest, OfARun_DetectorsMaySeeItAsSent) {
  auto redacted = redaction_by({kCard}).run(std::move(*run_of(kRun)));
  ASSERT_TRUE(redacted.ok());
  EXPECT_EQ(redacted->seen.user_request, "Refund 4111 1111 1111 1111");
  EXPECT_EQ(json::parse(redacted->document())["userRequestText"], "Refund [redacted:card]");
  EXPECT_EQ(counts_["card"], 2u);
  const auto stored = read_stored_run(redacted->document(), {});
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->id, redacted->seen.id);
  EXPECT_EQ(stored->started_ms, redacted->seen.started_ms);
  EXPECT_EQ(stored->document, redacted->document()) << "it is normalized";
  const auto outline = model::outline_of(*stored, model::OutcomeFrom::last_output);
  const auto of_text = model::outline_of(redacted->document(), model::OutcomeFrom::last_output);
  EXPECT_EQ(of_text.members, outline.members);
  EXPECT_EQ(of_text.last_output, outline.last_output);
  EXPECT_EQ(of_text.steps, outline.steps);
}

TEST_F(RedactionTest, OfARun_DetectorsMaySeeItAsStored) {
  auto redacted = redaction_by({kCard, {By::key, "usage", "usage"}}, DetectorsSee::after).run(std::move(*run_of(kRun)));
  ASSERT_TRUE(redacted.ok());
  EXPECT_EQ(redacted->seen.user_request, "Refund [redacted:card]");
  EXPECT_EQ(redacted->seen.steps[0].input, R"({"card":"[redacted:card]"})");
  EXPECT_EQ(redacted->document(), redacted->seen.document);
  EXPECT_EQ(json::parse(redacted->document())["steps"][0]["metadata"]["usage"], "[redacted:usage]");
  EXPECT_EQ(redacted->seen.steps[0].input_tokens, 5) << "a number that was read before";
}

TEST_F(RedactionTest, OfARunWithoutSecrets_ChangesNothing) {
  const std::string normalized = run_of(kRun)->document;
  for (const DetectorsSee see : {DetectorsSee::before, DetectorsSee::after}) {
    auto redacted = redaction_by({kEmail}, see).run(std::move(*run_of(kRun)));
    ASSERT_TRUE(redacted.ok());
    EXPECT_EQ(redacted->redacted, std::nullopt);
    EXPECT_EQ(redacted->document(), normalized);
  }
}

TEST_F(RedactionTest, OfARun_CanBeReadWhateverTheRules) {
  for (const model::RedactRule& rule : {model::RedactRule{By::key, "*", "all"}, {By::pointer, "/**", "all"}}) {
    auto redacted = redaction_by({rule}).run(std::move(*run_of(kRun)));
    ASSERT_TRUE(redacted.ok());
    const auto stored = read_stored_run(redacted->document(), {});
    ASSERT_TRUE(stored.ok()) << stored.error().detail;
    EXPECT_EQ(stored->id, "r");
    EXPECT_EQ(stored->user_request, "[redacted:all]");
    EXPECT_EQ(stored->started_ms, redacted->seen.started_ms);
    EXPECT_EQ(stored->steps.size(), 1u);
    EXPECT_EQ(stored->document, redacted->document());
  }
}

TEST_F(RedactionTest, OfAStoredRun_IsWhatDetectorsSee) {
  const auto redacted = redaction_by({kCard}, DetectorsSee::before).stored_run(run_of(kRun)->document, {});
  ASSERT_TRUE(redacted.ok());
  EXPECT_EQ(redacted->seen.user_request, "Refund [redacted:card]");
  EXPECT_EQ(redacted->document(), redacted->seen.document);
  EXPECT_EQ(redaction_by({}).stored_run("{}", "r")->seen.id, "r");
  EXPECT_FALSE(redaction_by({kCard}).stored_run("[]", "r").ok());
}

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
  std::string by_its_name = "asked bob";
  redaction_by({{By::key, "note", "note"}}).note(by_its_name);
  EXPECT_EQ(by_its_name, "[redacted:note]");
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
