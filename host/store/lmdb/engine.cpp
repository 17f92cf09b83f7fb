#include "store/lmdb/engine.h"

#include <algorithm>
#include <iterator>

#include "model/record_ids.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/crash_marks.h"
#include "store/lmdb/events.h"
#include "store/lmdb/expire.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/last_use.h"
#include "store/lmdb/lists.h"
#include "store/lmdb/opinions.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/lmdb/secret_file.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/lmdb/upgrade.h"
#include "store/sealed_runs.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr int kRestartRetryS = 5;
constexpr std::int64_t kCheckReadersNs = 50'000'000'000;
constexpr std::int64_t kLookForPurgesNs = 1'000'000'000;

// A write of a batch met a record that cannot be read.
struct Unreadable : std::runtime_error {
  Unreadable(std::size_t of, const std::string& text) : std::runtime_error(text), write(of) {}
  std::size_t write;
};

std::string no_room_text(std::string_view why) {
  std::string text = "the store is full; nothing was stored, retry later";
  if (!why.empty()) text.append(" (").append(why).append(")");
  return text;
}

std::optional<model::RunRecord> record_of(std::optional<StoredRun> stored) {
  if (!stored) return std::nullopt;
  return std::move(stored->run);
}

// Decisions about groups have already made their entries. A policy's revision is not known before the write.
void append_entry(WriteBatch& batch, const SealedWrite& write, const WriteResult& result) {
  if (!batch.ledger->takes_records()) return;
  const model::TenantId tenant = tenant_of(write.write);
  if (write.entry) batch.ledger->append(tenant, *write.entry);
  if (result.policy) batch.ledger->append(tenant, prepare_policy(*result.policy));
}

}  // namespace

template <class Use>
auto LmdbEngine::naming_damage(Use use) -> decltype(use()) {
  try {
    return use();
  } catch (const LmdbFault& fault) {
    if (is_damage(fault.code)) fail_damaged(fault);
    throw StoreError(std::string("store: cannot read: ") + fault.what());
  }
}

template <class Use>
auto LmdbEngine::reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
  return naming_damage([&] {
    const ReadTxn txn = env_.read();
    return use(static_cast<const Txn&>(txn));
  });
}

template <class Use>
auto LmdbEngine::writing(Use use) -> decltype(use(std::declval<WriteTxn&>())) {
  refuse_after_fault();
  try {
    WriteTxn txn = env_.write();
    auto result = use(txn);
    txn.commit();
    return result;
  } catch (const NoRoom& full) {
    throw StoreError(no_room_text(full.what()));
  } catch (const LmdbFault& fault) {
    fail(fault);
  }
}

