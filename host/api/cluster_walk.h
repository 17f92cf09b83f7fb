// The position of a walk over the list of groups, which its cursors hold. Pure; any thread.
//
// A walk first shows the groups by rank. A group that fails again during the walk may move up past the walk's position and be missed. So
// the walk ends with the groups that failed since shortly before it began, in the order of their keys, which never change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/cursor_seal.h"
#include "model/cluster.h"

namespace runwarden::api {

struct ClusterWalk {
  enum class Part : std::uint8_t { ranked, failed_again };
  Part part = Part::ranked;
  std::optional<model::RecordKey> after;  // within the part; empty: from its start
  std::int64_t began_ms = 0;
  std::uint64_t began_commit = 0;  // the tenant's last commit at that time

  // Whether the second part shows a group whose last failure was detected at that time.
  bool failed_again(std::int64_t last_ms) const;
};

// A group's position in the second part.
model::RecordKey place_of(const model::ClusterKey& key);

std::string seal_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning, const ClusterWalk& walk);
std::optional<ClusterWalk> open_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning,
                                     std::string_view cursor);

}  // namespace runwarden::api
