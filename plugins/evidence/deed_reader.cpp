#include "evidence/deed_reader.h"

#include "evidence/learned_weights.h"
#include "evidence/sentence_features.h"
#include "evidence/sentence_weights.inc"

namespace runwarden::plugins {

static_assert(std::size(kTells) == kSentenceFeatures && std::size(kAsks) == kSentenceFeatures);

double DeedReader::tells(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_, kTells, kTellsUnit);
}

double DeedReader::asks(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_, kAsks, kAsksUnit);
}

}  // namespace runwarden::plugins
