#include "store/postgres/pool.h"

#include <utility>

namespace runwarden::store::postgres {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::seconds kBetweenReports{10};

}  // namespace

Pool::Pool(ConnectSettings settings, std::size_t most) : settings_(std::move(settings)), most_(most) {}

void Pool::open_all() {
  for (std::size_t open = counts().open; open < most_; ++open) {
    try {
      auto connection = std::make_unique<Connection>(settings_);
      const MutexLock lock(mutex_);
      idle_.push_back(std::move(connection));
    } catch (const PgFault&) {  // opened when it is needed
      return;
    }
  }
}

void Pool::give_up_when(std::function<bool()> given_up) {
  const MutexLock lock(mutex_);
  given_up_ = std::move(given_up);
}

Pool::Lease::Lease(Pool& of) : pool(of), connection(of.take()) {}

Pool::Lease::~Lease() { pool.give_back(std::move(connection)); }

void Pool::throw_as_store_error(const PgFault& fault) {
  const std::string text = operator_text(fault);
  if (fault.kind != PgFault::Kind::lost) report(text);
  using Kind = PgFault::Kind;
  if (fault.kind == Kind::lost || fault.kind == Kind::away || fault.kind == Kind::again) throw StoreAway(text, client_text(fault));
  throw EngineFault(text, client_text(fault));
}

// A lost connection is the watch's to report. Other faults may come with every request, so the same one is reported now and then.
void Pool::report(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  std::function<void(const std::string&)> to;
  {
    const MutexLock lock(mutex_);
    if (text == reported_ && now - reported_at_ < kBetweenReports) return;
    reported_ = text;
    reported_at_ = now;
    to = report_to_;
  }
  if (to) to(text);
}

void Pool::report_to(std::function<void(const std::string& text)> listener) {
  const MutexLock lock(mutex_);
  report_to_ = std::move(listener);
}

std::unique_ptr<Connection> Pool::take() {
  std::function<bool()> given_up;
  {
    MutexLock lock(mutex_);
    if (!freed_.wait_for(lock, kPatience, [this]() RW_REQUIRES(mutex_) { return taken_ < most_; }))
      throw StoreAway("all " + std::to_string(most_) + " connections of store.read_connections are in use; retry");
    ++taken_;
    given_up = given_up_;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      connection->give_up_when(std::move(given_up));
      return connection;
    }
  }
  if (given_up && given_up()) {
    give_back(nullptr);
    throw StoreAway("the database does not answer; retry");
  }
  try {
    auto connection = std::make_unique<Connection>(settings_);
    connection->give_up_when(std::move(given_up));
    return connection;
  } catch (const PgFault& fault) {
    give_back(nullptr);
    throw_as_store_error(fault);
  }
}

// If one connection was lost, the idle ones most likely are, too: a retry gets a fresh one.
void Pool::give_back(std::unique_ptr<Connection> connection) {
  std::vector<std::unique_ptr<Connection>> stale;
  const bool was_open = connection != nullptr;
  if (connection) {
    try {
      connection->rollback();
    } catch (const PgFault&) {  // the connection is lost
    }
    if (connection->lost()) connection.reset();
  }
  const MutexLock lock(mutex_);
  --taken_;
  if (was_open && !connection) std::swap(stale, idle_);
  if (connection) idle_.push_back(std::move(connection));
  freed_.notify_one();
}

Pool::Counts Pool::counts() const {
  const MutexLock lock(mutex_);
  return {idle_.size() + taken_, taken_};
}

}  // namespace runwarden::store::postgres
