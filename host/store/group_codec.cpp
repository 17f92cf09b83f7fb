#include "store/group_codec.h"

#include <algorithm>

#include "store/fields.h"

namespace runwarden::store {
namespace {

// Field numbers are part of the format: never change or reuse them.
namespace field {
enum Cluster { fingerprint = 1, detector_key, title, count, waste, first, last, scores, severities, triage, rising_told = 20 };
enum Triage { kind = 1, since, fixed, until_at, until_failures, until_share, failures_since, for_false_alarms, false_alarm_marks };
enum Entry {
  entry_time = 1,
  entry_seq,
  action,
  author,
  note,
  fixed_by,
  entry_fixed,
  entry_until_at,
  entry_until_failures,
  entry_until_share,
  state,
  entry_for_false_alarms
};
enum Tail { at = 1, kinds, places };
}  // namespace field

void add_triage(Writer& out, const model::Triage& triage) {
  if (triage == model::Triage()) return;
  Writer in(out, field::triage);
  in.add_enum(field::kind, static_cast<std::int32_t>(triage.kind));
  in.add_sint64(field::since, triage.since_ms);
  in.add_sint64(field::fixed, triage.fixed_ms);
  if (triage.until.at_ms) in.add_sint64(field::until_at, *triage.until.at_ms);
  if (triage.until.failures) in.add_uint64(field::until_failures, *triage.until.failures);
  if (triage.until.share) in.add_double(field::until_share, *triage.until.share);
  in.add_uint64(field::failures_since, triage.failures_since);
  if (triage.for_false_alarms) in.add_bool(field::for_false_alarms, true);
  if (!triage.false_alarm_marks.empty()) {
    in.add_packed_fixed64(field::false_alarm_marks, triage.false_alarm_marks.begin(), triage.false_alarm_marks.end());
  }
}

model::Triage read_triage(std::string_view bytes) {
  model::Triage triage;
  read_fields(bytes, [&](Reader& in) {
    switch (in.tag()) {
      case field::kind: triage.kind = read_enum(in, model::Triage::Kind::regressed); return true;
      case field::since: triage.since_ms = in.get_sint64(); return true;
      case field::fixed: triage.fixed_ms = in.get_sint64(); return true;
      case field::until_at: triage.until.at_ms = in.get_sint64(); return true;
      case field::until_failures: triage.until.failures = in.get_uint64(); return true;
      case field::until_share: triage.until.share = in.get_double(); return true;
      case field::failures_since: triage.failures_since = in.get_uint64(); return true;
      case field::for_false_alarms: triage.for_false_alarms = in.get_bool(); return true;
      case field::false_alarm_marks:
        for (const std::uint64_t mark : in.get_packed_fixed64()) triage.false_alarm_marks.push_back(mark);
        return true;
      default: return false;
    }
  });
  return triage;
}

}  // namespace

void ClusterHead::settle() {
  std::erase_if(scores, [](const auto& score) { return score.second == 0; });
  cluster.max_score = scores.empty() ? cluster.max_score : scores.rbegin()->first;
  for (std::size_t i = severities.size(); i-- > 0;) {
    if (severities[i] == 0) continue;
    cluster.severity = static_cast<model::Severity>(i);
    return;
  }
}

std::string encode_cluster(std::string_view key, const ClusterHead& head) {
  const model::Cluster& cluster = head.cluster;
  std::string bytes;
  Writer out(bytes);
  out.add_string(field::fingerprint, cluster.fingerprint);
  out.add_string(field::detector_key, cluster.detector_key);
  out.add_string(field::title, cluster.title);
  out.add_uint64(field::count, cluster.count);
  out.add_sint64(field::waste, cluster.waste_micro_usd);
  out.add_sint64(field::first, cluster.first_ms);
  out.add_sint64(field::last, cluster.last_ms);
  std::vector<std::uint64_t> pairs;
  for (const auto& [score, count] : head.scores) {
    pairs.push_back(static_cast<std::uint64_t>(score));
    pairs.push_back(count);
  }
  // For a group without failures, the highest score that it had.
  if (pairs.empty()) pairs = {static_cast<std::uint64_t>(cluster.max_score), 0};
  out.add_packed_uint64(field::scores, pairs.begin(), pairs.end());
  std::vector<std::uint64_t> severities(head.severities.begin(), head.severities.end());
  severities.push_back(static_cast<std::uint64_t>(cluster.severity));
  out.add_packed_uint64(field::severities, severities.begin(), severities.end());
  add_triage(out, cluster.triage);
  if (head.rising_told_ms != model::kNever) out.add_sint64(field::rising_told, head.rising_told_ms);
  return seal(key, bytes);
}

ClusterHead decode_cluster(std::string_view key, std::string_view value) {
  ClusterHead head;
  model::Cluster& cluster = head.cluster;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::fingerprint: cluster.fingerprint = in.get_string(); return true;
      case field::detector_key: cluster.detector_key = in.get_string(); return true;
      case field::title: cluster.title = in.get_string(); return true;
      case field::count: cluster.count = in.get_uint64(); return true;
      case field::waste: cluster.waste_micro_usd = in.get_sint64(); return true;
      case field::first: cluster.first_ms = in.get_sint64(); return true;
      case field::last: cluster.last_ms = in.get_sint64(); return true;
      case field::scores: {
        const auto pairs = in.get_packed_uint64();
        for (auto at = pairs.begin(); at != pairs.end(); ++at) {
          const auto score = static_cast<int>(*at);
          if (++at == pairs.end()) throw BadValue("its list of scores is truncated");
          cluster.max_score = score;
          if (*at != 0) head.scores[score] = *at;
        }
        return true;
      }
      case field::severities: {
        std::vector<std::uint64_t> numbers;
        for (const std::uint64_t number : in.get_packed_uint64()) numbers.push_back(number);
        if (numbers.size() != head.severities.size() + 1 || numbers.back() > 3) throw BadValue("its list of severities is truncated");
        std::copy_n(numbers.begin(), head.severities.size(), head.severities.begin());
        cluster.severity = static_cast<model::Severity>(numbers.back());
        return true;
      }
      case field::triage: cluster.triage = read_triage(read_view(in)); return true;
      case field::rising_told: head.rising_told_ms = in.get_sint64(); return true;
      default: return false;
    }
  });
  if (key.size() < 4 + cluster.key.size()) throw BadValue("the key has " + std::to_string(key.size()) + " bytes");
  std::copy_n(key.data() + 4, cluster.key.size(), cluster.key.begin());
  return head;
}

