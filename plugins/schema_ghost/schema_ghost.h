#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "common/grounds.h"
#include "common/settings.h"

namespace runwarden::plugins {

/// Finds answers whose specifics no source in the run supports, given after a tool that returned nothing.
/// One owner, one thread at a time: keeps scratch memory between runs.
class SchemaGhost {
 public:
  static constexpr std::string_view kKey = "schema_ghost";
  static constexpr std::string_view kTitle = "Schema ghost";

  explicit SchemaGhost(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

 private:
  /// What a tool step gave: something, nothing, or a failure.
  [[nodiscard]] bool gave_nothing(const StepView& step) const;
  void judge_answer(const RunView& run, std::size_t hollow, std::string_view text, const std::string& pointer, Verdict& verdict);
  [[nodiscard]] Finding finding(const RunView& run, std::size_t hollow, const std::string& pointer) const;
  [[nodiscard]] std::string cannot_tell(const RunView& run) const;
  void walk(const RunView& run, Verdict& verdict);
  void collect_answer_facts(std::string_view text);

  Lexicon lexicon_;
  ContentRules content_;
  bool grounding_;
  bool admission_;
  bool by_design_;
  Grounds grounds_;
  std::vector<Fact> facts_;
  std::vector<Fact> part_;
  std::vector<std::string_view> ungrounded_;
  Reading reading_;
};

}  // namespace runwarden::plugins
