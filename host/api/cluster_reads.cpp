#include "api/cluster_reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "api/cluster_walk.h"
#include "api/subject.h"
#include "base/case_fold.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/time_buckets.h"
#include "base/time_text.h"
#include "ingest/answers.h"
#include "ingest/investigation.h"
#include "ingest/reviews.h"
#include "model/record_ids.h"
#include "model/triage_json.h"

namespace runwarden::api {
namespace {

constexpr std::size_t kMostItems = 1000;
constexpr std::size_t kUsualItems = 50;
constexpr std::size_t kSparkBuckets = 30;
constexpr std::size_t kUsualBuckets = 60;
constexpr std::size_t kExamples = 5;
constexpr std::size_t kMostMarks = 200;
constexpr std::size_t kMostTailItems = 100;
constexpr std::size_t kMostHistory = 1000;
constexpr std::uint64_t kMostTailBytes = std::uint64_t{8} << 20;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::size_t kTagDigits = 16;
constexpr const char* kTailList = "/v1/tail";
constexpr const char* kHistoryList = "/v1/clusters/{clusterId}/history";

enum class Sort : std::uint8_t { recent, count, share, first };

// The query of the list, except for its window.
struct ClusterQuery {
  std::optional<model::ClusterState> state;
  bool only_open = true;  // new, ongoing or regressed
  std::string detector;
  std::string text;  // without case
  std::optional<model::Severity> severity;
  Sort sort = Sort::recent;
  std::size_t limit = kUsualItems;
  std::optional<ClusterWalk> walk;  // to continue; a place by rank is the sort value and the start of the group's key
  std::string meaning;              // identifies the list in cursors
};

std::string meaning_of_list(Query query) {
  std::sort(query.begin(), query.end());
  std::string meaning = "/v1/clusters";
  for (const auto& [name, value] : query) {
    if (name != "limit" && name != "cursor") meaning.append("\n").append(name).append("=").append(value);
  }
  return meaning;
}

Status read_cluster_state(const Query& query, ClusterQuery& asked) {
  const std::string* const state = find_member(query, "state");
  if (state == nullptr || *state == "open") return Nothing{};
  asked.only_open = false;
  asked.state = model::cluster_state(*state);
  if (!asked.state && *state != "all") return bad_member("state", *state, "open, all, new, ongoing, resolved, ignored or regressed");
  return Nothing{};
}

Status read_cluster_severity(const Query& query, ClusterQuery& asked) {
  const std::string* const severity = find_member(query, "severity");
  if (severity == nullptr) return Nothing{};
  for (const auto one : {model::Severity::low, model::Severity::medium, model::Severity::high, model::Severity::critical}) {
    if (*severity == model::name(one)) asked.severity = one;
  }
  if (!asked.severity) return bad_member("severity", *severity, "low, medium, high or critical");
  return Nothing{};
}

Status read_cluster_sort(const Query& query, ClusterQuery& asked) {
  static const std::map<std::string_view, Sort> kSorts = {
      {"recent", Sort::recent}, {"count", Sort::count}, {"share", Sort::share}, {"first", Sort::first}};
  const std::string* const sort = find_member(query, "sort");
  if (sort == nullptr) return Nothing{};
  const auto found = kSorts.find(*sort);
  if (found == kSorts.end()) return bad_member("sort", *sort, "recent, count, share or first");
  asked.sort = found->second;
  return Nothing{};
}

Result<ClusterQuery> read_cluster_query(const Admission& admission, const auth::CursorSeal& seal) {
  const Query& query = admission.query;
  const Status known = check_members(query, "/v1/clusters",
                                     {"window", "from", "until", "state", "detector", "severity", "q", "sort", "limit", "cursor"});
  if (!known.ok()) return known.error();
  ClusterQuery asked;
  asked.meaning = meaning_of_list(query);
  for (const auto read : {read_cluster_state, read_cluster_severity, read_cluster_sort}) {
    if (Status fine = read(query, asked); !fine.ok()) return std::move(fine.error());
  }
  auto limit = read_count(query, "limit", kMostItems, kUsualItems);
  if (!limit.ok()) return std::move(limit.error());
  asked.limit = *limit;
  if (const std::string* detector = find_member(query, "detector")) asked.detector = *detector;
  if (const std::string* text = find_member(query, "q")) asked.text = fold_case(*text);
  if (const std::string* cursor = find_member(query, "cursor")) {
    asked.walk = open_walk(seal, admission.principal->tenant, asked.meaning, *cursor);
    if (!asked.walk) return bad_member("cursor", *cursor, "the nextCursor of a page of this same query");
  }
  return asked;
}

bool is_open(model::ClusterState state) {
  return state == model::ClusterState::fresh || state == model::ClusterState::ongoing || state == model::ClusterState::regressed;
}

bool fits(const ClusterQuery& query, const model::Cluster& cluster, std::int64_t now_ms) {
  const model::ClusterState state = model::state_of(cluster.triage, cluster.first_ms, now_ms).state;
  if (query.only_open && !is_open(state)) return false;
  if (query.state && state != *query.state) return false;
  if (!query.detector.empty() && cluster.detector_key != query.detector) return false;
  if (query.severity && cluster.severity != *query.severity) return false;
  return query.text.empty() || fold_case(cluster.title).find(query.text) != std::string::npos ||
         fold_case(cluster.fingerprint).find(query.text) != std::string::npos;
}

std::uint64_t tie_of(const model::ClusterKey& key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<std::uint8_t>(key[i]);
  return number;
}

// The best groups so far: largest place first.
class Best {
 public:
  Best(std::size_t limit, std::optional<model::RecordKey> after) : limit_(limit), after_(after) {}

