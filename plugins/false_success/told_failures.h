#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "evidence/call_stems.h"
#include "evidence/clauses.h"
#include "evidence/deed_reader.h"
#include "evidence/measures.h"
#include "evidence/stems.h"
#include "false_success/call_outcomes.h"
#include "false_success/failure_scene.h"

namespace runwarden::plugins {

/// Measures how a message speaks of a call that may not have done what it was for: which of its clauses are of that call rather than of
/// others, and whether they tell a deed or leave it open. The message is the one in `scene.reading`. One owner, one thread at a time.
class ToldFailures {
 public:
  ToldFailures(const FailureRules& rules, FailureScene& scene, CallOutcomes& outcomes)
      : rules_(rules), scene_(scene), outcomes_(outcomes) {}

  /// Reads the clauses of the message that may tell a deed. Linear.
  void read_message();
  /// How sure it is that the message tells any deed, 0 to 1.
  [[nodiscard]] double surest() const;
  /// Reads what else the message says, the user's last turns and the last calls of a run, which ends with the message; look-ups only from
  /// the step `first` on. Linear.
  void read_run(const RunView& run, std::size_t first);
  /// Reads the messages that came after the one in `scene.reading`: each may take back what that one told. Linear.
  void read_later(std::span<const FinalMessage> messages);
  /// True when one of these tells that something was not done, or leaves it open, by a figure or two words of this call.
  [[nodiscard]] bool taken_back(const RunView& run, std::size_t step);
  /// Measures one call of that run, from `first` on.
  void measure(const RunView& run, std::size_t step, Measures& out);

 private:
  struct Call : CallStems {
    std::size_t step = 0;
    bool failed = false;
  };
  /// A clause of the message.
  struct Said : Clause {
    std::size_t done_ties = 0;        // how much speaks for it being of the likeliest call that did not fail
    std::size_t done_step = kNoStep;  // that call
    std::size_t other_ties = 0;       // the same of the likeliest other one
  };
  /// A call that may have failed, and the words that only it has.
  struct Doubt {
    const Call& call;
    Stems given;    // of its name and arguments
    Stems own;      // of these, those that no call that succeeded was given
    Stems reasons;  // of its output, those that neither it nor the user gave
  };

  void read_turns(const RunView& run);
  void read_calls(const RunView& run, std::size_t first);
  void compare_with_done();
  void read_said();
  [[nodiscard]] bool denies_told(const Clause& said) const;
  [[nodiscard]] Call read_call(const RunView& run, std::size_t step) const;
  [[nodiscard]] const Call& call_at(const RunView& run, std::size_t step);
  [[nodiscard]] Doubt doubt_at(const RunView& run, std::size_t step);
  [[nodiscard]] static std::size_t count_words_of(const Doubt& doubt, const Clause& clause);
  [[nodiscard]] static std::size_t most_of_others(const Doubt& doubt, const Said& clause);
  [[nodiscard]] std::size_t count_done(const Doubt& doubt) const;
  void measure_outcome(const RunView& run, const Doubt& doubt, Measures& out);
  void measure_deeds(const Doubt& doubt, Measures& out) const;
  void measure_nearest(const Doubt& doubt, Measures& out) const;
  void measure_undone(const Doubt& doubt, Measures& out) const;
  void measure_untold(const Doubt& doubt, Measures& out) const;
  void measure_later(const Doubt& doubt, Measures& out) const;
  void measure_asked(const Doubt& doubt, Measures& out) const;

  const FailureRules& rules_;
  FailureScene& scene_;
  CallOutcomes& outcomes_;
  DeedReader reader_;
  Reading turn_;
  std::vector<Said> told_;      // clauses of the message that may tell a deed
  std::vector<Clause> untold_;  // the others
  std::vector<Clause> asked_;   // clauses of the user's turns that may ask for a deed
  std::size_t last_asked_ = 0;  // where those of the last turn begin
  std::vector<Call> calls_;     // the last calls that may have changed something
  std::vector<Call> looks_;     // the last look-ups
  Call other_;                  // one of neither
  std::vector<Clause> later_;   // clauses of later messages that tell that something was not done
  Stems words_;                 // of the message
  Stems turns_;                 // of the user's turns
};

}  // namespace runwarden::plugins