std::string encode_triage(std::string_view key, const model::TriageEntry& entry) {
  std::string bytes;
  Writer out(bytes);
  out.add_sint64(field::entry_time, entry.key.time_ms);
  out.add_uint64(field::entry_seq, entry.key.seq);
  out.add_enum(field::action, static_cast<std::int32_t>(entry.action));
  out.add_string(field::author, entry.author);
  if (!entry.note.empty()) out.add_string(field::note, entry.note);
  if (!entry.fixed_by.empty()) out.add_string(field::fixed_by, entry.fixed_by);
  out.add_sint64(field::entry_fixed, entry.fixed_ms);
  if (entry.until.at_ms) out.add_sint64(field::entry_until_at, *entry.until.at_ms);
  if (entry.until.failures) out.add_uint64(field::entry_until_failures, *entry.until.failures);
  if (entry.until.share) out.add_double(field::entry_until_share, *entry.until.share);
  out.add_enum(field::state, static_cast<std::int32_t>(entry.state));
  if (entry.for_false_alarms) out.add_bool(field::entry_for_false_alarms, true);
  return seal(key, bytes);
}

model::TriageEntry decode_triage(std::string_view key, std::string_view value) {
  model::TriageEntry entry;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::entry_time: entry.key.time_ms = in.get_sint64(); return true;
      case field::entry_seq: entry.key.seq = in.get_uint64(); return true;
      case field::action: entry.action = read_enum(in, model::TriageAction::ignore_ended); return true;
      case field::author: entry.author = in.get_string(); return true;
      case field::note: entry.note = in.get_string(); return true;
      case field::fixed_by: entry.fixed_by = in.get_string(); return true;
      case field::entry_fixed: entry.fixed_ms = in.get_sint64(); return true;
      case field::entry_until_at: entry.until.at_ms = in.get_sint64(); return true;
      case field::entry_until_failures: entry.until.failures = in.get_uint64(); return true;
      case field::entry_until_share: entry.until.share = in.get_double(); return true;
      case field::state: entry.state = read_enum(in, model::ClusterState::regressed); return true;
      case field::entry_for_false_alarms: entry.for_false_alarms = in.get_bool(); return true;
      default: return false;
    }
  });
  return entry;
}

std::string encode_tail(std::string_view key, const std::vector<TailItem>& items, std::int64_t at_ms) {
  std::string kinds;
  std::vector<std::uint64_t> places;
  for (const TailItem& item : items) {
    kinds += static_cast<char>(item.kind);
    places.push_back(static_cast<std::uint64_t>(item.record.time_ms));
    places.push_back(item.record.seq);
  }
  std::string bytes;
  Writer out(bytes);
  out.add_sint64(field::at, at_ms);
  out.add_string(field::kinds, kinds);
  out.add_packed_fixed64(field::places, places.begin(), places.end());
  return seal(key, bytes);
}

std::vector<TailItem> decode_tail(std::string_view key, std::string_view value) {
  std::int64_t at_ms = 0;
  std::string kinds;
  std::vector<std::uint64_t> places;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::at: at_ms = in.get_sint64(); return true;
      case field::kinds: kinds = in.get_string(); return true;
      case field::places:
        for (const std::uint64_t number : in.get_packed_fixed64()) places.push_back(number);
        return true;
      default: return false;
    }
  });
  if (places.size() != kinds.size() * 2) throw BadValue("its list of commits is truncated");
  std::vector<TailItem> items;
  items.reserve(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (static_cast<std::uint8_t>(kinds[i]) > static_cast<std::uint8_t>(TailItem::Kind::failure))
      throw BadValue("it has a record of an unknown kind");
    items.push_back({static_cast<TailItem::Kind>(kinds[i]), at_ms, {static_cast<std::int64_t>(places[i * 2]), places[i * 2 + 1]}});
  }
  return items;
}

std::size_t count_tail(std::string_view key, std::string_view value) {
  std::size_t count = 0;
  read_fields(open_head(key, value), [&](Reader& in) {
    if (in.tag() != field::kinds) return false;
    count = read_view(in).size();
    return true;
  });
  return count;
}

}  // namespace runwarden::store
