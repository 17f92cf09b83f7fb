#pragma once

#include <string>
#include <string_view>

#include "common/call_names.h"

namespace runwarden::plugins {

/// True when an output that reports an error also holds a full payload: an object with an error member and other members of some size. Such
/// a call returned what it was for, at least in part. Linear; any thread.
[[nodiscard]] bool has_payload(std::string_view output, const CallNames& names);

/// What an object holds beside its error: the values of its other members, a line each, as they are written. Empty for anything else.
/// Linear; any thread.
[[nodiscard]] std::string payload_of(std::string_view output, const CallNames& names);

/// True when an output is null, or an object with only nulls and empty texts: `{"result": null}`, `{"stdout": ""}`. Tools that only act
/// answer this way. Linear; any thread.
[[nodiscard]] bool holds_nothing(std::string_view output);

}  // namespace runwarden::plugins
