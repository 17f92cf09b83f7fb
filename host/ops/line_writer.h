// Writes lines to a descriptor on its own thread, so that logging never waits for the reader of the log.
//
// add(), wake(), flush() and dropped(): any thread. Buffers up to kMaxBytes while nobody reads. Drops and counts lines beyond that, and
// writes the count once the descriptor accepts output again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

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
  bool write_all(const std::string& text);

  const int fd_;
  const std::size_t chunk_bytes_;  // how much the descriptor accepts without blocking once poll() reports it writable
  const std::function<std::string(std::uint64_t)> dropped_line_;

  mutable std::mutex mutex_;
  std::condition_variable work_;     // there are lines to write
  std::condition_variable written_;  // the lines taken are written
  std::string waiting_;              // guarded by mutex_
  std::uint64_t added_bytes_ = 0;    // guarded by mutex_, as are the rest
  std::uint64_t written_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t reported_dropped_ = 0;
  bool woken_ = false;
  bool ending_ = false;
  std::chrono::steady_clock::time_point give_up_at_;  // while ending
  std::thread thread_;
};

}  // namespace runwarden::ops
