#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "schema_ghost/ghost_scene.h"

namespace runwarden::plugins {

/// Finds the specifics of an answer that no source in the run supports: figures, dates, ids, names and titles.
class Grounding {
 public:
  using Hollow = GhostScene::Hollow;
  using Stated = GhostScene::Stated;

  Grounding(const GhostRules& rules, GhostScene& scene) : rules_(rules), scene_(scene) {}

  /// True when a text says that the agent looked at something itself, without a tool.
  [[nodiscard]] bool looked_by_hand(std::string_view text);
  /// What is reported of the specifics in `scene.ungrounded`. `pointer` is that of the message.
  [[nodiscard]] Finding finding(const RunView& run, std::size_t hollow, const std::string& pointer) const;
  /// Collects the facts, names and titles of an answer, outside code blocks: code is not an answer.
  void read_answer(std::string_view text, Hollow hollow, bool by_hand);
  /// Turns withheld answers into evidence: the user has heard them and not objected, or the tool has returned the data after all.
  void release(const RunView& run);
  /// Strikes from `scene.facts`, `names` and `titles` what has a source before `step`, and lists the rest in `scene.ungrounded`.
  void find_ungrounded(const RunView& run, Hollow hollow, std::size_t step);
  /// Drops the ungrounded specifics that are given as examples.
  void strike_examples();
  /// "Shall I look on August 13 or 15?", "If you prefer to do it yourself: open Settings": drops times and names that are only proposed.
  void strike_proposed();
  /// The specifics of the answer that need a source, each with its type.
  [[nodiscard]] std::vector<Stated> stated_specifics() const;
  /// True when the answer may be based on a tool that returned something after the hollow step: it returned a lot, or a longer word or a
  /// word with a digit that is also in the answer.
  [[nodiscard]] bool takes_from_later(const RunView& run, Hollow hollow, std::string_view text, std::size_t step);

 private:
  template <class Add>
  void catch_up(const RunView& run, std::size_t step, std::size_t& upto, Add add);
  [[nodiscard]] bool is_ungrounded(std::string_view name, std::size_t least_unknown) const;
  void find_ungrounded_facts(const RunView& run, bool ids_only, std::size_t step);
  void read_request(const RunView& run);
  [[nodiscard]] bool asked_in_another_unit(const Fact& fact) const;
  void strike_times(const RunView& run, std::size_t step);
  void strike_dates(const RunView& run);
  void strike_worked_out();
  void strike_rough_figures(const RunView& run, std::size_t hollow);
  void strike_reckoned(const RunView& run, std::size_t hollow, std::size_t step);
  void list_ungrounded();

  const GhostRules& rules_;
  GhostScene& scene_;
};

}  // namespace runwarden::plugins
