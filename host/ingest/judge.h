// Judges a run and builds the records to store, with ids, policies in force and encoded JSON. Any pool thread with its own worker number.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "ingest/opinion_rules.h"
#include "ingest/redaction.h"
#include "model/change_record.h"
#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_outline.h"
#include "model/run_record.h"
#include "store/queries.h"
#include "store/run_store.h"
#include "store/run_writes.h"

namespace runwarden::ingest {

using Detectors = std::function<std::shared_ptr<detect::DetectorSet>()>;  // the set in force now
using OnVerdict = std::function<void(const model::Verdict&)>;             // for the metrics; any pool thread

// What the records of a run contain besides its document and verdict.
struct RunMetadata {
  model::TenantId tenant = 0;
  std::string tenant_name;
  model::RecordKey key;  // of the run: its time of receipt
  std::uint32_t revision = 1;
  model::Resolution resolution = model::Resolution::whole;
  model::RunSource source = model::RunSource::client;
  bool root_arrived = false;  // see RunRecord
  std::int64_t now_ms = 0;    // time of detection
  model::Digest content{};    // digest of the bytes of a run that was sent whole
  model::OutcomeFrom outcome = model::OutcomeFrom::last_output;
  std::shared_ptr<const std::vector<model::PolicyInForce>> policies = nullptr;  // when it executed; null: read from the store
  std::vector<store::EarlierFailure> earlier = {};                              // of earlier revisions
};

// When the run executed: its start time if it has one, otherwise its time of receipt.
inline std::int64_t executed_ms(const model::Run& run, const RunMetadata& metadata) {
  return run.started_ms == model::kNoTime ? metadata.key.time_ms : run.started_ms;
}

class Judge {
 public:
  struct Parts {
    store::RunStore& store;
    WorkPool& pool;
    Detectors detectors;
    OnVerdict on_verdict;
    std::vector<std::string> dimensions = {};  // the metadata members by which runs are compared
    OpinionRules opinions = {};                // which verdicts a model is asked about
  };
  explicit Judge(Parts parts) : parts_(std::move(parts)) {}

  // Calls `callbacks.done` once, on this thread or another pool thread. Returns false if this thread has been abandoned and must return
  // from its task (WorkPool::run_with_deadline).
  struct Callbacks {
    std::function<void(std::size_t worker, store::RunWrite)> done;
    std::function<void()> failed;  // judging threw after moving to another thread, or `done` threw
  };
  bool judge(RedactedRun run, const RunMetadata& metadata, std::size_t worker, Callbacks callbacks);

  // For a document that cannot be read as a run: stores it unchanged, with the status `error` for every detector.
  store::RunWrite write_unread(std::string run_id, std::string document, const std::string& why, const RunMetadata& metadata);

 private:
  store::RunWrite write_of(std::string run_id, std::string document, const model::Verdict& verdict, const RunMetadata& metadata);
  model::FailureRecord failure_of(const model::Finding& finding, const model::RecordKey& key, std::string_view run_id,
                                  std::uint32_t revision);
  void add_opinions(store::RunWrite& write, const model::Verdict& verdict, const RunMetadata& metadata);
  void stamp_policies(model::RunRecord& run, const RunMetadata& metadata);

  Parts parts_;
};

}  // namespace runwarden::ingest