LmdbEngine::LmdbEngine(const LmdbSettings& settings, const Clock& clock, std::optional<ServiceLock> lock)
    : lock_(std::move(lock)),
      settings_(settings),
      clock_(clock),
      env_({.folder = settings.path, .map_size = settings.map_size, .databases = kMostTables, .machine = settings.machine}),
      room_(env_, clock),
      groups_({env_, tables_,
               [this](const std::function<void()>& work) {
                 naming_damage([&] {
                   work();
                   return Nothing{};
                 });
               },
               [this](std::size_t most) { return build_some(most); }, settings_.listener.on_unreadable}),
      webhooks_({env_, tables_, clock_,
                 [this](const std::function<void()>& work) {
                   naming_damage([&] {
                     work();
                     return Nothing{};
                   });
                 },
                 [this](const std::function<void(WriteTxn&)>& work) { write_numbered(work); }, settings_.listener.on_unreadable},
                {[this] { return next_seq(); }, settings.max_pending_messages}),
      reviews_({env_, tables_,
                [this](const std::function<void()>& work) {
                  naming_damage([&] {
                    work();
                    return Nothing{};
                  });
                },
                settings_.listener.on_unreadable}),
      opinions_({env_, tables_,
                 [this](const std::function<void()>& work) {
                   naming_damage([&] {
                     work();
                     return Nothing{};
                   });
                 },
                 [this](const std::function<void(WriteTxn&)>& work) { write_numbered(work); }, [this] { return next_seq(); },
                 settings_.listener.on_unreadable}),
      ledger_({env_, tables_, clock_, settings.path,
               [this](const std::function<void()>& work) {
                 naming_damage([&] {
                   work();
                   return Nothing{};
                 });
               },
               [this](const std::function<void(WriteTxn&)>& work) { write_numbered(work); }, webhooks_.rules()}) {
  open_tables(env_, tables_);
  settle_format(env_, tables_, settings.if_older);
  if (const std::string why = env_.write_refusal(); !why.empty()) note_damage(why);
  start_ = reading([&](const Txn& txn) { return read_meta(txn, tables_, meta::kStart); }) + 1;
  seq_ = start_ << kCounterBits;
  ledger_state_ = start_ledgers(env_, tables_, {settings.path, settings.ledger, start_, clock_.wall_ms()});
  const ReadTxn txn = env_.read();
  publish_last_use();
  load_open_runs(txn, tables_, open_index_, {clock_.wall_ms(), monotonic_ms(), settings_.listener.on_unreadable});
  purges_seen_ = read_meta(txn, tables_, meta::kPurges);
  const StoreListener& listener = settings_.listener;
  queue_ = std::make_unique<CommitQueue>(static_cast<BatchWriter&>(*this), settings_.queue, clock_,
                                         CommitQueue::Listener{listener.on_fatal, listener.on_fault, listener.on_commit});
}

// A damaged page of records must not keep the others from being served. The noted time has to do then.
void LmdbEngine::publish_last_use() {
  if (!settings_.listener.on_last_use) return;
  try {
    settings_.listener.on_last_use(reading([&](const Txn& txn) { return read_last_use(txn, tables_); }));
  } catch (const StoreError& bad) {
    report_unreadable(bad);
    const auto noted = reading([&](const Txn& txn) { return static_cast<std::int64_t>(read_meta(txn, tables_, meta::kClockNoted)); });
    settings_.listener.on_last_use({noted == 0 ? std::nullopt : std::optional(noted), std::nullopt});
  }
}

SealedWrite LmdbEngine::seal(Write write) {
  SealedWrite sealed{std::move(write), {}};
  if (const auto* const events = std::get_if<EventsWrite>(&sealed.write)) sealed.sealed = seal_events(*events);
  if (const auto* const traces = std::get_if<TracesWrite>(&sealed.write)) {
    for (const EventsWrite& trace : traces->traces) std::ranges::move(seal_events(trace), std::back_inserter(sealed.sealed));
  }
  const bool has_entry = ledger_state_.load(std::memory_order_relaxed) == LedgerState::on;
  if (const auto* const change = std::get_if<ChangeWrite>(&sealed.write); change && has_entry)
    sealed.entry = prepare_change(change->change);
  auto* const run = std::get_if<RunWrite>(&sealed.write);
  if (run == nullptr) return sealed;
  sealed.sealed = seal_run(*run);
  if (has_entry) sealed.entry = prepare_run(run->run, run->document_digest);
  if (run->claim) sealed.sealed.push_back(reading([&](const Txn& txn) { return seal_claimed_events(txn, tables_, *run); }));
  return sealed;
}

std::vector<WriteResult> LmdbEngine::commit(std::span<const SealedWrite> batch) {
  refuse_after_fault();
  std::vector<WriteResult> results(batch.size());
  try {
    commit_range(batch, results);
  } catch (const LmdbFault& fault) {
    fail(fault);
  }
  return results;
}

