// What a batch asks of the database, and what it then knows.
#include <algorithm>

#include "model/record_ids.h"
#include "store/confirmed_failure.h"
#include "store/key_encoding.h"
#include "store/postgres/batch_decisions.h"
#include "store/postgres/batch_reads.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"
#include "store/review_codec.h"

namespace runwarden::store::postgres {
namespace {

// The server ends a transaction that stalls in the middle of a batch, so that no one waits long for its locks.
const std::string kSettings =
    std::string(
        "SELECT set_config('synchronous_commit', 'on', true), set_config('idle_in_transaction_session_timeout', '5s', true),"
        " set_config('runwarden.known_runs', '1', true), ") +
    kByKeys;
constexpr std::string_view kFence =
    "UPDATE runwarden.lane SET batch = $3, epoch = CASE WHEN epoch = $4 THEN epoch END WHERE start = $1 AND lane = $2";
constexpr std::size_t kFenceAt = 2;  // index among the statements that begin a batch
constexpr std::size_t kLedgerAt = 3;

bool spells(std::string_view run_id, const model::RecordKey& key) { return run_id == model::make_run_id(key); }

std::string unreadable_run_text(const RunName& name, const char* why) {
  return "store: run \"" + name.run_id + "\": " + why + "; run `runwarden verify`, and restore this record from a backup or purge it";
}

}  // namespace

void Batch::State::want(model::TenantId tenant, const std::optional<Idempotency>& idempotency) {
  if (idempotency) wanted.identities.insert({tenant, idempotency->identity});
}

// An id that spells the run's own key was just made for this run, so no other run can have it.
void Batch::State::want_run(model::TenantId tenant, const std::string& run_id, const model::RecordKey& key) {
  if (!spells(run_id, key)) wanted.runs.try_emplace({tenant, run_id}, key);
}

void Batch::State::want(const RunWrite& write, std::span<const std::string>) {
  want(write.tenant, write.idempotency);
  if (write.claim) {
    wanted.claimed.insert({write.tenant, write.claim->run_id});
    if (write.claim->revision == 1) return;
    for (const model::FailureRecord& failure : write.failures) wanted.reviewed_failures.insert({write.tenant, failure.key});
  } else {
    want_run(write.tenant, write.run.run_id, write.run.key);
  }
}

void Batch::State::want(const EventsWrite& write, std::span<const std::string> halves) {
  want(write.tenant, write.idempotency);
  const RunName name{write.tenant, write.run_id};
  const auto guess = guesses == Guess::yes ? rules.hints->place_of(name) : std::nullopt;
  if (guess) {
    wanted.open_at.emplace(name, *guess);
  } else {
    want_run(write.tenant, write.run_id, write.key);
  }
  if (spells(write.run_id, write.key)) return;
  for (const std::string& half : halves) {
    if (!half.empty()) wanted.event_ids.push_back({name, half});
  }
}

void Batch::State::want(const TracesWrite& write, std::span<const std::string> halves) {
  std::size_t first = 0;
  for (const EventsWrite& trace : write.traces) {
    want(trace, halves.subspan(first, trace.events.size()));
    first += trace.events.size();
  }
}

void Batch::State::want(const ChangeWrite& write, std::span<const std::string>) {
  want(write.tenant, write.idempotency);
  want_change(write.tenant, write.change.key);
}

void Batch::State::want_change(model::TenantId tenant, const model::RecordKey& key) {
  std::uint64_t& lowest = wanted.change_times.try_emplace({tenant, key.time_ms}, key.seq).first->second;
  lowest = std::min(lowest, key.seq);
}

void Batch::State::want(const PolicyWrite& write, std::span<const std::string>) {
  want(write.tenant, write.idempotency);
  const PolicyName policy{write.tenant, write.policy.policy};
  wanted.policies.insert(policy);
  want_change(write.tenant, write.policy.key);
  if (!write.policy.revision.empty()) wanted.revisions.insert({policy, write.policy.revision});
}

void Batch::State::want(const ReviewWrite& write, std::span<const std::string>) {
  want(write.tenant, write.idempotency);
  for (const model::Review& review : write.reviews) {
    if (const auto failure = reviewed_failure(review)) {
      wanted.reviewed_failures.insert({write.tenant, *failure});
    } else {
      wanted.reviewed_runs.insert({write.tenant, review.run});
    }
  }
}

// The lock on the run's head keeps the run as it is until the batch ends.
void Batch::State::want(const OpinionWrite& write, std::span<const std::string>) {
  const model::Opinion& opinion = write.opinion;
  wanted.opinions.insert({write.tenant, opinion.key});
  wanted.runs.try_emplace({write.tenant, opinion.run_id}, opinion.run);
  if (is_confirmed_candidate(opinion)) wanted.subjects.insert(run_subject_of(write));
  for (const model::Review& review : write.reviews) {
    wanted.subjects.insert({{write.tenant, review.run}, subject_of(review)});
    const auto failure = reviewed_failure(review);
    if (failure) wanted.reviewed_failures.insert({write.tenant, *failure});
  }
}

void Batch::State::want_all() {
  for (const SealedWrite& write : writes) {
    std::visit([&](const auto& one) { want(one, write.sealed); }, write.write);
  }
}

std::vector<Connection::Statement> Batch::State::begin() const {
  std::vector<Connection::Statement> statements;
  statements.push_back({"BEGIN ISOLATION LEVEL READ COMMITTED"});
  statements.push_back({kSettings});
  statements.push_back({kFence, std::move(Params().i64(rules.start).i32(rules.lane).i64(rules.number).i64(rules.epoch))});
  if (asks_for_ledger) statements.push_back(ledger_standing_statement());
  return statements;
}

void Batch::State::ask_once(Connection& connection) {
  std::vector<Connection::Statement> statements = begin();
  const std::size_t before = statements.size();
  const StateQuery asking(wanted);
  std::ranges::move(asking.statements(), std::back_inserter(statements));
  const std::vector<Rows> answers_to = connection.run(statements);
  if (answers_to[kFenceAt].affected() == 0) throw LostLane("the row of this lane no longer exists");
  if (asks_for_ledger) ledger.know(ledger_standing_of(answers_to[kLedgerAt]));
  found = asking.take(std::span(answers_to).subspan(before));
}

// False: a guess was wrong. A run that has been gone for long may be guessed on a day without partitions.
bool Batch::State::ask_guessing(Connection& connection) {
  std::vector<RunName> wrong;
  try {
    ask_once(connection);
    return true;
  } catch (const WrongGuess& guess) {
    wrong = guess.runs;
  } catch (const PgFault& fault) {
    if (fault.kind != PgFault::Kind::no_part) throw;
    for (const auto& [run, place] : wanted.open_at) wrong.push_back(run);
  }
  for (const RunName& run : wrong) rules.hints->forget(run);
  return false;
}

void Batch::State::ask(Connection& connection) {
  if (!wanted.open_at.empty()) {
    if (ask_guessing(connection)) return;
    connection.rollback();
    guesses = Guess::no;
    wanted = {};
    want_all();
  }
  ask_once(connection);
}

void Batch::State::load_open(KnownRun& run, const FoundOpenRun& open) {
  run.place = open.place;
  run.has_row = run.has_open_row = true;
  run.token = open.token;
  run.due_ms = open.due_ms;
  run.activity = open.activity;
  try {
    run.stored = decode_run_head(place_key(run.name.tenant, open.place), open.body, OutlineToo::yes);
    if (!run.stored->buffering) throw BadValue("it is among the open runs, but is marked resolved");
  } catch (const BadValue& bad) {
    run.unreadable = unreadable_run_text(run.name, bad.what());
  }
}

void Batch::State::load() {
  for (const auto& [name, place] : found.heads) {
    KnownRun& run = known(name);
    run.head = run.place = place;
    run.new_head = found.new_heads.contains(name);
  }
  for (const auto& [name, of] : found.resolved) {
    KnownRun& run = known(name);
    run.place = of.place;
    run.value = of.body;
    run.has_row = true;
  }
  for (const auto& [name, open] : found.open) load_open(known(name), open);
  for (auto& [name, run] : runs) {
    if (run.has_row) by_place[{name.tenant, run.place}] = &run;
  }
  for (auto& [identity, of] : found.answers) {
    KnownAnswer& answer = answers[identity];
    answer.answered = of.answered;
    answer.in_database = true;
    answer.record = std::move(of.record);
  }
  for (auto& [policy, number] : found.highest) highest[policy] = number;
  for (auto& [place, failure] : found.failures) failures[place] = {failure.shadow, std::move(failure.body)};
}

bool Batch::State::holds(const Claim& claim, const KnownRun& run) const {
  return run.is_open() && run.place == claim.run && is_held(run.token) && static_cast<std::uint64_t>(run.token) == claim.token &&
         covers(claim, *run.stored);
}

WantedClaims Batch::State::wanted_claims() const {
  WantedClaims asked;
  std::set<TenantKey> done;
  for (const SealedWrite& one : writes) {
    const auto* const write = std::get_if<RunWrite>(&one.write);
    if (write == nullptr || !write->claim) continue;
    const TenantKey place{write->tenant, write->claim->run};
    const auto run = runs.find({write->tenant, write->claim->run_id});
    if (run == runs.end() || !run->second.has_row) asked.runs.push_back(place);
    if (run == runs.end() || !holds(*write->claim, run->second) || !done.insert(place).second) continue;
    const StoredRun& stored = *run->second.stored;
    for (const model::RecordKey& failure : stored.failures) asked.failures.push_back({write->tenant, failure});
    if (stored.buffering->total > write->claim->upto) asked.beyond.emplace_back(place, write->claim->upto);
  }
  return asked;
}

const StoredRun& Batch::State::stored_of(KnownRun& run) {
  if (!run.stored) run.stored = decode_run_head(place_key(run.name.tenant, run.place), run.value, OutlineToo::yes);
  return *run.stored;
}

model::RunRecord Batch::State::record_of(KnownRun& run) {
  const KeyBytes key = place_key(run.name.tenant, run.place);
  if (run.is_open()) return decode_run(key, encode_run(key, *run.stored)).run;
  return decode_run(key, run.value).run;
}

KnownAnswer* Batch::State::answer_to(model::TenantId tenant, const std::optional<Idempotency>& idempotency) {
  if (!idempotency) return nullptr;
  const auto answer = answers.find({tenant, idempotency->identity});
  if (answer == answers.end() || answer->second.answered.created_ms + rules.keep_idempotency_ms <= rules.now_ms) return nullptr;
  return &answer->second;
}

std::optional<model::RunRecord> Batch::State::answered_run(model::TenantId tenant, const KnownAnswer& answer) {
  const auto known = by_place.find({tenant, answer.answered.record});
  if (known != by_place.end() && known->second->exists()) return record_of(*known->second);
  if (!answer.record) return std::nullopt;  // retention deleted the run: it is new again
  return decode_run(place_key(tenant, answer.answered.record), *answer.record).run;
}

}  // namespace runwarden::store::postgres
