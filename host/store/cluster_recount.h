// Recounts a group from its failures and its history, and reports where its head differs. Internal to store/. Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/group_codec.h"

namespace runwarden::store {

class ClusterRecount {
 public:
  // Call in order of time. Skips failures that do not count.
  void add(const model::FailureRecord& failure);
  void add_unreadable() { readable_ = false; }

  // False: a failure cannot be read, so the right head is unknown. The check of that failure reports it.
  bool readable() const { return readable_; }

  // Where the head disagrees with its failures.
  std::vector<std::string> differences(const ClusterHead& head) const;
  // Corrects what the head says about its failures. Keeps since when the group is known and what was decided.
  void correct(ClusterHead& head) const;
  std::uint64_t count() const { return sum_.cluster.count; }

 private:
  ClusterHead sum_;
  std::set<std::string> newest_titles_;  // titles of the failures with the latest time of detection
  std::int64_t first_ms_ = 0;
  bool readable_ = true;
};

// Whether this entry of the group's history made the decision in the head, or whether the head holds none. Failures since then and the
// marks of false alarms are ignored: the history does not record them.
bool is_decided_by(const ClusterHead& head, const model::TriageEntry& entry);
bool is_undecided(const ClusterHead& head);

// "it counts 13 failures where there are 12"
std::string counts_wrong(std::uint64_t says, const char* what, std::uint64_t is);

}  // namespace runwarden::store
