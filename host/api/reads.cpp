#include "api/reads.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/list_query.h"
#include "api/openapi.h"
#include "api/reply_budgets.h"
#include "api/window.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "guardrail/stored.h"
#include "ingest/answers.h"
#include "ingest/bundle.h"
#include "ingest/faults.h"
#include "ingest/investigation.h"
#include "ingest/ledger_json.h"
#include "ingest/reviews.h"
#include "ingest/step_texts.h"
#include "ingest/stored_run.h"
#include "intake/otlp/trace_run.h"
#include "intake/run_id.h"
#include "store/read_slice.h"

namespace runwarden::api {
namespace {

Error not_there(std::string_view what, std::string_view id) {
  return {Code::not_found, "no " + std::string(what) + " \"" + std::string(id.substr(0, 256)) + "\"", {}, {}};
}

Error bad_query(std::string detail) {
  return {Code::bad_request, std::move(detail), {}, {}};
}

// The query for a single run.
struct RunQuery {
  std::optional<std::uint32_t> revision;
  bool head = false;
  std::optional<std::size_t> max_text;  // bytes per text of a step
};
constexpr std::size_t kFewestTextBytes = 100;
constexpr std::size_t kMostTextBytes = 65'536;

// Whether the query's `view` is "head".
Result<bool> is_head(const std::string* view) {
  if (view == nullptr) return false;
  if (*view != "head") return bad_query("the query's view must be head, got \"" + view->substr(0, 80) + "\"");
  return true;
}

Result<std::size_t> read_max_text(const std::string& value) {
  std::size_t bytes = 0;
  const auto end = std::from_chars(value.data(), value.data() + value.size(), bytes);
  if (end.ec == std::errc() && end.ptr == value.data() + value.size() && bytes >= kFewestTextBytes && bytes <= kMostTextBytes) return bytes;
  return bad_query("the query's maxText must be an integer from 100 to 65536, got \"" + value.substr(0, 80) + "\"");
}

Result<RunQuery> run_query(const std::vector<std::pair<std::string, std::string>>& query) {
  RunQuery asked;
  for (const auto& [name, value] : query) {
    if (name == "view") {
      auto head = is_head(&value);
      if (!head.ok()) return std::move(head.error());
      asked.head = *head;
      continue;
    }
    if (name == "maxText") {
      auto bytes = read_max_text(value);
      if (!bytes.ok()) return std::move(bytes.error());
      asked.max_text = *bytes;
      continue;
    }
    if (name != "revision") {
      return bad_query("the query of a run has no member \"" + name.substr(0, 80) + "\"; its members are revision, view, maxText");
    }
    std::uint32_t revision = 0;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), revision);
    if (end.ec != std::errc() || end.ptr != value.data() + value.size() || revision == 0) {
      return bad_query("the query's revision must be an integer of at least 1, got \"" + value.substr(0, 80) + "\"");
    }
    asked.revision = revision;
  }
  if (asked.head && asked.max_text)
    return bad_query("the query has both \"view\" and \"maxText\"; a head has no steps, so leave maxText out");
  return asked;
}

Result<store::RunQuery> read_runs_query(const ListQuery& query, model::TenantId tenant, const auth::CursorSeal& seal) {
  auto range = query.range(tenant, seal);
  if (!range.ok()) return std::move(range.error());
  auto score = query.score("minScore");
  if (!score.ok()) return std::move(score.error());
  auto heads_only = is_head(query.find("view"));
  if (!heads_only.ok()) return std::move(heads_only.error());
  store::RunQuery runs;
  runs.outlines = *heads_only ? store::OutlineToo::yes : store::OutlineToo::no;
  runs.range = *range;
  runs.detector = query.text("detector");
  if (query.find("minScore") != nullptr) runs.min_score = *score;
  if (const std::string* state = query.find("state")) {
    if (*state != "open" && *state != "resolved")
      return bad_query("the query's state must be open or resolved, got \"" + state->substr(0, 80) + "\"");
    runs.state = *state == "open" ? model::RunState::open : model::RunState::resolved;
  }
  if (const std::string* source = query.find("source")) {
    if (*source != "otlp" && *source != "client")
      return bad_query("the query's source must be otlp or client, got \"" + source->substr(0, 80) + "\"");
    runs.source = *source == "otlp" ? model::RunSource::otlp : model::RunSource::client;
  }
  return runs;
}

