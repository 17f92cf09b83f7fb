#include "missing_tool_call/missing_tool_call_plugin.h"

using MissingToolCall = runwarden::plugins::MissingToolCallPlugin;

RW_DETECTORS(MissingToolCall);
