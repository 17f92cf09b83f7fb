#include "http/server.h"

#include <algorithm>
#include <chrono>

#include "base/mutex.h"
#include "http/handler.h"
#include "http/listener.h"
#include "http/worker.h"

namespace runwarden::http {
namespace {

// Pistache clones a handler once for each of its threads; the workers are made beforehand and handed out.
class WorkerSource final : public Pistache::Aio::Handler {
 public:
  explicit WorkerSource(const std::vector<std::shared_ptr<Worker>>& workers) : workers_(workers) {}
  std::shared_ptr<Pistache::Aio::Handler> clone() const override { return workers_.at(next_++); }
  void registerPoller(Pistache::Polling::Epoll&) override {}
  void onReady(const Pistache::Aio::FdSet&) override {}

 private:
  const std::vector<std::shared_ptr<Worker>>& workers_;
  mutable std::size_t next_ = 0;
};

class ReactorServer final : public Server {
 public:
  ReactorServer(ServerSettings settings, TrustedProxies proxies, Handler& handler)
      : state_{std::move(settings), std::move(proxies), handler, {}, {}, {}} {
    state_.on_empty = [this] {
      const MutexLock lock(mutex_);
      emptied_.notify_all();
    };
  }
  ~ReactorServer() override { stop(); }

  void run(Listeners listeners) {
    port_ = listeners.port;
    for (auto& socket : listeners.sockets) workers_.push_back(std::make_shared<Worker>(state_, std::move(socket)));
    reactor_ = Pistache::Aio::Reactor::create();
    reactor_->init(Pistache::Aio::AsyncContext(workers_.size(), "http"));
    reactor_->addHandler(std::make_shared<WorkerSource>(workers_));
    reactor_->run();
  }

  std::uint16_t port() const override { return port_; }

  ServerCounts counts() const override {
    const auto& from = state_.counters;
    return {from.open, from.accepted, from.accept_pauses, from.framing_errors, from.timeouts, from.answers_dropped};
  }

  bool workers_alive(std::int64_t within_ms) const override {
    const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
    return std::all_of(workers_.begin(), workers_.end(),
                       [&](const auto& worker) { return now_ns - worker->alive_ns() <= within_ms * 1'000'000; });
  }

  void drain() override {
    if (!reactor_) return;
    state_.draining.store(true, std::memory_order_release);
    for (const auto& worker : workers_) worker->completions().wake();
    MutexLock lock(mutex_);
    const auto empty = [this] {
      return std::all_of(workers_.begin(), workers_.end(),
                         [](const auto& worker) { return worker->drains() && worker->connections() == 0; });
    };
    emptied_.wait_for(lock, std::chrono::milliseconds(state_.settings.drain_timeout_ms), empty);
    lock.unlock();
    stop();
  }

 private:
  void stop() {
    if (!reactor_) return;
    reactor_->shutdown();
    reactor_.reset();  // joins its threads
    workers_.clear();
  }

  ServerState state_;
  Mutex mutex_;
  // A worker has no connection left, while draining. Notified with the mutex held, so that drain() cannot miss it.
  CondVar emptied_ RW_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Worker>> workers_;
  std::shared_ptr<Pistache::Aio::Reactor> reactor_;
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings, Handler& handler) {
  auto proxies = TrustedProxies::parse(settings.trusted_proxies);
  if (!proxies) return proxies.error();
  auto listeners = open_listeners(settings, std::max(settings.threads, 1));
  if (!listeners) return listeners.error();
  try {
    auto server = std::make_unique<ReactorServer>(std::move(settings), std::move(*proxies), handler);
    server->run(std::move(*listeners));
    return std::unique_ptr<Server>(std::move(server));
  } catch (const std::exception& fault) {
    return Error{Code::internal, std::string("http: the server could not be started: ") + fault.what(), {}, {}};
  }
}

}  // namespace runwarden::http
