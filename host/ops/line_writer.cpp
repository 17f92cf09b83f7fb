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
  bool is_torn = false;  // the last line was written only in part
  MutexLock lock(mutex_);
  while (!ending_ || !waiting_.empty()) {
    work_.wait(lock, [this]() RW_REQUIRES(mutex_) { return woken_ || ending_; });
    woken_ = false;
    std::string text = std::exchange(waiting_, {});
    const std::uint64_t dropped = dropped_;
    const std::uint64_t unreported = dropped - reported_dropped_;
    lock.unlock();
    const std::size_t begin = is_torn ? 1 : 0;
    text.insert(0, begin, '\n');
    const std::size_t end = text.size();
    if (unreported > 0) text.append(dropped_line_(unreported)).push_back('\n');
    const std::size_t done = write_all(text);
    if (done > 0) is_torn = text[done - 1] != '\n';
    lock.lock();
    written_bytes_ += end - begin;
    written_.notify_all();
    if (done == text.size()) {
      reported_dropped_ = dropped;
      continue;
    }
    for (std::size_t at = std::max(begin, done); at < end; ++at) dropped_ += text[at] == '\n' ? 1 : 0;
    if (ending_) return;
  }
}

// How many bytes it wrote: fewer than all if the descriptor is closed or its disk is full, or if the reader is too slow at the end.
std::size_t LineWriter::write_all(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, kLookUpMs) == 0) {
      const MutexLock lock(mutex_);
      if (ending_ && Clock::now() >= give_up_at_) return done;
      continue;
    }
    const ssize_t wrote = ::write(fd_, text.data() + done, std::min(chunk_bytes_, text.size() - done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
      return done;
    }
  }
  return done;
}

}  // namespace runwarden::ops
