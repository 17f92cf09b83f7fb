#include "intake/change_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace runwarden::intake {
namespace {

TEST(ChangeReader, AChange_IsNormalized) {
  auto change = read_change(R"({"kind":"code","ref":"abc","at":"2026-01-01T01:00:00+01:00","x":{"y":null},"changeId":"mine"})", 64);
  ASSERT_TRUE(change.ok());
  EXPECT_EQ(change->kind, "code");
  EXPECT_EQ(change->at_ms, 1767225600000);
  EXPECT_EQ(change->document, R"({"kind":"code","ref":"abc","at":"2026-01-01T00:00:00.000Z","x":{"y":null}})");
}

TEST(ChangeReader, AKind_IsALowerCaseWord) {
  const auto verdict = [](const std::string& kind) { return read_change(R"({"kind":")" + kind + "\"}", 64).ok(); };
  for (const char* good : {"code", "runtime", "policy", "feature-flag", "a", "x.y_z-1"}) EXPECT_TRUE(verdict(good)) << good;
  EXPECT_TRUE(verdict(std::string(64, 'a')));
  for (const char* bad : {"", "Code", "1a", "-a", "a b", "é"}) EXPECT_FALSE(verdict(bad)) << bad;
  EXPECT_FALSE(verdict(std::string(65, 'a')));
  auto missing = read_change(R"({"at":"never"})", 64);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().faults.size(), 2u);
}

TEST(ChangeReader, AWrongKind_IsQuotedUpToTheEndOfACharacter) {
  auto change = read_change("{\"kind\":\"" + std::string(79, 'a') + "\u00E9\"}", 64);
  ASSERT_FALSE(change.ok());
  EXPECT_TRUE(change.error().faults[0].detail.ends_with("got \"" + std::string(79, 'a') + "\"")) << change.error().faults[0].detail;
}

TEST(PolicyReader, ANumberAsRevision_IsKeptExactly) {
  const std::pair<const char*, const char*> table[] = {
      {"9007199254740993", "9007199254740993"}, {"1.10", "1.10"}, {"2.0", "2"}, {"1e20", "100000000000000000000"}};
  for (const auto& [number, text] : table) {
    const auto policy = read_policy(R"({"policy":"p","revision":)" + std::string(number) + "}", 64);
    ASSERT_TRUE(policy.ok()) << number;
    EXPECT_EQ(policy->revision, text);
  }
}

TEST(PolicyReader, APolicyRevision_IsRead) {
  auto policy = read_policy(R"({"policy":"refunds","revision":7,"content":{"max": 100, "a":[1.50]},"author":"ann","at":null})", 64);
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->policy, "refunds");
  EXPECT_EQ(policy->revision, "7");
  EXPECT_EQ(policy->author, "ann");
  EXPECT_EQ(policy->content, R"({"max":100,"a":[1.50]})");
  EXPECT_FALSE(policy->at_ms);
  EXPECT_EQ(policy->document, R"({"policy":"refunds","revision":"7","content":{"max":100,"a":[1.50]},"author":"ann"})");
}

TEST(PolicyReader, AnEmptyAuthor_IsNone) {
  const auto policy = read_policy(R"({"policy":"p","author":""})", 64);
  ASSERT_TRUE(policy.ok());
  EXPECT_FALSE(policy->author);
}

TEST(ChangeReader, ANameOfTheWrongType_IsOneFault) {
  for (const Result<ChangeText>& change : {read_change(R"({"kind":3})", 64), read_change(R"({"kind":{}})", 64)}) {
    ASSERT_FALSE(change.ok());
    ASSERT_EQ(change.error().faults.size(), 1u) << change.error().detail;
    EXPECT_EQ(change.error().faults[0].pointer, "/kind");
    EXPECT_EQ(change.error().faults[0].code, "wrong_type");
  }
  const auto policy = read_policy(R"({"policy":3})", 64);
  ASSERT_FALSE(policy.ok());
  ASSERT_EQ(policy.error().faults.size(), 1u) << policy.error().detail;
  EXPECT_EQ(policy.error().faults[0].code, "wrong_type");
}

TEST(PolicyReader, ContentIsAnyValue) {
  EXPECT_EQ(read_policy(R"({"policy":"p","content":"text"})", 64)->content, "\"text\"");
  EXPECT_EQ(read_policy(R"({"policy":"p","content":null})", 64)->content, "null");
  EXPECT_EQ(read_policy(R"({"policy":"p"})", 64)->content, "null");
  EXPECT_EQ(read_policy(R"({"policy":"p","content":[]})", 64)->content, "[]");
  for (const char* bad : {"{}", R"({"policy":""})", R"({"policy":5})", R"({"policy":"p","revision":{}})"}) EXPECT_FALSE(read_policy(bad, 64).ok()) << bad;
}

}  // namespace
}  // namespace runwarden::intake
