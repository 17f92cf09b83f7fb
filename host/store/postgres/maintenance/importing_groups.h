// Groups and dimensions of an import: what runs and failures that came do to them, and the lines that tell of groups and their histories.
// For the files of this folder only; one thread, in the import's open transaction.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/cluster.h"
#include "store/cluster_change.h"
#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_ledger.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

class GroupImport {
 public:
  GroupImport(Connection& connection, ImportTally& tally, ImportLedger& ledger, EffectRules rules)
      : connection_(connection), tally_(tally), ledger_(ledger), rules_(std::move(rules)) {}

  // What follows is this tenant's.
  void begin(model::TenantId tenant);

  // A run or a failure that was stored.
  void note_run(const model::RunRecord& run);
  void note_failure(const model::FailureRecord& failure);
  // Counts them. Others who change these groups wait from here on, so it is done for all at once, late.
  void count_noted();

  // Of groups that count what was noted.
  void store_groups(const TakenLines<GroupLine>& lines);
  // Since when these groups were known, of this tenant.
  const std::map<model::ClusterKey, std::int64_t>& known_since() const { return known_since_; }
  // Of groups that are there.
  void store_entries(const TakenLines<TriageLine>& lines);

 private:
  struct Places {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> seqs;
    void add(const model::RecordKey& key);
  };
  // What came of a group that was not counted yet.
  struct Growth {
    std::uint64_t failures = 0;
    ClusterChange first;  // of them
  };
  void touch_groups(const std::vector<std::string_view>& halves);
  void begin_groups(const std::vector<std::string_view>& halves);
  void count_some(const Places& runs, const Places& failures);
  std::set<model::ClusterKey> groups_there(const TakenLines<TriageLine>& lines);

  Connection& connection_;
  ImportTally& tally_;
  ImportLedger& ledger_;
  const EffectRules rules_;
  model::TenantId tenant_ = 0;
  Places runs_;      // with dimensions, that were not counted yet
  Places failures_;  // likewise, of groups
  std::map<model::ClusterKey, Growth> grown_;
  std::map<model::ClusterKey, std::int64_t> known_since_;
  std::set<model::ClusterKey> joined_;    // groups that have failures of this import
  std::set<model::ClusterKey> left_out_;  // groups without a place here: there are too many
};

}  // namespace runwarden::store::postgres
