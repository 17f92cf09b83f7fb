#include "http/mailbox.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace runwarden::http {
namespace {

thread_local Mailbox* this_threads_mailbox = nullptr;

void write_event(int fd) {
  // EAGAIN means that the counter is at its top: the worker is awake already.
  while (eventfd_write(fd, 1) != 0 && errno == EINTR) {
  }
}

}  // namespace

Mailbox::Mailbox() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Mailbox::post(Letter letter) {
  if (this_threads_mailbox == this) {
    own_.push_back(std::move(letter));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    letters_.push_back(std::move(letter));
    if (std::exchange(woken_, true)) return;
  }
  write_event(event_.get());
}

void Mailbox::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || std::exchange(woken_, true)) return;
  }
  write_event(event_.get());
}

std::vector<Letter> Mailbox::collect() {
  std::vector<Letter> out = std::exchange(own_, {});
  const std::lock_guard lock(mutex_);
  if (std::exchange(woken_, false)) {
    eventfd_t count = 0;
    eventfd_read(event_.get(), &count);
  }
  if (out.empty()) return std::exchange(letters_, {});
  for (auto& letter : letters_) out.push_back(std::move(letter));
  letters_.clear();
  return out;
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  letters_.clear();
}

Mailbox::Here::Here(Mailbox& mailbox) {
  this_threads_mailbox = &mailbox;
}
Mailbox::Here::~Here() {
  this_threads_mailbox = nullptr;
}

Ticket::Route::~Route() {
  if (!used_.load(std::memory_order_relaxed)) post(Letter::Kind::abandoned, {});
}

void Ticket::Route::post(Letter::Kind kind, Reply reply) {
  if (used_.exchange(true)) return;
  mailbox_->post({kind, connection_, request_, std::move(reply)});
}

void Ticket::send(Reply reply) {
  if (const auto route = std::exchange(route_, nullptr)) route->post(Letter::Kind::answer, std::move(reply));
}

void Ticket::more() {
  if (const auto route = std::exchange(route_, nullptr)) route->post(Letter::Kind::more, {});
}

}  // namespace runwarden::http
