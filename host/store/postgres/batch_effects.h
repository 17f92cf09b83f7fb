// What a batch did to runs and failures, for counts and messages. Values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/dimensions.h"
#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/cluster_change.h"
#include "store/commit_notes.h"
#include "store/review_writes.h"
#include "store/write_result.h"

namespace runwarden::store::postgres {

// Each list is in the order of the batch. Removals come before additions, so a run that is resolved again is in both lists. The head of a
// removed failure says whether it was counted.
struct BatchEffects {
  // A run that was stored with its dimensions: as a whole, or when it was resolved. Not a run that is open for the first time.
  struct EnteredRun {
    model::TenantId tenant = 0;
    model::RecordKey run;
    std::vector<model::Dimension> dimensions;
  };
  // A run whose dimensions are removed: it was deleted, or is resolved again.
  struct LeftRun {
    model::TenantId tenant = 0;
    model::RecordKey run;
    std::vector<model::Dimension> dimensions;  // as in its record
  };
  // A failure that was stored, as in its body: executed_ms, title, waste and `grouped` are set. Failures of detectors on trial may be left
  // out. The record must outlive the effects.
  struct AddedFailure {
    model::TenantId tenant = 0;
    const model::FailureRecord* failure = nullptr;
    Addition comes = Addition::found;
  };
  // A failure that was deleted, by its head.
  struct RemovedFailure {
    model::TenantId tenant = 0;
    model::FailureRecord head;
    Removal gone = Removal::taken_back;
  };
  // A failure whose verdict was changed by a review: its head with the new verdict.
  struct ReviewedFailure {
    model::TenantId tenant = 0;
    model::FailureRecord head;
    bool was_false_alarm = false;
    model::RecordKey review;
    std::optional<std::int64_t> known_since_ms = {};  // from an import; see ClusterChange
  };
  // A decision to be made. `result` says that it is stored; write_effects() adds the group as it is then. If it adds none, the group does
  // not exist, and the answer must not be remembered. `replayed`: it was answered before, and the group is only looked up.
  struct Decision {
    const TriageWrite* write = nullptr;
    WriteResult* result = nullptr;
    bool replayed = false;
  };

  std::vector<LeftRun> runs_left;
  std::vector<EnteredRun> runs_entered;
  std::vector<RemovedFailure> failures_removed;
  std::vector<AddedFailure> failures_added;
  std::vector<ReviewedFailure> failures_reviewed;  // after all additions
  std::vector<Decision> decisions;
  CommitNotes notes;  // of every write, and of deletions by note(tenant)

  // Notes alone are not for write_effects().
  bool only_notes() const {
    return runs_left.empty() && runs_entered.empty() && failures_removed.empty() && failures_added.empty() && failures_reviewed.empty() &&
           decisions.empty();
  }
};

struct EffectRules {
  std::int64_t now_ms = 0;               // of the database
  std::uint64_t max_clusters = 100'000;  // per tenant
  std::optional<std::uint64_t> max_pending_messages;  // per webhook; nothing: no messages are sent
  std::function<std::uint64_t()> next_seq;
  // Called for each entry that is written to a group's history.
  std::function<void(model::TenantId, const model::ClusterKey&, const model::TriageEntry&)> on_entry = {};
};

}  // namespace runwarden::store::postgres
