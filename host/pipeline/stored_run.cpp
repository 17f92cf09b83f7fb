#include "pipeline/stored_run.h"

#include "pipeline/answers.h"

namespace runwarden::pipeline {

std::string stored_run_json(store::Store& store, model::TenantId tenant, const model::RunRecord& run) {
  if (run.state == model::RunState::resolved) return run_json(run);
  model::RunRecord open = run;
  const auto first = run.revision > 1 ? store.find_revision(tenant, run.run_id, 1) : std::nullopt;
  if (first && first->resolution == model::Resolution::whole) open.document = first->document;  // which the events continue
  return open_run_json(open, store.events(tenant, run.key));
}

}  // namespace runwarden::pipeline
