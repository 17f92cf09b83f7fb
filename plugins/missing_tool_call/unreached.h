#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/verdict.h"
#include "evidence/deed_reader.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Judges a message that tells that something was sent to a place that no call names: "Itinerary emailed to jo@quay.example", when calls
/// changed the seat. Places are addresses, channels ("#harbour") and telephone numbers.
class Unreached {
 public:
  Unreached(const DeedRules& rules, DeedScene& scene, AskedDeeds& asked_deeds) : rules_(rules), scene_(scene), asked_deeds_(asked_deeds) {}

  /// Judges the last messages, where the user gave the place and no call is one that sends, or each one names all whom it sends to.
  void judge(const RunView& run, Verdict& verdict);

 private:
  /// A place to which the user wants something sent.
  struct Asked {
    std::string place;  // folded
    std::string_view turn;
    std::size_t step = kNoStep;
  };

  [[nodiscard]] bool sends(const WordEntry* word) const;
  [[nodiscard]] bool speaks_of_sending(const RunView& run, std::string_view text) const;
  [[nodiscard]] bool sends_by_name(const StepView& call);
  [[nodiscard]] bool may_have_sent(const RunView& run);
  [[nodiscard]] bool may_reach(const RunView& run, std::string_view place);
  [[nodiscard]] bool may_resolve(const StepView& call, std::string_view place) const;
  void read_turn(const RunView& run, std::size_t step, std::string_view turn);
  void read_turns(const RunView& run, std::size_t end);
  [[nodiscard]] bool leaves_open(const Sentence& sentence, std::uint32_t verb) const;
  [[nodiscard]] bool is_named(const RunView& run, std::string_view place);
  [[nodiscard]] bool leads_to(const Sentence& sentence, std::string_view place) const;
  [[nodiscard]] bool tells(const Sentence& sentence, std::string_view place);

  const DeedRules& rules_;
  DeedScene& scene_;
  AskedDeeds& asked_deeds_;
  DeedReader reader_;
  std::vector<Asked> asked_;
};

}  // namespace runwarden::plugins
