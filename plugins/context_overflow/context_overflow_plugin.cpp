#include "adapter/plugin.h"
#include "context_overflow/context_overflow.h"

using ContextOverflow = runwarden::plugins::Plugin<runwarden::plugins::ContextOverflow>;

RW_DETECTORS(ContextOverflow);
