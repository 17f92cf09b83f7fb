#include "evidence/call_stems.h"

#include <algorithm>

#include "common/tools.h"

namespace runwarden::plugins {

void read_stems(const StepView& step, const ToolMeaning& meaning, CallStems& out) {
  constexpr std::size_t kMostInput = 4096, kMostOutput = 2048;  // bytes
  out.meaning = &meaning;
  add_stems(base_name(step.name), out.name);
  add_stems(step.input.substr(0, kMostInput), out.input);
  add_stems(step.output.substr(0, kMostOutput), out.output);
  settle(out.name);
  settle(out.input);
  settle(out.output);
}

std::size_t count_ties(const Clause& deed, const CallStems& call) {
  std::size_t found =
      2 * count_shared(deed.own, call.name) + count_shared(deed.own, call.input) + (count_shared(deed.own, call.output) + 1) / 2;
  for (const auto group : call.meaning->groups) {
    if (std::find(deed.groups.begin(), deed.groups.end(), group) != deed.groups.end()) found += 2;
  }
  return found;
}

}  // namespace runwarden::plugins
