// What a batch asks before it decides: rows by name, locked where two batches could decide about the same thing. Internal to
// store/postgres. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/record_key.h"
#include "store/event_codec.h"
#include "store/postgres/connection.h"
#include "store/postgres/open_runs.h"
#include "store/postgres/params.h"
#include "store/postgres/row.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

struct RunName {
  model::TenantId tenant = 0;
  std::string run_id;
  auto operator<=>(const RunName&) const = default;
};
struct TenantKey {
  model::TenantId tenant = 0;
  model::RecordKey key;
  auto operator<=>(const TenantKey&) const = default;
};
struct Identity {
  model::TenantId tenant = 0;
  model::Digest digest{};
  auto operator<=>(const Identity&) const = default;
};
struct PolicyName {
  model::TenantId tenant = 0;
  std::string policy;
  auto operator<=>(const PolicyName&) const = default;
};
struct RevisionName {
  PolicyName policy;
  std::string revision;
  auto operator<=>(const RevisionName&) const = default;
};

// What a review of a run, or of one of its failures, is about: the run, and the subject as stored in its column.
struct SubjectOf {
  TenantKey run;
  std::string subject;
  auto operator<=>(const SubjectOf&) const = default;
};

struct WantedState {
  // Runs by id. An id without a head gets one with that key, so that no other batch can begin the run meanwhile.
  std::map<RunName, model::RecordKey> runs;
  std::set<RunName> claimed;  // of these, only the open run
  std::map<RunName, model::RecordKey> open_at;  // guesses of where runs are open; of these, too, only the open run
  std::set<Identity> identities;
  std::vector<std::pair<RunName, std::string>> event_ids;  // half digests; those of `open_at` are stored if they are new
  std::set<PolicyName> policies;
  std::set<RevisionName> revisions;
  std::set<TenantKey> reviewed_failures;
  std::set<TenantKey> reviewed_runs;
  std::set<TenantKey> opinions;
  std::set<SubjectOf> subjects;

  bool empty() const {
    return runs.empty() && claimed.empty() && open_at.empty() && identities.empty() && event_ids.empty() && policies.empty() &&
           revisions.empty() && reviewed_failures.empty() && reviewed_runs.empty() && opinions.empty() && subjects.empty();
  }
};

struct FoundOpenRun {
  model::RecordKey place;
  std::int64_t token = 0;
  std::int64_t due_ms = 0;
  HeardOf heard;
  std::string body;
};
struct FoundRun {
  model::RecordKey place;
  std::string body;
};
struct FoundAnswer {
  Answered answered;
  std::optional<std::string> record;  // the sealed run, change or policy; nothing: it is deleted
};
struct FoundPolicy {
  model::RecordKey place;
  std::string body;
};
struct FoundFailure {
  bool shadow = false;
  std::string body;
};
struct LastReview {
  model::RecordKey key;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;
};

struct ReviewInForce {
  model::RecordKey key;
  std::string body;
};

struct FoundOpinion {
  model::OpinionState state = model::OpinionState::waiting;
  std::uint64_t token = 0;
};

struct LoadedState {
  std::map<RunName, model::RecordKey> heads;  // current
  std::set<RunName> new_heads;                // of these, the ones that this batch inserted
  std::map<RunName, FoundOpenRun> open;
  std::map<RunName, FoundRun> resolved;  // of runs with a head
  std::map<Identity, FoundAnswer> answers;
  std::set<std::pair<RunName, std::string>> seen;    // half digests
  std::set<std::pair<RunName, std::string>> stored;  // half digests that were new, of runs in `open_at`
  std::map<PolicyName, std::string> highest;     // whole number; empty: none
  std::map<RevisionName, FoundPolicy> revisions;
  std::map<TenantKey, FoundFailure> failures;    // locked, so that no other transaction changes their verdicts
  std::map<TenantKey, LastReview> last_reviews;  // by the failure's place
  std::set<TenantKey> runs_there;
  std::map<TenantKey, FoundOpinion> opinions;  // locked
  std::map<SubjectOf, ReviewInForce> reviewed;
};

// A run is not open where it was guessed to be. What was asked must be asked again without guesses, in a new transaction.
struct WrongGuess {
  std::vector<RunName> runs;
};

// The statements of one round trip, and the decoding of their answers.
class StateQuery {
 public:
  // The texts of the statements are constants.
  explicit StateQuery(const WantedState& wanted);
  std::vector<Connection::Statement> statements() const { return statements_; }
  // `rows`: the answers to the statements, in order. Throws BadValue, WrongGuess, and PgFault, also if a row was deleted in between: then
  // try the batch again.
  LoadedState take(std::span<const Rows> rows) const;

 private:
  enum class Of : std::uint8_t {
    new_heads,
    heads,
    open,
    resolved,
    answers,
    seen,
    stored,
    new_policies,
    policies,
    revisions,
    failures,
    last_reviews,
    runs_there,
    opinions,
    subjects
  };
  void ask(Of of, std::string_view sql, Params params);
  void ask_for_runs();
  void ask_for_policies();
  void ask_for_event_ids();
  void ask_for_answers();
  void ask_for_reviews();
  void take_row(Of of, const Rows& rows, std::size_t row, LoadedState& found) const;
  void check_guesses(const LoadedState& found) const;

  const WantedState& wanted_;
  std::map<TenantKey, const RunName*> guessed_;  // the runs of `open_at`
  std::vector<Of> of_;
  std::vector<Connection::Statement> statements_;
};

// What is asked about claims once it is known which of them are valid.
struct WantedClaims {
  std::vector<std::pair<TenantKey, std::uint32_t>> beyond;  // events after the end of the claim
  std::vector<TenantKey> failures;
  std::vector<TenantKey> runs;  // of lost claims

  bool empty() const { return beyond.empty() && failures.empty() && runs.empty(); }
};
struct EventRowBeyond {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
  std::string body;  // of a row that begins before the end of the claim
};
struct LoadedClaims {
  std::map<TenantKey, std::vector<EventRowBeyond>> beyond;  // in order
  std::map<TenantKey, std::string> failures;                // locked
  std::map<TenantKey, std::string> runs;                    // including open ones
};
// Throws PgFault.
LoadedClaims load_claims(Connection& connection, const WantedClaims& wanted);

// Each returns one column as an array, for unnest().
std::vector<std::int32_t> tenants_of(const std::vector<TenantKey>& places);
std::vector<std::int64_t> times_of(const std::vector<TenantKey>& places);
std::vector<std::int64_t> seqs_of(const std::vector<TenantKey>& places);

}  // namespace runwarden::store::postgres