std::optional<model::Severity> severity_of(std::string_view name) {
  for (const auto severity : {model::Severity::low, model::Severity::medium, model::Severity::high, model::Severity::critical}) {
    if (name == model::name(severity)) return severity;
  }
  return std::nullopt;
}

// The web page polls these.
bool bears_tag(RouteId route) {
  switch (route) {
    case RouteId::clusters:
    case RouteId::cluster:
    case RouteId::cluster_history:
    case RouteId::differences:
    case RouteId::baseline:
    case RouteId::dimensions:
    case RouteId::timeline:
    case RouteId::tail:
    case RouteId::runs:
    case RouteId::run: return true;
    default: return false;
  }
}

constexpr std::uint64_t kCursorBytes = 1024;  // the cursor and everything else around a list's items

// Builds the JSON of a list: its items and the next cursor.
class ListText {
 public:
  ListText() { out_.begin_object().key("items").begin_array(); }
  void reserve(std::uint64_t bytes) { text_.reserve(bytes); }
  void add(std::string_view item) { out_.raw(item); }
  std::uint64_t bytes() const { return text_.size(); }
  std::string end(const std::string& next_cursor) {
    out_.end_array().key("nextCursor").raw(next_cursor).end_object();
    return std::move(text_);
  }

 private:
  std::string text_;
  JsonWriter out_{text_};
};

template <class Record, class Json>
std::string list_json(const store::Page<Record>& page, const std::string& next_cursor, const Json& json) {
  ListText list;
  for (const Record& record : page.items) list.add(json(record));
  return list.end(next_cursor);
}

}  // namespace

// The first lease refuses requests before any work; each answer resizes it as soon as its size is known.
Result<Reads::ReadReply> Reads::answer(const Admission& admission) {
  // Read before the work, so that a commit in between leads to another tag.
  const std::string tag = bears_tag(admission.route->id) ? clusters_.tag(admission) : std::string();
  const bool not_modified = !tag.empty() && matches_tag(admission.if_none_match, tag);
  // "*" also matches if the client has seen no answer, so the work has to find out whether there is one.
  const bool any_tag = admission.if_none_match.find('*') != std::string::npos;
  if (not_modified && !any_tag) return ReadReply{{}, {}, tag, true};
  auto lease = replies_.take(admission.principal->tenant, kReadReplyBytes);
  if (!lease) return ingest::no_room_for_reply(kReadReplyBytes);
  const RouteId route = admission.route->id;
  if (route == RouteId::failure_guardrail || route == RouteId::cluster_guardrail) return guardrail(admission, std::move(*lease));
  auto text = json(admission, *lease);
  if (!text.ok()) return std::move(text.error());
  if (not_modified) return ReadReply{{}, {}, tag, true};
  if (!lease->try_resize(text->size())) return ingest::no_room_for_reply(text->size());
  return ReadReply{std::move(*text), std::move(*lease), tag};
}

