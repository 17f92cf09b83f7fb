#include "store/lmdb/open_run_index.h"

#include <algorithm>

namespace runwarden::store {
namespace {

// The request that completes a run ends it. If it has not done so for this long, the run is due for others.
constexpr std::int64_t kCompleterMs = 5'000;

// After a start, for clients that retry.
constexpr std::int64_t kLongestGraceMs = 30'000;
constexpr std::int64_t kGraceParts = 10;  // of the timeout

}  // namespace

void OpenRunIndex::set_first(Entry& entry, std::int64_t first_ms) {
  uncount(entry);
  entry.first_ms = first_ms;
  entry.counted = true;
  ++ages_[age_bucket(first_ms)];
}

void OpenRunIndex::uncount(const Entry& entry) {
  if (!entry.counted) return;
  const auto bucket = ages_.find(age_bucket(entry.first_ms));
  if (--bucket->second == 0) ages_.erase(bucket);
}

void OpenRunIndex::await(Entry& entry, Awaits what, std::int64_t heard_ms) {
  entry.awaits = what;
  if (what == Awaits::spans && !entry.root_ms) entry.root_ms = heard_ms;
}

// When a run is due if nothing more arrives.
std::int64_t OpenRunIndex::idle_due_ms(const Entry& entry) const {
  const bool root_is_there = entry.awaits == Awaits::spans;
  const std::int64_t timeout_ms = root_is_there                  ? rules_.otlp_root_grace_ms
                                  : entry.awaits == Awaits::root ? rules_.otlp_idle_ms
                                                                 : rules_.idle_ms;
  const std::int64_t due_ms = (root_is_there ? *entry.root_ms : entry.last_ms) + timeout_ms;
  if (!entry.loaded_ms) return due_ms;
  return std::max(due_ms, *entry.loaded_ms + std::min(timeout_ms / kGraceParts, kLongestGraceMs));
}

std::int64_t OpenRunIndex::due_ms(const Entry& entry) const {
  const std::int64_t by_time = std::min(idle_due_ms(entry), entry.first_ms + rules_.max_age_ms);
  const std::int64_t due = entry.complete_at_ms >= 0 ? std::min(by_time, entry.complete_at_ms) : by_time;
  return std::max(due, entry.leased_until_ms);
}

void OpenRunIndex::schedule(const RunKey& place, Entry& entry, std::int64_t at_ms) {
  entry.next_check_ms = at_ms;
  checks_.push({at_ms, place});
}

void OpenRunIndex::schedule_all() {
  checks_ = {};
  for (auto& [place, entry] : entries_) schedule(place, entry, due_ms(entry));
}

void OpenRunIndex::load(const RunKey& place, const State& state, const Age& age, std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[place];
  entry.revision = state.revision;
  entry.last_ms = now_ms - std::max<std::int64_t>(age.silent_ms, 0);
  entry.loaded_ms = now_ms;
  await(entry, state.awaits, entry.last_ms);
  set_first(entry, now_ms - std::max<std::int64_t>(age.begun_ms, 0));
  if (state.part == Part::complete) entry.complete_at_ms = 0;
  schedule(place, entry, due_ms(entry));
}

void OpenRunIndex::note_activity(const RunKey& place, const State& state, std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  const auto [found, is_new] = entries_.try_emplace(place);
  Entry& entry = found->second;
  const bool begins = is_new || entry.revision != state.revision;
  if (begins) {
    const std::int64_t next_check_ms = entry.next_check_ms;
    uncount(entry);
    entry = {};
    set_first(entry, now_ms);
    entry.revision = state.revision;
    entry.next_check_ms = next_check_ms;
  }
  entry.last_ms = now_ms;
  entry.loaded_ms.reset();
  await(entry, state.awaits, now_ms);
  if (state.part == Part::complete && entry.complete_at_ms < 0) entry.complete_at_ms = now_ms + kCompleterMs;
  // A check that comes too early is put off; only one that would come too late has to be replaced.
  if (is_new || due_ms(entry) < entry.next_check_ms) schedule(place, entry, due_ms(entry));
}

void OpenRunIndex::ended(const RunKey& place) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(place);
  if (found == entries_.end()) return;
  uncount(found->second);
  entries_.erase(found);
}

std::vector<OpenRunIndex::Due> OpenRunIndex::claim(const BufferRules& rules, const Lease& lease, std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (rules != rules_) {
    rules_ = rules;
    schedule_all();
  }
  std::vector<Due> due;
  while (due.size() < lease.most && !checks_.empty() && checks_.top().at_ms <= now_ms) {
    const Check check = checks_.top();
    checks_.pop();
    const auto found = entries_.find(check.place);
    if (found == entries_.end() || found->second.next_check_ms != check.at_ms) continue;
    Entry& entry = found->second;
    if (due_ms(entry) <= now_ms) {
      const bool idle = idle_due_ms(entry) <= entry.first_ms + rules_.max_age_ms;
      const auto ended = entry.awaits == Awaits::spans ? model::Resolution::final : model::Resolution::idle;
      const std::uint64_t token = this->lease(entry, now_ms + lease.lease_ms);
      due.push_back({check.place, idle ? ended : model::Resolution::max_age, token});
    }
    schedule(check.place, entry, due_ms(entry));
  }
  return due;
}

std::uint64_t OpenRunIndex::lease(Entry& entry, std::int64_t until_ms) {
  entry.leased_until_ms = until_ms;
  entry.token = ++last_token_;
  return entry.token;
}

std::optional<std::uint64_t> OpenRunIndex::claim_one(const RunKey& place, std::int64_t lease_ms, std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(place);
  if (found == entries_.end() || found->second.leased_until_ms > now_ms) return std::nullopt;
  return lease(found->second, now_ms + lease_ms);
}

OpenRunIndex::Entry* OpenRunIndex::claimed(const RunKey& place, std::uint64_t token) {
  const auto found = entries_.find(place);
  return found != entries_.end() && token != 0 && found->second.token == token ? &found->second : nullptr;
}

bool OpenRunIndex::holds(const RunKey& place, std::uint64_t token) {
  const MutexLock lock(mutex_);
  return claimed(place, token) != nullptr;
}

bool OpenRunIndex::renew(const RunKey& place, std::uint64_t token, std::int64_t leased_until_ms) {
  const MutexLock lock(mutex_);
  Entry* const entry = claimed(place, token);
  if (entry == nullptr) return false;
  entry->leased_until_ms = leased_until_ms;  // a check that comes too early is put off
  return true;
}

void OpenRunIndex::release(const RunKey& place, std::uint64_t token, std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  Entry* const entry = claimed(place, token);
  if (entry == nullptr) return;
  entry->leased_until_ms = 0;
  entry->token = 0;
  schedule(place, *entry, std::max(due_ms(*entry), now_ms));
}

std::vector<RunKey> OpenRunIndex::places() const {
  const MutexLock lock(mutex_);
  std::vector<RunKey> places;
  places.reserve(entries_.size());
  for (const auto& [place, entry] : entries_) places.push_back(place);
  return places;
}

OpenRuns OpenRunIndex::count(std::int64_t now_ms) const {
  const MutexLock lock(mutex_);
  if (ages_.empty()) return {};
  const std::int64_t oldest_ms = ages_.begin()->first << 10;  // the beginning of the bucket
  return {entries_.size(), std::max<std::int64_t>(now_ms - oldest_ms, 0)};
}

}  // namespace runwarden::store
