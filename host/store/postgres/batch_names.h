// What a batch calls the things that it asks about and stores. Internal to store/postgres.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/record_key.h"

namespace runwarden::store::postgres {

struct RunName {
  model::TenantId tenant = 0;
  std::string run_id;
  auto operator<=>(const RunName&) const = default;
};
struct TenantKey {
  model::TenantId tenant = 0;
  model::RecordKey key;
  auto operator<=>(const TenantKey&) const = default;
};
struct Identity {
  model::TenantId tenant = 0;
  model::Digest digest{};
  auto operator<=>(const Identity&) const = default;
};
struct PolicyName {
  model::TenantId tenant = 0;
  std::string policy;
  auto operator<=>(const PolicyName&) const = default;
};
// A time at which changes of a tenant, policy revisions among them, take effect.
struct ChangeTime {
  model::TenantId tenant = 0;
  std::int64_t time_ms = 0;
  auto operator<=>(const ChangeTime&) const = default;
};
struct RevisionName {
  PolicyName policy;
  std::string revision;
  auto operator<=>(const RevisionName&) const = default;
};

// What a review of a run, or of one of its failures, is about: the run, and the subject as stored in its column.
struct SubjectOf {
  TenantKey run;
  std::string subject;
  auto operator<=>(const SubjectOf&) const = default;
};

// Each returns one column as an array, for unnest().
std::vector<std::int32_t> tenants_of(const std::vector<TenantKey>& places);
std::vector<std::int64_t> times_of(const std::vector<TenantKey>& places);
std::vector<std::int64_t> seqs_of(const std::vector<TenantKey>& places);

}  // namespace runwarden::store::postgres
