#include "http/worker.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>

namespace runwarden::http {
namespace {

using Pistache::Polling::NotifyOn;
using Pistache::Polling::Tag;

// A connection's tag is its id: generation above slot, never below 2^32. These tags belong to no connection.
constexpr std::uint64_t kListenerTag = 0xFFFF'FFF0;
constexpr std::uint64_t kCompletionTag = 0xFFFF'FFF1;
constexpr std::uint64_t kTimerTag = 0xFFFF'FFF2;

constexpr std::size_t kReadAtOnce = 64 * 1024;  // per connection and round, so that none starves the others
constexpr int kAcceptAtOnce = 64;
constexpr std::int64_t kLingerMs = 2'000;
constexpr std::int64_t kSlowestTickMs = 250;
constexpr std::int64_t kFastestTickMs = 10;
constexpr std::int64_t kRecheckMs = 500;  // with the slowest tick well below the second promised by RequestHandler::recheck()
constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Pistache::Flags<NotifyOn> interest(bool reads, bool writes) {
  Pistache::Flags<NotifyOn> flags;
  if (reads) flags.setFlag(NotifyOn::Read);
  if (writes) flags.setFlag(NotifyOn::Write);
  return flags;
}

std::uint64_t number(std::uint32_t generation, std::uint32_t slot) {
  return (std::uint64_t{generation} << 32) | slot;
}

void start_timer(int fd, const ServerSettings& settings) {
  const auto shortest =
      std::min({settings.header_timeout_ms, settings.body_timeout_ms, settings.idle_timeout_ms, settings.write_timeout_ms});
  const auto tick_ms = std::clamp(shortest / 4, kFastestTickMs, kSlowestTickMs);
  itimerspec every{};
  every.it_interval.tv_nsec = tick_ms * kNsPerMs;
  every.it_value = every.it_interval;
  timerfd_settime(fd, 0, &every, nullptr);
}

}  // namespace

Worker::Worker(ServerState& state, UniqueFd listener)
    : state_(state),
      context_{state.settings, state.proxies, state.handler, state.counters, state.draining, std::make_shared<CompletionQueue>(), {}, {},
               monotonic_ns()},
      listener_(std::move(listener)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      scratch_(kReadAtOnce),
      alive_ns_(monotonic_ns()) {
  if (!timer_) throw std::runtime_error("timerfd_create failed");
}

Worker::~Worker() {
  completions().close();
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].connection) state_.counters.open.fetch_sub(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<Pistache::Aio::Handler> Worker::clone() const {
  throw std::logic_error("a worker runs on one thread");
}

void Worker::registerPoller(Pistache::Polling::Epoll& poller) {
  poller_ = &poller;
  poller.addFd(listener_.get(), interest(true, false), Tag(kListenerTag));
  accepting_ = true;
  poller.addFd(completions().event_fd(), interest(true, false), Tag(kCompletionTag));
  poller.addFd(timer_.get(), interest(true, false), Tag(kTimerTag));
  start_timer(timer_.get(), state_.settings);
}

void Worker::onReady(const Pistache::Aio::FdSet& events) {
  const CompletionQueue::OwnerScope scope(completions());
  context_.now_ns = monotonic_ns();
  alive_ns_.store(context_.now_ns, std::memory_order_relaxed);
  for (const auto& event : events) {
    try {
      serve(event);
    } catch (...) {
      end(event.getTag().value());
    }
  }
  try {
    deliver_completions();
  } catch (...) {  // out of memory: they stay for the next round, which the timer starts
  }
  if (state_.draining.load(std::memory_order_acquire)) start_drain();
}

// Out of memory, or the poller refused: closes the connection and continues.
void Worker::end(std::uint64_t id) {
  if (auto* connection = find(id)) {
    connection->on_gone();
    remove(static_cast<std::uint32_t>(id));
  }
}

void Worker::serve(const Pistache::Aio::FdSet::Entry& event) {
  const std::uint64_t tag = event.getTag().value();
  if (tag == kListenerTag) return accept_some();
  if (tag == kTimerTag) return tick();
  if (tag == kCompletionTag) return;  // read at the end of every round
  serve_connection(tag, event);
}

void Worker::serve_connection(std::uint64_t id, const Pistache::Aio::FdSet::Entry& event) {
  Connection* connection = find(id);
  if (!connection) return;
  const auto index = static_cast<std::uint32_t>(id);
  const bool reads = event.isReadable() && slots_[index].reads;
  const bool writes = event.isWritable() && slots_[index].writes;
  if (writes) connection->on_writable();
  if (reads && !connection->dead() && connection->wants_read()) connection->on_readable(scratch_.data(), scratch_.size());
  if (!reads && !writes && (event.isHangup() || !(event.isReadable() || event.isWritable()))) {
    connection->on_gone();  // the reactor reports an error as an event without flags
  }
  settle(index);
}

void Worker::accept_some() {
  for (int i = 0; i < kAcceptAtOnce && accepting_; ++i) {
    if (!accept_one()) return;
  }
}

bool Worker::accept_one() {
  auto& open = state_.counters.open;
  if (open.fetch_add(1, std::memory_order_relaxed) >= state_.settings.max_connections) {
    open.fetch_sub(1, std::memory_order_relaxed);
    pause_accepting();
    return false;
  }
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  UniqueFd socket(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    const int fault = errno;
    open.fetch_sub(1, std::memory_order_relaxed);
    const bool used_up = fault == EMFILE || fault == ENFILE || fault == ENOBUFS || fault == ENOMEM;
    if (used_up) pause_accepting();
    return fault == ECONNABORTED || fault == EINTR;
  }
  try {
    add(std::move(socket), peer);
  } catch (...) {  // no memory for it
    open.fetch_sub(1, std::memory_order_relaxed);
    pause_accepting();
    return false;
  }
  return true;
}

void Worker::add(UniqueFd socket, const sockaddr_storage& peer) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (free_.empty()) {
    free_.reserve(slots_.size() + 1);
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  Slot& slot = slots_[index];
  ++slot.generation;
  const std::uint64_t id = number(slot.generation, index);
  const int fd = socket.get();
  auto connection = std::make_unique<Connection>(context_, std::move(socket), ip_of(peer), id);
  slot.place = waiting_for_app_.insert(waiting_for_app_.end(), index);
  slot.wait = Wait::app;
  slot.reads = true;
  slot.writes = false;
  slot.connection = std::move(connection);
  free_.pop_back();
  live_.fetch_add(1, std::memory_order_relaxed);
  state_.counters.accepted.fetch_add(1, std::memory_order_relaxed);
  try {
    poller_->addFd(fd, interest(true, false), Tag(id));
    settle(index);
  } catch (...) {
    remove(index);
  }
}

// Waiting clients stay in the kernel's queue. The timer and every closed connection try to resume.
void Worker::pause_accepting() {
  if (!std::exchange(accepting_, false)) return;
  state_.counters.accept_pauses.fetch_add(1, std::memory_order_relaxed);
  poller_->rearmFd(listener_.get(), interest(false, false), Tag(kListenerTag));
}

void Worker::resume_accepting() {
  if (accepting_ || drain_started_ || state_.counters.open.load(std::memory_order_relaxed) >= state_.settings.max_connections) return;
  accepting_ = true;
  poller_->rearmFd(listener_.get(), interest(true, false), Tag(kListenerTag));
}

void Worker::deliver_completions() {
  for (auto batch = completions().collect(); !batch.empty(); batch = completions().collect()) {
    for (auto& completion : batch) {
      const std::uint64_t id = completion.connection;
      try {
        deliver(std::move(completion));
      } catch (...) {
        end(id);
      }
    }
  }
}

void Worker::deliver(Completion completion) {
  if (auto* connection = find(completion.connection)) {
    const auto index = static_cast<std::uint32_t>(completion.connection);
    connection->on_completion(std::move(completion));
    return settle(index);
  }
  const auto orphan = orphans_.extract({completion.connection, completion.request});
  if (orphan.empty() || completion.kind == Completion::Kind::read_more) return;
  AccessRecord record;
  record.request_id = orphan.mapped()->head.request_id;
  record.client = orphan.mapped()->head.client;
  record.status = completion.kind == Completion::Kind::answer ? completion.reply.status : 500;
  record.elapsed_us = (monotonic_ns() - orphan.mapped()->head.started_ns) / 1000;
  report(context_, orphan.mapped().get(), std::move(record));
}

void Worker::tick() {
  std::uint64_t times = 0;
  while (::read(timer_.get(), &times, sizeof times) < 0 && errno == EINTR) {
  }
  end_waits();
  recheck_bodies();
  if (drain_started_ && context_.now_ns >= bodies_end_ns_) end_bodies();
  resume_accepting();
}

void Worker::end_waits() {
  for (Queue& queue : queues_) {
    while (!queue.empty() && slots_[queue.front()].deadline_ns <= context_.now_ns) {
      const std::uint32_t index = queue.front();
      slots_[index].deadline_ns = context_.now_ns + kSlowestTickMs * kNsPerMs;  // in case it stays in this queue
      queue.splice(queue.end(), queue, queue.begin());
      slots_[index].connection->on_deadline();
      settle(index);
    }
  }
}

void Worker::recheck_bodies() {
  if (context_.now_ns < recheck_ns_) return;
  recheck_ns_ = context_.now_ns + kRecheckMs * kNsPerMs;
  for_each_body([](Connection& connection) { connection.recheck_body(); });
}

void Worker::end_bodies() {
  context_.bodies_end = true;
  for_each_body([](Connection& connection) { connection.end_body(); });
}

// Ending a wait moves the connection to another queue, so advance the iterator first.
void Worker::for_each_body(const std::function<void(Connection&)>& what) {
  const Queue& bodies = queues_[static_cast<std::size_t>(Wait::body)];
  for (auto next = bodies.begin(); next != bodies.end();) {
    const std::uint32_t index = *next++;
    what(*slots_[index].connection);
    settle(index);
  }
}

void Worker::start_drain() {
  if (!std::exchange(drain_started_, true)) {
    bodies_end_ns_ = context_.now_ns + state_.settings.drain_timeout_ms * kNsPerMs * 3 / 4;
    // Accept the clients that the kernel has connected already.
    while (accepting_ && accept_one()) {
    }
    poller_->removeFd(listener_.get());
    accepting_ = false;
    listener_.reset();
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      if (!slots_[index].connection) continue;
      try {
        slots_[index].connection->on_drain(scratch_.data(), scratch_.size());
        settle(index);
      } catch (...) {
        end(number(slots_[index].generation, index));
      }
    }
    completions().wake();  // answers given during this round are sent in the next
    drains_.store(true, std::memory_order_release);
  }
  if (live_.load(std::memory_order_relaxed) == 0) state_.on_empty();
}

void Worker::settle(std::uint32_t index) {
  Slot& slot = slots_[index];
  Connection& connection = *slot.connection;
  if (connection.dead()) return remove(index);
  const bool reads = connection.wants_read();
  const bool writes = connection.wants_write();
  if (reads != slot.reads || writes != slot.writes) {
    slot.reads = reads;
    slot.writes = writes;
    poller_->rearmFd(connection.fd(), interest(reads, writes), Tag(number(slot.generation, index)));
  }
  arrange_deadline(index);
}

void Worker::arrange_deadline(std::uint32_t index) {
  Slot& slot = slots_[index];
  const Wait wait = slot.connection->waits_for();
  const bool progress = slot.connection->take_progress();
  if (wait == slot.wait && !(progress && (wait == Wait::body || wait == Wait::write))) return;
  Queue& from = slot.wait == Wait::app ? waiting_for_app_ : queues_[static_cast<std::size_t>(slot.wait)];
  Queue& to = wait == Wait::app ? waiting_for_app_ : queues_[static_cast<std::size_t>(wait)];
  slot.wait = wait;
  slot.deadline_ns = context_.now_ns + timeout_ns(wait);
  to.splice(to.end(), from, slot.place);
}

std::int64_t Worker::timeout_ns(Wait wait) const {
  const ServerSettings& settings = state_.settings;
  switch (wait) {
    case Wait::idle: return settings.idle_timeout_ms * kNsPerMs;
    case Wait::header: return settings.header_timeout_ms * kNsPerMs;
    case Wait::body: return settings.body_timeout_ms * kNsPerMs;
    case Wait::write: return settings.write_timeout_ms * kNsPerMs;
    case Wait::linger: return kLingerMs * kNsPerMs;
    case Wait::app: return 0;
  }
  return 0;
}

void Worker::remove(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (auto request = slot.connection->release_request()) {
    orphans_.emplace(std::pair(number(slot.generation, index), slot.connection->request_number()), std::move(request));
  }
  Queue& queue = slot.wait == Wait::app ? waiting_for_app_ : queues_[static_cast<std::size_t>(slot.wait)];
  queue.erase(slot.place);
  slot.connection.reset();  // closes the socket, which removes it from the poller
  free_.push_back(index);
  live_.fetch_sub(1, std::memory_order_release);
  state_.counters.open.fetch_sub(1, std::memory_order_relaxed);
  resume_accepting();
}

Connection* Worker::find(std::uint64_t id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slots_.size() || slots_[index].generation != id >> 32) return nullptr;
  return slots_[index].connection.get();
}

}  // namespace runwarden::http
