// Runs and drafts for tests.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "guardrail/draft.h"
#include "guardrail/evaluator.h"
#include "intake/run_reader.h"

namespace runwarden::guardrail {

using nlohmann::json;

inline json call(const std::string& tool, const json& more = json::object()) {
  json step = {{"stepKind", "tool"}, {"stepName", tool}, {"status", "completed"}};
  step.update(more);
  return step;
}
inline json failed_call(const std::string& tool) {
  return call(tool, {{"status", "failed"}, {"errorMessage", "502 Bad Gateway"}});
}
inline json said(const std::string& text) {
  return {{"stepKind", "model"}, {"outputSummary", text}};
}
inline json asked(const std::string& text) {
  return {{"stepKind", "user"}, {"outputSummary", text}};
}
inline json run_of(const json& steps, const json& more = json::object()) {
  json run = {{"steps", steps.is_array() ? steps : json::array({steps})}};  // {x} is x
  run.update(more);
  return run;
}

inline model::Run read(const json& run) {
  auto read = intake::read_run(run.dump(), {}, "r");
  EXPECT_TRUE(read.ok()) << read.error().detail;
  return std::move(*read);
}

inline Draft draft_at(const char* point, const json& condition) {
  const json draft = {
      {"format", "guardrail/1"}, {"name", "rule"}, {"point", point}, {"if", condition}, {"then", {{"action", "block"}, {"say", "no"}}}};
  auto read = read_draft(draft.dump());
  EXPECT_TRUE(read.ok()) << read.error().detail;
  return std::move(*read);
}

inline bool catches(const Draft& draft, const json& run) {
  return Evaluator(draft).catches(read(run)).value();
}

}  // namespace runwarden::guardrail
