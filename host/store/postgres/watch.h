// Follows what other hosts change and how the database is. Asks the database five times a second, on its own thread and connection, so that
// callers are answered from memory. Also signals to the other hosts that this one is alive.
//
// Any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "store/capacity.h"
#include "store/postgres/connection.h"
#include "store/postgres/database_clock.h"
#include "store/queries.h"

namespace runwarden::store::postgres {

struct WatchRules {
  ConnectSettings connect;
  std::int64_t start = 0;  // this process's number; 0: it is not a service, and not shown among the hosts
  std::string host;        // its name; a name with a folder (with a slash in it) belongs to one process at a time
  bool require_sync_standby = false;
  std::chrono::milliseconds stale_after{1000};  // what was heard is not used longer without an answer
};

class Watch {
 public:
  // What a note is about; the numbers are part of the schema.
  enum class What : std::int16_t { keys = 1, policies = 2, crash_marks = 3, purges = 4 };

  // Asks for the first time before it returns. Throws PgFault.
  Watch(WatchRules rules, DatabaseClock& clock);
  ~Watch();  // signals to the others that this host has stopped
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Grows with each change of that kind on any host, and when the database was away. Throws StoreAway if the database was not heard from
  // for a second.
  std::uint64_t version(What what) const;
  // Whether the database was not heard from for a second.
  bool is_stale() const;
  // Reports a change that this process has committed.
  void raise(What what, std::uint64_t version);
  // Calls `then` with true once every change committed before this call is known, and with false if the database cannot be asked. Runs on
  // the watch's thread, which `then` must not block.
  void after_next_refresh(std::function<void(bool current)> then);

  // Runs that this process opened, minus those that it ended.
  void add_open_runs(std::int64_t change) { own_open_runs_ += change; }
  OpenRuns open_runs() const;
  std::size_t hosts() const { return hosts_; }  // that serve this database now; at least 1
  // The state of the server, for its operator.
  struct Server {
    bool lacks_wanted_standby = false;  // commits wait for a synchronous standby, and none is connected
    bool sync_standby = false;
    std::vector<std::pair<std::string, std::uint64_t>> dead_rows;  // of the small, hot tables
  };
  Server server() const;
  std::uint64_t clock_accepts() const { return clock_accepts_; }  // how often an operator confirmed the clock
  std::int64_t age_ms() const;                                    // since it was last heard from
  std::int64_t away_ms() const;                                   // for how long it was unreachable since the process began
  SpaceStatus space() const;
  Status writable() const;
  // Whether there is no synchronous standby, although store.require_sync_standby requires one.
  bool lacks_standby() const { return lacks_standby_; }

 private:
  using Steady = std::chrono::steady_clock;
  using Waiters = std::vector<std::function<void(bool)>>;

  void work();
  bool try_look();
  void connect_again();
  void look();
  void look_for_changes();
  void retire_previous_process();
  void send_heartbeat();
  void announce_shutdown();
  void look_at_server();
  void look_at_size();
  void set_refusal(std::string why, std::string cause = {});

  const WatchRules rules_;
  DatabaseClock& clock_;
  // Used by the thread only:
  std::unique_ptr<Connection> connection_;
  std::int64_t seen_version_ = 0;  // of the notes
  Steady::time_point tried_;       // when it was last asked
  Steady::time_point server_due_;
  Steady::time_point size_due_;

  static constexpr std::size_t kKinds = 5;
  std::array<std::atomic<std::uint64_t>, kKinds> versions_{};  // by What
  std::atomic<std::uint64_t> connected_{0};                    // how often it reconnected
  std::atomic<Steady::rep> heard_{0};                          // when it last answered
  std::atomic<std::int64_t> own_open_runs_{0};
  std::atomic<std::int64_t> other_open_runs_{0};
  std::atomic<std::int64_t> oldest_open_ms_{0};  // when the oldest open run began; 0: there is none
  std::atomic<std::size_t> hosts_{1};
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::int64_t> away_ms_{0};
  std::atomic<bool> lacks_standby_{false};
  std::atomic<std::uint64_t> clock_accepts_{0};
  mutable Mutex mutex_;
  CondVar wake_;
  Server server_ RW_GUARDED_BY(mutex_);
  std::string refusal_cause_ RW_GUARDED_BY(mutex_);  // SpaceStatus::cause
  std::string refusal_ RW_GUARDED_BY(mutex_);        // why nothing can be written now; empty: writes are possible
  Waiters waiters_ RW_GUARDED_BY(mutex_);
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace runwarden::store::postgres
