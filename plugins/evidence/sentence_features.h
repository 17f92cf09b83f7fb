#pragma once

#include <cstddef>
#include <cstdint>

#include "common/reading.h"
#include "evidence/feature_set.h"

namespace runwarden::plugins {

/// How many features there are. Two features with the same index add up; with some 30,000 they hardly ever meet in one sentence.
inline constexpr std::size_t kSentenceFeatures = std::size_t{1} << 15;

/// What a learned reader sees of a sentence: its words, pairs of neighbors, the beginnings and ends of long words, which carry the grammar
/// of German and Spanish, its first and last word, its length, and whether it asks. Figures count as one word. No vocabulary: what a word
/// means is in the weights. Replaces `out`, which is of kSentenceFeatures, by the indexes of the features. Linear.
void collect_sentence_features(const Reading& reading, const Sentence& sentence, FeatureSet& out);

}  // namespace runwarden::plugins
