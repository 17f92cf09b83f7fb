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
      : rules_(rules),
        scene_(scene),
        asked_deeds_(asked_deeds),
        passing_on_(rules.passing_on),
        follow_ups_(rules.follow_ups),
        contacts_(rules.contacts),
        put_through_(rules.put_through),
        putting_through_(rules.putting_through) {}

  /// "I'll get that to the care team now, they'll reach out to you": the agent says that it passes something on and that somebody will act
  /// on it, or closes the talk on it ("You're all set!"), but no call did. Reads the last messages only.
  void judge(const RunView& run, Verdict& verdict);

  /// "I've transferred you to a human agent": the user wanted to speak to a person, the agent says that it has put them through, or is
  /// doing so and says goodbye, and no call since could have done it. Reads the last messages only.
  void judge_handover(const RunView& run, Verdict& verdict);

 private:
  [[nodiscard]] static bool holds(const Reading& reading, const Sentence& sentence, const Phrases& phrases);
  [[nodiscard]] std::size_t contact_asked_for(const RunView& run, std::size_t end);
  [[nodiscard]] bool wants_contact(const RunView& run, std::string_view turn);
  [[nodiscard]] bool may_put_through(const RunView& run, std::size_t begin, std::size_t end) const;
  [[nodiscard]] const Sentence* told_handover(const RunView& run, std::string_view message);
  [[nodiscard]] std::uint16_t claimed_in(const Sentence& sentence) const;
  [[nodiscard]] bool is_asked(const RunView& run);
  [[nodiscard]] bool closes_on_it(const RunView& run);
  [[nodiscard]] bool tells(const RunView& run, std::string_view text);

  const DeedRules& rules_;
  DeedScene& scene_;
  AskedDeeds& asked_deeds_;
  Phrases passing_on_;
  Phrases follow_ups_;
  Phrases contacts_;
  Phrases put_through_;
  Phrases putting_through_;
  DeedReader reader_;
  Reading turn_;
};

}  // namespace runwarden::plugins
