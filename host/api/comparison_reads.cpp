#include "api/comparison_reads.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "api/cluster_json.h"
#include "api/subject.h"
#include "api/window.h"
#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::api {
namespace {

constexpr std::size_t kMostValues = 200;  // of a dimension, listed or compared
constexpr std::size_t kMostDifferences = 20;
constexpr std::size_t kMostComparedGroups = 50;
constexpr std::size_t kMostUnaffected = 1000;  // examined groups that affect no run on this side
constexpr std::size_t kGroupsAtOnce = 1024;    // per look-up
constexpr std::size_t kMostJustBefore = 1000;  // runs examined one by one
constexpr const char* kBefore = "before";

// Clamps `affected`: failures are deleted separately from their runs, and the counts are read one after the other while runs arrive.
Proportion proportion(std::uint64_t affected, std::uint64_t runs) {
  return {std::min(affected, runs), runs};
}

std::uint64_t minus(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
}

struct Difference {
  model::Dimension value;
  Proportion affected;
  Proportion others;
  Interval difference;
};

void write_runs_of(JsonWriter& out, std::string_view name, const Proportion& runs) {
  out.key(name).begin_object().key("runs").integer(static_cast<std::int64_t>(runs.affected));
  out.key("of").integer(static_cast<std::int64_t>(runs.runs)).end_object();
}

// One side of a baseline: a set of runs.
class Side {
 public:
  virtual ~Side() = default;
  virtual Proportion rate(const store::Subject& subject) const = 0;
};

class SideOfValue final : public Side {
 public:
  SideOfValue(store::GroupStore& groups, model::TenantId tenant, model::Dimension value, const store::Span& span)
      : groups_(groups), tenant_(tenant), value_(std::move(value)), span_(span) {
    // Skips the time before the first run with the value, because most versions are recent.
    if (const auto first = groups.first_run_with(tenant, value_)) span_.from_ms = std::clamp(first->time_ms, span.from_ms, span.before_ms);
    runs_ = groups.count_runs_with(tenant, value_, span_);
  }

  Proportion rate(const store::Subject& subject) const override {
    return proportion(runs_ == 0 ? 0 : groups_.count_affected_with(tenant_, subject, value_, span_), runs_);
  }
  std::uint64_t runs() const { return runs_; }
  // For each group, an upper bound of the affected runs in rate().
  std::vector<std::uint64_t> most_affected(std::span<const model::ClusterKey> clusters) const {
    return groups_.most_affected_with(tenant_, clusters, value_, span_);
  }

 private:
  store::GroupStore& groups_;
  model::TenantId tenant_;
  model::Dimension value_;
  store::Span span_;
  std::uint64_t runs_ = 0;
};

// The runs of the span before the first run with a value: those of whole entries, and those of that run's own entry, which are examined
// one by one. If the latter are too many, the entry's runs without the value are used instead.
class SideBefore final : public Side {
 public:
  SideBefore(store::GroupStore& groups, model::TenantId tenant, model::Dimension value, const store::Span& span)
      : groups_(groups), tenant_(tenant), value_(std::move(value)) {
    const store::Span whole = store::whole_entries(span);
    entries_ = {whole.from_ms, whole.from_ms};
    const auto first = groups_.first_run_with(tenant, value_);
    if (!first) return;
    const store::Span own = store::whole_entries({first->time_ms, first->time_ms + 1});
    entries_.before_ms = std::clamp(own.from_ms, whole.from_ms, whole.before_ms);
    if (own.from_ms >= whole.from_ms && own.from_ms < whole.before_ms) {
      own_entry_ = own;
      just_before_ = groups_.runs_just_before(tenant, *first, kMostJustBefore);
    }
    runs_ = groups_.count_all_runs(tenant, entries_);
    if (!own_entry_) return;
    runs_ += just_before_ ? just_before_->runs
                          : minus(groups_.count_all_runs(tenant, *own_entry_), groups_.count_runs_with(tenant, value_, *own_entry_));
  }

  Proportion rate(const store::Subject& subject) const override {
    std::uint64_t affected = entries_.from_ms < entries_.before_ms ? groups_.count_affected(tenant_, subject, entries_) : 0;
    if (just_before_) {
      affected += just_before_->by(subject);
    } else if (own_entry_) {
      affected += minus(groups_.count_affected(tenant_, subject, *own_entry_),
                        groups_.count_affected_with(tenant_, subject, value_, *own_entry_));
    }
    return proportion(affected, runs_);
  }

