#pragma once

#include <cstddef>
#include <cstdint>

#include "common/recovery.h"
#include "evidence/clauses.h"
#include "evidence/stems.h"

namespace runwarden::plugins {

/// The words of a call by their stems. `meaning` belongs to who reads the tools.
struct CallStems {
  const ToolMeaning* meaning = nullptr;
  Stems name, input, output;

  [[nodiscard]] bool has(std::uint64_t stem) const { return holds(name, stem) || holds(input, stem) || holds(output, stem); }
};

/// Reads the name, the first 4,096 bytes of the arguments and the first 2,048 of the output. Linear.
void read_stems(const StepView& step, const ToolMeaning& meaning, CallStems& out);

/// How much speaks for a call having been made for a deed: the words that no other clause has. What it returned tells of it less than its
/// name and arguments.
[[nodiscard]] std::size_t count_ties(const Clause& deed, const CallStems& call);

}  // namespace runwarden::plugins
