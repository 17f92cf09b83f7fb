#pragma once

#include "common/reading.h"
#include "evidence/feature_set.h"
#include "evidence/sentence_features.h"

namespace runwarden::plugins {

/// Reads a sentence as a whole, with weights learned from labeled sentences (tests/learn/train_sentences.py) rather than by its words'
/// roles: it knows "She's off the rota from Monday" and "der Antrag liegt jetzt bei Ihrem Chef" for deeds told as done. English, German and
/// Spanish. One owner, one thread at a time.
class DeedReader {
 public:
  /// How likely the agent's sentence tells a deed as done, 0 to 1. Linear in the sentence.
  [[nodiscard]] double tells(const Reading& reading, const Sentence& sentence);
  /// How likely the sentence that was read last tells that something was not done, or not yet, 0 to 1. Linear in the sentence.
  [[nodiscard]] double tells_undone() const;
  /// How likely the user's sentence asks for a deed, 0 to 1. Linear in the sentence.
  [[nodiscard]] double asks(const Reading& reading, const Sentence& sentence);

 private:
  FeatureSet features_{kSentenceFeatures};
};

}  // namespace runwarden::plugins
