#pragma once

#include "common/call_names.h"
#include "common/run_view.h"

namespace runwarden::plugins {

/// Replaces each call of a generic wrapper (`execute-tool {"server_name", "tool_name", "params"}`, `call_tool`, `invoke`) with the call
/// inside it: the tool that an argument names, with the object beside that argument as input. Replaces a call that takes an order in words,
/// `act {"action": "take pan 1 from shelf 2"}`, with one named by the order's first word, and the rest as input. The views still point into
/// the host's memory. Other steps, and wrappers with other arguments, stay unchanged. Linear in the wrappers' inputs; any thread.
void unwrap_calls(RunView& run, const CallNames& names);

}  // namespace runwarden::plugins
