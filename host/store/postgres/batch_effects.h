// What a batch did to runs and failures, for what is counted and told of them. Values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/dimensions.h"
#include "model/records.h"
#include "store/commit_notes.h"
#include "store/writes.h"

namespace runwarden::store::postgres {

// Each list is in the order of the batch. What goes goes before anything comes, so a run that is resolved again is in both lists. Of a failure that
// goes, its head says whether it was in any count.
struct BatchEffects {
  // A run that was stored with its dimensions: as a whole, or when it was resolved. Not while it is open for the first time.
  struct EnteredRun {
    model::TenantId tenant = 0;
    model::RecordKey run;
    std::vector<model::Dimension> dimensions;
  };
  // A run whose dimensions go: it was deleted, or is resolved again.
  struct LeftRun {
    model::TenantId tenant = 0;
    model::RecordKey run;
    std::vector<model::Dimension> dimensions;  // as its record had them
  };
  // A failure that was stored, as its body has it: executed_ms, title, waste and `grouped` are filled in. Those of detectors on trial may be left
  // out. Lives as long as the effects.
  struct AddedFailure {
    model::TenantId tenant = 0;
    const model::FailureRecord* failure = nullptr;
  };
  // A failure that was deleted, by its head.
  struct RemovedFailure {
    model::TenantId tenant = 0;
    model::FailureRecord head;
    bool expired = false;  // its retention was over, and what was known by it stays known; else it is taken back
  };
  // A failure whose verdict became another by a review, by its head with that verdict.
  struct ReviewedFailure {
    model::TenantId tenant = 0;
    model::FailureRecord head;
    bool was_false_alarm = false;
    model::RecordKey review;
    std::optional<std::int64_t> known_since_ms = {};  // of an import: as of ClusterChange
  };
  // A decision that is to be made. `result` is stored, and write_effects() puts the group into it as it is then; without one there is no such
  // group, and the answer is not to be remembered. Of a decision that was answered before, `replayed`, only the group is looked up.
  struct Decision {
    const TriageWrite* write = nullptr;
    WriteResult* result = nullptr;
    bool replayed = false;
  };

  std::vector<LeftRun> runs_left;
  std::vector<EnteredRun> runs_entered;
  std::vector<RemovedFailure> failures_removed;
  std::vector<AddedFailure> failures_added;
  std::vector<ReviewedFailure> failures_reviewed;  // after all that came
  std::vector<Decision> decisions;
  CommitNotes notes;  // of every write, and of deletions: note(tenant)

  bool empty() const {
    return runs_left.empty() && runs_entered.empty() && failures_removed.empty() && failures_added.empty() && failures_reviewed.empty() &&
           decisions.empty() && notes.items().empty();
  }
};

struct EffectRules {
  std::int64_t now_ms = 0;               // of the database
  std::uint64_t max_clusters = 100'000;  // of a tenant
  std::optional<std::uint64_t> max_pending_messages;  // of a webhook; nothing: nobody is told of anything
  std::function<std::uint64_t()> next_seq;
  // Told of each entry of a group's history that is written.
  std::function<void(model::TenantId, const model::ClusterKey&, const model::TriageEntry&)> on_entry = {};
};

}  // namespace runwarden::store::postgres
