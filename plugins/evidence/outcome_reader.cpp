#include "evidence/outcome_reader.h"

#include "evidence/learned_weights.h"
#include "evidence/output_weights.inc"

namespace runwarden::plugins {

static_assert(std::size(kUndone) == kOutputFeatures);

double OutcomeReader::undone(const StepView& call, std::span<const std::uint16_t> groups) {
  features_.collect(call, groups, found_);
  return probability(found_.all(), kUndone, kUndoneUnit);
}

}  // namespace runwarden::plugins
