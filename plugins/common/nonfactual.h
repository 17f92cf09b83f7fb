#pragma once

#include <cstdint>
#include <string_view>

#include "common/reading.h"

namespace runwarden::plugins {

/// Finds the items of lists, and the sentences that claim nothing whatever they say. One pass over the sentences of a reading, in order;
/// needs the cues of each sentence. One owner.
class ListReader {
 public:
  explicit ListReader(const Reading& reading) : reading_(reading) {}

  /// True for an item of a list behind a question, which is a choice: "Is it:", then "- ordered by mistake". Call before after().
  [[nodiscard]] bool is_choice(const Sentence& sentence) const { return opener_ == Opener::kQuestion && is_item(sentence); }
  /// True for an item of a to-do list that has no tick, for one of a list under the heading of a plan, "Next steps:", and for what is told
  /// as simulated: "(Simulated) Booking cancelled." Call before after().
  [[nodiscard]] bool is_nonfactual(const Sentence& sentence) const;
  /// Call for every sentence, with what is_choice() and is_nonfactual() said of it.
  void after(const Sentence& sentence);

 private:
  enum class Opener : std::uint8_t { kNone, kQuestion, kPlan };

  [[nodiscard]] bool is_item(const Sentence& sentence) const;
  [[nodiscard]] std::string_view gap_before(const Sentence& sentence) const;
  [[nodiscard]] bool is_plan_heading(const Sentence& sentence) const;
  [[nodiscard]] bool is_label(std::uint32_t word) const;

  const Reading& reading_;
  const char* end_ = nullptr;  // of the sentence before; nullptr at the beginning
  Opener opener_ = Opener::kNone;
  bool in_item_ = false;
  bool simulated_ = false;  // a label at the beginning of the text
};

}  // namespace runwarden::plugins
