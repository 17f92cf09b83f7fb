// Counts a group again from its failures and its history, and says where its head differs. For the files of store/ only. Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/group_codec.h"

namespace runwarden::store {

class ClusterRecount {
 public:
  // In the order of time. Those that are not counted are passed over.
  void add(const model::FailureRecord& failure);
  void add_unreadable() { readable_ = false; }

  // False: there is no telling what the head should say; whoever looks at the failure that cannot be read tells of it.
  bool readable() const { return readable_; }

  // What the head says and its failures do not.
  std::vector<std::string> differences(const ClusterHead& head) const;
  // Makes what the head says of its failures true again. It keeps since when it is known and what was decided.
  void correct(ClusterHead& head) const;
  std::uint64_t count() const { return sum_.cluster.count; }

 private:
  ClusterHead sum_;
  std::set<std::string> newest_titles_;  // of those that were detected last, together
  std::int64_t first_ms_ = 0;
  bool readable_ = true;
};

// Whether that entry of a group's history decided what its head says, or nothing did; how many failures came since, and the marks of its
// false alarms, are not in the history.
bool is_decided_by(const ClusterHead& head, const model::TriageEntry& entry);
bool is_undecided(const ClusterHead& head);

// "it counts 13 failures where there are 12"
std::string counts_wrong(std::uint64_t says, const char* what, std::uint64_t is);

}  // namespace runwarden::store
