// A path for writes into the database: a thread with its own connection, which commits all waiting writes in batches.
//
// A batch is one transaction. If the answer to its COMMIT is missing, a new connection raises the lane's epoch: this waits for the old
// transaction, lets none begin later under the old epoch, and reads whether the batch was committed. So callers get the truth, or no
// answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/commit_queue.h"
#include "store/postgres/batch.h"
#include "store/postgres/connection.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/fault.h"
#include "store/postgres/open_runs.h"
#include "store/postgres/settings.h"

namespace runwarden::store::postgres {

struct LaneSetup {
  PostgresSettings settings;
  std::int64_t start = 0;  // of this process: unique in the database
  int number = 0;          // of the lane in the process, from 0
  std::string host;        // names the canary that it writes
  std::function<bool()> lacks_standby;  // if true, nothing is written, because it would wait for a standby; may be empty
  std::function<bool()> is_away;        // if true, no answer of the database is waited for; may be empty
  std::function<std::uint64_t()> next_seq;
  // Called on the lane's thread after a commit: with the runs it opened minus those it ended, and the number of the note that policies
  // changed.
  std::function<void(std::int64_t change)> on_open_runs;
  std::function<void(std::uint64_t version)> on_policies;
  std::atomic<bool>* ledger = nullptr;  // whether records make entries; null: they make none
};

// What happened to a lane's batches since it began.
struct LaneCounts {
  std::uint64_t batches = 0;                     // committed
  std::map<std::string, std::uint64_t> retries;  // by SQLSTATE of the conflict; empty: the lane's row was taken from it
  std::uint64_t doubts_committed = 0;            // the answer was missing; the batch had been committed
  std::uint64_t doubts_refused = 0;              // the same, but it had not been committed
  std::uint64_t doubts_left = 0;                 // the outcome could not be found out in time
  bool connected = false;
};

class Lane final : public WriteQueue, private BatchWriter {
 public:
  // Connects now or, if that fails, when there is something to write. The references must outlive it.
  Lane(LaneSetup setup, const Clock& clock, const DatabaseClock& time, const RulesInUse& rules);
  ~Lane() override;

  // Any thread. Also returns false while a commit has been in doubt for longer than callers should wait.
  bool submit(Write write, Done done, Permit permit = nullptr) override;
  std::string refuses_for() const override;
  void run_between(Job job) override { queue_->run_between(std::move(job)); }
  void drain() override { queue_->drain(); }
  Depth depth() const override { return queue_->depth(); }
  bool is_progressing(std::int64_t within_ms) const override { return queue_->is_progressing(within_ms); }
  LaneCounts counts() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Attempt {
    // away: the server takes no writes. lost: the connection was lost before COMMIT was sent. again: a retry may succeed.
    enum class CommitStatus : std::uint8_t { committed, again, lost, away, in_doubt };
    CommitStatus status = CommitStatus::committed;
    std::string why;            // for clients
    std::string sqlstate = {};  // of `again`, if the server sent one
    std::string cause = {};     // of `away`: the server's words, if it could be reached
  };

  SealedWrite seal(Write write) override;
  std::vector<WriteResult> commit(std::span<const SealedWrite> batch) override;
  void maintain() override;

  void commit_range(std::span<const SealedWrite> batch, std::span<WriteResult> results);
  void commit_whole(std::span<const SealedWrite> batch, std::span<WriteResult> results);
  Attempt try_once(std::span<const SealedWrite> batch, std::span<WriteResult> results);
  BatchRules next_rules();
  Attempt send_commit(const Batch& batch, std::span<const Connection::Statement> last, SteadyTime sent);
  static Attempt away(const PgFault& fault);
  Attempt refused(const Batch& batch, const PgFault& fault);
  Attempt settled(const Batch& batch, const std::string& why, SteadyTime commit_sent);
  void refuse_waiting(const std::string& why);
  Attempt make_days(const Batch& batch, const PgFault& missing);
  std::int64_t connect(const std::function<bool()>& given_up);  // returns the number of the last committed batch
  void end_transaction();
  void note_committed(const Batch& batch, std::int64_t policies_version);
  void note_away(const std::string& why);
  void note_rejected(const std::string& why);
  void note_retry(const std::string& sqlstate);
  static void wait_before_retry(int tries);

  const LaneSetup setup_;
  const Clock& clock_;
  const DatabaseClock& time_;
  const RulesInUse& rules_;
  // Used by the lane's thread only:
  std::unique_ptr<Connection> connection_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_ = 0;  // number of the last batch that was tried
  bool away_ = false;
  SteadyTime connect_again_;
  std::string away_why_;
  OpenRunHints hints_;

  std::atomic<bool> in_doubt_{false};
  mutable Mutex refusal_mutex_;
  std::string refusal_ RW_GUARDED_BY(refusal_mutex_);  // for clients, while in_doubt_
  std::atomic<std::uint64_t> batches_{0};
  mutable Mutex retries_mutex_;
  std::map<std::string, std::uint64_t> retries_ RW_GUARDED_BY(retries_mutex_);
  std::atomic<bool> connected_{false};
  std::atomic<std::uint64_t> doubts_committed_{0};
  std::atomic<std::uint64_t> doubts_refused_{0};
  std::atomic<std::uint64_t> doubts_left_{0};
  std::unique_ptr<CommitQueue> queue_;  // its thread uses all of the above
};

}  // namespace runwarden::store::postgres
