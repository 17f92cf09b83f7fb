// A batch at work: it collects what its writes ask, loads what is known, decides each write in order, and gathers the rows to be written.
// Internal to batch*.cpp. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/buffering.h"
#include "store/policy_revisions.h"
#include "store/postgres/batch.h"
#include "store/postgres/batch_known.h"
#include "store/postgres/batch_ledger.h"
#include "store/postgres/batch_rows.h"
#include "store/postgres/batch_state.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {

struct Batch::State {
  using Outcome = WriteResult::Outcome;

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

  // What is asked: batch_load.cpp.
  void want_all();
  void want(const RunWrite& write, std::span<const std::string> sealed);
  void want(const EventsWrite& write, std::span<const std::string> halves);
  void want(const TracesWrite& write, std::span<const std::string> halves);
  void want(const AnswerWrite& write, std::span<const std::string>) { want(write.tenant, write.idempotency); }
  void want(const ChangeWrite& write, std::span<const std::string>);
  void want(const PolicyWrite& write, std::span<const std::string>);
  void want(const CanaryWrite&, std::span<const std::string>) {}
  void want(const TriageWrite& write, std::span<const std::string>) { want(write.tenant, write.idempotency); }
  void want(const ReviewWrite& write, std::span<const std::string>);
  void want(const OpinionWrite& write, std::span<const std::string>);
  void want(model::TenantId tenant, const std::optional<Idempotency>& idempotency);
  void want_change(model::TenantId tenant, const model::RecordKey& key);
  void want_run(model::TenantId tenant, const std::string& run_id, const model::RecordKey& key);

  // What is known: batch_load.cpp.
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
  bool number_after_others(model::TenantId tenant, model::RecordKey& key);
  bool is_there(model::TenantId tenant, const model::Review& review) const;
  void put_review(model::TenantId tenant, const model::Review& review);
  void put_opinions(const RunWrite& write);
  static SubjectOf run_subject_of(const OpinionWrite& write);
  bool is_overruled(const OpinionWrite& write) const;
  bool is_outweighed(model::TenantId tenant, const model::Review& review) const;
  void put_confirmed(const OpinionWrite& write, KnownRun& run);
  void put_change(model::TenantId tenant, const model::ChangeRecord& change);
  KnownAnswer& remember(model::TenantId tenant, const Idempotency& idempotency, IdempotentAnswer answered);
  void remember(model::TenantId tenant, const std::optional<Idempotency>& idempotency, const IdempotentAnswer& answer) {
    if (idempotency) remember(tenant, *idempotency, answer);
  }
  WriteResult answered(const EventsWrite& write, Outcome outcome, const Buffered& buffered);
  static WriteResult unavailable(const std::string& why) { return {Outcome::unavailable, {}, why}; }

  // What is written.
  std::vector<Connection::Statement> write_effects_of(Connection& connection);
  void gather_entries();
  void gather();
  void gather(KnownRun& run);
  std::vector<AnswerRow> answer_rows(bool of_decisions) const;
  std::vector<Connection::Statement> begin() const;
};

}  // namespace runwarden::store::postgres
