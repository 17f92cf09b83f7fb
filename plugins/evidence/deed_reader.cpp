#include "evidence/deed_reader.h"

#include "evidence/learned_weights.h"
#include "evidence/sentence_weights.inc"

namespace runwarden::plugins {

static_assert(std::size(kTells) == kSentenceFeatures && std::size(kAsks) == kSentenceFeatures && std::size(kUndone) == kSentenceFeatures);

double DeedReader::tells(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_.all(), kTells, kTellsUnit);
}

double DeedReader::tells_undone() const {
  return probability(features_.all(), kUndone, kUndoneUnit);
}

double DeedReader::asks(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_.all(), kAsks, kAsksUnit);
}

}  // namespace runwarden::plugins
