#include "common/plugin.h"
#include "missing_tool_call/missing_tool_call.h"

using MissingToolCall = runwarden::plugins::Plugin<runwarden::plugins::MissingToolCall>;

RW_DETECTORS(MissingToolCall);
