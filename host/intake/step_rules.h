// What the words of a step mean: the published lists of kinds and statuses. Pure; any thread.
#pragma once

#include <string_view>

#include "model/run.h"

namespace runwarden::intake {

// The kind a client's stepKind names, without regard to case; other where it is none of the known words.
model::StepKind step_kind(std::string_view text);

// Whether the status says failed (the published failed set), or says that all went well; unknown otherwise. Without regard to case.
model::Outcome status_outcome(std::string_view status);

// `0`, empty, `ok` and `none` are no error, without regard to case.
bool is_no_error(std::string_view error_code);

}  // namespace runwarden::intake
