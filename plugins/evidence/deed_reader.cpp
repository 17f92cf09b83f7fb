#include "evidence/deed_reader.h"

#include <cmath>
#include <span>

#include "evidence/sentence_features.h"
#include "evidence/sentence_weights.inc"

namespace runwarden::plugins {
namespace {

double probability(const std::vector<std::uint16_t>& features, std::span<const std::int8_t, kSentenceFeatures> weights, float unit) {
  int sum = 0;
  for (const auto feature : features) sum += weights[feature];
  return 1 / (1 + std::exp(-static_cast<double>(unit) * sum));
}

}  // namespace

double DeedReader::tells(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_, kTells, kTellsUnit);
}

double DeedReader::asks(const Reading& reading, const Sentence& sentence) {
  collect_sentence_features(reading, sentence, features_);
  return probability(features_, kAsks, kAsksUnit);
}

}  // namespace runwarden::plugins