  void offer(const model::RecordKey& place, const model::Cluster& cluster) {
    if (after_ && !(place < *after_)) return;
    const auto worst = [](const RankedCluster& left, const RankedCluster& right) { return left.place > right.place; };
    if (heap_.size() > limit_) {
      if (!(heap_.front().place < place)) return;
      std::pop_heap(heap_.begin(), heap_.end(), worst);
      heap_.pop_back();
    }
    heap_.push_back({place, cluster});
    std::push_heap(heap_.begin(), heap_.end(), worst);
  }

  struct RankedCluster {
    model::RecordKey place;
    model::Cluster cluster;
  };
  // Returns at most `limit`. Sets `more` if there are others.
  std::vector<RankedCluster> take(bool& more) {
    std::sort(heap_.begin(), heap_.end(), [](const RankedCluster& left, const RankedCluster& right) { return left.place > right.place; });
    more = heap_.size() > limit_;
    if (more) heap_.resize(limit_);
    return std::move(heap_);
  }

 private:
  std::size_t limit_;
  std::optional<model::RecordKey> after_;
  std::vector<RankedCluster> heap_;
};

// A page of the list, and how many groups of each detector belong to the window, whatever else the query asks for.
struct ClusterPage {
  std::vector<Best::RankedCluster> items;
  std::optional<ClusterWalk> next;  // nothing: this is the last page
  std::map<std::string, std::uint64_t> groups_by_detector;
};

// The tenant's groups in a window, as a request for the list selects and sorts them.
struct ClusterListing {
  store::GroupStore& groups;
  model::TenantId tenant;
  const ClusterQuery& query;
  const store::Span& span;
  std::int64_t now_ms;

