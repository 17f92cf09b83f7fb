#pragma once

#include "common/verdict.h"
#include "evidence/deed_reader.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Judges a message in which the agent says that it passes something on.
class PassedOn {
 public:
  PassedOn(const DeedRules& rules, DeedScene& scene, AskedDeeds& asked_deeds)
      : rules_(rules), scene_(scene), asked_deeds_(asked_deeds), passing_on_(rules.passing_on), follow_ups_(rules.follow_ups) {}

  /// "I'll get that to the care team now, they'll reach out to you": the agent says that it passes something on and that somebody will act
  /// on it, or closes the talk on it ("You're all set!"), but no call did. Reads the last messages only.
  void judge(const RunView& run, Verdict& verdict);

 private:
  [[nodiscard]] bool is_asked(const RunView& run);
  [[nodiscard]] bool closes_on_it(const RunView& run);
  [[nodiscard]] bool tells(const RunView& run, std::string_view text);

  const DeedRules& rules_;
  DeedScene& scene_;
  AskedDeeds& asked_deeds_;
  Phrases passing_on_;
  Phrases follow_ups_;
  DeedReader reader_;
  Reading turn_;
};

}  // namespace runwarden::plugins
