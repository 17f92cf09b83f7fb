// What a batch asks before it decides: rows by name, which are locked where two batches could decide about the same. For the files of
// store/postgres only. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/opinion.h"
#include "model/records.h"
#include "store/event_codec.h"
#include "store/postgres/connection.h"
#include "store/postgres/row.h"
#include "store/postgres/open_runs.h"

namespace runwarden::store::postgres {

struct RunName {
  model::TenantId tenant = 0;
  std::string run_id;
  auto operator<=>(const RunName&) const = default;
};
struct PlaceOf {
  model::TenantId tenant = 0;
  model::RecordKey key;
  auto operator<=>(const PlaceOf&) const = default;
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

// What a review of a run, or of one of its failures, is about: the run, and the subject as its column has it.
struct SubjectOf {
  PlaceOf run;
  std::string subject;
  auto operator<=>(const SubjectOf&) const = default;
};

struct Questions {
  // Runs by id. Whose head is not there gets one with that key, so that nobody else can begin the run meanwhile.
  std::map<RunName, model::RecordKey> runs;
  std::set<RunName> claimed;  // of these only the open run
  std::set<Identity> identities;
  std::vector<std::pair<RunName, std::string>> event_ids;  // half digests
  std::set<PolicyName> policies;
  std::set<RevisionName> revisions;
  std::set<PlaceOf> reviewed_failures;
  std::set<PlaceOf> reviewed_runs;
  std::set<PlaceOf> opinions;
  std::set<SubjectOf> subjects;

  bool empty() const {
    return runs.empty() && claimed.empty() && identities.empty() && event_ids.empty() && policies.empty() && revisions.empty() &&
           reviewed_failures.empty() && reviewed_runs.empty() && opinions.empty() && subjects.empty();
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
  std::optional<std::string> record;  // the sealed run, change or policy; nothing: it is gone
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

struct Answers {
  std::map<RunName, model::RecordKey> heads;     // as they are now
  std::set<RunName> new_heads;                   // of those, the ones that the batch inserted
  std::map<RunName, FoundOpenRun> open;
  std::map<RunName, FoundRun> resolved;          // of those with a head
  std::map<Identity, FoundAnswer> answers;
  std::set<std::pair<RunName, std::string>> seen;  // half digests
  std::map<PolicyName, std::string> highest;     // whole number; empty: none
  std::map<RevisionName, FoundPolicy> revisions;
  std::map<PlaceOf, FoundFailure> failures;    // locked, so that nobody else makes their verdicts others
  std::map<PlaceOf, LastReview> last_reviews;  // by the place of the failure
  std::set<PlaceOf> runs_there;
  std::map<PlaceOf, FoundOpinion> opinions;    // locked
  std::map<SubjectOf, ReviewInForce> reviewed;
};

// Statements and what takes their answers, for one round trip.
class Asking {
 public:
  // Their texts are constants.
  explicit Asking(const Questions& questions);
  std::vector<Connection::Statement> statements() const { return statements_; }
  // `rows`: the answers to the statements, in order. Throws PgFault, also where a row vanished in between: the batch is to be tried again;
  // BadValue.
  Answers take(std::span<const Rows> rows) const;

 private:
  enum class Of : std::uint8_t { new_heads, heads, open, resolved, answers, seen, new_policies, policies, revisions, failures, last_reviews, runs_there, opinions, subjects };
  void ask(Of of, std::string_view sql, Params params);

  const Questions& questions_;
  std::vector<Of> of_;
  std::vector<Connection::Statement> statements_;
};

// What is asked about claims, once it is known which of them are good.
struct ClaimQuestions {
  std::vector<std::pair<PlaceOf, std::uint32_t>> beyond;  // events behind the end of the claim
  std::vector<PlaceOf> failures;
  std::vector<PlaceOf> runs;  // of claims that were lost

  bool empty() const { return beyond.empty() && failures.empty() && runs.empty(); }
};
struct EventRowBeyond {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
  std::string body;  // of one that begins before the end of the claim
};
struct ClaimAnswers {
  std::map<PlaceOf, std::vector<EventRowBeyond>> beyond;  // in order
  std::map<PlaceOf, std::string> failures;                // locked
  std::map<PlaceOf, std::string> runs;  // also open ones
};
// Throws PgFault.
ClaimAnswers ask_about_claims(Connection& connection, const ClaimQuestions& questions);

// Columns of an array each, for unnest().
std::vector<std::int32_t> tenants_of(const std::vector<PlaceOf>& places);
std::vector<std::int64_t> times_of(const std::vector<PlaceOf>& places);
std::vector<std::int64_t> seqs_of(const std::vector<PlaceOf>& places);


}  // namespace runwarden::store::postgres
