#include "ingest/stored_run.h"

#include <utility>

#include "model/run_outline.h"
#include "ingest/answers.h"
#include "ingest/assemble.h"

namespace runwarden::ingest {
namespace {

// The document that the events of an open run continue; empty: none.
std::string continued_document(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run) {
  auto first = run.revision > 1 ? store.find_revision(tenant, run.run_id, 1) : std::nullopt;
  return first && first->resolution == model::Resolution::whole ? std::move(first->document) : std::string();
}

model::RunOutline outline_of_stored(store::RunStore& store, model::TenantId tenant, const model::RunRecord& head) {
  constexpr auto kTold = model::OutcomeFrom::told;
  if (head.state == model::RunState::open) {
    const std::string whole = continued_document(store, tenant, head);
    return model::outline_of(assemble(head.source, head.run_id, store.events(tenant, head.key), whole).json, kTold);
  }
  const auto run = store.find_revision(tenant, head.run_id, head.revision);
  model::RunOutline outline = model::outline_of(run ? std::string_view(run->document) : std::string_view("{}"), kTold);
  if (run) model::set_arrays(outline, *run);
  return outline;
}

}  // namespace

std::string stored_run_json(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run) {
  if (run.state == model::RunState::resolved) return run_json(run);
  model::RunRecord open = run;
  open.document = continued_document(store, tenant, run);
  return open_run_json(open, store.events(tenant, run.key));
}

std::string stored_document(store::RunStore& store, model::TenantId tenant, model::RunRecord run) {
  if (run.state == model::RunState::resolved) return std::move(run.document);
  return assemble(run.source, run.run_id, store.events(tenant, run.key), continued_document(store, tenant, run)).json;
}

std::string stored_outline_json(store::RunStore& store, model::TenantId tenant, model::RunRecord head) {
  if (!head.outline) head.outline = outline_of_stored(store, tenant, head);
  return run_outline_json(head);
}

}  // namespace runwarden::ingest