// Retries a batch that does not fit in one transaction in halves, in order, down to single writes that do not fit. Does the same if a write
// needs a count that cannot be read, or meets a damaged page. A write that itself meets an unreadable record is left out, and what it had
// begun is dropped with the transaction.
void LmdbEngine::commit_range(std::span<const SealedWrite> batch, std::span<WriteResult> results) {
  if (batch.empty()) return;
  std::size_t left_out = 0;
  std::size_t split = 0;
  try {
    commit_whole(batch, results);
    return;
  } catch (const NoRoom& full) {
    if (batch.size() == 1) {
      room_.note_refused(bytes_of(batch.front().write));
      results.front() = {Outcome::unavailable, {}, no_room_text(full.what())};
      return;
    }
    split = batch.size() / 2;
  } catch (const Unreadable& bad) {
    results[bad.write] = {Outcome::unavailable, {}, bad.what()};
    split = bad.write;
    left_out = 1;
  } catch (const LmdbFault& fault) {
    if (!is_damage(fault.code) || fault.code == kWriteBroken) throw;
    const std::string text = note_damage(fault.what());
    if (batch.size() == 1 || !env_.write_refusal().empty()) {
      std::fill(results.begin(), results.end(), WriteResult{Outcome::unavailable, {}, text});
      return;
    }
    split = batch.size() / 2;
  } catch (const StoreError& bad) {
    if (batch.size() == 1) {
      if (settings_.listener.on_unreadable) settings_.listener.on_unreadable(bad.what());
      results.front() = {Outcome::unavailable, {}, bad.what()};
      return;
    }
    split = batch.size() / 2;
  }
  commit_range(batch.first(split), results.first(split));
  commit_range(batch.subspan(split + left_out), results.subspan(split + left_out));
}

void LmdbEngine::commit_whole(std::span<const SealedWrite> writes, std::span<WriteResult> results) {
  WriteTxn txn = env_.write();
  room_.begin();
  WriteBatch batch{txn, tables_, room_, times(), {}, {}};
  batch.claims = &open_index_;
  batch.max_clusters = settings_.max_clusters;
  batch.messages.emplace(txn, tables_, webhooks_.rules(), batch.times.now_ms);
  open_ledger(batch);
  bool stored = false;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    try {
      results[i] = apply(batch, writes[i]);
    } catch (const StoreError& bad) {
      throw Unreadable(i, bad.what());
    }
    const bool stored_now = results[i].outcome == Outcome::stored;
    batch.groups.log.note(writes[i].write, results[i]);
    if (stored_now) append_entry(batch, writes[i], results[i]);
    stored = stored || stored_now;
  }
  flush(batch);
  batch.ledger->flush();
  // From here on the store holds numbers of this start: the next start must begin above them.
  if (stored && !start_noted_) write_meta(txn, tables_, meta::kStart, start_);
  txn.commit();
  start_noted_ = start_noted_ || stored;
  if (stored) room_.note_stored();
  update_open_index(batch.open_runs);
}

void LmdbEngine::open_ledger(WriteBatch& batch) const {
  const bool on = ledger_state_.load(std::memory_order_relaxed) == LedgerState::on;
  batch.ledger.emplace(batch.txn, tables_, batch.times.now_ms, on ? LedgerWriter::Records::make_entries : LedgerWriter::Records::make_none);
}

void LmdbEngine::update_open_index(const std::vector<WriteBatch::OpenRunChange>& changes) {
  const std::int64_t now_ms = monotonic_ms();
  for (const WriteBatch::OpenRunChange& change : changes) {
    if (change.part) {
      open_index_.note_activity(change.place, {change.revision, *change.part, change.awaits}, now_ms);
    } else {
      open_index_.ended(change.place);
    }
  }
}

