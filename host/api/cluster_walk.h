// How far a walk over the list of groups has come: what its cursors hold. Pure; any thread.
//
// A walk first shows the groups by their rank. One that fails anew while it goes on may rise past where it stands, and would be lost: so
// the groups that failed since shortly before its beginning are shown behind the others, by their keys, which never change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/cursor_seal.h"
#include "model/cluster.h"

namespace runwarden::api {

struct ClusterWalk {
  enum class Part : std::uint8_t { ranked, failed_anew };
  Part part = Part::ranked;
  std::optional<model::RecordKey> after;  // within the part; nothing: from its beginning
  std::int64_t began_ms = 0;
  std::uint64_t began_commit = 0;  // the tenant's last commit then

  // Whether the walk's second part shows a group whose last failure was detected then.
  bool failed_anew(std::int64_t last_ms) const;
};

// The place of a group in the second part.
model::RecordKey place_of(const model::ClusterKey& key);

std::string seal_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning, const ClusterWalk& walk);
std::optional<ClusterWalk> open_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning, std::string_view cursor);

}  // namespace runwarden::api
