#pragma once

#include "missing_tool_call/deed_scene.h"

namespace runwarden::plugins {

/// Tells whether the words of calls hold what a claim in `scene.reading` says.
class CallWords {
 public:
  CallWords(const DeedRules& rules, DeedScene& scene) : rules_(rules), scene_(scene) {}

  /// True when a tool returned the very word of the claim: the agent repeats what it read. Reads outputs only once a claim is in doubt.
  [[nodiscard]] bool returned_word(const RunView& run, const Claim& claim);
  /// The same, and true when the claim quotes an id that a tool that writes returned.
  [[nodiscard]] bool reported_state(const RunView& run, const Claim& claim);
  /// True when the words around the claim name something in the arguments or output of a call.
  [[nodiscard]] bool about_calls(const RunView& run, const Claim& claim);
  /// True when a call that may have changed something was about the object of the deed, or names the deed.
  [[nodiscard]] bool concerns(const RunView& run, const Claim& claim);
  /// True when the subject of "a replacement card has been ordered" is what calls that change something were about, by two words of it.
  [[nodiscard]] bool names_made(const RunView& run, const Claim& claim);
  /// True when the object of the deed, the bags in "three bags have been added" and "I've added three bags", begins a word of the name of a
  /// call that may have changed something or of one of its arguments, or the other way round: `total_baggages`. Reads the calls once per
  /// run.
  [[nodiscard]] bool names_thing(const RunView& run, const Claim& claim);
  /// True when a call that may have changed something shares a word with the clause that reports the deed: it was about the same object.
  /// Also true for a clause that names no object.
  [[nodiscard]] bool is_about_changed(const RunView& run, const Claim& claim);
  /// True when a call that may have changed something has the word.
  [[nodiscard]] bool is_changed(const RunView& run, const ReadWord& word);
  /// True when such a call shares a telling word, or a number, with the sentence of the reading.
  [[nodiscard]] bool shares_changed(const RunView& run, const Sentence& sentence);

 private:
  [[nodiscard]] bool begins_after_claim(const Claim& claim, std::uint32_t word) const;
  [[nodiscard]] bool quotes_id(const Sentence& sentence) const;
  void read_changes(const RunView& run);
  void add_told(std::string_view output);
  void read_things(const RunView& run);
  void add_things(const StepView& call);

  const DeedRules& rules_;
  DeedScene& scene_;
};

}  // namespace runwarden::plugins