WriteResult LmdbEngine::apply(WriteBatch& batch, const SealedWrite& write) {
  batch.sealed = write.sealed;
  WriteResult result = std::visit([&](const auto& one) { return apply_one(batch, one); }, write.write);
  if (result.outcome == Outcome::unavailable && result.detail.empty()) result.detail = no_room_text({});
  return result;
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const RunWrite& write) {
  return write.claim ? write_claimed(batch, write) : write_run(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const EventsWrite& write) {
  return write_events(batch, write);
}

// Throws NoRoom if a trace does not fit. That ends the transaction, with the request's earlier traces, and the write is retried by itself.
WriteResult LmdbEngine::apply_one(WriteBatch& batch, const TracesWrite& write) {
  WriteResult result;
  const std::span<const std::string> sealed = batch.sealed;
  std::size_t first = 0;
  for (const EventsWrite& trace : write.traces) {
    batch.sealed = sealed.subspan(first, trace.events.size());
    first += trace.events.size();
    result.traces.push_back(apply_one(batch, trace));
    if (result.traces.back().outcome == Outcome::unavailable) throw NoRoom(result.traces.back().detail);
  }
  return result;
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const AnswerWrite& write) {
  return write_answer(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const ChangeWrite& write) {
  return write_change(batch, write);
}
WriteResult LmdbEngine::apply_one(WriteBatch& batch, const PolicyWrite& write) {
  return write_policy(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const TriageWrite& write) {
  return write_triage(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const ReviewWrite& write) {
  return write_reviews(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const OpinionWrite& write) {
  return write_opinion(batch, write);
}

WriteResult LmdbEngine::apply_one(WriteBatch& batch, const CanaryWrite& write) {
  return write_canary(batch, write);
}

std::optional<model::RunRecord> LmdbEngine::run_head(model::TenantId tenant, std::string_view run_id,
                                                     std::optional<std::uint32_t> revision) {
  return reading([&](const Txn& txn) -> std::optional<model::RunRecord> {
    const auto key = find_run_place(txn, tables_, tenant, run_id);
    if (!key) return std::nullopt;
    const RunKey place{tenant, *key};
    auto head = read_sized_head(txn, tables_, place, std::nullopt);
    if (head && revision && head->revision != *revision) head = read_sized_head(txn, tables_, place, revision);
    return head;
  });
}

std::optional<model::RunRecord> LmdbEngine::find_run(model::TenantId tenant, std::string_view run_id) {
  return reading([&](const Txn& txn) -> std::optional<model::RunRecord> {
    const auto place = find_run_place(txn, tables_, tenant, run_id);
    if (!place) return std::nullopt;
    return record_of(read_run(txn, tables_, tenant, *place));
  });
}

std::optional<model::RunRecord> LmdbEngine::find_revision(model::TenantId tenant, std::string_view run_id, std::uint32_t revision) {
  return reading([&](const Txn& txn) -> std::optional<model::RunRecord> {
    const auto place = find_run_place(txn, tables_, tenant, run_id);
    if (!place) return std::nullopt;
    auto latest = read_run(txn, tables_, tenant, *place);
    if (latest && latest->run.revision == revision && !latest->buffering) return record_of(std::move(latest));
    return record_of(read_previous(txn, tables_, {tenant, *place}, revision));
  });
}

std::optional<model::RunRecord> LmdbEngine::run_at(model::TenantId tenant, const model::RecordKey& key) {
  return reading([&](const Txn& txn) { return record_of(read_run(txn, tables_, tenant, key)); });
}

std::optional<model::FailureRecord> LmdbEngine::find_failure(model::TenantId tenant, std::string_view failure_id) {
  return reading([&](const Txn& txn) { return store::find_failure(txn, tables_, tenant, failure_id); });
}

// `read` gets the transaction and a key, and returns the record or nothing.
template <class Read>
auto LmdbEngine::read_each(std::span<const model::RecordKey> keys, Read read) {
  return reading([&](const Txn& txn) {
    std::vector<decltype(read(txn, keys.front()))> records(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      try {
        records[i] = read(txn, keys[i]);
      } catch (const StoreError& bad) {
        report_unreadable(bad);
      }
    }
    return records;
  });
}

std::vector<std::optional<model::RunRecord>> LmdbEngine::runs_at(model::TenantId tenant, std::span<const model::RecordKey> keys) {
  return read_each(keys, [&](const Txn& txn, const model::RecordKey& key) { return record_of(read_run(txn, tables_, tenant, key)); });
}

std::vector<std::optional<model::FailureRecord>> LmdbEngine::failures_at(model::TenantId tenant, std::span<const model::RecordKey> keys) {
  return read_each(keys, [&](const Txn& txn, const model::RecordKey& key) {
    return store::find_failure(txn, tables_, tenant, model::make_failure_id(key));
  });
}

Page<model::RunRecord> LmdbEngine::runs(model::TenantId tenant, const RunQuery& query) {
  return naming_damage([&] { return list_runs({env_, tables_, settings_.listener.on_unreadable}, tenant, query); });
}

Page<model::FailureRecord> LmdbEngine::failures(model::TenantId tenant, const FailureQuery& query) {
  return naming_damage([&] { return list_failures({env_, tables_, settings_.listener.on_unreadable}, tenant, query); });
}

Page<model::ChangeRecord> LmdbEngine::changes(model::TenantId tenant, const ChangeQuery& query) {
  return naming_damage([&] { return list_changes({env_, tables_, settings_.listener.on_unreadable}, tenant, query); });
}

Page<model::PolicyRecord> LmdbEngine::policies(model::TenantId tenant, const PolicyQuery& query) {
  return naming_damage([&] { return list_policies({env_, tables_, settings_.listener.on_unreadable}, tenant, query); });
}

std::optional<model::PolicyRecord> LmdbEngine::policy_at(model::TenantId tenant, std::string_view policy, std::int64_t at_ms) {
  return reading([&](const Txn& txn) { return store::policy_at(txn, tables_, tenant, policy, at_ms); });
}

std::vector<model::PolicyRecord> LmdbEngine::policies_at(model::TenantId tenant, std::int64_t at_ms) {
  return reading([&](const Txn& txn) { return store::policies_at(txn, tables_, tenant, at_ms); });
}

FingerprintStats LmdbEngine::fingerprint_stats(model::TenantId tenant, std::string_view fingerprint) {
  return reading([&](const Txn& txn) { return store::fingerprint_stats(txn, tables_, tenant, fingerprint); });
}

std::uint64_t LmdbEngine::count_failures(model::TenantId tenant, std::string_view fingerprint, std::int64_t from_ms,
                                         std::int64_t before_ms) {
  return reading([&](const Txn& txn) { return count_window(txn, tables_, {tenant, half_digest(fingerprint), from_ms, before_ms}); });
}

std::uint64_t LmdbEngine::count_runs(model::TenantId tenant, std::int64_t from_ms, std::int64_t before_ms) {
  return reading([&](const Txn& txn) { return count_window(txn, tables_, {tenant, kRunSeries, from_ms, before_ms}); });
}

std::vector<std::string> LmdbEngine::events(model::TenantId tenant, const model::RecordKey& run, std::uint32_t from) {
  return reading([&](const Txn& txn) { return read_events(events_of(txn, {tenant, run}, ~std::uint32_t{0}), from); });
}

std::optional<Claim> LmdbEngine::claim_of(const Txn& txn, const RunKey& place, std::optional<model::Resolution> resolution) {
  const auto stored = read_run_head(txn, tables_, place.tenant, place.key);
  if (!stored || !stored->buffering) return std::nullopt;
  const Buffering& buffering = *stored->buffering;
  const auto ends_for = buffering.ending ? buffering.ending : resolution;
  if (!ends_for) return std::nullopt;
  Claim claim;
  claim.tenant = place.tenant;
  claim.run = place.key;
  claim.run_id = stored->run.run_id;
  claim.revision = stored->run.revision;
  claim.previous = buffering.previous;
  claim.upto = buffering.ending ? buffering.cut : buffering.total;
  claim.resolution = *ends_for;
  claim.first_ms = buffering.first_ms;
  claim.source = stored->run.source;
  claim.root_arrived = stored->run.root_arrived;
  claim.end_mark = stored->run.end_mark;
  return claim;
}

std::vector<Claim> LmdbEngine::claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) {
  std::vector<Claim> claims;
  const auto due = open_index_.claim(rules, {most, lease_ms}, monotonic_ms());
  if (due.empty()) return claims;
  reading([&](const Txn& txn) {
    for (const OpenRunIndex::Due& one : due) {
      try {
        auto claim = claim_of(txn, one.place, one.resolution);
        if (!claim) continue;
        claim->token = one.token;
        claims.push_back(std::move(*claim));
      } catch (const StoreError& bad) {
        report_unreadable(bad);  // the run stays open; the others end
      }
    }
    return Nothing{};
  });
  return claims;
}

std::optional<Claim> LmdbEngine::claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                           std::int64_t lease_ms) {
  const RunKey place{tenant, run};
  const auto token = open_index_.claim_one(place, lease_ms, monotonic_ms());
  if (!token) return std::nullopt;
  auto claim = reading([&](const Txn& txn) { return claim_of(txn, place, resolution); });
  if (claim) {
    claim->token = *token;
  } else {
    open_index_.release(place, *token, monotonic_ms());
  }
  return claim;
}

void LmdbEngine::release(const Claim& claim) {
  open_index_.release({claim.tenant, claim.run}, claim.token, monotonic_ms());
}

std::vector<bool> LmdbEngine::renew(std::span<const Claim> claims, std::int64_t lease_ms) {
  const std::int64_t until_ms = monotonic_ms() + lease_ms;
  std::vector<bool> good;
  good.reserve(claims.size());
  for (const Claim& claim : claims) good.push_back(open_index_.renew({claim.tenant, claim.run}, claim.token, until_ms));
  return good;
}

ClaimedRun LmdbEngine::fetch(const Claim& claim) {
  return reading([&](const Txn& txn) {
    const RunKey place{claim.tenant, claim.run};
    ClaimedRun run;
    try {
      auto first = claim.revision > 1 ? record_of(read_previous(txn, tables_, place, 1)) : std::nullopt;
      if (first && first->resolution == model::Resolution::whole) run.whole = std::move(first);
      if (claim.revision > 1) run.failures = earlier_failures(txn, tables_, place);
    } catch (const StoreError& bad) {
      report_unreadable(bad);  // the run is judged by what can be read
    }
    run.events = read_events(events_of(txn, place, claim.upto), run.whole ? run.whole->events : 0);
    return run;
  });
}

RunEvents LmdbEngine::events_of(const Txn& txn, const RunKey& place, std::uint32_t upto) const {
  return {txn, tables_, place, upto, settings_.listener.on_unreadable};
}

void LmdbEngine::report_unreadable(const StoreError& bad) const {
  if (settings_.listener.on_unreadable) settings_.listener.on_unreadable(bad.what());
}

OpenRuns LmdbEngine::open_runs() {
  return open_index_.count(monotonic_ms());
}

std::optional<Replay> LmdbEngine::find_replay(model::TenantId tenant, const model::Digest& identity) {
  return reading([&](const Txn& txn) -> std::optional<Replay> {
    const auto answer = find_answer(txn, tables_, tenant, identity, times());
    if (!answer) return std::nullopt;
    Replay replay{answer->idempotency.content, {}};
    switch (answer->kind) {
      case IdempotentAnswer::Kind::change:
        replay.change = read_change(txn, tables_, tenant, answer->record);
        return replay.change ? std::optional(std::move(replay)) : std::nullopt;
      case IdempotentAnswer::Kind::policy:
        replay.policy = read_policy(txn, tables_, tenant, answer->record);
        return replay.policy ? std::optional(std::move(replay)) : std::nullopt;
      case IdempotentAnswer::Kind::triage:
      case IdempotentAnswer::Kind::review: return std::nullopt;  // the write itself finds it; the answer is the subject as it is then
      case IdempotentAnswer::Kind::events: replay.buffered = answer->buffered; break;
      case IdempotentAnswer::Kind::run: break;
    }
    auto run = record_of(read_run(txn, tables_, tenant, answer->record));
    const bool opened_again = run && answer->kind == IdempotentAnswer::Kind::run && run->revision > answer->revision;
    if (opened_again) run = record_of(read_previous(txn, tables_, {tenant, answer->record}, answer->revision));
    if (!run) return std::nullopt;
    replay.run = std::move(*run);
    return replay;
  });
}

model::KeyRecord LmdbEngine::put_key(model::KeyRecord key) {
  return writing([&](WriteTxn& txn) { return write_key(txn, tables_, std::move(key)); });
}

std::vector<model::KeyRecord> LmdbEngine::keys() {
  return reading([&](const Txn& txn) { return read_keys(txn, tables_); });
}

std::uint64_t LmdbEngine::keys_version() {
  return reading([&](const Txn& txn) { return read_meta(txn, tables_, meta::kKeysVersion); });
}

void LmdbEngine::touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) {
  writing([&](WriteTxn& txn) {
    write_key_uses(txn, tables_, last_used);
    return Nothing{};
  });
}

std::vector<model::Tenant> LmdbEngine::tenants() {
  return reading([&](const Txn& txn) { return read_tenants(txn, tables_); });
}

Result<std::string> LmdbEngine::secret(std::string_view name) {
  return read_or_make_secret(settings_.path / (std::string(name) + ".secret"));
}

void LmdbEngine::put_crash_mark(model::CrashMark mark) {
  mark.key.seq = next_seq();
  writing([&](WriteTxn& txn) {
    write_crash_mark(txn, tables_, mark);
    return Nothing{};
  });
}

std::vector<model::CrashMark> LmdbEngine::crash_marks() {
  return reading([&](const Txn& txn) { return read_crash_marks(txn, tables_); });
}

// Like commit_whole(), notes that the store holds numbers of this start.
void LmdbEngine::write_numbered(const std::function<void(WriteTxn&)>& work) {
  writing([&](WriteTxn& txn) {
    work(txn);
    if (read_meta(txn, tables_, meta::kStart) < start_) write_meta(txn, tables_, meta::kStart, start_);
    return Nothing{};
  });
}

void LmdbEngine::note_clock(std::int64_t wall_ms, std::uint64_t accepts) {
  writing([&](WriteTxn& txn) {
    if (read_meta(txn, tables_, meta::kClockAccepts) == accepts) write_clock_note(txn, tables_, wall_ms);
    return Nothing{};
  });
}

std::uint64_t LmdbEngine::clock_accepts() {
  return reading([&](const Txn& txn) { return read_meta(txn, tables_, meta::kClockAccepts); });
}

// With little room left, even a deletion may need more pages than there are. It is then retried with fewer records.
Expired LmdbEngine::expire(const Retention& retention, std::size_t most) {
  refuse_after_fault();
  for (std::size_t some = std::max<std::size_t>(most, 1);; some /= 2) {
    try {
      WriteTxn txn = env_.write();
      WriteBatch batch{txn, tables_, room_, times(), {}, {}};
      open_ledger(batch);
      const Expired gone = expire_in(batch, retention, some);
      if (gone.total() == 0) return gone;
      flush(batch);
      batch.ledger->write_receipts(ledger::Kind::expiry, latest_of(retention));
      batch.ledger->flush();
      // Another process may be serving this store: it watches this number, to drop what it remembers of these runs.
      if (!batch.open_runs.empty()) write_meta(txn, tables_, meta::kPurges, read_meta(txn, tables_, meta::kPurges) + 1);
      txn.commit();
      room_.note_stored();
      update_open_index(batch.open_runs);
      return gone;
    } catch (const NoRoom& full) {
      if (some <= 1) throw StoreError(std::string("store: no space left even to delete: ") + full.what());
    } catch (const LmdbFault& fault) {
      fail(fault);
    }
  }
}

bool LmdbEngine::build_some(std::size_t most) {
  return writing([&](WriteTxn& txn) {
    WriteBatch batch{txn, tables_, room_, times(), {}, {}};
    batch.max_clusters = settings_.max_clusters;
    batch.dimension_names = settings_.dimension_names;
    open_ledger(batch);
    const bool more = build_groups(batch, most);
    batch.ledger->flush();
    return more;
  });
}

// Drops open runs that another process purged. Only the writing thread adds to the index, so none of them can be one that is just being
// opened.
void LmdbEngine::forget_purged() {
  reading([&](const Txn& txn) {
    const std::uint64_t purges = read_meta(txn, tables_, meta::kPurges);
    if (purges == purges_seen_) return Nothing{};
    purges_seen_ = purges;
    for (const RunKey& place : open_index_.places()) {
      if (!txn.get(tables_.open_runs.handle, place_key(place.tenant, place.key))) open_index_.ended(place);
    }
    return Nothing{};
  });
}

// An unreadable page has been reported; the next call tries again.
void LmdbEngine::look_for_purges() {
  try {
    forget_purged();
  } catch (const StoreError&) {
  }
}

void LmdbEngine::maintain() {
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (now_ns - purges_looked_for_ns_ >= kLookForPurgesNs) {
    purges_looked_for_ns_ = now_ns;
    look_for_purges();
  }
  if (now_ns - readers_checked_ns_ < kCheckReadersNs) return;
  readers_checked_ns_ = now_ns;
  env_.check_readers();
}

std::optional<model::RunRecord> LmdbEngine::canary() {
  return reading([&](const Txn& txn) { return read_canary(txn, tables_); });
}

SpaceStatus LmdbEngine::space() {
  try {
    return reading([&](const Txn& txn) { return room_.now(txn); });
  } catch (const StoreError& bad) {
    const LmdbEnv::Info info = env_.info();
    const std::uint64_t used = (info.last_page + 1) * info.page_bytes;
    return {used, info.map_bytes, used, true, bad.what(), false, {}};
  }
}

Status LmdbEngine::writable() {
  if (failed_.load(std::memory_order_acquire)) {
    return Error{Code::unavailable, "the store's disk failed; the service must restart", {}, {}, kRestartRetryS};
  }
  env_.look_at_file();
  if (const std::string why = env_.write_refusal(); !why.empty())
    return Error{Code::unavailable, note_damage(why), {}, {}, kStoreDamagedRetryS};
  const SpaceStatus now = space();
  if (now.refusing) return Error{Code::unavailable, now.reason, {}, {}, kStoreFullRetryS};
  return Nothing{};
}

std::string LmdbEngine::damage() {
  const MutexLock lock(damage_mutex_);
  return damage_;
}

// What ended the writes explains the faults that LMDB reports afterwards, whose texts name no place (MDB_BAD_TXN).
std::string LmdbEngine::note_damage(const std::string& what) {
  const std::string cause = env_.write_refusal();
  std::string text = "store: \"" + settings_.path.string() + "\" is damaged: " + (cause.empty() ? what : cause) + "; " + env_.remedy();
  {
    const MutexLock lock(damage_mutex_);
    if (!damage_.empty()) return text;
    damage_ = text;
  }
  if (settings_.listener.on_damage) settings_.listener.on_damage(text);
  return text;
}

void LmdbEngine::fail_damaged(const LmdbFault& fault) {
  throw StoreDamaged(note_damage(fault.what()));
}

void LmdbEngine::refuse_after_fault() const {
  if (failed_.load(std::memory_order_acquire)) throw FatalStoreError("store: its disk failed earlier; the process must end");
}

void LmdbEngine::fail(const LmdbFault& fault) {
  if (is_damage(fault.code) && fault.code != kWriteBroken) fail_damaged(fault);
  failed_.store(true, std::memory_order_release);
  const char* const remedy =
      fault.code == kWriteBroken
          ? "; a page is damaged, so this process ends, and the next one will not write to this file: restore a backup"
          : "; the outcome of the last write is unknown, so the process must end: check the disk, then restart";
  throw FatalStoreError("store: \"" + settings_.path.string() + "\": " + fault.what() + remedy);
}

}  // namespace runwarden::store
