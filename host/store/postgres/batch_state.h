// What a batch wants to know before it decides, and what was found. Internal to store/postgres. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/record_key.h"
#include "store/event_codec.h"
#include "store/postgres/batch_names.h"
#include "store/postgres/open_runs.h"

namespace runwarden::store::postgres {

struct WantedState {
  // Runs by id. An id without a head gets one with that key, so that no other batch can begin the run meanwhile.
  std::map<RunName, model::RecordKey> runs;
  std::set<RunName> claimed;                    // of these, only the open run
  std::map<RunName, model::RecordKey> open_at;  // guesses of where runs are open; of these, too, only the open run
  std::set<Identity> identities;
  std::vector<std::pair<RunName, std::string>> event_ids;  // half digests; those of `open_at` are stored if they are new
  std::set<PolicyName> policies;
  std::set<RevisionName> revisions;
  std::map<ChangeTime, std::uint64_t> change_times;  // with the lowest number of the changes to be stored
  std::set<TenantKey> reviewed_failures;
  std::set<TenantKey> reviewed_runs;
  std::set<TenantKey> opinions;
  std::set<SubjectOf> subjects;

  bool empty() const {
    return runs.empty() && claimed.empty() && open_at.empty() && identities.empty() && event_ids.empty() && policies.empty() &&
           revisions.empty() && change_times.empty() && reviewed_failures.empty() && reviewed_runs.empty() && opinions.empty() &&
           subjects.empty();
  }
};

struct FoundOpenRun {
  model::RecordKey place;
  std::int64_t token = 0;
  std::int64_t due_ms = 0;
  RunActivity activity;
  std::string body;
};
struct FoundRun {
  model::RecordKey place;
  std::string body;
};
struct FoundAnswer {
  IdempotentAnswer answered;
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
  std::map<PolicyName, std::string> highest;         // whole number; empty: none
  std::map<RevisionName, FoundPolicy> revisions;
  // Where stored changes have higher numbers: the highest of them, and numbers above all that were ever given out.
  std::map<ChangeTime, std::uint64_t> last_at;
  std::uint64_t free_seq = 0;
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

}  // namespace runwarden::store::postgres
