#pragma once

#include "common/findings.h"
#include "common/verdict.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Judges deeds that a shell does only where its command says so: "pushed" where no command pushes.
class CommandDeeds {
 public:
  CommandDeeds(const DeedRules& rules, DeedScene& scene, AskedDeeds& asked_deeds)
      : rules_(rules), scene_(scene), asked_deeds_(asked_deeds) {}

  /// Judges the final message, which `scene.reading` holds, of a run with a shell. Linear in the arguments of its calls.
  void judge(const RunView& run, const FinalMessage& message, Verdict& verdict);

 private:
  [[nodiscard]] bool shows_its_commands(const RunView& run);
  [[nodiscard]] bool speaks_of(const RunView& run, std::uint16_t verb) const;

  const DeedRules& rules_;
  DeedScene& scene_;
  AskedDeeds& asked_deeds_;
};

}  // namespace runwarden::plugins
