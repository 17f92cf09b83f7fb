#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/facts.h"
#include "common/evidence_index.h"
#include "common/hash_set.h"
#include "common/reading.h"
#include "evidence/derivation.h"
#include "evidence/stated_values.h"

namespace runwarden::plugins {

/// What a message states that nothing before it supports.
struct Unsupported {
  std::size_t stated = 0;           // values in sentences that state something
  std::size_t missing = 0;          // of these, what is nowhere and follows from nothing
  std::size_t words = 0;            // of the message
  std::string_view sentence;        // the first with a missing value
  std::string_view value;           // that value
  std::vector<std::string> labels;  // of figures without support: "Rating" of "Rating: 4.9/5"
  bool crowded = false;             // there were too many figures to try them all
};

/// Knows which values of a message stand in what the run's tools and users said, or can be worked out from it in the head. Filled with
/// the texts before the message, in their order. One owner; clear() keeps the memory.
class Support {
 public:
  explicit Support(const Lexicon& lexicon) : lexicon_(&lexicon) {}

  void clear();

  /// Names the message that is going to be read, for relates(). Linear.
  void expect(std::string_view message);

  /// True when the expected message may have been made of an output: it is long, or shares a longer word, or one with a digit. Linear.
  [[nodiscard]] bool relates(std::string_view output) const;

  /// Takes in what a tool gave or a user said. Linear.
  void add_source(std::string_view text);

  /// Takes in what the agent said or did itself: of its figures only those that follow from what is supported. Linear.
  void add_thought(std::string_view text);

  /// Reads a message sentence by sentence; questions, plans, offers and conditions state nothing. In an answer of a few words every figure
  /// counts, else only what is too specific for a count or a year. Without any data given, a 0 counts nothing. The views point into the
  /// message. Linear.
  [[nodiscard]] Unsupported read_answer(std::string_view message, bool given);

 private:
  [[nodiscard]] bool supports(const Fact& fact, bool given);
  void read_labels(std::string_view text, Unsupported& out);
  [[nodiscard]] bool states(std::string_view sentence);

  const Lexicon* lexicon_;
  EvidenceIndex evidence_;
  HashSet expected_;  // words of the expected message
  Derivation derivation_;
  std::size_t thoughts_ = 0;  // figures of the agent's own that were worked out
  std::vector<StatedValue> values_;
  std::vector<Fact> facts_;
  Reading reading_;
  std::string plain_;
};

}  // namespace runwarden::plugins
