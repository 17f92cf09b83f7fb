// The refusals that several steps of the pipeline word alike. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::pipeline {

Error run_conflict(std::string_view run_id);
Error idempotency_conflict();
Error no_room(std::string why);
Error queue_full();

}  // namespace runwarden::pipeline
