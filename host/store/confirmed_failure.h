// Adds a failure that a second opinion found to its run, unless a person has said that there is none. Internal to store/. Pure; any thread.
#pragma once

#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/review.h"
#include "store/record_codec.h"

namespace runwarden::store {

// Notes the failure in its run: among its failures, its fired detectors and its highest score. The detectors' own results do not change.
// Returns the failure as it is to be stored.
model::FailureRecord confirmed_failure(StoredRun& run, model::FailureRecord failure);

// Whether a model confirmed what the detector nearly reported.
bool is_confirmed_candidate(const model::Opinion& opinion);
// A review with the subject of those that say whether the detector missed something in the candidate's run.
model::Review run_review_subject(const model::Opinion& candidate);
// Whether the last review of that subject keeps the candidate from being confirmed. A review of another revision does not.
bool overrules(const model::Review& review, const model::Opinion& candidate);
// The candidate as it is stored in that case. It keeps what the model said.
model::Opinion overruled(model::Opinion candidate);
// Whether the last review of a subject keeps a model's review from being stored: it is in force, and not a model's of an earlier
// revision.
bool outweighs(const model::Review& last, const model::Review& by_model);

}  // namespace runwarden::store
