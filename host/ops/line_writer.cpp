#include "ops/line_writer.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <utility>

namespace runwarden::ops {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kEnoughBytes = 32 * 1024;
constexpr int kLookUpMs = 100;
constexpr auto kPatience = std::chrono::seconds(1);

// A pipe that poll() reports writable accepts PIPE_BUF bytes without blocking, but may block for more (pipe(7)).
std::size_t piece_of(int fd) {
  struct stat about {};
  const bool file = ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  return file ? std::size_t{1024 * 1024} : std::size_t{PIPE_BUF};
}

}  // namespace

LineWriter::LineWriter(int fd, std::function<std::string(std::uint64_t)> dropped_line)
    : fd_(fd), chunk_bytes_(piece_of(fd)), dropped_line_(std::move(dropped_line)), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    give_up_at_ = Clock::now() + kPatience;
  }
  work_.notify_one();
  thread_.join();
}

void LineWriter::add(std::string_view line) {
  bool enough = false;
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() + line.size() >= kMaxBytes) {
      ++dropped_;
      return;
    }
    waiting_.append(line).push_back('\n');
    added_bytes_ += line.size() + 1;
    enough = waiting_.size() >= kEnoughBytes && !std::exchange(woken_, true);
  }
  if (enough) work_.notify_one();
}

void LineWriter::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  work_.notify_one();
}

void LineWriter::flush() {
  MutexLock lock(mutex_);
  woken_ = true;
  work_.notify_one();
  const std::uint64_t mark = added_bytes_;
  written_.wait_for(lock, kPatience, [&]() RW_REQUIRES(mutex_) { return written_bytes_ >= mark; });
}

std::uint64_t LineWriter::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

void LineWriter::run() {
  MutexLock lock(mutex_);
  while (!ending_ || !waiting_.empty()) {
    work_.wait(lock, [this]() RW_REQUIRES(mutex_) { return woken_ || ending_; });
    woken_ = false;
    std::string text;
    text.swap(waiting_);
    const std::uint64_t took = text.size();
    const std::uint64_t lost = dropped_ - std::exchange(reported_dropped_, dropped_);
    lock.unlock();
    if (lost > 0) text.append(dropped_line_(lost)).push_back('\n');
    const bool written = write_all(text);
    lock.lock();
    written_bytes_ += took;
    written_.notify_all();
    if (!written) return;
  }
}

// False if it gave up because the reader did not read everything.
bool LineWriter::write_all(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, kLookUpMs) == 0) {
      const MutexLock lock(mutex_);
      if (ending_ && Clock::now() >= give_up_at_) return false;
      continue;
    }
    const ssize_t wrote = ::write(fd_, text.data() + done, std::min(chunk_bytes_, text.size() - done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
      return true;  // closed, or its disk is full: these lines are lost, later ones may succeed
    }
  }
  return true;
}

}  // namespace runwarden::ops
