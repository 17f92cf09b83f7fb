// A failure that a second opinion found joins its run. For the files of store/ only. Pure; any thread.
#pragma once

#include "model/records.h"
#include "store/record_codec.h"

namespace runwarden::store {

// Notes the failure in its run: among its failures, its detectors that fired and its highest score. What the detectors said of the run
// stays as it is. Gives the failure as it is to be kept.
model::FailureRecord confirmed_failure(StoredRun& run, model::FailureRecord failure);

}  // namespace runwarden::store
