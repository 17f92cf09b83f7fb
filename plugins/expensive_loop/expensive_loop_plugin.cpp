#include "adapter/plugin.h"
#include "expensive_loop/expensive_loop.h"

using ExpensiveLoop = runwarden::plugins::Plugin<runwarden::plugins::ExpensiveLoop>;

RW_DETECTORS(ExpensiveLoop);