// The lease is resized to the size of the run and, at the end, of the answer.
Result<Reads::ReadReply> Reads::guardrail(const Admission& admission, Lease lease) {
  auto format = guardrail::Format::json;
  for (const auto& [name, value] : admission.query) {
    if (name != "as")
      return bad_query("the query of a guardrail draft has no member \"" + name.substr(0, 80) + "\"; the only query parameter here is as");
    const auto named = guardrail::format_named(value);
    if (!named) return bad_query("the query's as must be " + std::string(guardrail::kFormats) + ", got \"" + value.substr(0, 80) + "\"");
    format = *named;
  }
  const guardrail::ReportSources sources{store_, groups_, clock_, admission.principal->tenant,
                                         [&](std::uint64_t bytes) { return lease.try_resize(bytes + kReadReplyBytes); }};
  const std::string& id = admission.parameters.at(0);
  const bool of_failure = admission.route->id == RouteId::failure_guardrail;
  auto report = of_failure ? guardrail::report_of_failure(sources, id) : guardrail::report_of_cluster(sources, id);
  if (!report.ok()) return std::move(report.error());
  std::string text = guardrail::to_text(*report, format);
  if (!lease.try_resize(text.size())) return ingest::no_room_for_reply(text.size());
  return ReadReply{std::move(text), std::move(lease), {}, false, guardrail::media_type(format)};
}

Result<std::string> Reads::json(const Admission& admission, Lease& lease) {
  switch (admission.route->id) {
    case RouteId::run: return run(admission, lease);
    case RouteId::run_mapping: return run_mapping(admission, lease);
    case RouteId::bundle: return bundle(admission, lease);
    case RouteId::runs: return runs(admission, lease);
    case RouteId::failure: return failure(admission);
    case RouteId::failures: return failures(admission);
    case RouteId::candidates: return candidates(admission);
    case RouteId::failure_review_history:
    case RouteId::run_review_history: return review_history(admission);
    case RouteId::investigation: return investigation(admission);
    case RouteId::changes: return changes(admission);
    case RouteId::policies: return policies(admission);
    case RouteId::policy: return policy(admission);
    case RouteId::detectors: return detectors(admission);
    case RouteId::clusters: return clusters_.clusters(admission);
    case RouteId::cluster: return clusters_.cluster(admission);
    case RouteId::cluster_history: return clusters_.history(admission);
    case RouteId::differences: return comparisons_.differences(admission);
    case RouteId::baseline: return comparisons_.baseline(admission);
    case RouteId::dimensions: return comparisons_.dimensions(admission);
    case RouteId::timeline: return clusters_.timeline(admission);
    case RouteId::tail: return clusters_.tail(admission);
    case RouteId::ledger:
    case RouteId::ledger_proof:
    case RouteId::ledger_consistency: return ledger_.json(admission, lease);
    case RouteId::openapi: return std::string(openapi_json());
    default: return Error{Code::internal, "this path is not a read endpoint", {}, {}};
  }
}

Result<Reads::RequestedRun> Reads::requested_run(const Admission& admission, std::optional<std::uint32_t> revision) {
  const std::string& id = admission.parameters.at(0);
  const model::TenantId tenant = admission.principal->tenant;
  auto current = store_.run_head(tenant, id, std::nullopt);
  if (!current) return not_there("run with the runId", id);
  if (!revision || *revision == current->revision) return RequestedRun{std::move(*current), false};
  auto previous = store_.run_head(tenant, id, revision);
  if (!previous) return not_there("revision of run \"" + id + "\":", std::to_string(*revision));
  return RequestedRun{std::move(*previous), true};
}

Result<model::RunRecord> Reads::whole(const Admission& admission, const RequestedRun& requested, Lease& lease) {
  const std::string& id = admission.parameters.at(0);
  const model::TenantId tenant = admission.principal->tenant;
  if (!lease.try_resize(requested.head.json_bytes)) return ingest::no_room_for_reply(requested.head.json_bytes);
  auto run = requested.previous ? store_.find_revision(tenant, id, requested.head.revision) : store_.find_run(tenant, id);
  if (!run) return not_there("run with the runId", id);
  return std::move(*run);
}

