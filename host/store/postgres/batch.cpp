#include "store/postgres/batch.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "model/cluster.h"
#include "model/record_ids.h"
#include "store/buffering.h"
#include "store/change_codec.h"
#include "store/confirmed_failure.h"
#include "store/key_encoding.h"
#include "store/opinion_codec.h"
#include "store/policy_revisions.h"
#include "store/postgres/batch_ledger.h"
#include "store/postgres/batch_reads.h"
#include "store/postgres/batch_rows.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"
#include "store/review_codec.h"
#include "store/sealed_runs.h"

namespace runwarden::store::postgres {
namespace {

using Outcome = WriteResult::Outcome;

// The server ends a transaction that stalls in the middle of a batch, so that no one waits long for its locks.
const std::string kSettings =
    std::string(
        "SELECT set_config('synchronous_commit', 'on', true), set_config('idle_in_transaction_session_timeout', '5s', true),"
        " set_config('runwarden.known_runs', '1', true), ") +
    kByKeys;
constexpr std::string_view kFence =
    "UPDATE runwarden.lane SET batch = $3, epoch = CASE WHEN epoch = $4 THEN epoch END WHERE start = $1 AND lane = $2";
constexpr std::string_view kFenceHolds = "SELECT 1 / count(*) FROM runwarden.lane WHERE start = $1 AND lane = $2";
constexpr std::string_view kCountOpen = "UPDATE runwarden.lane SET open_runs = open_runs + $3 WHERE start = $1 AND lane = $2";
constexpr std::int64_t kBatchesBetweenTrims = 64;  // of the tail of commits
constexpr std::size_t kFenceAt = 2;                // index among the statements that begin a batch
constexpr std::size_t kLedgerAt = 3;

// What is known of a run: first from the database, then as the batch changed it.
struct KnownRun {
  RunName name;
  model::RecordKey place;
  std::optional<model::RecordKey> head;  // its place according to its head
  bool new_head = false;                 // inserted by this batch
  std::string unreadable;                // why it cannot be read; empty: it can
  bool has_row = false;
  bool has_open_row = false;

  std::string_view value;           // sealed, of a resolved run
  std::optional<StoredRun> stored;  // of an open run; of a resolved one once it is asked for
  std::int64_t token = 0;
  std::int64_t due_ms = 0;
  RunActivity activity;
  std::vector<EventRowBeyond> added;  // events of this batch
  std::set<std::string> added_ids;    // half digests

  bool run_changed = false;
  bool open_changed = false;
  const model::RunRecord* written = nullptr;  // the record that resolved it
  std::string open_body;

  bool exists() const { return stored || !value.empty(); }
  bool is_open() const { return stored && stored->buffering; }
};

struct KnownAnswer {
  IdempotentAnswer answered;
  bool in_database = false;
  std::optional<std::string> record;  // sealed, as in the database
  std::optional<model::ChangeRecord> change;
  std::optional<model::PolicyRecord> policy;
};

// Of a triage or a review.
WriteResult replay_of_decision(const KnownAnswer& answer) {
  WriteResult replayed{Outcome::replayed, {}, {}};
  replayed.decided = answer.answered.record;
  return replayed;
}

// A reviewed failure: first as in the database or the batch, then as the batch's reviews changed it.
struct KnownFailure {
  bool shadow = false;
  std::string body;  // sealed
  bool changed = false;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;  // if it was changed
};

bool spells(std::string_view run_id, const model::RecordKey& key) { return run_id == model::make_run_id(key); }

WriteResult unavailable(const std::string& why) { return {Outcome::unavailable, {}, why}; }

std::string unreadable_text(const RunName& name, const char* why) {
  return "store: run \"" + name.run_id + "\": " + why + "; run `runwarden verify`, and restore this record from a backup or purge it";
}

std::string_view half_of(const model::ClusterKey& half) { return {half.data(), half.size()}; }

SubjectOf run_subject_of(const OpinionWrite& write) {
  return {{write.tenant, write.opinion.run}, subject_of(run_review_subject(write.opinion))};
}

}  // namespace

struct Batch::State {
  State(std::span<const SealedWrite> all, std::span<WriteResult> into, BatchRules by)
      : writes(all),
        results(into),
        rules(std::move(by)),
        ledger(rules.now_ms, rules.ledger),
        asks_for_ledger(rules.ledger != nullptr && !ledger.is_on()) {}

  enum class Guess : std::uint8_t { no, yes };

  std::span<const SealedWrite> writes;
  std::span<WriteResult> results;
  BatchRules rules;
  Guess guesses = Guess::yes;  // where runs are open
  WantedState wanted;
  LoadedState found;
  LoadedClaims of_claims;

