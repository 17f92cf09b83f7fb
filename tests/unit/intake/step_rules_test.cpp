#include "intake/step_rules.h"

#include <gtest/gtest.h>

namespace runwarden::intake {
namespace {

TEST(StepRules, Kinds) {
  for (const char* word : {"tool", "function", "action", "tool_call", "TOOL", " Tool "})
    EXPECT_EQ(step_kind(word), model::StepKind::tool) << word;
  for (const char* word : {"model", "llm", "assistant", "chat", "completion", "generation", "model_output"})
    EXPECT_EQ(step_kind(word), model::StepKind::model) << word;
  for (const char* word : {"user", "user_request", "Human"}) EXPECT_EQ(step_kind(word), model::StepKind::user) << word;
  for (const char* word : {"", "tools", "retrieval", "toolcall"}) EXPECT_EQ(step_kind(word), model::StepKind::other) << word;
}

TEST(StepRules, Statuses) {
  for (const char* word : {"failed", "failure", "error", "errored", "timed_out", "timeout", "blocked", "cancelled", "canceled", "rejected",
                           "denied", "FAILED"})
    EXPECT_EQ(status_outcome(word), model::Outcome::failed) << word;
  for (const char* word : {"completed", "success", "ok", "Done"}) EXPECT_EQ(status_outcome(word), model::Outcome::ok) << word;
  for (const char* word : {"", "running", "failing", "no error"}) EXPECT_EQ(status_outcome(word), model::Outcome::unknown) << word;
}

TEST(StepRules, CodesThatAreNoError) {
  for (const char* code : {"0", "", "ok", "none", "OK", "None"}) EXPECT_TRUE(is_no_error(code)) << code;
  for (const char* code : {"1", "E0", "00", "okay", "-1"}) EXPECT_FALSE(is_no_error(code)) << code;
}

}  // namespace
}  // namespace runwarden::intake
