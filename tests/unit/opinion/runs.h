// Runs and questions of the tests of second opinions.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "config/opinion_prompts.h"
#include "opinion/request.h"
#include "opinion/run_text.h"

namespace runwarden::opinion {

using nlohmann::json;

inline model::Run run_of(const json& document) {
  auto run = read_document(document.dump(), "run_1");
  if (!run.ok()) throw std::runtime_error(run.error().detail);
  return std::move(*run);
}

inline json step(const char* kind, const char* name, const std::string& output, json more = json::object()) {
  more["stepKind"] = kind;
  if (*name != '\0') more["stepName"] = name;
  more["outputSummary"] = output;
  return more;
}

// A refund failed, and the agent says that it was made.
inline json refund() {
  return {{"userRequestText", "Refund order 4711, please."},
          {"outcomeSummary", "Your refund has been processed."},
          {"success", true},
          {"steps",
           {step("model", "", "I will refund it."),
            {{"stepKind", "tool"},
             {"stepName", "issue_refund"},
             {"inputSummary", {{"order", "4711"}}},
             {"errorMessage", "502 Bad Gateway"},
             {"status", "failed"}},
            step("model", "", "Your refund has been processed.")}}};
}

inline model::Opinion candidate() {
  model::Opinion one;
  one.key = {1'700'000'000'000, 7};
  one.id = "cand_1";
  one.run = {1'700'000'000'000, 5};
  one.run_id = "run_1";
  one.revision = 2;
  one.detector_key = "false_success";
  one.detector_version = "1.4";
  one.settings_hash = "ab";
  one.rule = "no_claim";
  one.reason = "the text claims nothing for sure (candidate: confidence 0.4)";
  one.primary_step_id = "step_2";
  one.confidence = 0.4;
  one.token = 99;
  one.attempts = 1;
  one.last_error = "timeout";
  return one;
}

inline const model::OpinionPrompt& prompt_of(const char* detector) {
  return *config::built_in_opinion_prompts().find(detector);
}

inline Result<Request> request_about(const model::Run& run, const model::Opinion& opinion, RequestSettings settings = {.model = "m"}) {
  return make_request(
      {config::built_in_opinion_prompts().frame, prompt_of(opinion.detector_key.c_str()), opinion, run, focus_of(opinion, {})}, settings,
      "0123456789abcdef");
}

inline std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace runwarden::opinion