Result<std::string> Reads::run(const Admission& admission, Lease& lease) {
  auto query = run_query(admission.query);
  if (!query.ok()) return std::move(query.error());
  auto found = requested_run(admission, query->revision);
  if (!found.ok()) return std::move(found.error());
  const model::TenantId tenant = admission.principal->tenant;
  if (query->head) {
    ingest::show_later_words(found->head, tenant, store_, reviews_);
    return ingest::stored_outline_json(store_, tenant, std::move(found->head));
  }
  auto run = whole(admission, *found, lease);
  if (!run.ok()) return std::move(run.error());
  ingest::show_later_words(*run, tenant, store_, reviews_);
  std::string text = ingest::stored_run_json(store_, tenant, *run);
  return query->max_text ? ingest::with_cut_step_texts(text, *query->max_text, *run) : std::move(text);
}

// The mapping of the current run, including spans that arrived after it resolved.
Result<std::string> Reads::run_mapping(const Admission& admission, Lease& lease) {
  if (!admission.query.empty())
    return bad_query("the query of a mapping has no members, got \"" + admission.query[0].first.substr(0, 80) + "\"");
  auto found = requested_run(admission, std::nullopt);
  if (!found.ok()) return std::move(found.error());
  const model::RunRecord& head = found->head;
  if (head.source != model::RunSource::otlp) return not_there("mapping of a run that did not come from OpenTelemetry:", head.run_id);
  if (!lease.try_resize(head.json_bytes)) return ingest::no_room_for_reply(head.json_bytes);
  std::string text = intake::otlp::mapping_of_trace(store_.events(admission.principal->tenant, head.key), mapping_);
  std::string own;
  JsonWriter out(own);
  out.begin_object().key("runId").string(head.run_id).key("revision").integer(head.revision).key("source").string("otlp").end_object();
  own.back() = ',';
  return own.append(text, 1);
}

// The run in the query's revision; the query may have no other member. `what` names the requested thing, such as "an explanation".
Result<model::RunRecord> Reads::run_of_revision(const Admission& admission, std::string_view what, Lease& lease) {
  auto query = run_query(admission.query);
  if (!query.ok()) return std::move(query.error());
  if (query->head || query->max_text) {
    const std::string name = query->head ? "view" : "maxText";
    return bad_query("the query of " + std::string(what) + " has no member \"" + name + "\"; the only query parameter here is revision");
  }
  auto found = requested_run(admission, query->revision);
  if (!found.ok()) return std::move(found.error());
  return whole(admission, *found, lease);
}

Result<model::RunRecord> Reads::run_to_explain(const Admission& admission, Lease& lease) {
  auto run = run_of_revision(admission, "an explanation", lease);
  if (run.ok()) run->document = ingest::stored_document(store_, admission.principal->tenant, *run);
  return run;
}

Result<std::string> Reads::bundle(const Admission& admission, Lease& lease) {
  auto run = run_of_revision(admission, "a bundle", lease);
  if (!run.ok()) return std::move(run.error());
  const auth::Principal& principal = *admission.principal;
  std::string proof = ingest::bundled_proof(ledger_store_, principal.tenant, *run);
  return ingest::bundle_json(store_, reviews_,
                             {principal.tenant, principal.tenant_name, std::move(*run), detectors_()->list(principal.tenant_name),
                              clock_.wall_ms(), std::move(proof)});
}

std::vector<std::string> Reads::shown_runs(model::TenantId tenant, std::span<const model::RunRecord> heads, const store::RunQuery& query) {
  const bool outlined = query.outlines == store::OutlineToo::yes;
  std::vector<model::RecordKey> keys;
  for (const model::RunRecord& head : heads) keys.push_back(head.key);
  std::vector<std::optional<model::RunRecord>> runs =
      outlined ? std::vector<std::optional<model::RunRecord>>(heads.begin(), heads.end()) : store_.runs_at(tenant, keys);
  ingest::show_later_words(runs, keys, tenant, store_, reviews_);
  std::vector<std::string> shown(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!runs[i] || (query.state && runs[i]->state != *query.state)) continue;
    try {
      shown[i] =
          outlined ? ingest::stored_outline_json(store_, tenant, std::move(*runs[i])) : ingest::stored_run_json(store_, tenant, *runs[i]);
    } catch (const store::EngineFault&) {
      throw;
    } catch (const store::StoreError& unreadable) {
      on_unreadable_(unreadable.what());
    }
  }
  return shown;
}

