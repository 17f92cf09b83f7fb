// Encodes and decodes groups, their triage and the tail's log. Internal to store/. Pure; any thread. Decoders throw BadValue.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "store/commit_tail.h"
#include "store/envelope.h"

namespace runwarden::store {

constexpr const char* kServiceAuthor = "runwarden";  // author of the actions of the service itself

// A group as stored. Counts failures by score and by severity, so that the highest is known after one is removed.
struct ClusterHead {
  model::Cluster cluster;
  std::map<int, std::uint64_t> scores;
  std::array<std::uint64_t, 4> severities{};
  std::int64_t rising_told_ms = model::kNever;  // when webhooks were last notified that it is rising

  // Derives the cluster's highest score and severity from the counts.
  void settle();
};

std::string encode_cluster(std::string_view key, const ClusterHead& head);
ClusterHead decode_cluster(std::string_view key, std::string_view value);

std::string encode_triage(std::string_view key, const model::TriageEntry& entry);
model::TriageEntry decode_triage(std::string_view key, std::string_view value);

std::string encode_tail(std::string_view key, const std::vector<TailItem>& items, std::int64_t at_ms);
std::vector<TailItem> decode_tail(std::string_view key, std::string_view value);
std::size_t count_tail(std::string_view key, std::string_view value);

}  // namespace runwarden::store