  std::map<RunName, KnownRun> runs;
  std::map<TenantKey, KnownRun*> by_place;
  std::map<Identity, KnownAnswer> answers;
  std::set<Identity> remembered;  // to be written by this batch
  std::map<PolicyName, std::string> highest;
  std::set<PolicyName> raised;
  std::map<RevisionName, model::PolicyRecord> revisions;  // of the batch
  std::set<model::TenantId> policies_changed;
  std::map<TenantKey, KnownFailure> failures;     // of the failures asked about, those that exist
  std::deque<model::FailureRecord> as_stored;     // failures that the writes have in another form
  std::deque<model::Opinion> overruled_opinions;  // as stored
  std::deque<std::string> made;                   // values that rows view
  std::vector<std::pair<model::TenantId, const model::Review*>> models_reviews;
  BatchRows rows;
  BatchEffects effects;
  BatchLedger ledger;
  const bool asks_for_ledger;                        // asks whether another host has turned it on
  std::map<Identity, const WriteResult*> decisions;  // to be remembered if the group exists
  std::int64_t opened = 0;

  // What is asked.
  void want_all();
  void want(const RunWrite& write, std::span<const std::string> sealed);
  void want(const EventsWrite& write, std::span<const std::string> halves);
  void want(const TracesWrite& write, std::span<const std::string> halves);
  void want(const AnswerWrite& write, std::span<const std::string>) { want(write.tenant, write.idempotency); }
  void want(const ChangeWrite& write, std::span<const std::string>) { want(write.tenant, write.idempotency); }
  void want(const PolicyWrite& write, std::span<const std::string>);
  void want(const CanaryWrite&, std::span<const std::string>) {}
  void want(const TriageWrite& write, std::span<const std::string>) { want(write.tenant, write.idempotency); }
  void want(const ReviewWrite& write, std::span<const std::string>);
  void want(const OpinionWrite& write, std::span<const std::string>);
  void want(model::TenantId tenant, const std::optional<Idempotency>& idempotency);
  void want_run(model::TenantId tenant, const std::string& run_id, const model::RecordKey& key);

  // What is known.
  void ask(Connection& connection);
  bool ask_guessing(Connection& connection);
  void ask_once(Connection& connection);
  void load();
  void load_open(KnownRun& run, const FoundOpenRun& open);
  bool holds(const Claim& claim, const KnownRun& run) const;
  WantedClaims wanted_claims() const;
  KnownRun& known(const RunName& name) {
    KnownRun& run = runs[name];
    run.name = name;
    return run;
  }
  const StoredRun& stored_of(KnownRun& run);
  model::RunRecord record_of(KnownRun& run);
  KnownAnswer* answer_to(model::TenantId tenant, const std::optional<Idempotency>& idempotency);
  std::optional<model::RunRecord> answered_run(model::TenantId tenant, const KnownAnswer& answer);

  // What is decided. If one of these throws BadValue, nothing has changed.
  void decide_all();
  WriteResult decide(const RunWrite& write, std::span<const std::string> sealed, WriteResult&);
  WriteResult decide(const EventsWrite& write, std::span<const std::string> halves, WriteResult&);
  WriteResult decide(const TracesWrite& write, std::span<const std::string> halves, WriteResult&);
  WriteResult decide(const AnswerWrite& write, std::span<const std::string>, WriteResult&);
  WriteResult decide(const ChangeWrite& write, std::span<const std::string>, WriteResult&);
  WriteResult decide(const PolicyWrite& write, std::span<const std::string>, WriteResult&);
  WriteResult decide(const CanaryWrite& write, std::span<const std::string> sealed, WriteResult&);
  WriteResult decide(const TriageWrite& write, std::span<const std::string>, WriteResult& result);
  WriteResult decide(const ReviewWrite& write, std::span<const std::string>, WriteResult&);
  WriteResult decide(const OpinionWrite& write, std::span<const std::string>, WriteResult&);
  std::optional<WriteResult> replay_run(model::TenantId tenant, const std::optional<Idempotency>& idempotency);
  std::optional<WriteResult> same_run_id(const RunWrite& write);
  WriteResult whole_run(const RunWrite& write, std::span<const std::string> sealed);
  WriteResult claimed_run(const RunWrite& write, std::span<const std::string> sealed);
  WriteResult lost_claim(const RunWrite& write, KnownRun* run);
  void take_back_failures(const RunWrite& write, const StoredRun& stored);
  void add_failures(const RunWrite& write, std::span<const std::string> sealed);
  void add_again(const RunWrite& write, const model::FailureRecord& failure, const std::string& sealed);
  model::ReviewVerdict last_verdict(const TenantKey& failure) const;
  EventsBeyond beyond(const KnownRun& run, std::uint32_t upto) const;
  std::optional<WriteResult> nothing_new(const EventsWrite& write, KnownRun& run, const NewEvents& fresh);
  bool open(KnownRun& run, const EventsWrite& write);
  void add_events(KnownRun& run, const EventsWrite& write, const NewEvents& fresh);
  enum class Begins : std::uint8_t { no, yes };
  void hear(KnownRun& run, Begins begins);
  std::optional<model::PolicyRecord> stored_revision(const RevisionName& name);
  std::optional<WriteResult> known_policy(const PolicyWrite& write);
  void remember_policy(const PolicyWrite& write, const model::PolicyRecord& policy);
  void number_after_others(const PolicyName& name, model::PolicyRecord& policy);
  bool is_there(model::TenantId tenant, const model::Review& review) const;
  void put_review(model::TenantId tenant, const model::Review& review);
  void put_opinions(const RunWrite& write);
  bool is_overruled(const OpinionWrite& write) const;
  bool is_outweighed(model::TenantId tenant, const model::Review& review) const;
  void put_confirmed(const OpinionWrite& write, KnownRun& run);
  void put_change(model::TenantId tenant, const model::ChangeRecord& change);
  KnownAnswer& remember(model::TenantId tenant, const Idempotency& idempotency, IdempotentAnswer answered);
  void remember(model::TenantId tenant, const std::optional<Idempotency>& idempotency, const IdempotentAnswer& answer) {
    if (idempotency) remember(tenant, *idempotency, answer);
  }
  WriteResult answered(const EventsWrite& write, Outcome outcome, const Buffered& buffered);

