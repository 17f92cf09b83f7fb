#include "store/postgres/batch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/cluster.h"
#include "store/buffering.h"
#include "store/key_encoding.h"
#include "store/postgres/batch_decisions.h"
#include "store/postgres/batch_reads.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"
#include "store/sealed_runs.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::string_view kFenceHolds = "SELECT 1 / count(*) FROM runwarden.lane WHERE start = $1 AND lane = $2";
constexpr std::string_view kCountOpen = "UPDATE runwarden.lane SET open_runs = open_runs + $3 WHERE start = $1 AND lane = $2";
constexpr std::int64_t kBatchesBetweenTrims = 64;  // of the tail of commits

}  // namespace

void Batch::State::gather(KnownRun& run) {
  if (run.head) {
    if (run.exists() && *run.head != run.place) rows.moved_heads.push_back({run.name, run.place});
    if (!run.exists() && run.new_head) rows.unused_heads.push_back(run.name);
  }
  const bool is_open = run.is_open();
  if (run.run_changed) {
    const model::RunRecord& record = run.written != nullptr ? *run.written : stored_of(run).run;
    RunRow row{{run.name.tenant, run.place}, run.name.run_id,  record.revision, is_open ? model::RunState::open : model::RunState::resolved,
               record.source,                record.max_score, record.fired,    record.content,
               is_open ? std::string_view() : run.value};
    (run.has_row ? rows.changed_runs : rows.new_runs).push_back(std::move(row));
  }
  if (run.has_open_row && !is_open && run.run_changed) {
    rows.ended.push_back(run.name);
    --opened;
  }
  if (!is_open || !run.open_changed) return;
  run.open_body = encode_run(place_key(run.name.tenant, run.place), *run.stored);
  OpenRunRow row{run.name, run.place, run.stored->run.revision, *run.stored->buffering, run.token, run.due_ms, run.activity, run.open_body};
  if (run.has_open_row) {
    rows.changed_open.push_back(std::move(row));
  } else {
    rows.opened.push_back(std::move(row));
    ++opened;
  }
}

void Batch::State::gather() {
  for (auto& [name, run] : runs) {
    if (run.unreadable.empty()) gather(run);
  }
  for (const auto& [name, half] : found.stored) {
    const KnownRun& run = runs.at(name);
    if (!run.added_ids.contains(half)) rows.unused_event_ids.push_back({{name.tenant, run.place}, half});
  }
  for (const PolicyName& name : raised) rows.highest.emplace_back(name, highest[name]);
  for (const auto& [place, failure] : failures) {
    if (failure.changed) rows.verdicts.push_back({place, failure.verdict, failure.body});
  }
}

std::vector<Connection::Statement> Batch::State::write_effects_of(Connection& connection) {
  EffectRules with_ledger = rules.effects;
  with_ledger.on_entry = [this](model::TenantId tenant, const model::ClusterKey& cluster, const model::TriageEntry& entry) {
    ledger.add_decision(tenant, triage_name(cluster, entry.key), ledger::decision_of(cluster, entry));
  };
  return write_effects(connection, effects, with_ledger);
}

// Decisions about groups get their entries where they are written. A policy's revision is not known earlier than here.
void Batch::State::gather_entries() {
  if (!ledger.is_on()) return;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (results[i].outcome != Outcome::stored || results[i].not_there) continue;
    const SealedWrite& one = writes[i];
    const model::TenantId tenant = tenant_of(one.write);
    if (std::holds_alternative<ChangeWrite>(one.write) && results[i].change) {
      ledger.add(tenant, prepare_change(*results[i].change));
    } else if (auto entry = one.entry ? one.entry : entry_of(one.write)) {
      ledger.add(tenant, std::move(*entry));
    }
    if (results[i].policy) ledger.add(tenant, prepare_policy(*results[i].policy));
    const auto* const reviews = std::get_if<ReviewWrite>(&one.write);
    if (reviews == nullptr) continue;
    for (const model::Review& review : reviews->reviews) ledger.add_decision(tenant, place_name(review.key), ledger::decision_of(review));
  }
  for (const auto& [tenant, review] : models_reviews) ledger.add_decision(tenant, place_name(review->key), ledger::decision_of(*review));
}

std::vector<AnswerRow> Batch::State::answer_rows(bool of_decisions) const {
  std::vector<AnswerRow> out;
  for (const Identity& identity : remembered) {
    const KnownAnswer& answer = answers.at(identity);
    const auto decision = decisions.find(identity);
    if ((decision != decisions.end()) != of_decisions) continue;
    if (of_decisions && !decision->second->cluster) continue;
    out.push_back({identity, answer.answered, answer.in_database});
  }
  return out;
}

