#include "evidence/sentence_features.h"

#include <algorithm>
#include <string_view>

#include "common/words.h"
#include "text/ascii.h"

namespace runwarden::plugins {
namespace {

/// What a feature is made of; the numbers are part of the learned weights.
enum class Feature : std::uint8_t { kWord = 1, kPair, kBeginning, kEnding, kFirst, kLast, kLength, kQuestion, kBias };

std::uint16_t index_of(Feature kind, std::uint64_t hash) {
  return static_cast<std::uint16_t>(mix(static_cast<std::uint64_t>(kind), hash) % kSentenceFeatures);
}

/// A hash of a word; the same for all that contain a digit.
std::uint64_t hash_of(std::string_view word) {
  return hash_bytes(has_digit(word) ? std::string_view("#") : word);
}

}  // namespace

void collect_sentence_features(const Reading& reading, const Sentence& sentence, FeatureSet& out) {
  constexpr std::size_t kPart = 4;  // bytes of a word's beginning and end
  constexpr std::uint64_t kLongest = 8;
  out.clear();
  out.add(index_of(Feature::kBias, 0));
  if (sentence.question) out.add(index_of(Feature::kQuestion, 0));
  std::uint64_t count = 0;
  std::uint64_t before = hash_bytes("^");
  for (auto i = sentence.begin; i < sentence.end; ++i, ++count) {
    const auto word = reading.words[i].text;
    const auto hash = hash_of(word);
    out.add(index_of(Feature::kWord, hash));
    out.add(index_of(Feature::kPair, mix(before, hash)));
    before = hash;
    if (word.size() <= kPart || has_digit(word)) continue;
    out.add(index_of(Feature::kBeginning, hash_bytes(word.substr(0, kPart))));
    out.add(index_of(Feature::kEnding, hash_bytes(word.substr(word.size() - kPart))));
  }
  if (count > 0) {
    out.add(index_of(Feature::kFirst, hash_of(reading.words[sentence.begin].text)));
    out.add(index_of(Feature::kLast, before));
  }
  out.add(index_of(Feature::kLength, std::min(count / 3, kLongest)));
}

}  // namespace runwarden::plugins