Result<std::string> Reads::runs(const Admission& admission, Lease& lease) {
  auto query = ListQuery::read(admission.query, {"state", "detector", "minScore", "view", "source", "cluster"}, "/v1/runs");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  auto runs = read_runs_query(*query, tenant, seal_);
  if (!runs.ok()) return std::move(runs.error());
  auto listed = listed_runs(tenant, query->find("cluster"), *runs);
  if (!listed.ok()) return std::move(listed.error());
  store::Page<model::RunRecord>& page = *listed;
  std::uint64_t bytes = kCursorBytes;
  for (const model::RunRecord& head : page.items) bytes += head.json_bytes;
  if (!lease.try_resize(bytes)) return ingest::no_room_for_reply(bytes);
  ListText list;
  list.reserve(bytes);
  bool full = false;
  for (std::size_t first = 0; first < page.items.size() && !full;) {
    const auto heads = store::first_slice(std::span(page.items).subspan(first));
    for (const std::string& run : shown_runs(tenant, heads, *runs)) {
      const std::size_t i = first++;
      // Its size was known except for events that arrived since.
      full = i > 0 && query->find("cluster") == nullptr && list.bytes() + run.size() + kCursorBytes > runs->range.max_bytes;
      if (full) {
        page.next = page.items[i - 1].key;
        break;
      }
      if (!run.empty()) list.add(run);
    }
  }
  return list.end(query->next_cursor(tenant, seal_, page.next));
}

Result<store::Page<model::RunRecord>> Reads::listed_runs(model::TenantId tenant, const std::string* cluster_id,
                                                         const store::RunQuery& query) {
  if (cluster_id == nullptr) return store_.runs(tenant, query);
  const auto cluster = groups_.find_cluster(tenant, *cluster_id);
  if (!cluster) return not_there("group with the clusterId", *cluster_id);
  return groups_.cluster_runs(tenant, cluster->key, query);
}

Result<std::string> Reads::failure_json(model::TenantId tenant, const std::string& id, const ReviewKey& review) {
  auto failure = store_.find_failure(tenant, id);
  if (!failure) return not_there("failure", id);
  if (review) {
    auto said = reviews_.review_history(tenant, failure->run, id, store::only(*review));
    if (!said.empty()) failure->review = std::move(said.front().document);
  }
  return ingest::shown_failure(*failure);
}

Result<std::string> Reads::run_head_json(model::TenantId tenant, const std::string& id, const ReviewKey& review) {
  auto head = store_.run_head(tenant, id, std::nullopt);
  if (!head) return not_there("run with the runId", id);
  std::vector<model::Review> reviews = reviews_.reviews_of_run(tenant, head->key);
  if (review) {
    for (model::Review& said : reviews_.review_history(tenant, head->key, {}, store::only(*review))) {
      std::erase_if(reviews, [&](const model::Review& one) { return one.failure_id.empty() && one.detector_key == said.detector_key; });
      reviews.push_back(std::move(said));
    }
  }
  ingest::show_later_words(*head, tenant, store_, reviews);
  return ingest::stored_outline_json(store_, tenant, std::move(*head));
}

Result<std::string> Reads::failure(const Admission& admission) {
  return failure_json(admission.principal->tenant, admission.parameters.at(0));
}