Batch::Batch(std::span<const SealedWrite> writes, std::span<WriteResult> results, BatchRules rules)
    : state_(std::make_unique<State>(writes, results, std::move(rules))) {}

Batch::~Batch() = default;

void Batch::note_hints() const {
  for (const auto& [name, run] : state_->runs) {
    if (run.is_open()) {
      state_->rules.hints->note_open(name, run.place);
    } else {
      state_->rules.hints->forget(name);
    }
  }
}

std::int64_t Batch::opened() const { return state_->opened; }
bool Batch::changes_policies() const { return !state_->policies_changed.empty(); }

std::vector<std::int64_t> Batch::days() const {
  std::map<std::int64_t, std::int64_t> days;
  const auto add = [&](std::int64_t time_ms) { days.emplace(day_of(time_ms), time_ms); };
  for (const RunRow& row : state_->rows.new_runs) add(row.place.key.time_ms);
  for (const EventRow& row : state_->rows.events) add(row.place.key.time_ms);
  for (const FailureRow& row : state_->rows.failures) add(row.place.key.time_ms);
  std::vector<std::int64_t> times;
  times.reserve(days.size());
  for (const auto& [day, time_ms] : days) times.push_back(time_ms);
  return times;
}

void Batch::State::decide_all() {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const SealedWrite& write = writes[i];
    WriteResult& result = results[i];
    try {
      result = std::visit([&](const auto& one) { return decide(one, write.sealed, result); }, write.write);
    } catch (const BadValue& bad) {
      result =
          unavailable(std::string("store: ") + bad.what() + "; run `runwarden verify`, and restore this record from a backup or purge it");
    }
    effects.notes.note(write.write, result);
  }
}

std::vector<Connection::Statement> Batch::write(Connection& connection) {
  State& state = *state_;
  state.want_all();
  std::vector<Connection::Statement> statements;
  if (state.wanted.empty()) {
    statements = state.begin();
    statements.push_back({kFenceHolds, std::move(Params().i64(state.rules.start).i32(state.rules.lane))});
  } else {
    state.ask(connection);
    state.load();
    if (const WantedClaims asked = state.wanted_claims(); !asked.empty()) state.of_claims = load_claims(connection, asked);
  }
  state.decide_all();
  state.gather();
  if (state.opened != 0) {
    statements.push_back({kCountOpen, std::move(Params().i64(state.rules.start).i32(state.rules.lane).i64(state.opened))});
  }
  add_statements(statements, state.rows);
  if (!state.rows.canary.empty()) add_canary(statements, state.rules.host, state.rows.canary, state.rules.now_ms);
  add_answers(statements, state.answer_rows(false));
  connection.later(std::exchange(statements, {}));
  if (!state.effects.only_notes()) connection.later(state.write_effects_of(connection));
  state.gather_entries();
  if (!state.ledger.empty()) statements = state.ledger.write(connection);
  const Trim trim = state.rules.number % kBatchesBetweenTrims == 0 ? Trim::yes : Trim::no;
  std::ranges::move(log_statements(state.effects.notes, state.rules.now_ms, trim), std::back_inserter(statements));
  add_answers(statements, state.answer_rows(true));
  if (!state.policies_changed.empty()) {
    statements.push_back(policies_note({state.policies_changed.begin(), state.policies_changed.end()}));
  }
  statements.push_back({"COMMIT"});
  return statements;
}

namespace {

std::vector<std::string> halves_of_ids(const EventsWrite& write) {
  return halves_of(write, [](const std::string& id) {
    const model::ClusterKey half = model::cluster_key(id);
    return std::string(half.begin(), half.end());
  });
}

}  // namespace

SealedWrite seal_write(Write write, LedgerAppender::Records records) {
  SealedWrite sealed{std::move(write), {}};
  if (const auto* const events = std::get_if<EventsWrite>(&sealed.write)) sealed.sealed = halves_of_ids(*events);
  if (const auto* const traces = std::get_if<TracesWrite>(&sealed.write)) {
    for (const EventsWrite& trace : traces->traces) std::ranges::move(halves_of_ids(trace), std::back_inserter(sealed.sealed));
  }
  if (auto* const run = std::get_if<RunWrite>(&sealed.write)) sealed.sealed = seal_run(*run);
  if (const auto* const canary = std::get_if<CanaryWrite>(&sealed.write)) {
    StoredRun stored;
    stored.run = canary->run;
    sealed.sealed.push_back(encode_run(place_key(0, {}), stored));
  }
  if (records == LedgerAppender::Records::make_entries) sealed.entry = entry_of(sealed.write);
  return sealed;
}

}  // namespace runwarden::store::postgres
