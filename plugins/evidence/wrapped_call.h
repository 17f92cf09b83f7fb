#pragma once

#include "common/run_view.h"

namespace runwarden::plugins {

/// Replaces each call of a generic wrapper (`execute-tool {"server_name", "tool_name", "params"}`, `call_tool`, `invoke`) by the call
/// inside it: the tool named by an argument, with the object beside it as its input. The views still point into the host's memory.
/// Other steps, and wrappers whose arguments have another shape, stay as they are. Linear in the wrappers' inputs; any thread.
void unwrap_calls(RunView& run);

}  // namespace runwarden::plugins
