#include "ingest/investigation.h"

#include <algorithm>
#include <optional>

#include "base/json_members.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "ingest/answers.h"
#include "ingest/reviews.h"

namespace runwarden::ingest {
namespace {

constexpr std::int64_t kMaxWindowMs = 7 * 86'400'000LL;
constexpr std::size_t kMostChanges = 20;

struct Counted {
  std::uint64_t failures = 0;
  std::uint64_t runs = 0;
  double rate() const { return runs == 0 ? 0 : static_cast<double>(failures) / static_cast<double>(runs); }
};

struct Suspect {
  const model::ChangeRecord* change = nullptr;
  Counted before;
  Counted after;
  double rise() const { return after.rate() - before.rate(); }
};

class Suspects {
 public:
  Suspects(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure)
      : store_(store), tenant_(tenant), failure_(failure) {
    store::ChangeQuery query;
    query.range.before_ms = failure.key.time_ms;
    query.range.limit = kMostChanges;
    changes_ = store.changes(tenant, query).items;
  }

  const std::vector<model::ChangeRecord>& changes() const { return changes_; }

  std::optional<SuspectChange> worst() const {
    Suspect worst;
    for (const model::ChangeRecord& change : changes_) {  // newest first, so the latest wins a tie
      const Suspect one = weighed(change);
      if (worst.change == nullptr || one.rise() > worst.rise()) worst = one;
    }
    if (worst.change == nullptr) return std::nullopt;
    std::string text = change_json(*worst.change);
    text.pop_back();
    JsonWriter counts(text += ',');
    counts.key("before").begin_object().key("failures").integer(static_cast<std::int64_t>(worst.before.failures));
    counts.key("runs").integer(static_cast<std::int64_t>(worst.before.runs)).end_object();
    counts.key("after").begin_object().key("failures").integer(static_cast<std::int64_t>(worst.after.failures));
    counts.key("runs").integer(static_cast<std::int64_t>(worst.after.runs)).end_object();
    // Without runs before the change, the rise is at most the share of failures after it.
    counts.key("baseline").string(worst.before.runs == 0 ? "none" : "runs");
    return SuspectChange{worst.change->id, text += '}'};
  }

 private:
  Counted counted(std::int64_t from_ms, std::int64_t before_ms) const {
    return {store_.count_failures(tenant_, failure_.fingerprint, from_ms, before_ms), store_.count_runs(tenant_, from_ms, before_ms)};
  }

  // Compares equal windows before and after the change, at most 7 days each; the later one ends with the failure and includes it.
  Suspect weighed(const model::ChangeRecord& change) const {
    const std::int64_t at = change.key.time_ms;
    const std::int64_t window = std::min(failure_.key.time_ms + 1 - at, kMaxWindowMs);
    return {&change, counted(at - window, at), counted(at, at + window)};
  }

  store::RunStore& store_;
  model::TenantId tenant_;
  const model::FailureRecord& failure_;
  std::vector<model::ChangeRecord> changes_;
};

class Investigation {
 public:
  Investigation(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure)
      : store_(store), tenant_(tenant), failure_(failure), run_(store.run_at(tenant, failure.run)), suspects_(store, tenant, failure) {
    if (run_) members_ = cut_json_members(run_->document);
  }

  std::string json() {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("failure").raw(shown_failure(failure_));
    write_run(out.key("run"));
    write_policies(out.key("policiesInForce"));
    out.key("changes").begin_array();
    for (const model::ChangeRecord& change : suspects_.changes()) out.raw(change_json(change));
    out.end_array();
    write_fingerprint(out.key("fingerprint"));
    write_suspect(out.key("suspectChange"));
    out.end_object();
    return text;
  }

 private:
  const std::string* member(std::string_view name) const { return find_json_member(members_, name); }

  void write_run(JsonWriter& out) const {
    if (!run_) {
      out.null();
      return;
    }
    out.begin_object().key("runId").string(run_->run_id).key("receivedAt").string(format_time(run_->key.time_ms));
    for (const char* name : {"userRequestText", "outcomeSummary"}) {
      if (const std::string* text = member(name)) out.key(name).raw(*text);
    }
    out.end_object();
  }

  // When the run executed: its startedAt, otherwise its receipt.
  std::int64_t executed_ms() const {
    if (const std::string* started = member("startedAt")) {
      if (const auto time = parse_time(json_string_value(*started))) return *time;
    }
    return run_ ? run_->key.time_ms : failure_.key.time_ms;
  }

  void write_policies(JsonWriter& out) const {
    out.begin_array();
    for (const model::PolicyRecord& policy : store_.policies_at(tenant_, executed_ms())) {
      out.begin_object().key("policy").string(policy.policy).key("revision").string(policy.revision);
      out.key("author").string(policy.author).key("at").string(format_time(policy.key.time_ms)).end_object();
    }
    out.end_array();
  }

  void write_fingerprint(JsonWriter& out) const {
    const store::FingerprintStats stats = store_.fingerprint_stats(tenant_, failure_.fingerprint);
    out.begin_object().key("value").string(failure_.fingerprint);
    if (stats.failures > 0) out.key("firstSeen").string(format_time(stats.first_ms)).key("lastSeen").string(format_time(stats.last_ms));
    out.key("count").integer(static_cast<std::int64_t>(stats.failures));
    out.key("runsSeen").integer(static_cast<std::int64_t>(store_.count_runs(tenant_, store::kBeginningMs, store::kEndMs))).end_object();
  }

  void write_suspect(JsonWriter& out) const {
    const auto suspect = suspects_.worst();
    suspect ? out.raw(suspect->json) : out.null();
  }

  store::RunStore& store_;
  model::TenantId tenant_;
  const model::FailureRecord& failure_;
  std::optional<model::RunRecord> run_;
  std::vector<JsonMember> members_;  // of the run's document
  Suspects suspects_;
};

}  // namespace

std::optional<SuspectChange> suspect_change(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure) {
  return Suspects(store, tenant, failure).worst();
}

std::string investigation_json(store::RunStore& store, model::TenantId tenant, const model::FailureRecord& failure) {
  return Investigation(store, tenant, failure).json();
}

}  // namespace runwarden::ingest
