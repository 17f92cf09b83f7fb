// The JSON that clients read about runs and their failures (http-api). Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "ingest/ingest_answer.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/run_record.h"
#include "model/verdict.h"

namespace runwarden::ingest {

// {"detectorVersion", "librarySha256", "settingsHash"}; librarySha256 is omitted if unknown.
std::string provenance_json(const model::Provenance& provenance);

// One Failure. If it is not stored, `failure_id` is empty and both the id and `detected_ms` are omitted.
std::string failure_json(const model::Finding& finding, std::string_view failure_id, std::string_view run_id, std::uint32_t revision,
                         std::int64_t detected_ms);

// [{"key", "status", "reason", "suppressed"}]; members without a value are omitted.
std::string detectors_json(const std::vector<model::DetectorReport>& reports);

// The body of the 201 or 200 response for an ingested run.
std::string ingest_answer(const model::RunRecord& run);

// That body, the run's id and its failures.
IngestAnswer run_answer(IngestAnswer::Kind kind, const model::RunRecord& run);

// The whole run: its document plus the server-owned members.
std::string run_json(const model::RunRecord& run);

// An open run, with the steps from the events received so far.
std::string open_run_json(const model::RunRecord& run, const std::vector<std::string>& events);

// The run without its steps, from its outline, which must be present; `stepCount` is the number of steps.
std::string run_outline_json(const model::RunRecord& run);

std::string change_json(const model::ChangeRecord& change);
std::string policy_json(const model::PolicyRecord& policy);

// The members of a failure group that do not depend on a time window, without the enclosing braces. Its state is as of `now_ms`.
void append_cluster(JsonWriter& out, const model::Cluster& cluster, std::int64_t now_ms);

const char* name(model::RunState state);
const char* name(model::Resolution resolution);

}  // namespace runwarden::ingest
