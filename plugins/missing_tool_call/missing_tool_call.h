#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/findings.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/call_words.h"
#include "missing_tool_call/command_deeds.h"
#include "missing_tool_call/deed_rules.h"
#include "missing_tool_call/deed_scene.h"
#include "missing_tool_call/deeds_beside.h"
#include "missing_tool_call/exchanges.h"
#include "missing_tool_call/learned_deeds.h"
#include "missing_tool_call/passed_on.h"
#include "missing_tool_call/ran_tools.h"
#include "missing_tool_call/unchanged_deeds.h"
#include "missing_tool_call/unmade_calls.h"
#include "missing_tool_call/unreached.h"
#include "missing_tool_call/weighed_deeds.h"

namespace runwarden::plugins {

/// Finds runs where the user asked for an action, the agent said that it was done, and no tool that could have done it ran.
/// One owner, one thread at a time: keeps scratch memory between runs.
class MissingToolCall {
 public:
  static constexpr std::string_view kKey = "missing_tool_call";
  static constexpr std::string_view kTitle = "Missing tool call";

  explicit MissingToolCall(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

  /// What was weighed; for learning, after evaluate() of the same run.
  [[nodiscard]] WeighedDeeds& weighed() { return weighed_; }

 private:
  struct MatchedClaim {
    const Claim* claim = nullptr;
    const Request* request = nullptr;  // made before the message
    bool asked = false;                // it asks for the very deed
  };

  MissingToolCall(std::string_view settings_json, const Settings& settings);

  void judge_without_tools(const RunView& run, Verdict& verdict);
  static void suppress(std::string_view rule, std::size_t step, Verdict& verdict);
  void judge_written_call(const RunView& run, Verdict& verdict);
  void collect_in_doubt();
  void judge_message(const RunView& run, const AgentMessage& said, Verdict& verdict);
  [[nodiscard]] bool is_doubtful(const Claim& claim) const;
  [[nodiscard]] bool says_done() const;
  [[nodiscard]] bool taken_back_after(const RunView& run, std::size_t step);
  [[nodiscard]] bool is_told_to_nobody(const RunView& run, const Claim& claim, const Request& request);
  [[nodiscard]] std::optional<MatchedClaim> matched_claim(const RunView& run, const AgentMessage& said, const Claim& claim);
  [[nodiscard]] double doubt_about(const RunView& run, const AgentMessage& said, const MatchedClaim& matched);
  [[nodiscard]] bool judge_passage(const RunView& run, const AgentMessage& said, Verdict& verdict);
  void fire_claim(const RunView& run, const AgentMessage& said, const MatchedClaim& matched, Verdict& verdict);
  void judge_general_claim(const RunView& run, Verdict& verdict);
  [[nodiscard]] const Request* promised(const RunView& run, std::size_t message);
  [[nodiscard]] std::uint16_t promised_for_now() const;
  [[nodiscard]] std::optional<Request> agreed_and_promised(const RunView& run, const AgentMessage& said);
  [[nodiscard]] std::optional<Request> promised_at_close(const RunView& run, const FinalMessage& message);
  void judge_promise(const RunView& run, Verdict& verdict);
  void judge_with_tools(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool closes_on_promise(const RunView& run, std::string_view read_already);
  [[nodiscard]] bool names_unmade_file(const RunView& run, std::string_view text);
  [[nodiscard]] std::uint16_t made_file(std::string_view text) const;
  void find_unmatched(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void judge_last_words(const RunView& run, Verdict& verdict);
  [[nodiscard]] std::string cannot_tell(const RunView& run) const;
  void judge(const RunView& run, Verdict& verdict);
  void drop_done_by_user(const RunView& run, Verdict& verdict);
  void explain(const RunView& run);

  std::shared_ptr<const DeedRules> rules_held_;
  const DeedRules& rules_ = *rules_held_;
  DeedScene scene_;
  RanTools tools_ran_{rules_, scene_};
  CallWords call_words_{rules_, scene_};
  AskedDeeds asked_deeds_{rules_, scene_};
  UnchangedDeeds unchanged_{rules_, scene_, tools_ran_, call_words_, asked_deeds_};
  DeedsBeside beside_{rules_, scene_, tools_ran_, call_words_, asked_deeds_};
  CommandDeeds commands_{rules_, scene_, asked_deeds_};
  Exchanges exchanges_{rules_, scene_, tools_ran_, call_words_, asked_deeds_, unchanged_};
  UnmadeCalls unmade_calls_{rules_, scene_, asked_deeds_, unchanged_};
  PassedOn passed_on_{rules_, scene_, asked_deeds_};
  Unreached unreached_{rules_, scene_, asked_deeds_};
  LearnedDeeds learned_{rules_, scene_, call_words_, asked_deeds_};
  WeighedDeeds weighed_{rules_, scene_, tools_ran_, asked_deeds_, beside_, learned_};
};

}  // namespace runwarden::plugins
