#include "adapter/plugin.h"
#include "false_success/false_success.h"

using FalseSuccess = runwarden::plugins::Plugin<runwarden::plugins::FalseSuccess>;

RW_DETECTORS(FalseSuccess);
