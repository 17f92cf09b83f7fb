#pragma once

#include <cstddef>
#include <string_view>

#include "common/verdict.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/call_words.h"
#include "missing_tool_call/deed_scene.h"
#include "missing_tool_call/ran_tools.h"
#include "missing_tool_call/unchanged_deeds.h"

namespace runwarden::plugins {

/// Judges the last exchanges of a run each by itself.
class Exchanges {
 public:
  Exchanges(const DeedRules& rules, DeedScene& scene, RanTools& tools_ran, CallWords& call_words, AskedDeeds& asked_deeds,
            UnchangedDeeds& unchanged)
      : rules_(rules), scene_(scene), tools_ran_(tools_ran), call_words_(call_words), asked_deeds_(asked_deeds), unchanged_(unchanged) {}

  /// Where calls changed something, but none since the user last asked: each of the last exchanges as a run of its own.
  void judge(const RunView& run, Verdict& verdict);

 private:
  /// A user turn and the steps up to the next one.
  struct Exchange {
    std::size_t begin = 0;  // steps
    std::size_t end = 0;
  };

  [[nodiscard]] bool is_inconclusive(const RunView& run, const Exchange& exchange);
  void judge_one(const RunView& run, const Exchange& exchange, std::string_view request, Verdict& verdict);

  const DeedRules& rules_;
  DeedScene& scene_;
  RanTools& tools_ran_;
  CallWords& call_words_;
  AskedDeeds& asked_deeds_;
  UnchangedDeeds& unchanged_;
};

}  // namespace runwarden::plugins