  bool in_window(const model::Cluster& cluster) const;
  std::int64_t sort_value(const model::Cluster& cluster) const;
  ClusterPage find_page() const;
  void write_totals(JsonWriter& out, const std::map<std::string, std::uint64_t>& groups_by_detector) const;
};

// A group belongs to the window if it failed in it. If the window ends now, its last failure decides.
bool ClusterListing::in_window(const model::Cluster& cluster) const {
  if (cluster.last_ms < span.from_ms || cluster.first_ms >= span.before_ms) return false;
  if (cluster.last_ms < span.before_ms) return true;
  return groups.count_failures_of(tenant, store::Subject::of_cluster(cluster.key), span) > 0;
}

std::int64_t ClusterListing::sort_value(const model::Cluster& cluster) const {
  switch (query.sort) {
    case Sort::recent: return cluster.last_ms;
    case Sort::first: return cluster.first_ms;
    case Sort::count: return static_cast<std::int64_t>(cluster.count);
    case Sort::share: break;  // the number of runs is the same for all, so affected runs decide
  }
  return static_cast<std::int64_t>(groups.count_affected(tenant, store::Subject::of_cluster(cluster.key), span));
}

ClusterPage ClusterListing::find_page() const {
  ClusterWalk walk = query.walk ? *query.walk : ClusterWalk{{}, {}, now_ms, groups.last_commit(tenant)};
  const bool ranked = walk.part == ClusterWalk::Part::ranked;
  ClusterPage page;
  bool any_failed_again = false;
  Best best(query.limit, walk.after);
  groups.visit_clusters(tenant, [&](const model::Cluster& cluster) {
    if (!in_window(cluster)) return;
    ++page.groups_by_detector[cluster.detector_key];
    if (!fits(query, cluster, now_ms)) return;
    const bool failed_again = walk.failed_again(cluster.last_ms);
    any_failed_again = any_failed_again || failed_again;
    if (ranked) return best.offer({sort_value(cluster), tie_of(cluster.key)}, cluster);
    if (failed_again) best.offer(place_of(cluster.key), cluster);
  });
  bool more = false;
  page.items = best.take(more);
  if (more) {
    walk.after = page.items.back().place;
    page.next = walk;
  } else if (query.walk && ranked && any_failed_again && groups.last_commit(tenant) != walk.began_commit) {
    walk.part = ClusterWalk::Part::failed_again;
    walk.after.reset();
    page.next = walk;
  }
  return page;
}

void ClusterListing::write_totals(JsonWriter& out, const std::map<std::string, std::uint64_t>& groups_by_detector) const {
  const std::uint64_t runs = groups.count_all_runs(tenant, span);
  const std::uint64_t affected = std::min(groups.count_affected(tenant, store::Subject::any(), span), runs);
  out.begin_object().key("runs").integer(static_cast<std::int64_t>(runs)).key("affectedRuns").integer(static_cast<std::int64_t>(affected));
  out.key("failures").integer(static_cast<std::int64_t>(groups.count_failures_of(tenant, store::Subject::any(), span)));
  out.key("byDetector").begin_object();
  for (const auto& [detector, count] : groups_by_detector) {
    const std::uint64_t failures = groups.count_failures_of(tenant, store::Subject::of_detector(detector), span);
    out.key(detector).begin_object().key("failures").integer(static_cast<std::int64_t>(failures));
    out.key("groups").integer(static_cast<std::int64_t>(count)).end_object();
  }
  out.end_object().end_object();
}

struct TimelineCounts {
  std::vector<std::uint64_t> runs;  // by bucket
  std::vector<std::uint64_t> failures;
};

void write_timeline(JsonWriter& out, const TimeBuckets& buckets, const TimelineCounts& counts) {
  out.key("bucketSeconds").integer(buckets.width_ms / 1000).key("buckets").begin_array();
  for (std::size_t i = 0; i < buckets.count; ++i) {
    out.begin_object().key("at").string(format_time(buckets.from_ms + buckets.width_ms * static_cast<std::int64_t>(i)));
    out.key("runs").integer(static_cast<std::int64_t>(counts.runs[i]));
    out.key("failures").integer(static_cast<std::int64_t>(counts.failures[i])).end_object();
  }
  out.end_array();
}

void write_marks(JsonWriter& out, const store::ChangeMarks& marks, const std::string& suspect_id) {
  out.key("marks").begin_array();
  for (const model::ChangeRecord& change : marks.changes) {
    const auto members = json_members(ingest::change_json(change));
    out.begin_object().key("changeId").string(change.id).key("kind").string(change.kind);
    if (change.policy) out.key("policy").string(change.policy->policy).key("revision").string(change.policy->revision);
    for (const char* name : {"ref", "summary"}) {
      if (const std::string value = json_member_text(members, name); !value.empty()) out.key(name).string(value);
    }
    out.key("at").string(format_time(change.key.time_ms)).key("suspect").boolean(change.id == suspect_id).end_object();
  }
  out.end_array().key("marksLeftOut").integer(static_cast<std::int64_t>(marks.left_out));
}

void write_example(JsonWriter& out, const model::FailureRecord& failure, const std::string& run_id) {
  out.begin_object().key("failureId").string(failure.id).key("runId").string(run_id);
  out.key("detectedAt").string(format_time(failure.key.time_ms)).key("title").string(failure.title).end_object();
}

std::string run_id_of(const model::FailureRecord& failure) {
  return json_member_text(failure.json, "runId");
}

}  // namespace

bool matches_tag(std::string_view if_none_match, std::string_view tag) {
  const auto opaque = [](std::string_view text) {
    if (text.starts_with("W/")) text.remove_prefix(2);
    return text;
  };
  while (!if_none_match.empty()) {
    const auto end = std::min(if_none_match.find(','), if_none_match.size());
    std::string_view one = if_none_match.substr(0, end);
    if_none_match.remove_prefix(std::min(end + 1, if_none_match.size()));
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    if (one == "*" || (!one.empty() && opaque(one) == opaque(tag))) return true;
  }
  return false;
}

// Includes the tenant, because a browser may send one tenant's tag with another tenant's session, and a digest of what is asked.
std::string ClusterReads::tag(const Admission& admission) {
  std::string asked(admission.route->pattern);
  const auto add = [&asked](const std::string& part) { asked.append("\n").append(std::to_string(part.size())).append(":").append(part); };
  for (const std::string& parameter : admission.parameters) add(parameter);
  for (const auto& [name, value] : admission.query) {
    add(name);
    add(value);
  }
  const model::TenantId tenant = admission.principal->tenant;
  return "W/\"" + std::to_string(tenant) + "-" + std::to_string(groups_.last_commit(tenant)) + "-" +
         std::to_string(clock_.wall_ms() / kMinuteMs) + "-" + to_hex(sha256(asked)).substr(0, kTagDigits) + "\"";
}

ClusterWindow ClusterReads::window_of(model::TenantId tenant, const model::Cluster& cluster, const store::Span& span) {
  const store::Subject subject = store::Subject::of_cluster(cluster.key);
  ClusterWindow window;
  window.span = span;
  window.failures = groups_.count_failures_of(tenant, subject, span);
  window.runs.runs = groups_.count_all_runs(tenant, store::whole_entries(span));
  window.runs.affected = std::min(groups_.count_affected(tenant, subject, span), window.runs.runs);
  const std::int64_t middle = span.from_ms + (span.before_ms - span.from_ms) / 2;
  const std::uint64_t first_half = groups_.count_failures_of(tenant, subject, {span.from_ms, middle});
  window.trend = trend_of(first_half, window.failures - std::min(window.failures, first_half));
  const TimeBuckets buckets = time_buckets(span.from_ms, span.before_ms, kSparkBuckets);
  window.buckets = groups_.failure_buckets(tenant, subject, span, buckets);
  return window;
}

std::string ClusterReads::cluster_json(model::TenantId tenant, model::Cluster cluster, const std::optional<model::RecordKey>& decided) {
  const std::int64_t now_ms = clock_.wall_ms();
  std::int64_t state_at_ms = now_ms;
  if (decided) {
    const auto entries = groups_.triage_history(tenant, cluster.key, store::only(*decided));
    if (!entries.empty()) {
      cluster.triage = model::triaged(entries.front());
      state_at_ms = decided->time_ms;
    }
  }
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_cluster(out, cluster, window_of(tenant, cluster, *read_window({}, now_ms, kUsualWindow)), state_at_ms);
  out.end_object();
  return text;
}

Result<std::string> ClusterReads::clusters(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  const std::int64_t now_ms = clock_.wall_ms();
  auto query = read_cluster_query(admission, seal_);
  if (!query.ok()) return std::move(query.error());
  const auto span = read_window(admission.query, now_ms, kUsualWindow);
  if (!span.ok()) return span.error();
  const ClusterListing listing{groups_, tenant, *query, *span, now_ms};
  const ClusterPage page = listing.find_page();
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (const auto& item : page.items) {
    out.begin_object();
    write_cluster(out, item.cluster, window_of(tenant, item.cluster, *span), now_ms);
    out.end_object();
  }
  out.end_array().key("nextCursor");
  page.next ? out.string(seal_walk(seal_, tenant, query->meaning, *page.next)) : out.null();
  listing.write_totals(out.key("totals"), page.groups_by_detector);
  const store::GroupTotals totals = groups_.group_totals(tenant);
  out.key("leftOut").integer(static_cast<std::int64_t>(totals.left_out));
  if (totals.building) out.key("building").number(*totals.building);
  out.end_object();
  return text;
}

std::optional<model::FailureRecord> ClusterReads::latest(model::TenantId tenant, const model::Cluster& cluster, const store::Span& span) {
  store::FailureQuery query;
  query.fingerprint = cluster.fingerprint;
  query.range.since_ms = span.from_ms;
  query.range.before_ms = span.before_ms;
  query.range.limit = 1;
  auto page = store_.failures(tenant, query);
  if (page.items.empty()) return std::nullopt;
  return std::move(page.items.front());
}

Result<std::string> ClusterReads::cluster(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  const std::int64_t now_ms = clock_.wall_ms();
  if (const Status known = check_members(admission.query, "a group", {"window", "from", "until"}); !known.ok()) return known.error();
  const auto span = read_window(admission.query, now_ms, kUsualWindow);
  if (!span.ok()) return span.error();
  const auto cluster = groups_.find_cluster(tenant, admission.parameters.at(0));
  if (!cluster) return no_such_cluster(admission.parameters.at(0));
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_cluster(out, *cluster, window_of(tenant, *cluster, *span), now_ms);
  const auto failure = latest(tenant, *cluster, *span);
  const auto suspect = failure ? ingest::suspect_change(store_, tenant, *failure) : std::nullopt;
  out.key("suspectChange");
  suspect ? out.raw(suspect->json) : out.null();
  store::FailureQuery newest;
  newest.fingerprint = cluster->fingerprint;
  newest.range.limit = kExamples;
  out.key("examples").begin_object().key("newest").begin_array();
  for (const model::FailureRecord& one : store_.failures(tenant, newest).items) write_example(out, one, run_id_of(one));
  out.end_array().key("first").begin_array();
  for (const model::FailureRecord& one : groups_.first_failures(tenant, cluster->key, kExamples)) write_example(out, one, run_id_of(one));
  out.end_array().end_object();
  store::Range range;
  range.limit = kUsualItems;
  auto history = groups_.triage_history(tenant, cluster->key, range);
  add_passed_ignore(*cluster, now_ms, history);
  out.key("history").begin_array();
  for (const model::TriageEntry& entry : history) out.raw(model::triage_entry_json(entry));
  out.end_array().end_object();
  return text;
}

Result<std::string> ClusterReads::history(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  if (const Status known = check_members(admission.query, "a group's history", {"limit", "cursor"}); !known.ok()) return known.error();
  const std::string& id = admission.parameters.at(0);
  const auto cluster = groups_.find_cluster(tenant, id);
  if (!cluster) return no_such_cluster(id);
  auto limit = read_count(admission.query, "limit", kMostHistory, kUsualItems);
  if (!limit.ok()) return std::move(limit.error());
  store::Range range;
  range.limit = *limit + 1;
  const std::string meaning = std::string(kHistoryList) + "\n" + id;
  if (const std::string* cursor = find_member(admission.query, "cursor")) {
    range.after = seal_.open(tenant, meaning, *cursor);
    if (!range.after) return bad_member("cursor", *cursor, "the nextCursor of a page of this same query");
  }
  auto entries = groups_.triage_history(tenant, cluster->key, range);
  if (!range.after) add_passed_ignore(*cluster, clock_.wall_ms(), entries);
  const bool more = entries.size() > *limit;
  if (more) entries.resize(*limit);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (const model::TriageEntry& entry : entries) out.raw(model::triage_entry_json(entry));
  out.end_array().key("nextCursor");
  more ? out.string(seal_.seal(tenant, meaning, entries.back().key)) : out.null();
  out.end_object();
  return text;
}

// Empty: no change is suspected, or the subject is not one group.
std::string ClusterReads::suspect_id(model::TenantId tenant, const store::Subject& subject, const store::Span& span) {
  if (subject.kind != store::Subject::Kind::cluster) return {};
  const auto cluster = groups_.find_cluster(tenant, model::cluster_id(subject.cluster));
  const auto failure = cluster ? latest(tenant, *cluster, span) : std::nullopt;
  const auto suspect = failure ? ingest::suspect_change(store_, tenant, *failure) : std::nullopt;
  return suspect ? suspect->change_id : std::string();
}

Result<std::string> ClusterReads::timeline(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  const Status known =
      check_members(admission.query, "/v1/timeline", {"cluster", "detector", "window", "from", "until", "buckets"});
  if (!known.ok()) return known.error();
  const auto span = read_window(admission.query, clock_.wall_ms(), kUsualWindow);
  if (!span.ok()) return span.error();
  const auto wanted = read_count(admission.query, "buckets", kMostBuckets, kUsualBuckets);
  if (!wanted.ok()) return wanted.error();
  const auto subject = read_subject(groups_, admission);
  if (!subject.ok()) return subject.error();
  const TimeBuckets buckets = time_buckets(span->from_ms, span->before_ms, *wanted);
  const TimelineCounts counts{groups_.run_buckets(tenant, *span, buckets), groups_.failure_buckets(tenant, *subject, *span, buckets)};
  const std::string suspect = suspect_id(tenant, *subject, *span);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("from").string(format_time(span->from_ms)).key("until").string(format_time(span->before_ms));
  write_timeline(out, buckets, counts);
  write_marks(out, groups_.change_marks(tenant, *span, kMostMarks), suspect);
  out.end_object();
  return text;
}

Result<std::string> ClusterReads::tail(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  if (const Status known = check_members(admission.query, "/v1/tail", {"after", "topics"}); !known.ok()) return known.error();
  bool runs = true;
  bool failures = true;
  if (const std::string* topics = find_member(admission.query, "topics")) {
    std::set<std::string> named;
    for (std::size_t at = 0; at <= topics->size();) {
      const auto end = std::min(topics->find(',', at), topics->size());
      named.insert(topics->substr(at, end - at));
      at = end + 1;
    }
    runs = named.erase("runs") > 0;
    failures = named.erase("failures") > 0;
    if (!named.empty()) return bad_member("topics", *topics, "runs, failures or both, separated by a comma");
  }
  const std::string* after = find_member(admission.query, "after");
  if (after == nullptr) {
    std::string text;
    JsonWriter out(text);
    const model::RecordKey here{0, groups_.last_commit(tenant)};
    out.begin_object().key("after").string(seal_.seal(tenant, kTailList, here)).key("items").begin_array().end_array().end_object();
    return text;
  }
  const auto place = seal_.open(tenant, kTailList, *after);
  if (!place) return bad_member("after", *after, "the \"after\" of an answer of /v1/tail");
  return tail_after(tenant, place->seq, runs, failures);
}

// Returns the run without its steps: the first item of a list that starts next to it.
std::optional<model::RunRecord> ClusterReads::outlined_run(model::TenantId tenant, const model::RecordKey& key) {
  store::RunQuery query;
  query.outlines = store::OutlineToo::yes;
  query.range.since_ms = key.time_ms;
  query.range.after = model::RecordKey{key.time_ms, key.seq + 1};
  query.range.limit = 1;
  auto page = store_.runs(tenant, query);
  if (page.items.empty() || page.items.front().key != key) return std::nullopt;
  return std::move(page.items.front());
}

Result<std::string> ClusterReads::tail_after(model::TenantId tenant, std::uint64_t after, bool runs, bool failures) {
  store::TailPage page = groups_.tail(tenant, after, kMostTailItems);
  if (page.too_old) {
    return Error{Code::bad_request, "the query's after is older than the oldest event of the tail; start over without it", {}, {}};
  }
  std::string items;
  JsonWriter out(items);
  out.begin_object().key("items").begin_array();
  std::set<model::RecordKey> told;
  std::size_t taken = 0;
  for (const store::TailItem& item : page.items) {
    if (items.size() > kMostTailBytes) {
      page.next = groups_.tail(tenant, after, taken).next;
      break;
    }
    ++taken;
    if (item.kind == store::TailItem::Kind::run && runs && told.insert(item.record).second) {
      const auto run = outlined_run(tenant, item.record);
      if (!run) continue;
      out.begin_object().key("topic").string("runs").key("at").string(format_time(item.at_ms)).key("run").begin_object();
      out.key("runId").string(run->run_id).key("state").string(ingest::name(run->state)).key("revision").integer(run->revision);
      out.key("steps").integer(run->outline ? run->outline->steps : 0).end_object().end_object();
    }
    if (item.kind == store::TailItem::Kind::failure && failures) {
      const auto failure = store_.find_failure(tenant, model::make_failure_id(item.record));
      if (!failure) continue;
      out.begin_object()
          .key("topic")
          .string("failures")
          .key("at")
          .string(format_time(item.at_ms))
          .key("failure")
          .raw(ingest::shown_failure(*failure))
          .end_object();
    }
  }
  out.end_array().key("after").string(seal_.seal(tenant, kTailList, {0, page.next})).end_object();
  return items;
}

}  // namespace runwarden::api
