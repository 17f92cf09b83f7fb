#include "ingest/stored_run.h"

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "ingest/answers.h"
#include "ingest/assemble.h"
#include "ingest/reviews.h"
#include "model/run_outline.h"

namespace runwarden::ingest {
namespace {

constexpr std::size_t kMostPreviousFailures = 1000;

// The parts of an open run.
struct OpenParts {
  std::string whole;                // the document that its events continue; empty: none
  std::vector<std::string> events;  // received after it
};

OpenParts parts_of_open(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run) {
  auto first = run.revision > 1 ? store.find_revision(tenant, run.run_id, 1) : std::nullopt;
  if (!first || first->resolution != model::Resolution::whole) return {{}, store.events(tenant, run.key)};
  return {std::move(first->document), store.events(tenant, run.key, first->events)};
}

model::RunOutline outline_of_stored(store::RunStore& store, model::TenantId tenant, const model::RunRecord& head) {
  constexpr auto kTold = model::OutcomeFrom::told;
  if (head.state == model::RunState::open) {
    const OpenParts parts = parts_of_open(store, tenant, head);
    return model::outline_of(assemble(head.source, head.run_id, parts.events, parts.whole).json, kTold);
  }
  const auto run = store.find_revision(tenant, head.run_id, head.revision);
  model::RunOutline outline = model::outline_of(run ? std::string_view(run->document) : std::string_view("{}"), kTold);
  if (run) model::set_arrays(outline, *run);
  return outline;
}

// The failures of a run that is open again, which stay those of its previous revision until it resolves; empty if it is open for the first
// time.
std::string previous_failures(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run) {
  if (run.revision == 1) return {};
  store::FailureQuery query;
  query.run_id = run.run_id;
  query.range.limit = kMostPreviousFailures;
  auto failures = store.failures(tenant, query).items;
  std::sort(failures.begin(), failures.end(), [](const model::FailureRecord& a, const model::FailureRecord& b) {
    return a.score != b.score ? a.score > b.score : a.detector_key < b.detector_key;
  });
  std::string text;
  JsonWriter out(text);
  out.begin_array();
  for (const model::FailureRecord& failure : failures) out.raw(shown_failure(failure));
  out.end_array();
  return text;
}

}  // namespace

std::string stored_run_json(store::RunStore& store, model::TenantId tenant, const model::RunRecord& run) {
  if (run.state == model::RunState::resolved) return run_json(run);
  OpenParts parts = parts_of_open(store, tenant, run);
  model::RunRecord open = run;
  open.document = std::move(parts.whole);
  open.failures_json = previous_failures(store, tenant, run);
  return open_run_json(open, parts.events);
}

std::string stored_document(store::RunStore& store, model::TenantId tenant, model::RunRecord run) {
  if (run.state == model::RunState::resolved) return std::move(run.document);
  const OpenParts parts = parts_of_open(store, tenant, run);
  return assemble(run.source, run.run_id, parts.events, parts.whole).json;
}

std::string stored_outline_json(store::RunStore& store, model::TenantId tenant, model::RunRecord head) {
  if (!head.outline) head.outline = outline_of_stored(store, tenant, head);
  if (head.state == model::RunState::open) {
    model::RunRecord previous;
    previous.failures_json = previous_failures(store, tenant, head);
    model::set_arrays(*head.outline, previous);
  }
  return run_outline_json(head);
}

}  // namespace runwarden::ingest
