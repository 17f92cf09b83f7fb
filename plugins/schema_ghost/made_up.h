#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/evidence_index.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/run_view.h"
#include "common/verdict.h"
#include "evidence/call_entities.h"
#include "evidence/derivation.h"
#include "evidence/disclaimers.h"
#include "evidence/expression.h"
#include "evidence/stated_values.h"

namespace runwarden::plugins {

/// "If it rises above 101, call 911": true for a value, a view into `text`, in a sentence that opens with a condition. Linear.
[[nodiscard]] bool stands_in_condition(std::string_view text, std::string_view value, const Lexicon& lexicon);

/// Adds the codes that the user reads out, in any turn. Linear.
void hear_codes(const RunView& run, EvidenceIndex& evidence);

/// A value that nothing in a run supports, stated after the source that should have given it returned nothing.
struct MadeUp {
  std::string_view rule;         // empty when none was found
  std::size_t source = kNoStep;  // the step that returned nothing
  std::size_t step = kNoStep;    // the step that states the value; the number of steps for outcomeSummary
  bool in_input = false;         // stated in that step's input rather than its output
  double confidence = 0;
  std::vector<std::string> values;
  bool apart = false;  // the values cannot come from what the other sources gave
};

/// Finds single values that an agent made up: an answer that is one figure, an address or id in the arguments of a call, the figures of
/// a report. One owner; keeps scratch memory.
class MadeUpValues {
 public:
  MadeUpValues(const Lexicon& lexicon, const FactWords& words, Recovery& tools, Disclaimers& disclaimers)
      : lexicon_(&lexicon), fact_words_(&words), tools_(&tools), disclaimers_(&disclaimers), evidence_(words) {}

  /// Returns the made-up value of a run with the highest confidence. `gave_nothing` marks the steps that returned nothing, except tools
  /// that are silent by design. With `own_words`, what the agent says after such a step supports nothing until the user has heard it.
  /// Linear.
  [[nodiscard]] const MadeUp& find(const RunView& run, const std::vector<bool>& gave_nothing, bool own_words);

 private:
  void judge_message(const RunView& run, std::string_view text, std::size_t step);
  void judge_plain_answer(const RunView& run, std::string_view text, std::size_t step);
  void judge_guess(const RunView& run, std::string_view text, std::size_t step);
  void judge_figures(const RunView& run, std::string_view text, std::size_t step);
  [[nodiscard]] bool is_new(std::string_view name) const;
  bool invents_mail(const RunView& run, std::string_view text, std::size_t step, MadeUp& found);
  [[nodiscard]] bool tells_no_doubt(std::string_view text) const;
  [[nodiscard]] bool tells_several(const RunView& run, std::string_view text, std::size_t step);
  [[nodiscard]] bool tells_as_fact(std::string_view text, const std::vector<std::string>& figures) const;
  [[nodiscard]] bool asked_since(const RunView& run, std::size_t step) const;
  void judge_report(const RunView& run, std::string_view text, std::size_t step, bool in_input);
  void judge_call(const RunView& run, std::size_t step);
  void collect_missing_ids(const RunView& run, std::string_view input);
  void judge_texts(const RunView& run, std::size_t step);
  void take_tool(const RunView& run, std::size_t step);

  /// How much of a run an index covers. Each index covers only what a look-up needs: most values occur somewhere exactly as spelled.
  struct Taken {
    std::size_t upto = 0;   // steps
    std::size_t heard = 0;  // the agent's messages before this step count as support
  };
  template <class Add>
  void catch_up(const RunView& run, std::size_t step, Taken& taken, Add add);
  void know_figures(const RunView& run, std::size_t step);
  [[nodiscard]] bool is_source(std::string_view tool);
  [[nodiscard]] bool look_up_alike(std::string_view one, std::string_view other);
  [[nodiscard]] bool stands(const RunView& run, std::size_t step, const StatedValue& value);
  [[nodiscard]] bool supported(const RunView& run, std::size_t step, const StatedValue& value);
  [[nodiscard]] bool follows(const RunView& run, std::size_t step, std::string_view digits);
  [[nodiscard]] bool told(const RunView& run, std::size_t step, std::string_view value) const;
  [[nodiscard]] bool names_told_id(const RunView& run, std::size_t step, std::string_view value) const;
  [[nodiscard]] bool answered_later(const RunView& run, std::size_t step, std::string_view value) const;
  [[nodiscard]] bool asked_for(const RunView& run, std::string_view label);
  [[nodiscard]] bool tells_digits_of(const RunView& run, std::size_t step, std::string_view code) const;
  [[nodiscard]] bool spelled_out(const RunView& run, std::size_t step, std::string_view code);
  [[nodiscard]] bool is_made_of_told_words(const RunView& run, std::string_view value) const;
  [[nodiscard]] bool worked_out_roughly(const RunView& run, std::string_view text, std::string_view figure) const;
  void add(MadeUp found);

  const Lexicon* lexicon_;
  const FactWords* fact_words_;
  Recovery* tools_;
  Disclaimers* disclaimers_;
  const std::vector<bool>* nothing_ = nullptr;
  MadeUp best_;
  RoughWork rough_work_;
  bool codes_heard_ = false;
  EvidenceIndex evidence_;
  EvidenceIndex words_;
  Derivation derivation_;
  Taken spelled_taken_;
  Taken facts_taken_;
  Taken figures_taken_;
  Taken words_taken_;
  bool own_words_ = true;
  std::size_t first_ = kNoStep;    // the first source that returned nothing
  std::size_t missing_ = kNoStep;  // the last call of any kind that returned nothing or failed
  std::vector<std::size_t> open_;  // sources that returned nothing and were not made good, each tool and object once
  bool given_since_ = false;       // a tool has returned something new since the last of them
  std::size_t bytes_since_ = 0;
  bool any_given_ = false;      // a source has returned something in this run
  bool own_knowledge_ = false;  // the agent has said since that it answers from what it knows
  std::size_t searched_ = 0;    // number of entities that the run was searched for
  std::size_t derived_ = 0;     // number of figures that were derived
  std::size_t mails_ = 0;       // number of invented mail addresses
  HashSet outputs_;
  std::vector<StatedValue> values_;
  std::vector<Fact> dates_;
  std::vector<CallEntity> entities_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> titles_;
  std::vector<std::string_view> mail_texts_;
  std::string buffer_;
  Reading reading_;
};

}  // namespace runwarden::plugins
