// Writes lines to a descriptor on its own thread, so that logging never waits for the reader of the log.
//
// add(), wake(), flush() and dropped(): any thread. Buffers up to kMaxBytes while nobody reads. Drops and counts lines beyond that, and
// those that cannot be written (a full disk, a closed pipe), and writes the count once the descriptor accepts output again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"

namespace runwarden::ops {

class LineWriter {
 public:
  static constexpr std::size_t kMaxBytes = 4 * 1024 * 1024;

  // `dropped_line` formats the line that reports the count, without a line feed. The caller keeps ownership of the descriptor.
  LineWriter(int fd, std::function<std::string(std::uint64_t lines)> dropped_line);
  // Writes the remaining lines, for at most one second.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Buffers the line until the buffer is large or wake() is called.
  void add(std::string_view line);
  void wake();
  // Returns when all lines added before are written, or after one second.
  void flush();
  std::uint64_t dropped() const;  // lines, since construction

 private:
  void run();
  std::size_t write_all(const std::string& text);

  const int fd_;
  const std::size_t chunk_bytes_;  // how much the descriptor accepts without blocking once poll() reports it writable
  const std::function<std::string(std::uint64_t)> dropped_line_;

  mutable Mutex mutex_;
  CondVar work_;     // there are lines to write
  CondVar written_;  // the lines taken are written
  std::string waiting_ RW_GUARDED_BY(mutex_);
  std::uint64_t added_bytes_ RW_GUARDED_BY(mutex_) = 0;
  std::uint64_t written_bytes_ RW_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ RW_GUARDED_BY(mutex_) = 0;
  std::uint64_t reported_dropped_ RW_GUARDED_BY(mutex_) = 0;
  bool woken_ RW_GUARDED_BY(mutex_) = false;
  bool ending_ RW_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point give_up_at_ RW_GUARDED_BY(mutex_);  // while ending
  std::thread thread_;
};

}  // namespace runwarden::ops
