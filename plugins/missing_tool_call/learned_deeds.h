#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/hash_set.h"
#include "common/verdict.h"
#include "evidence/deed_reader.h"
#include "missing_tool_call/asked_deeds.h"
#include "missing_tool_call/call_words.h"
#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Judges, with a learned reader, messages that tell a deed in words in which no rule finds one: "She's off the rota from Monday."
class LearnedDeeds {
 public:
  LearnedDeeds(const DeedRules& rules, DeedScene& scene, CallWords& call_words, AskedDeeds& asked_deeds)
      : rules_(rules), scene_(scene), call_words_(call_words), asked_deeds_(asked_deeds) {}

  /// Judges the last messages: of one that tells a deed, when the user asked for one and nothing has changed anything since.
  void judge(const RunView& run, Verdict& verdict);

  /// True when a tool whose name does not say what it does is named after something in a sentence of the user: "hr_bulk_absence" may enter
  /// absences, whatever it returned. Without tools, true for a sentence that asks for a text.
  [[nodiscard]] bool may_be_done_by_any(const RunView& run, const Reading& reading, const Sentence& sentence) const;

 private:
  /// The likeliest sentence of a text, or of several.
  struct Likely {
    double sure = 0;  // probability
    std::string_view text;
    std::size_t step = kNoStep;
    std::uint16_t verb = kNoVerb;  // a verb of the sentence that names a deed; kNoVerb for none
    bool shares = false;           // told: it shares a telling word with what was asked for
  };

  /// What came before a message: which of its sentences count.
  enum class PriorCalls : std::uint8_t { kNothing, kChanges, kRecipients };

  [[nodiscard]] std::uint16_t verb_of(const Sentence& sentence) const;
  void ask(const RunView& run, std::size_t step, std::string_view turn, Likely& best);
  [[nodiscard]] bool leaves_open(const Sentence& sentence) const;
  [[nodiscard]] Sentence told_part(const Sentence& sentence) const;
  [[nodiscard]] bool claims_deed(const Sentence& sentence) const;
  [[nodiscard]] bool shares_asked(const Sentence& sentence) const;
  [[nodiscard]] bool repeats_state(const RunView& run, const Sentence& sentence);
  [[nodiscard]] bool may_answer(const Likely& asked, const Likely& told) const;
  [[nodiscard]] Likely told_in(const RunView& run, const AgentMessage& said, PriorCalls prior);
  [[nodiscard]] std::size_t last_change(std::size_t message) const;
  [[nodiscard]] bool names_recipient(const RunView& run, const Sentence& sentence);
  void collect_recipients(const RunView& run, std::size_t step, std::string_view turn, Likely& best);
  void judge_recipients(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void fire(const RunView& run, const AgentMessage& said, const Likely& asked, const Likely& told, double sure, Verdict& verdict);
  void judge_message(const RunView& run, const FinalMessage& message, Verdict& verdict);

  const DeedRules& rules_;
  DeedScene& scene_;
  CallWords& call_words_;
  AskedDeeds& asked_deeds_;
  DeedReader reader_;
  std::string calls_told_;  // what a message tells by calls as text; empty for another message and where a tool ran
  HashSet recipients_;      // names, by hash_bytes()
  HashSet asked_words_;     // the telling words of the likeliest request, as hash_noun() has them
};

}  // namespace runwarden::plugins
