// The meaning of step kinds and statuses, by the published lists. Pure; any thread.
#pragma once

#include <span>
#include <string_view>

#include "model/run.h"

namespace runwarden::intake {

// The kind named by stepKind, case-insensitively; `other` for an unknown word.
model::StepKind step_kind(std::string_view text);

// The words of all known kinds, and those of failure and success.
std::span<const std::string_view> step_kind_words();
std::span<const std::string_view> status_words();

// Whether the status means failure (the published set) or success; unknown otherwise. Case-insensitive.
model::Outcome status_outcome(std::string_view status);

// False for `0`, empty, `ok` and `none`, case-insensitively.
bool is_no_error(std::string_view error_code);

}  // namespace runwarden::intake
