// Groups and dimensions of an import: what imported runs and failures do to them, and the lines about groups and their histories. Internal
// to this folder; one thread, in the import's open transaction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

  // What follows belongs to this tenant.
  void begin(model::TenantId tenant);

  // A run or failure that was stored.
  void note_run(const model::RunRecord& run);
  void note_failure(const model::FailureRecord& failure);
  // Counts them. From here on, others who change these groups have to wait, so it is done late, for all at once.
  void count_noted();

  // Call it after the groups have counted what was noted.
  void store_groups(const TakenLines<GroupLine>& lines);
  // Since when this tenant's groups in the lines were known.
  const std::map<model::ClusterKey, std::int64_t>& known_since() const { return known_since_; }
  // Their groups must exist.
  void store_entries(const TakenLines<TriageLine>& lines);

 private:
  struct Places {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> seqs;
    void add(const model::RecordKey& key);
  };
  // What was added to a group and is not counted yet.
  struct Growth {
    std::uint64_t failures = 0;
    ClusterChange first;  // of these failures
  };
  // The groups of some lines, locked until the commit.
  struct LockedGroups {
    std::map<model::ClusterKey, std::optional<ClusterHead>> heads;  // nothing: its row is empty
    std::set<model::ClusterKey> with_failures;
    std::uint64_t total = 0;                                                    // of the tenant's groups
    std::map<model::ClusterKey, std::pair<std::int64_t, std::string>> changed;  // number of failures, body
  };
  void touch_groups(const std::vector<std::string_view>& halves);
  void begin_groups(const std::vector<std::string_view>& halves);
  void count_some(const Places& runs, const Places& failures);
  std::uint64_t lock_total();
  std::set<model::ClusterKey> note_known(const TakenLines<GroupLine>& lines);
  LockedGroups lock_groups(const std::vector<std::string_view>& halves);
  void merge_group(const GroupLine& line, LockedGroups& groups);
  void put_changed(LockedGroups& groups);
  std::set<model::ClusterKey> groups_there(const TakenLines<TriageLine>& lines);

  Connection& connection_;
  ImportTally& tally_;
  ImportLedger& ledger_;
  const EffectRules rules_;
  model::TenantId tenant_ = 0;
  Places runs_;      // with dimensions, not counted yet
  Places failures_;  // of groups, not counted yet
  std::map<model::ClusterKey, Growth> grown_;
  std::map<model::ClusterKey, std::int64_t> known_since_;
  std::set<model::ClusterKey> joined_;    // groups with failures of this import
  std::set<model::ClusterKey> left_out_;  // groups that are left out because there are too many
};

}  // namespace runwarden::store::postgres
