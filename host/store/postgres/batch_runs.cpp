// Decides the writes of runs: whole, as events, as traces, and what ends open ones.
#include <algorithm>

#include "store/buffering.h"
#include "store/key_encoding.h"
#include "store/postgres/batch_decisions.h"
#include "store/postgres/row.h"
#include "store/record_codec.h"
#include "store/sealed_runs.h"

namespace runwarden::store::postgres {

KnownAnswer& Batch::State::remember(model::TenantId tenant, const Idempotency& idempotency, IdempotentAnswer answered) {
  answered.idempotency = idempotency;
  answered.created_ms = rules.now_ms;
  const Identity identity{tenant, idempotency.identity};
  KnownAnswer& answer = answers[identity];
  const bool in_database = answer.in_database;
  answer = {};
  answer.in_database = in_database;
  answer.answered = answered;
  remembered.insert(identity);
  return answer;
}

std::optional<WriteResult> Batch::State::replay_run(model::TenantId tenant, const std::optional<Idempotency>& idempotency) {
  const KnownAnswer* const answer = answer_to(tenant, idempotency);
  if (answer == nullptr) return std::nullopt;
  if (answer->answered.idempotency.content != idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
  auto run = answered_run(tenant, *answer);
  if (!run) return std::nullopt;
  WriteResult result{Outcome::replayed, std::move(run), {}};
  result.buffered = answer->answered.buffered;
  return result;
}

std::optional<WriteResult> Batch::State::same_run_id(const RunWrite& write) {
  KnownRun& run = known({write.tenant, write.run.run_id});
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  if (!run.exists()) return std::nullopt;
  const bool same = !run.is_open() && stored_of(run).run.content == write.run.content;
  WriteResult result{same ? Outcome::replayed : Outcome::run_conflict, record_of(run), {}};
  if (same) remember(write.tenant, write.idempotency, {.record = result.first->key, .revision = result.first->revision});
  return result;
}

WriteResult Batch::State::decide(const RunWrite& write, std::span<const std::string> sealed, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  if (write.claim) return claimed_run(write, sealed);
  if (auto before = same_run_id(write)) return std::move(*before);
  return whole_run(write, sealed);
}

model::ReviewVerdict Batch::State::last_verdict(const TenantKey& failure) const {
  const auto last = found.last_reviews.find(failure);
  return last == found.last_reviews.end() ? model::ReviewVerdict::none : last->second.verdict;
}

// Adds what an earlier revision had found, too: with its reviews, and not as new to its group.
void Batch::State::add_again(const RunWrite& write, const model::FailureRecord& failure, const std::string& sealed) {
  const TenantKey place{write.tenant, failure.key};
  model::FailureRecord& again = as_stored.emplace_back(failure);
  again.reviewed = last_verdict(place);
  const std::string& body = made.emplace_back(with_verdict(place_key(write.tenant, failure.key), sealed, again.reviewed));
  rows.failures.push_back({place, &again, body});
  failures[place] = {again.shadow, body, true, again.reviewed};
  effects.failures_added.push_back({write.tenant, &again, Addition::again});
}

void Batch::State::add_failures(const RunWrite& write, std::span<const std::string> sealed) {
  for (std::size_t i = 0; i < write.failures.size(); ++i) {
    const model::FailureRecord& failure = write.failures[i];
    if (of_claims.failures.contains({write.tenant, failure.key}) ||
        last_verdict({write.tenant, failure.key}) != model::ReviewVerdict::none) {
      add_again(write, failure, sealed[i + 1]);
      continue;
    }
    rows.failures.push_back({{write.tenant, failure.key}, &failure, sealed[i + 1]});
    effects.failures_added.push_back({write.tenant, &failure});
    const TenantKey place{write.tenant, failure.key};
    if (wanted.reviewed_failures.contains(place)) failures[place] = {failure.shadow, sealed[i + 1]};
  }
}

WriteResult Batch::State::whole_run(const RunWrite& write, std::span<const std::string> sealed) {
  KnownRun& run = known({write.tenant, write.run.run_id});
  run.place = write.run.key;
  run.value = sealed.front();
  run.written = &write.run;
  run.run_changed = true;
  by_place[{write.tenant, run.place}] = &run;
  add_failures(write, sealed);
  put_opinions(write);
  effects.runs_entered.push_back({write.tenant, write.run.key, write.run.dimensions});
  remember(write.tenant, write.idempotency, {.record = write.run.key, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::lost_claim(const RunWrite& write, KnownRun* run) {
  WriteResult lost{Outcome::run_conflict, {}, {}};
  if (run != nullptr && run->exists()) {
    lost.first = record_of(*run);
    return lost;
  }
  const auto body = of_claims.runs.find({write.tenant, write.claim->run});
  if (body != of_claims.runs.end()) lost.first = decode_run(place_key(write.tenant, write.claim->run), body->second).run;
  return lost;
}

// Failures that cannot be read are deleted, too, but stay in the counts.
void Batch::State::take_back_failures(const RunWrite& write, const StoredRun& stored) {
  const model::TenantId tenant = write.tenant;
  for (const model::RecordKey& key : stored.failures) {
    const TenantKey place{tenant, key};
    const bool again = std::any_of(write.failures.begin(), write.failures.end(), [&](const auto& failure) { return failure.key == key; });
    rows.gone_failures.push_back(place);
    const auto reviewed = failures.extract(place);
    const auto body = of_claims.failures.find(place);
    if (body == of_claims.failures.end()) continue;
    try {
      effects.failures_removed.push_back({tenant,
                                          decode_failure_head(place_key(tenant, key), reviewed ? reviewed.mapped().body : body->second),
                                          again ? Removal::replaced : Removal::taken_back});
    } catch (const BadValue&) {
    }
  }
}

EventsBeyond Batch::State::beyond(const KnownRun& run, std::uint32_t upto) const {
  EventsBeyond rest;
  const auto add = [&](const EventRowBeyond& row, std::uint64_t bytes) {
    if (rest.bytes == 0 && rest.last_ms == 0) rest.first_ms = row.received_ms;
    rest.bytes += bytes;
    rest.last_ms = std::max(rest.last_ms, row.received_ms);
  };
  const auto in_database = of_claims.beyond.find({run.name.tenant, run.place});
  if (in_database != of_claims.beyond.end()) {
    for (const EventRowBeyond& row : in_database->second) {
      std::uint64_t bytes = row.bytes;
      if (row.first < upto) {
        bytes = 0;
        try {
          const KeyBytes key = place_key(run.name.tenant, run.place).u8(1).u32(row.first);
          const std::vector<std::string> events = decode_events(key, row.body);
          for (std::size_t i = upto - row.first; i < events.size(); ++i) bytes += events[i].size();
        } catch (const BadValue&) {  // the run leaves them out as well
        }
      }
      add(row, bytes);
    }
  }
  for (const EventRowBeyond& row : run.added) add(row, row.bytes);
  return rest;
}

WriteResult Batch::State::claimed_run(const RunWrite& write, std::span<const std::string> sealed) {
  const Claim& claim = *write.claim;
  const auto found_run = runs.find({write.tenant, claim.run_id});
  KnownRun* const run = found_run == runs.end() ? nullptr : &found_run->second;
  if (run != nullptr && !run->unreadable.empty()) return unavailable(run->unreadable);
  if (run == nullptr || !holds(claim, *run)) return lost_claim(write, run);
  take_back_failures(write, *run->stored);
  add_failures(write, sealed);
  if (claim.revision > 1) rows.without_opinions.push_back({write.tenant, claim.run});
  put_opinions(write);
  if (claim.revision > 1) effects.runs_left.push_back({write.tenant, claim.run, run->stored->run.dimensions});
  effects.runs_entered.push_back({write.tenant, claim.run, write.run.dimensions});
  run->run_changed = true;
  if (run->stored->buffering->total > claim.upto) {
    rows.previous.push_back({{write.tenant, run->place}, write.run.revision, sealed.front()});
    run->stored = following_revision(write, *run->stored, beyond(*run, claim.upto));
    run->added.clear();
    hear(*run, Begins::yes);
  } else {
    run->value = sealed.front();
    run->stored.reset();
    run->written = &write.run;
  }
  remember(write.tenant, write.idempotency, {.record = claim.run, .revision = write.run.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::answered(const EventsWrite& write, Outcome outcome, const Buffered& buffered) {
  remember(write.tenant, write.idempotency,
           {.kind = IdempotentAnswer::Kind::events, .record = buffered.run, .revision = buffered.revision, .buffered = buffered});
  WriteResult result{outcome, {}, {}};
  result.buffered = buffered;
  return result;
}

// If nothing of the request is new, only what is remembered of it changes.
std::optional<WriteResult> Batch::State::nothing_new(const EventsWrite& write, KnownRun& run, const NewEvents& fresh) {
  if (!run.exists() || !fresh.json.empty()) return std::nullopt;
  Buffered buffered = how_it_stands(run.place, stored_of(run));
  if (run.is_open()) {
    if (fresh.final && !run.stored->buffering->ending) return std::nullopt;
    return answered(write, Outcome::stored, buffered);
  }
  buffered.unchanged = true;
  auto record = record_of(run);
  WriteResult result = answered(write, Outcome::replayed, buffered);
  result.first = std::move(record);
  return result;
}

// Makes it an open run, whatever it was. True: it was a resolved run.
bool Batch::State::open(KnownRun& run, const EventsWrite& write) {
  if (run.is_open()) return false;
  const bool reopens = run.exists();
  if (reopens) {
    stored_of(run);
    rows.previous.push_back({{write.tenant, run.place}, run.stored->run.revision, std::string(run.value)});
    run.value = {};
    reopen_run(*run.stored, write.key.time_ms);
  } else {
    run.place = write.key;
    run.stored = begun_run(write);
    by_place[{write.tenant, run.place}] = &run;
  }
  run.written = nullptr;
  run.run_changed = true;
  return reopens;
}

void Batch::State::add_events(KnownRun& run, const EventsWrite& write, const NewEvents& fresh) {
  const TenantKey place{write.tenant, run.place};
  const std::uint32_t first = run.stored->buffering->total;
  if (!fresh.json.empty()) {
    const auto count = static_cast<std::uint32_t>(fresh.json.size());
    const KeyBytes key = place_key(write.tenant, run.place).u8(1).u32(first);
    rows.events.push_back({place, first, count, write.key.time_ms, fresh.bytes, encode_events(key, write.key.time_ms, fresh.json)});
    run.added.push_back({first, count, write.key.time_ms, fresh.bytes, {}});
  }
  for (const std::string_view id : fresh.ids) {
    if (!wanted.open_at.contains(run.name)) rows.event_ids.push_back({place, std::string(id)});
    run.added_ids.emplace(id);
  }
  add_to_run(*run.stored, write, fresh);
}

// While a run is held, its due time is the end of the lease. Otherwise the time may be too early, which the check at that time finds out.
void Batch::State::hear(KnownRun& run, Begins begins) {
  const Awaits awaits = awaited_by(run.stored->run);
  const bool complete = run.stored->buffering->ending.has_value();
  run.open_changed = true;
  if (begins == Begins::yes) {
    run.activity = {rules.now_ms, rules.now_ms, std::nullopt, awaits};
    run.token = static_cast<std::int64_t>(rules.effects.next_seq() * 2);
    run.due_ms = std::numeric_limits<std::int64_t>::max();
  }
  const bool other = begins == Begins::yes || run.activity.awaits != awaits;
  run.activity.last_ms = rules.now_ms;
  run.activity.awaits = awaits;
  if (awaits == Awaits::spans && !run.activity.root_ms) run.activity.root_ms = rules.now_ms;
  if (is_held(run.token)) return;
  if (other) run.due_ms = std::min(run.due_ms, due_of(run.activity, rules.buffer));
  if (complete) run.due_ms = std::min(run.due_ms, rules.now_ms + kCompleterMs);
}

WriteResult Batch::State::decide(const EventsWrite& write, std::span<const std::string> halves, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  const RunName name{write.tenant, write.run_id};
  KnownRun& run = known(name);
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  const StoredRun* const stored = run.exists() ? &stored_of(run) : nullptr;
  if (stored != nullptr && stored->run.source != write.source) return {Outcome::run_conflict, {}, {}};
  const bool is_guessed = wanted.open_at.contains(name);
  const auto is_seen = [&](std::string_view half) {
    const std::pair<RunName, std::string> id{name, std::string(half)};
    return run.added_ids.contains(id.second) || (is_guessed ? !found.stored.contains(id) : found.seen.contains(id));
  };
  const NewEvents fresh = new_events(write, halves, stored, is_seen);
  if (auto same = nothing_new(write, run, fresh)) return std::move(*same);
  const bool was_open = run.is_open();
  const bool reopened = open(run, write);
  add_events(run, write, fresh);
  hear(run, was_open ? Begins::no : Begins::yes);
  Buffered buffered = how_it_stands(run.place, *run.stored);
  buffered.accepted = static_cast<std::uint32_t>(fresh.json.size());
  buffered.reopened = reopened;
  return answered(write, Outcome::stored, buffered);
}

// If one trace cannot be stored, none is; so this first looks for anything that would prevent it.
WriteResult Batch::State::decide(const TracesWrite& write, std::span<const std::string> halves, WriteResult& result) {
  for (const EventsWrite& trace : write.traces) {
    KnownRun& run = known({trace.tenant, trace.run_id});
    if (!run.unreadable.empty()) return unavailable(run.unreadable);
    if (run.exists() && !run.is_open()) record_of(run);
  }
  WriteResult all;
  std::size_t first = 0;
  for (const EventsWrite& trace : write.traces) {
    all.traces.push_back(decide(trace, halves.subspan(first, trace.events.size()), result));
    first += trace.events.size();
  }
  return all;
}

WriteResult Batch::State::decide(const CanaryWrite&, std::span<const std::string> sealed, WriteResult&) {
  rows.canary = sealed.front();
  return {Outcome::stored, {}, {}};
}

}  // namespace runwarden::store::postgres
