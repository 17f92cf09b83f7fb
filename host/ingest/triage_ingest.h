// Stores people's triage decisions about groups of failures.
//
// take() is called from a pool thread; the answer comes once, on that thread or the writer's.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/ingest_answer.h"
#include "ingest/redaction.h"
#include "model/cluster.h"
#include "store/group_store.h"
#include "store/run_store.h"
#include "store/write_queue.h"

namespace runwarden::ingest {

// The contents of a body: {"action", "note", "fixedBy", "until"}. validation_failed lists every fault.
Result<model::TriageEntry> read_triage(std::string_view body, int max_json_depth, std::int64_t now_ms);

class TriageIngest {
 public:
  struct Parts {
    store::RunStore& store;
    store::GroupStore& groups;
    store::WriteQueue& queue;
    const Clock& clock;
    const Redaction& redaction;
  };
  struct Triaged {
    model::Cluster cluster;
    std::optional<model::RecordKey> replayed;  // the request was answered before: the entry that it stored then
  };
  // Nothing: the outcome is in doubt, so there is no answer; the client's connection is closed without one.
  using Done = std::function<void(std::optional<Result<Triaged>> triaged)>;

  explicit TriageIngest(Parts parts) : parts_(parts) {}

  void take(IngestRequest request, const std::string& cluster_id, Done done);

 private:
  // The time of the change that fixed the group; nothing if there is no such change.
  std::optional<std::int64_t> time_of_change(model::TenantId tenant, const std::string& change_id);

  Parts parts_;
};

}  // namespace runwarden::ingest