// Newest first, including withdrawn reviews.
Result<std::string> Reads::review_history(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  const std::string& id = admission.parameters.at(0);
  const bool of_failure = admission.route->id == RouteId::failure_review_history;
  auto query = ListQuery::read(admission.query, {}, std::string(admission.route->pattern) + "\n" + id);
  if (!query.ok()) return std::move(query.error());
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  const auto failure = of_failure ? store_.find_failure(tenant, id) : std::nullopt;
  const auto run = of_failure ? std::nullopt : store_.run_head(tenant, id, std::nullopt);
  if (!failure && !run) return of_failure ? not_there("failure", id) : not_there("run with the runId", id);
  const std::size_t limit = range->limit++;
  store::Page<model::Review> page;
  page.items = reviews_.review_history(tenant, failure ? failure->run : run->key, failure ? id : std::string(), *range);
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.next = page.items.back().key;
  }
  return list_json(page, query->next_cursor(tenant, seal_, page.next), [](const model::Review& review) { return review.document; });
}

Result<std::string> Reads::failures(const Admission& admission) {
  auto query =
      ListQuery::read(admission.query, {"runId", "detector", "severity", "minScore", "fingerprint", "mode", "review"}, "/v1/failures");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  auto score = query->score("minScore");
  if (!score.ok()) return std::move(score.error());
  store::FailureQuery failures;
  failures.range = *range;
  if (const std::string* run_id = query->find("runId")) {
    if (const auto fault = intake::run_id_fault(*run_id)) return bad_query("the query's runId " + fault->detail);
    failures.run_id = *run_id;
  }
  failures.detector = query->text("detector");
  failures.fingerprint = query->text("fingerprint");
  failures.min_score = *score;
  if (const std::string* severity = query->find("severity")) {
    failures.severity = severity_of(*severity);
    if (!failures.severity)
      return bad_query("the query's severity must be low, medium, high or critical, got \"" + severity->substr(0, 80) + "\"");
  }
  if (const std::string* mode = query->find("mode")) {
    if (*mode != "live" && *mode != "shadow")
      return bad_query("the query's mode must be live or shadow, got \"" + mode->substr(0, 80) + "\"");
    failures.shadow = *mode == "shadow";
  }
  if (const std::string* review = query->find("review")) {
    const auto verdict = model::review_verdict(*review);
    if (*review != "none" && (!verdict || !model::is_of_failure(*verdict)))
      return bad_query("the query's review must be right, false_alarm, unsure or none, got \"" + review->substr(0, 80) + "\"");
    failures.reviewed = verdict.value_or(model::ReviewVerdict::none);
  }
  const auto page = store_.failures(tenant, failures);
  return list_json(page, query->next_cursor(tenant, seal_, page.next), ingest::shown_failure);
}

Result<std::string> Reads::candidates(const Admission& admission) {
  auto query = ListQuery::read(admission.query, {"state", "detector"}, "/v1/candidates");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  store::CandidateQuery candidates;
  candidates.range = *range;
  candidates.detector = query->text("detector");
  if (const std::string* state = query->find("state")) {
    candidates.state = model::opinion_state(*state);
    if (!candidates.state)
      return bad_query("the query's state must be waiting, confirmed, denied, unclear or dead, got \"" + state->substr(0, 80) + "\"");
  }
  const auto page = opinions_.candidates(tenant, candidates);
  return list_json(page, query->next_cursor(tenant, seal_, page.next), model::candidate_json);
}

Result<std::string> Reads::investigation(const Admission& admission) {
  const std::string& id = admission.parameters.at(0);
  const auto failure = store_.find_failure(admission.principal->tenant, id);
  if (!failure) return not_there("failure", id);
  if (failure->shadow)
    return not_there("investigation of a failure from a detector in shadow mode, because no count includes it; failure", id);
  return ingest::investigation_json(store_, admission.principal->tenant, *failure);
}

Result<std::string> Reads::changes(const Admission& admission) {
  auto query = ListQuery::read(admission.query, {"kind"}, "/v1/changes");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  store::ChangeQuery changes;
  changes.range = *range;
  changes.kind = query->text("kind");
  const auto page = store_.changes(tenant, changes);
  return list_json(page, query->next_cursor(tenant, seal_, page.next), ingest::change_json);
}

