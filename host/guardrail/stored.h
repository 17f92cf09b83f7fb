// Makes drafts from stored failures and groups, and tries them on stored runs. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "guardrail/report.h"
#include "store/group_store.h"
#include "store/run_store.h"

namespace runwarden::guardrail {

constexpr std::size_t kClusterRuns = 200;
constexpr std::size_t kOtherRuns = 400;
constexpr std::size_t kSourceRuns = 20;  // the most runs that a draft is made from
constexpr std::int64_t kTrialNs = 2'000'000'000;
constexpr std::int64_t kClusterTrialNs = kTrialNs / 2;

struct ReportSources {
  store::RunStore& store;
  store::GroupStore& groups;
  const Clock& clock;
  model::TenantId tenant = 0;
  std::function<bool(std::uint64_t)> room = {};  // whether a run of this many bytes of JSON may be loaded; empty: always
};

// not_found: the tenant has no such record; conflict: no draft can be made for it, or its run has been deleted. Throws StoreError.
Result<Report> report_of_failure(const ReportSources& sources, std::string_view failure_id);
Result<Report> report_of_cluster(const ReportSources& sources, std::string_view cluster_id);

}  // namespace runwarden::guardrail