 private:
  store::GroupStore& groups_;
  model::TenantId tenant_;
  model::Dimension value_;
  store::Span entries_;
  std::optional<store::Span> own_entry_;  // the entry of the first run with the value
  std::optional<store::AffectedRuns> just_before_;
  std::uint64_t runs_ = 0;
};

struct Compared {
  model::ClusterKey cluster;
  Proportion here;
  Proportion against;
  Interval difference;
};

bool rises_more(const Compared& left, const Compared& right) {
  if (left.difference.value != right.difference.value) return left.difference.value > right.difference.value;
  return left.cluster < right.cluster;
}

void write_comparison(JsonWriter& out, const Proportion& here, const Proportion& against) {
  write_rate(out.key("this"), here);
  write_rate(out.key("against"), against);
  write_interval(out.key("difference"), difference_of(here, against));
  out.key("verdict").string(name(compare_rates(here, against)));
}

struct Candidate {
  std::uint64_t failures = 0;
  model::ClusterKey cluster;
};

// The groups to compare, those with the most failures first.
std::vector<Candidate> candidates(store::GroupStore& groups, model::TenantId tenant, const store::Subject& subject,
                                  const store::Span& span) {
  std::vector<Candidate> found;
  groups.visit_clusters(tenant, [&](const model::Cluster& cluster) {
    if (cluster.last_ms < span.from_ms || cluster.first_ms >= span.before_ms) return;
    if (subject.kind == store::Subject::Kind::cluster && cluster.key != subject.cluster) return;
    if (subject.kind == store::Subject::Kind::detector && cluster.detector_key != subject.detector_key) return;
    found.push_back({cluster.count, cluster.key});
  });
  std::sort(found.begin(), found.end(), [](const Candidate& left, const Candidate& right) {
    return left.failures != right.failures ? left.failures > right.failures : left.cluster < right.cluster;
  });
  return found;
}

// The groups whose rate rises most. Skips most groups, because a rate cannot rise by more than its own value.
std::vector<Compared> compare_groups(const std::vector<Candidate>& found, const SideOfValue& here, const Side& against) {
  std::vector<Compared> compared;
  std::size_t unaffected = 0;
  const auto can_be_among = [&](std::uint64_t most_affected) {
    return compared.size() < kMostComparedGroups ||
           share_of({std::min(most_affected, here.runs()), here.runs()}).value > compared.back().difference.value;
  };
  const auto compare = [&](const model::ClusterKey& cluster, std::uint64_t most_affected) {
    const store::Subject subject = store::Subject::of_cluster(cluster);
    const Proportion left = most_affected == 0 ? proportion(0, here.runs()) : here.rate(subject);
    if (!can_be_among(left.affected)) return;
    const Proportion right = against.rate(subject);
    if (left.affected + right.affected == 0) return;
    compared.push_back({cluster, left, right, difference_of(left, right)});
    std::inplace_merge(compared.begin(), compared.end() - 1, compared.end(), rises_more);
    if (compared.size() > kMostComparedGroups) compared.pop_back();
  };
  for (std::size_t begin = 0; begin < found.size() && can_be_among(found[begin].failures); begin += kGroupsAtOnce) {
    const std::size_t size = std::min(kGroupsAtOnce, found.size() - begin);
    std::vector<model::ClusterKey> clusters;
    for (std::size_t i = 0; i < size; ++i) clusters.push_back(found[begin + i].cluster);
    const std::vector<std::uint64_t> most_affected = here.most_affected(clusters);
    std::vector<std::size_t> order(size);  // largest possible rise first, so that the loop can stop early
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return most_affected[a] > most_affected[b]; });
    for (const std::size_t i : order) {
      if (!can_be_among(most_affected[i])) break;
      if (most_affected[i] > 0 || unaffected++ < kMostUnaffected) compare(clusters[i], most_affected[i]);
    }
  }
  return compared;
}

Error wanted_member(const char* name, const char* what) {
  return {Code::bad_request, std::string("the query of /v1/baseline needs a member \"") + name + "\": " + what, {}, {}};
}

// The value whose runs are compared.
Result<model::Dimension> read_compared(const Query& query) {
  const std::string* dimension = find_member(query, "dimension");
  if (dimension == nullptr || dimension->empty()) return wanted_member("dimension", "one of those that /v1/dimensions lists");
  const std::string* value = find_member(query, "value");
  if (value == nullptr || value->empty()) return wanted_member("value", "the value of the runs to compare");
  return model::Dimension{*dimension, *value};
}

}  // namespace

