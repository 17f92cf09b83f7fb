#include "http/completion_queue.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace runwarden::http {
namespace {

thread_local CompletionQueue* this_threads_queue = nullptr;

void write_event(int fd) {
  // EAGAIN means that the counter is at its maximum, so the worker is awake already.
  while (eventfd_write(fd, 1) != 0 && errno == EINTR) {
  }
}

}  // namespace

CompletionQueue::CompletionQueue() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void CompletionQueue::post(Completion completion) {
  if (this_threads_queue == this) {
    own_posted_.push_back(std::move(completion));
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    posted_.push_back(std::move(completion));
    if (std::exchange(woken_, true)) return;
  }
  write_event(event_.get());
}

void CompletionQueue::wake() {
  {
    const MutexLock lock(mutex_);
    if (closed_ || std::exchange(woken_, true)) return;
  }
  write_event(event_.get());
}

std::vector<Completion> CompletionQueue::collect() {
  std::vector<Completion> out = std::exchange(own_posted_, {});
  const MutexLock lock(mutex_);
  if (std::exchange(woken_, false)) {
    eventfd_t count = 0;
    eventfd_read(event_.get(), &count);
  }
  if (out.empty()) return std::exchange(posted_, {});
  for (auto& completion : posted_) out.push_back(std::move(completion));
  posted_.clear();
  return out;
}

void CompletionQueue::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  posted_.clear();
}

CompletionQueue::OwnerScope::OwnerScope(CompletionQueue& queue) {
  this_threads_queue = &queue;
}
CompletionQueue::OwnerScope::~OwnerScope() {
  this_threads_queue = nullptr;
}

Responder::Route::~Route() {
  if (!used_.load(std::memory_order_relaxed)) post(Completion::Kind::unanswered, {});
}

void Responder::Route::post(Completion::Kind kind, Reply reply) {
  if (used_.exchange(true)) return;
  queue_->post({kind, connection_, request_, std::move(reply)});
}

void Responder::send(Reply reply) {
  if (const auto route = std::exchange(route_, nullptr)) route->post(Completion::Kind::answer, std::move(reply));
}

void Responder::hang_up() {
  if (const auto route = std::exchange(route_, nullptr)) route->post(Completion::Kind::hang_up, {});
}

void Responder::read_more() {
  if (const auto route = std::exchange(route_, nullptr)) route->post(Completion::Kind::read_more, {});
}

}  // namespace runwarden::http
