#pragma once

#include <cstdint>
#include <span>

#include "evidence/output_features.h"

namespace runwarden::plugins {

/// Reads a call's output as a whole, with weights learned from labeled outputs (tests/learn/train_outputs.py): it knows "SEAT HELD BY
/// ANOTHER PNR" and "Der Vertrag ruht" for answers of a call that changed nothing. English, German and Spanish. One owner, one thread at a
/// time.
class OutcomeReader {
 public:
  OutcomeReader(const Lexicon& lexicon, const ContentRules& content) : features_(lexicon, content) {}

  /// How likely the output says that all or a part of what the call was to change was not changed, 0 to 1. `groups` are the groups of the
  /// tool's verbs. Linear in the input and the first kilobyte of the output.
  [[nodiscard]] double undone(const StepView& call, std::span<const std::uint16_t> groups);

 private:
  OutputFeatures features_;
  FeatureSet found_{kOutputFeatures};
};

}  // namespace runwarden::plugins
