// Answers read requests: look-ups, lists and investigations. Any pool thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/admission.h"
#include "api/cluster_reads.h"
#include "api/comparison_reads.h"
#include "api/ledger_reads.h"
#include "auth/cursor_seal.h"
#include "base/fair_budget.h"
#include "base/result.h"
#include "detect/detector_set.h"
#include "model/otlp_mapping.h"
#include "store/opinion_store.h"
#include "store/review_store.h"
#include "store/run_store.h"

namespace runwarden::api {

class Reads {
 public:
  using Detectors = std::function<std::shared_ptr<detect::DetectorSet>()>;

  // Called for each record that a list omits because part of it cannot be read. Any pool thread.
  using OnUnreadable = std::function<void(const std::string& text)>;

  struct Stores {
    store::RunStore& records;
    store::GroupStore& groups;
    store::ReviewStore& reviews;
    store::LedgerStore& ledger;
    store::OpinionStore& opinions;
  };

  Reads(const Stores& stores, auth::CursorSeal seal, const Clock& clock, Detectors detectors, FairBudget& replies,
        const model::SpanMapping& mapping, OnUnreadable on_unreadable)
      : store_(stores.records),
        groups_(stores.groups),
        reviews_(stores.reviews),
        ledger_store_(stores.ledger),
        opinions_(stores.opinions),
        seal_(std::move(seal)),
        clock_(clock),
        clusters_(store_, groups_, seal_, clock),
        comparisons_(groups_, clock),
        ledger_(ledger_store_, store_),
        detectors_(std::move(detectors)),
        replies_(replies),
        mapping_(mapping),
        on_unreadable_(std::move(on_unreadable)) {}

  // The JSON of a 200 with its lease on the reply budget, or an error: `unavailable`, before any work, if the budget has no room.
  struct ReadReply {
    std::string json;
    FairBudget::Lease lease;
    std::string tag = {};       // entity tag; empty if the answer has none
    bool not_modified = false;  // the client has it already; `json` is empty
    std::string content_type = "application/json";
  };
  Result<ReadReply> answer(const Admission& admission);

  // For other handlers that answer with a group of failures.
  ClusterReads& clusters() { return clusters_; }

  // The current state of a failure, or of a run without its steps, for other handlers that answer with it. With `review`: with that one
  // instead of the last of the same subject.
  using ReviewKey = std::optional<model::RecordKey>;
  Result<std::string> failure_json(model::TenantId tenant, const std::string& id, const ReviewKey& review = std::nullopt);
  Result<std::string> run_head_json(model::TenantId tenant, const std::string& id, const ReviewKey& review);

  // The run to explain, with its document. The lease is resized to the run's size.
  Result<model::RunRecord> run_to_explain(const Admission& admission, FairBudget::Lease& lease);

 private:
  using Lease = FairBudget::Lease;

  Result<std::string> json(const Admission& admission, Lease& lease);
  Result<ReadReply> guardrail(const Admission& admission, Lease lease);
  // The head of a run in the requested revision.
  struct RequestedRun {
    model::RunRecord head;
    bool previous = false;  // not the current revision
  };
  Result<RequestedRun> requested_run(const Admission& admission, std::optional<std::uint32_t> revision);
  Result<model::RunRecord> whole(const Admission& admission, const RequestedRun& requested, Lease& lease);
  Result<std::string> run(const Admission& admission, Lease& lease);
  Result<std::string> run_mapping(const Admission& admission, Lease& lease);
  Result<model::RunRecord> run_of_revision(const Admission& admission, std::string_view what, Lease& lease);
  Result<std::string> bundle(const Admission& admission, Lease& lease);
  Result<std::string> runs(const Admission& admission, Lease& lease);
  Result<store::Page<model::RunRecord>> listed_runs(model::TenantId tenant, const std::string* cluster_id, const store::RunQuery& query);
  // As JSON, in the order of the heads; empty if a run has been deleted since, cannot be read or does not match the query any more.
  std::vector<std::string> shown_runs(model::TenantId tenant, std::span<const model::RunRecord> heads, const store::RunQuery& query);
  Result<std::string> failure(const Admission& admission);
  Result<std::string> failures(const Admission& admission);
  Result<std::string> candidates(const Admission& admission);
  Result<std::string> review_history(const Admission& admission);
  Result<std::string> investigation(const Admission& admission);
  Result<std::string> changes(const Admission& admission);
  Result<std::string> policies(const Admission& admission);
  Result<std::string> policy(const Admission& admission);
  Result<std::string> detectors(const Admission& admission);

  store::RunStore& store_;
  store::GroupStore& groups_;
  store::ReviewStore& reviews_;
  store::LedgerStore& ledger_store_;
  store::OpinionStore& opinions_;
  auth::CursorSeal seal_;
  const Clock& clock_;
  ClusterReads clusters_;
  ComparisonReads comparisons_;
  LedgerReads ledger_;
  Detectors detectors_;
  FairBudget& replies_;
  const model::SpanMapping& mapping_;
  OnUnreadable on_unreadable_;
};

}  // namespace runwarden::api
