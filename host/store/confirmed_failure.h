// A failure that a second opinion found joins its run, unless a person has said that there is none. For the files of store/ only. Pure;
// any thread.
#pragma once

#include "model/opinion.h"
#include "model/records.h"
#include "model/review.h"
#include "store/record_codec.h"

namespace runwarden::store {

// Notes the failure in its run: among its failures, its detectors that fired and its highest score. What the detectors said of the run
// stays as it is. Gives the failure as it is to be kept.
model::FailureRecord confirmed_failure(StoredRun& run, model::FailureRecord failure);

// Whether a model sees what the detector only nearly found.
bool is_confirmed_candidate(const model::Opinion& opinion);
// A review with the subject of those that say whether the candidate's detector missed something in the candidate's run.
model::Review run_review_subject(const model::Opinion& candidate);
// Whether the last of these keeps the candidate from being confirmed. One of another revision does not.
bool overrules(const model::Review& review, const model::Opinion& candidate);
// The candidate as it is kept then. It still says what the model said.
model::Opinion overruled(model::Opinion candidate);

}  // namespace runwarden::store
