// The JSON that clients read of runs and what was found in them (http-api). Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "model/cluster.h"
#include "model/records.h"
#include "model/verdict.h"

namespace runwarden::ingest {

// {"detectorVersion", "librarySha256", "settingsHash"}, the second left out where it is not known.
std::string provenance_json(const model::Provenance& provenance);

// One Failure. `failure_id` and `detected_ms` are left out of a failure that is not stored: an empty id.
std::string failure_json(const model::Finding& finding, std::string_view failure_id, std::string_view run_id, std::uint32_t revision,
                         std::int64_t detected_ms);

// [{"key", "status", "reason", "suppressed"}], members without a value left out.
std::string detectors_json(const std::vector<model::DetectorReport>& reports);

// The body of a 201 or 200 to an ingested run.
std::string ingest_answer(const model::RunRecord& run);

// The whole run: the document with the server-owned members around it.
std::string run_json(const model::RunRecord& run);

// An open run, with the steps that its events have told so far.
std::string open_run_json(const model::RunRecord& run, const std::vector<std::string>& events);

// The run without its steps, from its outline, which is there; `stepCount` says how many there are.
std::string run_outline_json(const model::RunRecord& run);

std::string change_json(const model::ChangeRecord& change);
std::string policy_json(const model::PolicyRecord& policy);

// The members of a group of failures that no window changes, without the braces around them. Its state is that of `now_ms`.
void append_cluster(JsonWriter& out, const model::Cluster& cluster, std::int64_t now_ms);

const char* name(model::RunState state);
const char* name(model::Resolution resolution);

}  // namespace runwarden::ingest
