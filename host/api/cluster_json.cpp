#include "api/cluster_json.h"

#include <algorithm>

#include "base/time_text.h"
#include "model/verdict.h"
#include "store/group_codec.h"

namespace runwarden::api {

void write_interval(JsonWriter& out, const Interval& interval) {
  out.begin_object().key("value").number(interval.value).key("low").number(interval.low).key("high").number(interval.high).end_object();
}

void write_rate(JsonWriter& out, const Proportion& runs) {
  const Interval share = share_of(runs);
  out.begin_object().key("value").number(share.value).key("low").number(share.low).key("high").number(share.high);
  out.key("affectedRuns").integer(static_cast<std::int64_t>(runs.affected)).key("runs").integer(static_cast<std::int64_t>(runs.runs)).end_object();
}

void write_cluster(JsonWriter& out, const model::Cluster& cluster, const ClusterWindow& window, std::int64_t now_ms) {
  const model::StateSince state = model::state_of(cluster.triage, cluster.first_ms, now_ms);
  out.key("clusterId").string(model::cluster_id(cluster.key)).key("fingerprint").string(cluster.fingerprint);
  out.key("detectorKey").string(cluster.detector_key).key("title").string(cluster.title);
  out.key("severity").string(model::name(cluster.severity)).key("maxScore").integer(cluster.max_score);
  out.key("state").string(model::name(state.state)).key("stateSince").string(format_time(state.since_ms));
  out.key("firstSeen").string(format_time(cluster.first_ms)).key("lastSeen").string(format_time(cluster.last_ms));
  out.key("count").integer(static_cast<std::int64_t>(cluster.count));
  out.key("estimatedWasteUsd").number(static_cast<double>(cluster.waste_micro_usd) / 1e6);
  out.key("window").begin_object().key("from").string(format_time(window.span.from_ms)).key("until").string(format_time(window.span.before_ms));
  out.key("failures").integer(static_cast<std::int64_t>(window.failures));
  out.key("affectedRuns").integer(static_cast<std::int64_t>(window.runs.affected)).key("runs").integer(static_cast<std::int64_t>(window.runs.runs));
  write_interval(out.key("share"), share_of(window.runs));
  out.end_object().key("trend").string(name(window.trend)).key("buckets").begin_array();
  for (const std::uint64_t count : window.buckets) out.integer(static_cast<std::int64_t>(count));
  out.end_array();
}

std::string triage_entry_json(const model::TriageEntry& entry) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("at").string(format_time(entry.key.time_ms)).key("action").string(model::name(entry.action));
  out.key("author").string(entry.author);
  if (!entry.note.empty()) out.key("note").string(entry.note);
  if (!entry.fixed_by.empty()) out.key("fixedBy").string(entry.fixed_by);
  if (entry.until.at_ms) out.key("until").begin_object().key("at").string(format_time(*entry.until.at_ms)).end_object();
  if (entry.until.failures) out.key("until").begin_object().key("failures").integer(static_cast<std::int64_t>(*entry.until.failures)).end_object();
  if (entry.until.share) out.key("until").begin_object().key("share").number(*entry.until.share).end_object();
  out.key("state").string(model::name(entry.state)).end_object();
  return text;
}

void add_passed_ignore(const model::Cluster& cluster, std::int64_t now_ms, std::vector<model::TriageEntry>& newest_first) {
  const model::Triage& triage = cluster.triage;
  if (triage.kind != model::Triage::Kind::ignored || !triage.until.at_ms || *triage.until.at_ms > now_ms) return;
  model::TriageEntry ended;
  ended.key = {*triage.until.at_ms, 0};
  ended.action = model::TriageAction::ignore_ended;
  ended.author = store::kServiceAuthor;
  ended.state = model::ClusterState::ongoing;
  newest_first.insert(newest_first.begin(), std::move(ended));
}

}  // namespace runwarden::api