  // What is written.
  std::vector<Connection::Statement> write_effects_of(Connection& connection);
  void gather_entries();
  void gather();
  void gather(KnownRun& run);
  std::vector<AnswerRow> answer_rows(bool of_decisions) const;
  std::vector<Connection::Statement> begin() const;
  bool has_effects() const {
    return !effects.runs_left.empty() || !effects.runs_entered.empty() || !effects.failures_removed.empty() ||
           !effects.failures_added.empty() || !effects.failures_reviewed.empty() || !effects.decisions.empty();
  }
};

// ---- what is asked ----

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

void Batch::State::want(const PolicyWrite& write, std::span<const std::string>) {
  want(write.tenant, write.idempotency);
  const PolicyName policy{write.tenant, write.policy.policy};
  wanted.policies.insert(policy);
  auto& lowest = wanted.policy_times.try_emplace({policy, write.policy.key.time_ms}, write.policy.key.seq).first->second;
  lowest = std::min(lowest, write.policy.key.seq);
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

// ---- what is known ----

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
    run.unreadable = unreadable_text(run.name, bad.what());
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

// ---- what is decided ----

KnownAnswer& Batch::State::remember(model::TenantId tenant, const Idempotency& idempotency, IdempotentAnswer answered) {
  answered.idempotency = idempotency;
  answered.created_ms = rules.now_ms;
  const Identity identity{tenant, idempotency.identity};
  KnownAnswer& answer = answers[identity];
  const bool in_database = answer.in_database;
  answer = {};
  answer.in_database = in_database;
  answer.answered = answered;
  remembered.insert(identity);
  return answer;
}

std::optional<WriteResult> Batch::State::replay_run(model::TenantId tenant, const std::optional<Idempotency>& idempotency) {
  const KnownAnswer* const answer = answer_to(tenant, idempotency);
  if (answer == nullptr) return std::nullopt;
  if (answer->answered.idempotency.content != idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
  auto run = answered_run(tenant, *answer);
  if (!run) return std::nullopt;
  WriteResult result{Outcome::replayed, std::move(run), {}};
  result.buffered = answer->answered.buffered;
  return result;
}

std::optional<WriteResult> Batch::State::same_run_id(const RunWrite& write) {
  KnownRun& run = known({write.tenant, write.run.run_id});
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  if (!run.exists()) return std::nullopt;
  const bool same = !run.is_open() && stored_of(run).run.content == write.run.content;
  WriteResult result{same ? Outcome::replayed : Outcome::run_conflict, record_of(run), {}};
  if (same) remember(write.tenant, write.idempotency, {.record = result.first->key, .revision = result.first->revision});
  return result;
}

WriteResult Batch::State::decide(const RunWrite& write, std::span<const std::string> sealed, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  if (write.claim) return claimed_run(write, sealed);
  if (auto before = same_run_id(write)) return std::move(*before);
  return whole_run(write, sealed);
}

model::ReviewVerdict Batch::State::last_verdict(const TenantKey& failure) const {
  const auto last = found.last_reviews.find(failure);
  return last == found.last_reviews.end() ? model::ReviewVerdict::none : last->second.verdict;
}

// Adds what an earlier revision had found, too: with its reviews, and not as new to its group.
void Batch::State::add_again(const RunWrite& write, const model::FailureRecord& failure, const std::string& sealed) {
  const TenantKey place{write.tenant, failure.key};
  model::FailureRecord& again = as_stored.emplace_back(failure);
  again.reviewed = last_verdict(place);
  const std::string& body = made.emplace_back(with_verdict(place_key(write.tenant, failure.key), sealed, again.reviewed));
  rows.failures.push_back({place, &again, body});
  failures[place] = {again.shadow, body, true, again.reviewed};
  effects.failures_added.push_back({write.tenant, &again, Addition::again});
}

void Batch::State::add_failures(const RunWrite& write, std::span<const std::string> sealed) {
  for (std::size_t i = 0; i < write.failures.size(); ++i) {
    const model::FailureRecord& failure = write.failures[i];
    if (of_claims.failures.contains({write.tenant, failure.key}) ||
        last_verdict({write.tenant, failure.key}) != model::ReviewVerdict::none) {
      add_again(write, failure, sealed[i + 1]);
      continue;
    }
    rows.failures.push_back({{write.tenant, failure.key}, &failure, sealed[i + 1]});
    effects.failures_added.push_back({write.tenant, &failure});
    const TenantKey place{write.tenant, failure.key};
    if (wanted.reviewed_failures.contains(place)) failures[place] = {failure.shadow, sealed[i + 1]};
  }
}

WriteResult Batch::State::whole_run(const RunWrite& write, std::span<const std::string> sealed) {
  KnownRun& run = known({write.tenant, write.run.run_id});
  run.place = write.run.key;
  run.value = sealed.front();
  run.written = &write.run;
  run.run_changed = true;
  by_place[{write.tenant, run.place}] = &run;
  add_failures(write, sealed);
  put_opinions(write);
  effects.runs_entered.push_back({write.tenant, write.run.key, write.run.dimensions});
  remember(write.tenant, write.idempotency, {.record = write.run.key, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::lost_claim(const RunWrite& write, KnownRun* run) {
  WriteResult lost{Outcome::run_conflict, {}, {}};
  if (run != nullptr && run->exists()) {
    lost.first = record_of(*run);
    return lost;
  }
  const auto body = of_claims.runs.find({write.tenant, write.claim->run});
  if (body != of_claims.runs.end()) lost.first = decode_run(place_key(write.tenant, write.claim->run), body->second).run;
  return lost;
}

// Failures that cannot be read are deleted, too, but stay in the counts.
void Batch::State::take_back_failures(const RunWrite& write, const StoredRun& stored) {
  const model::TenantId tenant = write.tenant;
  for (const model::RecordKey& key : stored.failures) {
    const TenantKey place{tenant, key};
    const bool again = std::any_of(write.failures.begin(), write.failures.end(), [&](const auto& failure) { return failure.key == key; });
    rows.gone_failures.push_back(place);
    const auto reviewed = failures.extract(place);
    const auto body = of_claims.failures.find(place);
    if (body == of_claims.failures.end()) continue;
    try {
      effects.failures_removed.push_back({tenant,
                                          decode_failure_head(place_key(tenant, key), reviewed ? reviewed.mapped().body : body->second),
                                          again ? Removal::replaced : Removal::taken_back});
    } catch (const BadValue&) {
    }
  }
}

EventsBeyond Batch::State::beyond(const KnownRun& run, std::uint32_t upto) const {
  EventsBeyond rest;
  const auto add = [&](const EventRowBeyond& row, std::uint64_t bytes) {
    if (rest.bytes == 0 && rest.last_ms == 0) rest.first_ms = row.received_ms;
    rest.bytes += bytes;
    rest.last_ms = std::max(rest.last_ms, row.received_ms);
  };
  const auto in_database = of_claims.beyond.find({run.name.tenant, run.place});
  if (in_database != of_claims.beyond.end()) {
    for (const EventRowBeyond& row : in_database->second) {
      std::uint64_t bytes = row.bytes;
      if (row.first < upto) {
        bytes = 0;
        try {
          const KeyBytes key = place_key(run.name.tenant, run.place).u8(1).u32(row.first);
          const std::vector<std::string> events = decode_events(key, row.body);
          for (std::size_t i = upto - row.first; i < events.size(); ++i) bytes += events[i].size();
        } catch (const BadValue&) {  // the run leaves them out as well
        }
      }
      add(row, bytes);
    }
  }
  for (const EventRowBeyond& row : run.added) add(row, row.bytes);
  return rest;
}

WriteResult Batch::State::claimed_run(const RunWrite& write, std::span<const std::string> sealed) {
  const Claim& claim = *write.claim;
  const auto found_run = runs.find({write.tenant, claim.run_id});
  KnownRun* const run = found_run == runs.end() ? nullptr : &found_run->second;
  if (run != nullptr && !run->unreadable.empty()) return unavailable(run->unreadable);
  if (run == nullptr || !holds(claim, *run)) return lost_claim(write, run);
  take_back_failures(write, *run->stored);
  add_failures(write, sealed);
  if (claim.revision > 1) rows.without_opinions.push_back({write.tenant, claim.run});
  put_opinions(write);
  if (claim.revision > 1) effects.runs_left.push_back({write.tenant, claim.run, run->stored->run.dimensions});
  effects.runs_entered.push_back({write.tenant, claim.run, write.run.dimensions});
  run->run_changed = true;
  if (run->stored->buffering->total > claim.upto) {
    rows.previous.push_back({{write.tenant, run->place}, write.run.revision, sealed.front()});
    run->stored = following_revision(write, *run->stored, beyond(*run, claim.upto));
    run->added.clear();
    hear(*run, Begins::yes);
  } else {
    run->value = sealed.front();
    run->stored.reset();
    run->written = &write.run;
  }
  remember(write.tenant, write.idempotency, {.record = claim.run, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::answered(const EventsWrite& write, Outcome outcome, const Buffered& buffered) {
  remember(write.tenant, write.idempotency,
           {.kind = IdempotentAnswer::Kind::events, .record = buffered.run, .revision = buffered.revision, .buffered = buffered});
  WriteResult result{outcome, {}, {}};
  result.buffered = buffered;
  return result;
}

// If nothing of the request is new, only what is remembered of it changes.
std::optional<WriteResult> Batch::State::nothing_new(const EventsWrite& write, KnownRun& run, const NewEvents& fresh) {
  if (!run.exists() || !fresh.json.empty()) return std::nullopt;
  Buffered buffered = how_it_stands(run.place, stored_of(run));
  if (run.is_open()) {
    if (write.final && !run.stored->buffering->ending) return std::nullopt;
    return answered(write, Outcome::stored, buffered);
  }
  buffered.unchanged = true;
  auto record = record_of(run);
  WriteResult result = answered(write, Outcome::replayed, buffered);
  result.first = std::move(record);
  return result;
}

// Makes it an open run, whatever it was. True: it was a resolved run.
bool Batch::State::open(KnownRun& run, const EventsWrite& write) {
  if (run.is_open()) return false;
  const bool reopens = run.exists();
  if (reopens) {
    stored_of(run);
    rows.previous.push_back({{write.tenant, run.place}, run.stored->run.revision, std::string(run.value)});
    run.value = {};
    reopen_run(*run.stored, write.key.time_ms);
  } else {
    run.place = write.key;
    run.stored = begun_run(write);
    by_place[{write.tenant, run.place}] = &run;
  }
  run.written = nullptr;
  run.run_changed = true;
  return reopens;
}

void Batch::State::add_events(KnownRun& run, const EventsWrite& write, const NewEvents& fresh) {
  const TenantKey place{write.tenant, run.place};
  const std::uint32_t first = run.stored->buffering->total;
  if (!fresh.json.empty()) {
    const auto count = static_cast<std::uint32_t>(fresh.json.size());
    const KeyBytes key = place_key(write.tenant, run.place).u8(1).u32(first);
    rows.events.push_back({place, first, count, write.key.time_ms, fresh.bytes, encode_events(key, write.key.time_ms, fresh.json)});
    run.added.push_back({first, count, write.key.time_ms, fresh.bytes, {}});
    for (const std::string_view id : fresh.ids) {
      if (!wanted.open_at.contains(run.name)) rows.event_ids.push_back({place, std::string(id)});
      run.added_ids.emplace(id);
    }
  }
  add_to_run(*run.stored, write, fresh);
}

// While a run is held, its due time is the end of the lease. Otherwise the time may be too early, which the check at that time finds out.
void Batch::State::hear(KnownRun& run, Begins begins) {
  const Awaits awaits = awaited_by(run.stored->run);
  const bool complete = run.stored->buffering->ending.has_value();
  run.open_changed = true;
  if (begins == Begins::yes) {
    run.activity = {rules.now_ms, rules.now_ms, std::nullopt, awaits};
    run.token = static_cast<std::int64_t>(rules.effects.next_seq() * 2);
    run.due_ms = std::numeric_limits<std::int64_t>::max();
  }
  const bool other = begins == Begins::yes || run.activity.awaits != awaits;
  run.activity.last_ms = rules.now_ms;
  run.activity.awaits = awaits;
  if (awaits == Awaits::spans && !run.activity.root_ms) run.activity.root_ms = rules.now_ms;
  if (is_held(run.token)) return;
  if (other) run.due_ms = std::min(run.due_ms, due_of(run.activity, rules.buffer));
  if (complete) run.due_ms = std::min(run.due_ms, rules.now_ms + kCompleterMs);
}

WriteResult Batch::State::decide(const EventsWrite& write, std::span<const std::string> halves, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  const RunName name{write.tenant, write.run_id};
  KnownRun& run = known(name);
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  const StoredRun* const stored = run.exists() ? &stored_of(run) : nullptr;
  if (stored != nullptr && stored->run.source != write.source) return {Outcome::run_conflict, {}, {}};
  const bool is_guessed = wanted.open_at.contains(name);
  const auto is_seen = [&](std::string_view half) {
    const std::pair<RunName, std::string> id{name, std::string(half)};
    return run.added_ids.contains(id.second) || (is_guessed ? !found.stored.contains(id) : found.seen.contains(id));
  };
  const NewEvents fresh = new_events(write, halves, stored, is_seen);
  if (auto same = nothing_new(write, run, fresh)) return std::move(*same);
  const bool was_open = run.is_open();
  const bool reopened = open(run, write);
  add_events(run, write, fresh);
  hear(run, was_open ? Begins::no : Begins::yes);
  Buffered buffered = how_it_stands(run.place, *run.stored);
  buffered.accepted = static_cast<std::uint32_t>(fresh.json.size());
  buffered.reopened = reopened;
  return answered(write, Outcome::stored, buffered);
}

// If one trace cannot be stored, none is; so this first looks for anything that would prevent it.
WriteResult Batch::State::decide(const TracesWrite& write, std::span<const std::string> halves, WriteResult& result) {
  for (const EventsWrite& trace : write.traces) {
    KnownRun& run = known({trace.tenant, trace.run_id});
    if (!run.unreadable.empty()) return unavailable(run.unreadable);
    if (run.exists() && !run.is_open()) record_of(run);
  }
  WriteResult all;
  std::size_t first = 0;
  for (const EventsWrite& trace : write.traces) {
    all.traces.push_back(decide(trace, halves.subspan(first, trace.events.size()), result));
    first += trace.events.size();
  }
  return all;
}

void Batch::State::put_change(model::TenantId tenant, const model::ChangeRecord& change) {
  rows.changes.push_back({{tenant, change.key}, change.kind, change.received_ms, encode_change(place_key(tenant, change.key), change)});
}

WriteResult Batch::State::decide(const AnswerWrite& write, std::span<const std::string>, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  remember(write.tenant, write.idempotency, {.record = write.run, .revision = write.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::decide(const ChangeWrite& write, std::span<const std::string>, WriteResult&) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return {Outcome::idempotency_conflict, {}, {}};
    WriteResult replayed{Outcome::replayed, {}, {}};
    replayed.change = answer->change;
    if (answer->record) replayed.change = decode_change(place_key(write.tenant, answer->answered.record), *answer->record);
    if (replayed.change) return replayed;
  }
  put_change(write.tenant, write.change);
  if (write.idempotency)
    remember(write.tenant, *write.idempotency, {.kind = IdempotentAnswer::Kind::change, .record = write.change.key}).change = write.change;
  return {Outcome::stored, {}, {}};
}

std::optional<model::PolicyRecord> Batch::State::stored_revision(const RevisionName& name) {
  if (const auto of_batch = revisions.find(name); of_batch != revisions.end()) return of_batch->second;
  const auto in_database = found.revisions.find(name);
  if (in_database == found.revisions.end()) return std::nullopt;
  return decode_policy(place_key(name.policy.tenant, in_database->second.place), in_database->second.body);
}

// The stored answer to a policy's Idempotency-Key, or what the revision's name means for it; nothing if it is to be stored.
std::optional<WriteResult> Batch::State::known_policy(const PolicyWrite& write) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
    WriteResult replayed{Outcome::replayed, {}, {}};
    replayed.policy = answer->policy;
    if (answer->record) replayed.policy = decode_policy(place_key(write.tenant, answer->answered.record), *answer->record);
    if (replayed.policy) return replayed;
  }
  if (write.policy.revision.empty()) return std::nullopt;
  auto before = stored_revision({{write.tenant, write.policy.policy}, write.policy.revision});
  if (!before) return std::nullopt;
  const bool same = before->content == write.policy.content;
  if (same) remember_policy(write, *before);
  WriteResult result{same ? Outcome::replayed : Outcome::run_conflict, {}, {}};
  result.policy = std::move(before);
  return result;
}

void Batch::State::remember_policy(const PolicyWrite& write, const model::PolicyRecord& policy) {
  if (!write.idempotency) return;
  remember(write.tenant, *write.idempotency, {.kind = IdempotentAnswer::Kind::policy, .record = policy.key}).policy = policy;
}

// Of the revisions that take effect at one time, the one with the highest number is in force. That must be the one that was accepted last,
// whichever hosts gave the numbers.
void Batch::State::number_after_others(const PolicyName& name, model::PolicyRecord& policy) {
  const auto last = found.last_at.find({name, policy.key.time_ms});
  if (last == found.last_at.end() || policy.key.seq > last->second) return;
  policy.key.seq = last->second = found.free_seq++;
  policy.id = model::make_policy_revision_id(policy.key);
}

WriteResult Batch::State::decide(const PolicyWrite& write, std::span<const std::string>, WriteResult&) {
  if (auto known = known_policy(write)) return std::move(*known);
  const PolicyName name{write.tenant, write.policy.policy};
  model::PolicyRecord policy = write.policy;
  number_after_others(name, policy);
  std::string& number = highest[name];
  if (policy.revision.empty()) policy.revision = next_revision(number);
  std::string higher = highest_with(number, policy.revision);
  if (higher != number) raised.insert(name);
  number = std::move(higher);
  revisions[{name, policy.revision}] = policy;
  policies_changed.insert(write.tenant);
  rows.policies.push_back({{write.tenant, policy.key}, policy, encode_policy(place_key(write.tenant, policy.key), policy)});
  model::ChangeRecord change;
  change.key = policy.key;
  change.id = model::make_change_id(policy.key);
  change.kind = kPolicyKind;
  change.received_ms = policy.received_ms;
  put_change(write.tenant, change);
  remember_policy(write, policy);
  WriteResult result{Outcome::stored, {}, {}};
  change.policy = policy;
  result.change = std::move(change);
  result.policy = std::move(policy);
  return result;
}

WriteResult Batch::State::decide(const CanaryWrite&, std::span<const std::string> sealed, WriteResult&) {
  rows.canary = sealed.front();
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::decide(const TriageWrite& write, std::span<const std::string>, WriteResult& result) {
  const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency);
  if (answer != nullptr && answer->answered.idempotency.content != write.idempotency->content)
    return {Outcome::idempotency_conflict, {}, {}};
  effects.decisions.push_back({&write, &result, answer != nullptr});
  if (answer != nullptr) return replay_of_decision(*answer);
  remember(write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::triage, .record = write.entry.key});
  if (write.idempotency) decisions[{write.tenant, write.idempotency->identity}] = &result;
  return {Outcome::stored, {}, {}};
}

bool Batch::State::is_there(model::TenantId tenant, const model::Review& review) const {
  if (review.failure_id.empty()) {
    const TenantKey run{tenant, review.run};
    return found.runs_there.contains(run) || by_place.contains(run);
  }
  const auto place = reviewed_failure(review);
  const auto failure = place ? failures.find({tenant, *place}) : failures.end();
  return failure != failures.end() && decode_failure(place_key(tenant, *place), failure->second.body).id == review.failure_id;
}

void Batch::State::put_opinions(const RunWrite& write) {
  for (const model::Opinion& opinion : write.opinions) {
    rows.opinions.push_back({{write.tenant, opinion.key}, &opinion, encode_opinion(place_key(write.tenant, opinion.key), opinion)});
  }
}

// Stores the review, and gives the failure the verdict of its last review.
void Batch::State::put_review(model::TenantId tenant, const model::Review& review) {
  std::string body = encode_review(place_key(tenant, review.key), review);
  const SubjectOf subject{{tenant, review.run}, subject_of(review)};
  if (review.verdict == model::ReviewVerdict::none) {
    found.reviewed.erase(subject);
  } else {
    found.reviewed.insert_or_assign(subject, ReviewInForce{review.key, body});
  }
  rows.reviews.push_back({{tenant, review.key}, &review, std::move(body)});
  const auto key = reviewed_failure(review);
  if (!key) return;
  const TenantKey place{tenant, *key};
  const auto last = found.last_reviews.try_emplace(place, LastReview{review.key, review.verdict}).first;
  if (last->second.key <= review.key) last->second = {review.key, review.verdict};
  KnownFailure& failure = failures.at(place);
  model::FailureRecord head = decode_failure_head(place_key(tenant, *key), failure.body);
  if (head.reviewed == last->second.verdict) return;
  const bool was_false_alarm = head.is_false_alarm();
  head.reviewed = failure.verdict = last->second.verdict;
  failure.body = with_verdict(place_key(tenant, *key), failure.body, head.reviewed);
  failure.changed = true;
  if (!failure.shadow) effects.failures_reviewed.push_back({tenant, std::move(head), was_false_alarm, last->second.key});
}

WriteResult Batch::State::decide(const ReviewWrite& write, std::span<const std::string>, WriteResult&) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return {Outcome::idempotency_conflict, {}, {}};
    return replay_of_decision(*answer);
  }
  WriteResult result;
  for (const model::Review& review : write.reviews) result.not_there = result.not_there || !is_there(write.tenant, review);
  if (result.not_there) return result;
  for (const model::Review& review : write.reviews) put_review(write.tenant, review);
  if (!write.reviews.empty())
    remember(write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::review, .record = write.reviews.front().key});
  return result;
}

bool Batch::State::is_outweighed(model::TenantId tenant, const model::Review& review) const {
  const auto last = found.reviewed.find({{tenant, review.run}, subject_of(review)});
  return last != found.reviewed.end() && outweighs(decode_review_head(place_key(tenant, last->second.key), last->second.body), review);
}

bool Batch::State::is_overruled(const OpinionWrite& write) const {
  const auto last = is_confirmed_candidate(write.opinion) ? found.reviewed.find(run_subject_of(write)) : found.reviewed.end();
  if (last == found.reviewed.end()) return false;
  return overrules(decode_review_head(place_key(write.tenant, last->second.key), last->second.body), write.opinion);
}

void Batch::State::put_confirmed(const OpinionWrite& write, KnownRun& run) {
  const KeyBytes place = place_key(write.tenant, run.place);
  StoredRun stored = decode_run(place, run.value);
  model::FailureRecord& failure = as_stored.emplace_back(confirmed_failure(stored, *write.failure));
  failure.reviewed = last_verdict({write.tenant, failure.key});
  const bool is_known = failure.reviewed != model::ReviewVerdict::none;
  run.value = made.emplace_back(encode_run(place, stored));
  run.stored = std::move(stored);
  run.written = nullptr;
  run.run_changed = true;
  const TenantKey at{write.tenant, failure.key};
  const std::string& body = made.emplace_back(encode_failure(place_key(write.tenant, failure.key), failure));
  rows.failures.push_back({at, &failure, body});
  failures[at] = {failure.shadow, body, is_known, failure.reviewed};
  effects.failures_added.push_back({write.tenant, &failure, is_known ? Addition::again : Addition::found});
  effects.notes.note(write.tenant, TailItem::Kind::run, run.place);
  effects.notes.note(write.tenant, TailItem::Kind::failure, failure.key);
}

WriteResult Batch::State::decide(const OpinionWrite& write, std::span<const std::string>, WriteResult&) {
  WriteResult result;
  const TenantKey at{write.tenant, write.opinion.key};
  const auto asked = found.opinions.find(at);
  result.not_there =
      asked == found.opinions.end() || asked->second.state != model::OpinionState::waiting || asked->second.token != write.opinion.token;
  if (result.not_there) return result;
  KnownRun& run = known({write.tenant, write.opinion.run_id});
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  if (!run.exists() || run.is_open() || run.place != write.opinion.run || stored_of(run).run.revision != write.opinion.revision) {
    rows.gone_opinions.push_back(at);
    result.not_there = true;
    return result;
  }
  result.overruled = is_overruled(write);
  const model::Opinion& kept = result.overruled ? overruled_opinions.emplace_back(overruled(write.opinion)) : write.opinion;
  asked->second = {kept.state, 0};
  rows.changed_opinions.push_back({at, &kept, encode_opinion(place_key(write.tenant, kept.key), kept)});
  if (write.failure && !result.overruled) put_confirmed(write, run);
  for (const model::Review& review : write.reviews) {
    const bool is_gone = !review.failure_id.empty() && !is_there(write.tenant, review);
    if (is_gone || is_outweighed(write.tenant, review)) {
      result.overruled = true;
      continue;
    }
    put_review(write.tenant, review);
    models_reviews.emplace_back(write.tenant, &review);
  }
  effects.notes.note(write.tenant);
  return result;
}

// ---- what is written ----

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
    if (auto entry = one.entry ? one.entry : entry_of(one.write)) ledger.add(tenant, std::move(*entry));
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

std::vector<Connection::Statement> Batch::State::begin() const {
  std::vector<Connection::Statement> statements;
  statements.push_back({"BEGIN ISOLATION LEVEL READ COMMITTED"});
  statements.push_back({kSettings});
  statements.push_back({kFence, std::move(Params().i64(rules.start).i32(rules.lane).i64(rules.number).i64(rules.epoch))});
  if (asks_for_ledger) statements.push_back(ledger_standing_statement());
  return statements;
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
  if (state.has_effects()) connection.later(state.write_effects_of(connection));
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

std::vector<std::string> halves_of(const EventsWrite& write) {
  std::vector<std::string> halves;
  halves.reserve(write.events.size());
  for (const EventsWrite::Event& event : write.events) {
    halves.emplace_back(event.id.empty() ? std::string() : std::string(half_of(model::cluster_key(event.id))));
  }
  return halves;
}

}  // namespace

SealedWrite seal_write(Write write, LedgerAppender::Records records) {
  SealedWrite sealed{std::move(write), {}};
  if (const auto* const events = std::get_if<EventsWrite>(&sealed.write)) sealed.sealed = halves_of(*events);
  if (const auto* const traces = std::get_if<TracesWrite>(&sealed.write)) {
    for (const EventsWrite& trace : traces->traces) std::ranges::move(halves_of(trace), std::back_inserter(sealed.sealed));
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
