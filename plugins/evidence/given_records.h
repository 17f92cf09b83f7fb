#pragma once

#include <span>
#include <string>

#include "common/lexicon.h"
#include "common/run_view.h"
#include "common/tools.h"

namespace runwarden::plugins {

/// True for a call that gave back what is known of something, as a look-up does: a list, several lines, or members that neither repeat what
/// it was called with nor only say that it ran, as an id, a yes or a status. Of a call that was asked with one value at most, one such
/// member will do, or a sentence that tells of no deed. `answers` are the names of members that tell how a call went. False for one that
/// tells that something was done: {"saved": true}. Linear; any thread.
[[nodiscard]] bool gives_records(const StepView& step, std::span<const std::string> answers, const Lexicon& lexicon);

/// True for a call that was given a text of several words other than what to look for: a message, a note. Linear; any thread.
[[nodiscard]] bool carries_text(const StepView& call, const ToolWords& words);

}  // namespace runwarden::plugins
