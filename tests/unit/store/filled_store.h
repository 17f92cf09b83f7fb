// Fills a store, of whichever engine, with records of every kind.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "sample_opinions.h"
#include "store/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"

namespace runwarden::store {

class FillsStores {
 protected:
  model::RecordKey new_key(Store& store);
  WriteResult commit(Store& store, Write write) { return test::commit(store, std::move(write), &failed_); }
  std::vector<WriteResult> commit_together(Store& store, const std::vector<Write>& writes);

  Buffered post(Store& store, model::TenantId tenant, const std::string& run_id, const std::string& event, bool final);
  void end(Store& store, model::TenantId tenant, const Buffered& buffered);

  model::TenantId fill_with_runs(Store& store, const std::string& tenant_name, int count);

  // Records of every kind: whole runs with and without ids and failures of their own, runs that stream, were resolved and opened
  // again, changes, policies, answers.
  void fill(Store& store, const std::string& tenant_name);
  // Of four candidates one is confirmed, one denied and one dead; one waits.
  void answer_opinions(Store& store, model::TenantId tenant);
  // Failures of f0 that are right, a false alarm, a false alarm no longer; all of another group; what was missed in a run.
  void review(Store& store, model::TenantId tenant);
  // What was decided about groups: one resolved and come back, one ignored until more of its failures come, one opened again.
  void decide(Store& store, const std::string& tenant_name);
  void fill_all(Store& store);

  test::FakeClock clock_;
  std::atomic<bool> failed_ = false;  // as a writing thread said
};

}  // namespace runwarden::store