Result<std::string> ComparisonReads::dimensions(const Admission& admission) {
  if (const Status known = check_members(admission.query, "/v1/dimensions", {}); !known.ok()) return known.error();
  auto rows = groups_.dimension_values(admission.principal->tenant, std::nullopt, kMostValues);
  std::stable_sort(rows.begin(), rows.end(), [](const store::DimensionRow& left, const store::DimensionRow& right) {
    if (left.dimension != right.dimension) return left.dimension < right.dimension;
    return left.last_ms != right.last_ms ? left.last_ms > right.last_ms : left.runs > right.runs;
  });
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const store::DimensionRow& row = rows[i];
    if (i == 0 || rows[i - 1].dimension != row.dimension) {
      if (i > 0) out.end_array().end_object();
      out.begin_object().key("dimension").string(row.dimension).key("values").begin_array();
    }
    out.begin_object().key("value").string(row.value).key("runs").integer(static_cast<std::int64_t>(row.runs));
    out.key("firstSeen").string(format_time(row.first_ms)).key("lastSeen").string(format_time(row.last_ms)).end_object();
  }
  if (!rows.empty()) out.end_array().end_object();
  out.end_array().end_object();
  return text;
}

Result<std::string> ComparisonReads::differences(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  if (const Status known = check_members(admission.query, "a group's differences", {"window", "from", "until"}); !known.ok())
    return known.error();
  const auto span = read_window(admission.query, clock_.wall_ms(), kUsualWindow);
  if (!span.ok()) return span.error();
  const auto cluster = groups_.find_cluster(tenant, admission.parameters.at(0));
  if (!cluster) return no_such_cluster(admission.parameters.at(0));
  const store::Subject subject = store::Subject::of_cluster(cluster->key);
  const std::uint64_t affected = groups_.count_affected(tenant, subject, *span);
  const std::uint64_t others = minus(groups_.count_all_runs(tenant, store::whole_entries(*span)), affected);
  std::vector<Difference> found;
  if (affected > 0 && others > 0) {
    for (const store::DimensionRow& row : groups_.dimension_values(tenant, *span, kMostValues)) {
      model::Dimension value{row.dimension, row.value};
      const std::uint64_t runs = groups_.count_runs_with(tenant, value, *span);
      const std::uint64_t affected_with = groups_.count_affected_with(tenant, subject, value, *span);
      const Proportion here = proportion(affected_with, affected);
      const Proportion elsewhere = proportion(minus(runs, affected_with), others);
      const Interval difference = difference_of(here, elsewhere);
      if (difference.low > 0 || difference.high < 0) found.push_back({std::move(value), here, elsewhere, difference});
    }
  }
  std::sort(found.begin(), found.end(), [](const Difference& left, const Difference& right) {
    return left.difference.low != right.difference.low ? left.difference.low > right.difference.low : left.value < right.value;
  });
  if (found.size() > kMostDifferences) found.resize(kMostDifferences);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (const Difference& one : found) {
    out.begin_object().key("dimension").string(one.value.name).key("value").string(one.value.value);
    write_runs_of(out, "affected", one.affected);
    write_runs_of(out, "others", one.others);
    write_interval(out.key("difference"), one.difference);
    out.end_object();
  }
  out.end_array().end_object();
  return text;
}

Result<std::string> ComparisonReads::baseline(const Admission& admission) {
  const model::TenantId tenant = admission.principal->tenant;
  const Query& query = admission.query;
  const Status known =
      check_members(query, "/v1/baseline", {"dimension", "value", "against", "window", "from", "until", "cluster", "detector"});
  if (!known.ok()) return known.error();
  const auto compared = read_compared(query);
  if (!compared.ok()) return compared.error();
  const auto span = read_window(query, clock_.wall_ms(), kUsualWindow);
  if (!span.ok()) return span.error();
  const auto subject = read_subject(groups_, admission);
  if (!subject.ok()) return subject.error();
  const std::string* asked = find_member(query, "against");
  const SideOfValue here(groups_, tenant, *compared, *span);
  std::unique_ptr<Side> against;
  if (asked == nullptr || *asked == kBefore) {
    against = std::make_unique<SideBefore>(groups_, tenant, *compared, *span);
  } else {
    against = std::make_unique<SideOfValue>(groups_, tenant, model::Dimension{compared->name, *asked}, *span);
  }
  const Proportion rate = here.rate(*subject);
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_comparison(out, rate, against->rate(*subject));
  out.key("groups").begin_array();
  if (rate.runs > 0) {
    for (const Compared& one : compare_groups(candidates(groups_, tenant, *subject, *span), here, *against)) {
      const std::string id = model::cluster_id(one.cluster);
      const auto cluster = groups_.find_cluster(tenant, id);
      if (!cluster) continue;  // its last failure has been deleted since
      out.begin_object().key("clusterId").string(id).key("title").string(cluster->title);
      write_comparison(out, one.here, one.against);
      out.end_object();
    }
  }
  out.end_array().end_object();
  return text;
}

}  // namespace runwarden::api
