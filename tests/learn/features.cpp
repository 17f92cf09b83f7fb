// Prints what a reader of sentences learns from: features <TEXTS, a JSON string on each line. For each the indexes of its features; of
// several sentences, those of all.
#include <cstdio>
#include <iostream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "common/settings.h"
#include "evidence/sentence_features.h"

int main() {
  using namespace runwarden::plugins;
  const Settings settings({});
  const auto lexicon = make_lexicon(settings);
  Reading reading;
  FeatureSet features(kSentenceFeatures);
  for (std::string line; std::getline(std::cin, line);) {
    read(nlohmann::json::parse(line).get<std::string>(), lexicon, reading);
    std::set<std::uint16_t> all;
    for (const auto& sentence : reading.sentences) {
      collect_sentence_features(reading, sentence, features);
      all.insert(features.all().begin(), features.all().end());
    }
    for (const auto feature : all) std::printf("%u ", static_cast<unsigned>(feature));
    std::printf("\n");
  }
  return 0;
}
