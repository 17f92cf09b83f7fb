#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "common/verdict.h"
#include "evidence/call_stems.h"
#include "evidence/clauses.h"
#include "evidence/deed_reader.h"
#include "evidence/measures.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/deed_scene.h"
#include "missing_tool_call/deeds_beside.h"
#include "missing_tool_call/learned_deeds.h"
#include "missing_tool_call/ran_tools.h"

namespace runwarden::plugins {

/// Weighs, for each deed that a message tells, all that is known of whether one of the calls was for it: learned from messages of which it
/// is known which call did what. One owner, one thread at a time.
class WeighedDeeds {
 public:
  WeighedDeeds(const DeedRules& rules, DeedScene& scene, RanTools& tools_ran, AskedDeeds& asked_deeds, DeedsBeside& beside,
               LearnedDeeds& learned)
      : rules_(rules), scene_(scene), tools_ran_(tools_ran), asked_deeds_(asked_deeds), beside_(beside), learned_(learned) {}

  /// Fires on the surest deed of the agent's last messages for which no call was, and leaves the reading of another message.
  void judge(const RunView& run, Verdict& verdict);

  /// True where what is told is taken for a text that was asked for, or for a game: nothing is weighed.
  [[nodiscard]] bool is_talk(const RunView& run, const Verdict& verdict);
  /// Forgets the run before.
  void clear();
  /// Reads a message, the turns before it and the calls; false when it tells no deed, a single one that a call may have been for, or what
  /// may be a report of look-ups. `back` is how many messages came after it. Linear in what it reads, which is bounded for turns and calls.
  [[nodiscard]] bool read_message(const RunView& run, const AgentMessage& said, std::size_t back);
  /// The clauses of that message that may tell a deed.
  [[nodiscard]] std::span<const Clause> told() const { return told_; }
  /// True for one that is likely to: by itself, or because it speaks of what was asked for.
  [[nodiscard]] bool is_likely(const Clause& deed) const;
  /// What is known of one of them; valid until the next call.
  [[nodiscard]] const Measures& measure(std::size_t deed, bool named);
  [[nodiscard]] std::string_view text_of(std::size_t deed) const { return plugins::text_of(scene_.reading, told_[deed]); }

  /// The names of the measures that the weights were learned over, in order.
  [[nodiscard]] static std::span<const std::string_view> weights_of();

 private:
  struct Call : CallStems {
    bool failed = false;
    bool doubtful = false;  // it may have changed nothing
  };
  /// A clause of a user's turn.
  struct Wish {
    Clause clause;
    std::string_view turn;
    std::size_t step = kNoStep;
  };
  /// A deed, and how sure it is that no call was for it.
  struct Missed {
    double sure = 0;
    AgentMessage said;
    Request wanted;
  };

  [[nodiscard]] bool read_turn(const RunView& run, std::string_view turn, std::size_t step);
  void read_turns(const RunView& run, std::size_t end);
  [[nodiscard]] bool only_looks(const RunView& run, std::size_t call);
  [[nodiscard]] bool may_have_changed(const RunView& run, std::size_t end);
  [[nodiscard]] bool may_want_report(const RunView& run, std::size_t end);
  void read_calls(const RunView& run, std::size_t end);
  [[nodiscard]] const Call& call_at(const RunView& run, std::size_t step);
  void compare_all();
  [[nodiscard]] std::size_t most_of_others(std::size_t call, std::size_t deed) const;
  [[nodiscard]] bool may_be_for(std::size_t deed) const;
  [[nodiscard]] const Wish& wish_for(const Clause& deed) const;
  [[nodiscard]] bool any_call_has(std::uint64_t stem) const;
  void measure_message(const Clause& deed);
  void measure_wish(const Clause& deed, const Wish& wish);
  void measure_cover(std::string_view of, const Stems& stems);
  void measure_verbs(const Clause& deed, const Wish& wish);
  void measure_claims(const Clause& deed);
  void measure_calls(std::size_t deed);
  [[nodiscard]] double weigh(std::size_t deed, bool named);
  [[nodiscard]] Request wanted_for(const Clause& deed) const;
  [[nodiscard]] bool may_answer(const RunView& run, const AgentMessage& said, const Clause& deed);

  const DeedRules& rules_;
  DeedScene& scene_;
  RanTools& tools_ran_;
  AskedDeeds& asked_deeds_;
  DeedsBeside& beside_;
  LearnedDeeds& learned_;
  DeedReader reader_;
  Reading turn_;
  Measures measures_;
  std::vector<Clause> told_;
  std::map<std::size_t, std::vector<Wish>> asked_;  // by step: the user's turns that were read so far
  std::vector<const Wish*> wishes_;                 // of the turns before the message
  std::map<std::size_t, Call> read_;                // by step: the calls of the run that were read so far
  std::vector<const Call*> calls_;                  // those before the message that may have changed something, the newest first
  std::vector<std::size_t> ties_;                   // by call and deed: how much speaks for the call having been made for the deed
  Stems looked_up_;                                 // what the other calls asked and returned
  std::size_t turns_ = 0;
  std::size_t back_ = 0;
};

}  // namespace runwarden::plugins
