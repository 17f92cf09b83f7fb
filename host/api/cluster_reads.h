// Answers the requests about groups of failures: the list, one group, its history, the timeline and the tail. Any pool thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/admission.h"
#include "api/cluster_json.h"
#include "api/window.h"
#include "auth/cursor_seal.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/group_store.h"
#include "store/run_store.h"

namespace runwarden::api {

class ClusterReads {
 public:
  ClusterReads(store::RunStore& store, store::GroupStore& groups, const auth::CursorSeal& seal, const Clock& clock)
      : store_(store), groups_(groups), seal_(seal), clock_(clock) {}

  Result<std::string> clusters(const Admission& admission);
  Result<std::string> cluster(const Admission& admission);
  Result<std::string> history(const Admission& admission);
  Result<std::string> timeline(const Admission& admission);
  Result<std::string> tail(const Admission& admission);

  // The Cluster as in a list, with the counts of the last day. With `decided`: in the state in which that entry of its history left it.
  std::string cluster_json(model::TenantId tenant, model::Cluster cluster, const std::optional<model::RecordKey>& decided);

  // A weak entity tag (RFC 9110, section 8.8.3) made of the tenant's last commit, the minute, the path and the query. As no other request
  // has it, a client only knows it from an answer, and what was answered still can be while the tag stays the same.
  std::string tag(const Admission& admission);

 private:
  ClusterWindow window_of(model::TenantId tenant, const model::Cluster& cluster, const store::Span& span);
  // The latest failure of a group within the span.
  std::optional<model::FailureRecord> latest(model::TenantId tenant, const model::Cluster& cluster, const store::Span& span);
  std::string suspect_id(model::TenantId tenant, const store::Subject& subject, const store::Span& span);
  std::optional<model::RunRecord> outlined_run(model::TenantId tenant, const model::RecordKey& key);
  Result<std::string> tail_after(model::TenantId tenant, std::uint64_t after, bool runs, bool failures);

  store::RunStore& store_;
  store::GroupStore& groups_;
  const auth::CursorSeal& seal_;
  const Clock& clock_;
};

// Whether If-None-Match is * or lists the tag; weak comparison (RFC 9110, section 8.8.3.2).
bool matches_tag(std::string_view if_none_match, std::string_view tag);

}  // namespace runwarden::api
