#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/evidence_index.h"
#include "common/facts.h"
#include "common/hash_set.h"
#include "common/reading.h"
#include "evidence/derivation.h"
#include "evidence/stated_values.h"

namespace runwarden::plugins {

/// What a message states without support from anything before it.
struct Unsupported {
  std::size_t stated = 0;           // values in sentences that make a statement
  std::size_t missing = 0;          // of these, values that occur nowhere and follow from nothing
  std::size_t words = 0;            // of the message
  std::string_view sentence;        // the first sentence with a missing value
  std::string_view value;           // that value
  std::vector<std::string> labels;  // labels of unsupported figures: "Rating" for "Rating: 4.9/5"
  bool crowded = false;             // there were too many figures to try them all
};

/// Knows which values of a message occur in what the run's tools returned and users said, or follow from it by mental arithmetic. Fed with
/// the texts before the message, in order. One owner; clear() keeps the memory.
class Support {
 public:
  explicit Support(const Lexicon& lexicon) : lexicon_(&lexicon) {}

  void clear();

  /// Announces the message that will be read, for relates(). Linear.
  void expect(std::string_view message);

  /// True when the expected message may be based on an output: the output is long, or the two share a longer word or one with a digit.
  /// Linear.
  [[nodiscard]] bool relates(std::string_view output) const;

  /// Adds what a tool returned or a user said. Linear.
  void add_source(std::string_view text);

  /// Adds what the agent itself said or did: only the figures that follow from what is supported. Linear.
  void add_thought(std::string_view text);

  /// Reads a message sentence by sentence; questions, plans, offers and conditions state nothing. In an answer of a few words every figure
  /// counts, otherwise only figures too specific for a count or a year. Without data (`given` is false), arithmetic cannot support a 0. The
  /// views point into the message. Linear.
  [[nodiscard]] Unsupported read_answer(std::string_view message, bool given);

 private:
  [[nodiscard]] bool supports(const Fact& fact, bool given);
  void read_labels(std::string_view text, Unsupported& out);
  [[nodiscard]] bool states(std::string_view sentence);

  const Lexicon* lexicon_;
  EvidenceIndex evidence_;
  HashSet expected_;  // words of the expected message
  Derivation derivation_;
  std::size_t thoughts_ = 0;  // the agent's own figures that were worked out
  std::vector<StatedValue> values_;
  std::vector<Fact> facts_;
  Reading reading_;
  std::string plain_;
};

}  // namespace runwarden::plugins
