// Connections that threads share by turns. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/work_pool.h"
#include "store/errors.h"
#include "store/postgres/connection.h"
#include "store/postgres/fault.h"

namespace runwarden::store::postgres {

class Pool {
 public:
  // Opens no connection yet.
  Pool(ConnectSettings settings, std::size_t most);

  // Once it returns true, no call waits for an answer or opens a connection: calls throw StoreAway. It must outlive the use of the pool.
  void give_up_when(std::function<bool()> given_up);

  // Gets the faults that the server reports, in the operator's words. It must outlive the use of the pool.
  void report_to(std::function<void(const std::string& text)> listener);

  // Opens all connections, so that none has to be opened when file descriptors run out. Stops at the first failure.
  void open_all();

  // Passes a connection to `use`: waits at most kPatience for a free one, and opens it if none is idle. Exceptions go on to the caller,
  // after an open transaction was ended; a lost connection is not used again. A connection lost while idle is not the caller's fault, so a
  // read is then tried once more on a fresh one. Throws StoreAway if the database cannot be reached or a retry may succeed, and EngineFault
  // for any other PgFault.
  template <class Use>
  auto read(Use use) -> decltype(use(std::declval<Connection&>())) {
    const WorkPool::BlockingScope blocking;
    for (int tries = 0;; ++tries) {
      Lease lease(*this);
      try {
        return use(*lease.connection);
      } catch (const PgFault& fault) {
        const bool again = fault.kind == PgFault::Kind::lost || fault.kind == PgFault::Kind::again;
        if (tries == 0 && again) continue;
        throw_as_store_error(fault);
      }
    }
  }
  // The same for writes, which are tried only once.
  template <class Use>
  auto write(Use use) -> decltype(use(std::declval<Connection&>())) {
    const WorkPool::BlockingScope blocking;
    Lease lease(*this);
    try {
      return use(*lease.connection);
    } catch (const PgFault& fault) {
      throw_as_store_error(fault);
    }
  }

  struct Counts {
    std::size_t open = 0;
    std::size_t in_use = 0;
  };
  Counts counts() const;

 private:
  struct Lease {
    explicit Lease(Pool& pool);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Pool& pool;
    std::unique_ptr<Connection> connection;
  };
  std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);
  [[noreturn]] void throw_as_store_error(const PgFault& fault);
  void report(const std::string& text);

  const ConnectSettings settings_;
  const std::size_t most_;
  mutable Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<Connection>> idle_ RW_GUARDED_BY(mutex_);
  std::size_t taken_ RW_GUARDED_BY(mutex_) = 0;
  std::function<bool()> given_up_ RW_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> report_to_ RW_GUARDED_BY(mutex_);
  std::string reported_ RW_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point reported_at_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::store::postgres