Result<std::string> Reads::policies(const Admission& admission) {
  auto query = ListQuery::read(admission.query, {"policy"}, "/v1/policies");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  store::PolicyQuery policies;
  policies.range = *range;
  policies.policy = query->text("policy");
  const auto page = store_.policies(tenant, policies);
  return list_json(page, query->next_cursor(tenant, seal_, page.next), ingest::policy_json);
}

Result<std::string> Reads::policy(const Admission& admission) {
  const std::string& name = admission.parameters.at(0);
  const model::TenantId tenant = admission.principal->tenant;
  auto query = ListQuery::read(admission.query, {"at"}, "/v1/policies/" + name);
  if (!query.ok()) return std::move(query.error());
  if (query->find("at") != nullptr) {
    const auto time = read_time(admission.query, "at", 0);
    if (!time.ok()) return time.error();
    const auto in_force = store_.policy_at(tenant, name, *time);
    if (!in_force) return not_there("revision of a policy in force at " + format_time(*time) + " by the name", name);
    return ingest::policy_json(*in_force);
  }
  auto range = query->range(tenant, seal_);
  if (!range.ok()) return std::move(range.error());
  store::PolicyQuery policies;
  policies.range = *range;
  policies.policy = name;
  const auto page = store_.policies(tenant, policies);
  if (page.items.empty() && !store_.policy_at(tenant, name, std::numeric_limits<std::int64_t>::max())) return not_there("policy", name);
  return list_json(page, query->next_cursor(tenant, seal_, page.next), ingest::policy_json);
}

// A cursor holds how many detectors came before.
Result<std::string> Reads::detectors(const Admission& admission) {
  auto query = ListQuery::read_page(admission.query, "/v1/detectors");
  if (!query.ok()) return std::move(query.error());
  const model::TenantId tenant = admission.principal->tenant;
  const auto range = query->range(tenant, seal_);
  if (!range.ok()) return range.error();
  const auto detectors = detectors_()->list(admission.principal->tenant_name);
  const std::size_t begin = std::min<std::size_t>(range->after ? range->after->seq : 0, detectors.size());
  const std::size_t end = begin + std::min(range->limit, detectors.size() - begin);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  const std::int64_t since_ms = clock_.wall_ms() - ingest::kReviewWindowDays * 86'400'000LL;
  const auto reviewed = reviews_.review_counts(tenant, since_ms);
  for (std::size_t i = begin; i < end; ++i) {
    const detect::DetectorInfo& one = detectors[i];
    out.begin_object()
        .key("key")
        .string(one.key)
        .key("title")
        .string(one.title)
        .key("version")
        .string(one.version)
        .key("abi")
        .string(one.abi);
    out.key("source").string(one.library.string()).key("sha256").string(one.sha256).key("enabled").boolean(one.enabled);
    out.key("mode").string(model::name(one.mode));
    out.key("optional").boolean(one.optional).key("loaded").boolean(one.loaded).key("quarantined").boolean(one.quarantined);
    if (!one.fault.empty()) out.key("fault").string(one.fault);
    if (!one.quarantine_reason.empty()) out.key("quarantineReason").string(one.quarantine_reason);
    if (one.loaded) out.key("provenance").raw(ingest::provenance_json({one.version, one.sha256, one.settings_hash}));
    ingest::write_review_counts(out.key("reviews"), one.key, reviewed);
    out.key("settings").raw(one.settings_json.empty() ? "{}" : one.settings_json).end_object();
  }
  const auto next = end < detectors.size() ? std::optional(model::RecordKey{0, end}) : std::nullopt;
  out.end_array().key("nextCursor").raw(query->next_cursor(tenant, seal_, next)).end_object();
  return text;
}

}  // namespace runwarden::api
