#include "ingest/triage_ingest.h"

#include <utility>

#include "base/digest.h"
#include "base/time_text.h"
#include "ingest/faults.h"
#include "ingest/json_request.h"
#include "model/record_ids.h"

namespace runwarden::ingest {
namespace {

constexpr std::uint64_t kMostFailures = 1'000'000'000;

// Reads the members one by one and records every fault.
class TriageReader {
 public:
  explicit TriageReader(std::int64_t now_ms) : now_ms_(now_ms) {}

  Result<model::TriageEntry> read(std::string_view body) {
    for (const JsonMember& member : known_members(body, "", {"action", "note", "fixedBy", "until"}, faults_)) take(member);
    if (!action_) fault("/action", "missing", "is missing; send resolve, ignore or reopen");
    const bool ignores = action_ && entry_.action == model::TriageAction::ignore;
    const bool resolves = action_ && entry_.action == model::TriageAction::resolve;
    if (until_ && action_ && !ignores) fault("/until", "not_allowed", "is allowed only with the action ignore");
    if (!entry_.fixed_by.empty() && action_ && !resolves) fault("/fixedBy", "not_allowed", "is allowed only with the action resolve");
    if (!faults_.none()) return faults_.error();
    return std::move(entry_);
  }

 private:
  void fault(std::string pointer, std::string code, std::string detail) {
    faults_.add(std::move(pointer), std::move(code), std::move(detail));
  }

  void take(const JsonMember& member) {
    if (member.name == "action") return take_action(member.json);
    if (member.name == "until") return take_until(member.json);
    auto text = text_of(member, "/" + member.name, kMostNoteBytes, faults_);
    if (text && text->empty() && member.name == "fixedBy")
      return fault("/fixedBy", "invalid", "must be the id of a change; leave it out if none is known");
    if (text) (member.name == "note" ? entry_.note : entry_.fixed_by) = std::move(*text);
  }

  void take_action(const std::string& json) {
    const auto action = is_json_string(json) ? model::triage_action(json_string_value(json)) : std::nullopt;
    action_ = true;
    if (!action || *action == model::TriageAction::regressed || *action == model::TriageAction::ignore_ended) {
      return fault("/action", "invalid", "must be resolve, ignore or reopen");
    }
    entry_.action = *action;
  }

  void take_until(const std::string& json) {
    until_ = true;
    const bool is_object = json.starts_with('{');
    const auto members = is_object ? known_members(json, "/until", {"at", "failures", "share"}, faults_) : std::vector<JsonMember>();
    if (members.size() != 1) return fault("/until", "invalid", "must be an object with one of at, failures and share");
    const JsonMember& member = members.front();
    if (member.name == "at") {
      const auto time = is_json_string(member.json) ? parse_time(json_string_value(member.json)) : std::nullopt;
      if (!time) return fault("/until/at", "invalid", "must be a time such as 2026-11-20T15:00:00Z");
      if (*time <= now_ms_) return fault("/until/at", "invalid", "must be a time in the future; it is now " + format_time(now_ms_));
      entry_.until.at_ms = *time;
    } else if (member.name == "failures") {
      const auto count = whole_number_of(member.json);
      if (!count || *count == 0 || *count > kMostFailures)
        return fault("/until/failures", "invalid", "must be an integer from 1 to 1000000000");
      entry_.until.failures = *count;
    } else {
      const auto share = number_of(member.json);
      if (!share || *share <= 0 || *share > 1) return fault("/until/share", "invalid", "must be a number above 0 and at most 1");
      entry_.until.share = *share;
    }
  }

  std::int64_t now_ms_;
  model::TriageEntry entry_;
  bool action_ = false;
  bool until_ = false;
  RequestFaults faults_;
};

Error unknown_change() {
  return {Code::validation_failed,
          "/fixedBy is not the id of a change of this tenant; GET /v1/changes lists them",
          {},
          {{"/fixedBy", "unknown_change", "is not the id of a change of this tenant"}}};
}

}  // namespace

Result<model::TriageEntry> read_triage(std::string_view body, int max_json_depth, std::int64_t now_ms) {
  if (Status status = check_object(body, max_json_depth); !status.ok()) return std::move(status.error());
  return TriageReader(now_ms).read(body);
}

std::optional<std::int64_t> TriageIngest::time_of_change(model::TenantId tenant, const std::string& change_id) {
  auto key = model::parse_change_id(change_id);
  if (!key) key = model::parse_policy_revision_id(change_id);
  if (!key) return std::nullopt;
  store::ChangeQuery query;
  query.range.since_ms = key->time_ms;
  query.range.after = model::RecordKey{key->time_ms, key->seq + 1};
  query.range.limit = 1;
  const auto found = parts_.store.changes(tenant, query).items;
  if (found.empty() || found.front().id != change_id) return std::nullopt;
  return key->time_ms;
}

void TriageIngest::take(IngestRequest request, const std::string& cluster_id, Done done) {
  const std::int64_t now_ms = parts_.clock.wall_ms();
  const auto not_there = [cluster_id] {
    return Error{Code::not_found, "no group with the clusterId \"" + cluster_id.substr(0, 256) + "\"", {}, {}};
  };
  auto entry = read_triage(request.body, request.max_json_depth, now_ms);
  if (!entry.ok()) return done(parts_.redaction.error(std::move(entry.error()), request.body));
  const auto cluster = parts_.groups.find_cluster(request.tenant, cluster_id);
  if (!cluster) return done(not_there());
  if (!entry->fixed_by.empty()) {
    const auto at_ms = time_of_change(request.tenant, entry->fixed_by);
    if (!at_ms) return done(unknown_change());
    entry->fixed_ms = *at_ms;
  }
  parts_.redaction.note(entry->note);
  entry->author = request.key_name;
  entry->key = {now_ms, parts_.store.next_seq()};
  store::TriageWrite write;
  write.tenant = request.tenant;
  write.cluster = cluster->key;
  write.entry = std::move(*entry);
  if (request.idempotency) write.idempotency = store::Idempotency{*request.idempotency, sha256(request.body)};
  const bool queued = parts_.queue.submit(
      std::move(write),
      [done, not_there](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        if (result.outcome == Outcome::stored || result.outcome == Outcome::replayed) {
          if (!result.cluster) return done(not_there());
          return done(Triaged{std::move(*result.cluster), result.decided});
        }
        IngestAnswer answer = not_stored(std::move(result));
        if (answer.kind == IngestAnswer::Kind::in_doubt) return done(std::nullopt);
        done(std::move(answer.error));
      },
      request.permit);
  if (!queued) done(not_queued(parts_.queue));
}

}  // namespace runwarden::ingest
