#include "store/postgres/lane.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "store/postgres/schema.h"

namespace runwarden::store::postgres {
namespace {

using Outcome = WriteResult::Outcome;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kMostTries = 5;
constexpr milliseconds kBetweenConnects{250};  // while the database is away
constexpr milliseconds kBetweenSettles{100};
constexpr std::int64_t kIdleMaintainMs = 1'000;

constexpr const char* kNoStandby =
    "the database has no synchronous standby now, which store.require_sync_standby requires; nothing was stored, retry later";
constexpr const char* kNotNull = "23502";         // the fence found another epoch
constexpr const char* kDivisionByZero = "22012";  // the fence found no row

// Ends whatever was going on under this lane: waits for a transaction that holds the row; one that has not begun will find another epoch.
constexpr std::string_view kAttach =
    "INSERT INTO runwarden.lane(start, lane, epoch, batch, open_runs) VALUES ($1, $2, 1, 0, 0)"
    " ON CONFLICT (start, lane) DO UPDATE SET epoch = lane.epoch + 1 RETURNING epoch, batch";

CommitQueue::Limits limits_of(const PostgresSettings& settings) {
  CommitQueue::Limits limits;
  const std::size_t lanes = std::max<std::size_t>(settings.write_connections, 1);
  limits.max_items = std::max<std::size_t>(settings.store.max_waiting / lanes, 1);
  limits.max_bytes = std::max<std::uint64_t>(settings.store.max_waiting_bytes / lanes, 1);
  limits.commit_interval_ms = settings.store.commit_interval_ms;
  limits.max_commit_records = settings.store.max_commit_records;
  limits.idle_maintain_ms = kIdleMaintainMs;
  return limits;
}

bool fence_failed(const PgFault& fault) { return fault.sqlstate == kNotNull || fault.sqlstate == kDivisionByZero; }

std::string refusal_text(const std::string& why) {
  return why + "; nothing was stored, retry later";
}

}  // namespace

Lane::Lane(LaneSetup setup, const Clock& clock, const DatabaseClock& time, const RulesInUse& rules)
    : setup_(std::move(setup)), clock_(clock), time_(time), rules_(rules) {
  try {
    connect(setup_.is_away);
    connected_ = true;
  } catch (const PgFault&) {  // the first batch tries again
  }
  const StoreListener& listener = setup_.settings.store.listener;
  queue_ = std::make_unique<CommitQueue>(static_cast<BatchWriter&>(*this), limits_of(setup_.settings), clock_,
                                         CommitQueue::Listener{listener.on_fatal, listener.on_fault, listener.on_commit});
}

Lane::~Lane() { queue_->drain(); }

bool Lane::submit(Write write, Done done, Permit permit) {
  if (in_doubt_.load(std::memory_order_relaxed)) return false;
  return queue_->submit(std::move(write), std::move(done), std::move(permit));
}

std::string Lane::refuses_for() const {
  if (!in_doubt_.load(std::memory_order_relaxed)) return {};
  const MutexLock lock(refusal_mutex_);
  return refusal_;
}

LaneCounts Lane::counts() const {
  const MutexLock lock(retries_mutex_);
  return {batches_, retries_, doubts_committed_, doubts_refused_, doubts_left_, connected_};
}

SealedWrite Lane::seal(Write write) {
  using Records = LedgerAppender::Records;
  const bool on = setup_.ledger != nullptr && *setup_.ledger;
  return seal_write(std::move(write), on ? Records::make_entries : Records::make_none);
}

void Lane::maintain() {}

std::vector<WriteResult> Lane::commit(std::span<const SealedWrite> batch) {
  std::vector<WriteResult> results(batch.size());
  commit_range(batch, results);
  connected_ = connection_ != nullptr;
  return results;
}

// If the server refuses a statement because of one write's data, the batch is tried in halves, in order, down to that write.
void Lane::commit_range(std::span<const SealedWrite> batch, std::span<WriteResult> results) {
  if (batch.empty()) return;
  std::string why;
  std::string client_why;
  try {
    commit_whole(batch, results);
    return;
  } catch (const PgFault& fault) {  // nothing was committed
    why = fault.what();
    client_why = fault.kind == PgFault::Kind::data ? why : client_text(fault);
  } catch (const std::exception& fault) {  // an unreadable value or lack of memory: nothing was committed
    why = client_why = fault.what();
  }
  if (batch.size() == 1) {
    note_rejected("the database rejected a write, which was not stored: " + why);
    results.front() = {Outcome::unavailable, {}, "the database rejected this write, and nothing was stored: " + client_why};
    return;
  }
  const std::size_t half = batch.size() / 2;
  commit_range(batch.first(half), results.first(half));
  commit_range(batch.subspan(half), results.subspan(half));
}

// Throws if halves may help; any other outcome is in the results.
void Lane::commit_whole(std::span<const SealedWrite> batch, std::span<WriteResult> results) {
  const auto all = [&](Outcome outcome, const std::string& text) {
    for (WriteResult& result : results) {
      result = {};
      result.outcome = outcome;
      result.detail = text;
    }
  };
  if (setup_.lacks_standby && setup_.lacks_standby()) return all(Outcome::away, kNoStandby);
  if (away_ && steady_clock::now() < connect_again_) return all(Outcome::away, refusal_text(away_why_));
  bool reconnected = false;
  for (int tries = 1;; ++tries) {
    std::fill(results.begin(), results.end(), WriteResult{});
    const Attempt tried = try_once(batch, results);
    switch (tried.status) {
      case Attempt::CommitStatus::committed: return;
      case Attempt::CommitStatus::in_doubt: return all(Outcome::in_doubt, tried.why);
      case Attempt::CommitStatus::away:
        // Of a database that cannot be reached the watch reports.
        if (!away_ && !tried.cause.empty()) note_rejected(tried.why + ", so nothing is stored for now: " + tried.cause);
        note_away(tried.why);
        return all(Outcome::away, refusal_text(tried.why));
      case Attempt::CommitStatus::lost:
        // It may have been lost while idle, which says nothing about the server.
        if (reconnected) {
          note_away(tried.why);
          return all(Outcome::away, refusal_text(tried.why));
        }
        reconnected = true;
        break;
      case Attempt::CommitStatus::again:
        if (tries >= kMostTries) return all(Outcome::away, refusal_text("too many concurrent writes of the same rows"));
        note_retry(tried.sqlstate);
        wait_before_retry(tries);
        break;
    }
  }
}

Lane::Attempt Lane::try_once(std::span<const SealedWrite> batch, std::span<WriteResult> results) {
  using CommitStatus = Attempt::CommitStatus;
  if (!connection_ && setup_.is_away && setup_.is_away()) return {CommitStatus::away, "the database does not answer"};
  try {
    if (!connection_) connect(setup_.is_away);
  } catch (const PgFault& fault) {
    connection_.reset();
    return away(fault);
  }
  Batch work(batch, results, next_rules());
  std::optional<SteadyTime> commit_sent;
  try {
    const std::vector<Connection::Statement> last = work.write(*connection_);
    connection_->take_warning();
    commit_sent = steady_clock::now();
    return send_commit(work, last, *commit_sent);
  } catch (const LostLane& lost) {
    connection_.reset();
    return {CommitStatus::again, lost.what()};
  } catch (const PgFault& fault) {
    if (fault.kind == PgFault::Kind::lost) {
      connection_.reset();
      return commit_sent ? settled(work, client_text(fault), *commit_sent) : Attempt{CommitStatus::lost, client_text(fault)};
    }
    return refused(work, fault);
  } catch (const std::exception& fault) {
    if (!commit_sent) {
      end_transaction();
      throw;
    }
    connection_.reset();
    return settled(work, "the answer to COMMIT could not be read", *commit_sent);
  }
}

BatchRules Lane::next_rules() {
  BatchRules rules;
  rules.start = setup_.start;
  rules.lane = setup_.number;
  rules.epoch = epoch_;
  rules.number = ++batch_;
  rules.now_ms = time_.now_ms();
  rules.keep_idempotency_ms = setup_.settings.store.keep_idempotency_ms;
  rules.host = setup_.host;
  rules.buffer = rules_.now();
  rules.effects = {rules.now_ms, setup_.settings.store.max_clusters, setup_.settings.store.max_pending_messages, setup_.next_seq};
  rules.ledger = setup_.ledger;
  rules.hints = &hints_;
  return rules;
}

Lane::Attempt Lane::send_commit(const Batch& batch, std::span<const Connection::Statement> last, SteadyTime sent) {
  const std::vector<Rows> answers = connection_->run(last);
  // For example, the wait for a synchronous standby was canceled: the batch is committed, but a standby may not have it.
  if (const std::string warning = connection_->take_warning(); !warning.empty()) {
    connection_.reset();
    return settled(batch, warning, sent);
  }
  note_committed(batch, batch.changes_policies() ? answers[answers.size() - 2].number(0, 0) : 0);
  return {Attempt::CommitStatus::committed, {}};
}

Lane::Attempt Lane::away(const PgFault& fault) {
  const bool reached = fault.kind == PgFault::Kind::away;
  return {Attempt::CommitStatus::away, client_text(fault), {}, reached ? fault.what() : std::string()};
}

// Throws the fault again if a retry cannot help.
Lane::Attempt Lane::refused(const Batch& batch, const PgFault& fault) {
  using CommitStatus = Attempt::CommitStatus;
  end_transaction();
  if (fence_failed(fault)) connection_.reset();
  if (fence_failed(fault) || fault.kind == PgFault::Kind::again) return {CommitStatus::again, fault.what(), fault.sqlstate};
  if (fault.kind == PgFault::Kind::away) {
    connection_.reset();
    return away(fault);
  }
  if (fault.kind == PgFault::Kind::no_part) return make_days(batch, fault);
  throw fault;
}

void Lane::end_transaction() {
  try {
    connection_->rollback();
  } catch (const PgFault&) {  // the connection is lost, and the transaction with it
  }
  if (connection_->lost()) connection_.reset();
}

Lane::Attempt Lane::make_days(const Batch& batch, const PgFault& missing) {
  try {
    if (!connection_) connect(setup_.is_away);
    for (const std::int64_t time_ms : batch.days()) make_partitions(*connection_, time_ms);
    return {Attempt::CommitStatus::again, missing.what()};
  } catch (const PgFault& fault) {
    if (connection_) end_transaction();
    if (fault.kind == PgFault::Kind::lost) return {Attempt::CommitStatus::lost, client_text(fault)};
    if (fault.kind == PgFault::Kind::away) return away(fault);
    return {Attempt::CommitStatus::again, fault.what()};
  }
}

void Lane::note_committed(const Batch& batch, std::int64_t policies_version) {
  ++batches_;
  away_ = false;
  batch.note_hints();
  if (batch.opened() != 0 && setup_.on_open_runs) setup_.on_open_runs(batch.opened());
  if (policies_version != 0 && setup_.on_policies) setup_.on_policies(static_cast<std::uint64_t>(policies_version));
}

void Lane::note_away(const std::string& why) {
  away_ = true;
  connect_again_ = steady_clock::now() + kBetweenConnects;
  away_why_ = why;
}

// Throws PgFault. `given_up`: for how long it waits; may be empty.
std::int64_t Lane::connect(const std::function<bool()>& given_up) {
  auto connection = std::make_unique<Connection>(setup_.settings.connect);
  connection->give_up_when(given_up);
  const std::vector<Connection::Statement> attach{{"BEGIN"},
                                                  {"SET LOCAL synchronous_commit = on"},
                                                  {kAttach, std::move(Params().i64(setup_.start).i32(setup_.number))},
                                                  {"COMMIT"}};
  const std::vector<Rows> answers = connection->run(attach);
  if (const std::string warning = connection->take_warning(); !warning.empty()) throw PgFault(PgFault::Kind::away, {}, warning);
  epoch_ = answers[2].number(0, 0);
  connection->give_up_when(setup_.is_away);
  connection_ = std::move(connection);
  return answers[2].number(0, 1);
}

// Finds out whether the batch was committed when its COMMIT got no answer. Nothing waits for that while the database does not answer.
Lane::Attempt Lane::settled(const Batch& batch, const std::string& why, SteadyTime commit_sent) {
  using CommitStatus = Attempt::CommitStatus;
  const auto is_over = [until = commit_sent + setup_.settings.patience] { return steady_clock::now() >= until; };
  std::string last = why;
  if (setup_.is_away && setup_.is_away()) refuse_waiting(last);
  while (true) {
    try {
      const std::int64_t committed = connect(is_over);
      in_doubt_ = false;
      if (committed != batch_) {
        ++doubts_refused_;
        return {CommitStatus::again, why};
      }
      ++doubts_committed_;
      // The number of the note is unknown; the watch finds the note by itself.
      note_committed(batch, 0);
      return {CommitStatus::committed, {}};
    } catch (const PgFault& fault) {
      last = client_text(fault);
    }
    if (is_over()) break;
    refuse_waiting(last);
    std::this_thread::sleep_for(kBetweenSettles);
  }
  in_doubt_ = false;
  ++doubts_left_;
  note_away(last);
  return {CommitStatus::in_doubt, last};
}

// Until the doubt is settled, nothing more is taken.
void Lane::refuse_waiting(const std::string& why) {
  WriteResult result;
  result.outcome = Outcome::away;
  result.detail = refusal_text(why);
  {
    const MutexLock lock(refusal_mutex_);
    refusal_ = result.detail;
  }
  in_doubt_ = true;
  queue_->refuse_waiting(result);
}

void Lane::note_rejected(const std::string& why) {
  const auto& listener = setup_.settings.store.listener.on_rejected;
  if (listener) listener(why);
}

void Lane::note_retry(const std::string& sqlstate) {
  const MutexLock lock(retries_mutex_);
  ++retries_[sqlstate];
}

void Lane::wait_before_retry(int tries) {
  thread_local std::minstd_rand random(std::random_device{}());
  const int most = std::min(50, 1 << (tries + 1));
  std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution<int>(1, most)(random)));
}

}  // namespace runwarden::store::postgres
