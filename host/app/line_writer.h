// Lines on their way to a descriptor, written by a thread of its own: whoever logs never waits for whoever reads the log.
//
// add, wake, flush and dropped: any thread. What the reader leaves lying is kept up to kMostBytes; lines beyond that are
// dropped and counted, and the count stands in the log as soon as it is read again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace runwarden::app {

class LineWriter {
 public:
  static constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

  // `lost_line` words the line that says how many were dropped, without its end. The descriptor stays the caller's.
  LineWriter(int fd, std::function<std::string(std::uint64_t lines)> lost_line);
  // Writes what is left, for at most a second.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Kept until there is a good deal to write, or wake() is called.
  void add(std::string_view line);
  void wake();
  // Returns when all that was added before is written, or after a second.
  void flush();
  std::uint64_t dropped() const;  // lines, since the beginning

 private:
  void run();
  bool write_all(const std::string& text);

  const int fd_;
  const std::size_t piece_bytes_;  // what the descriptor takes at once without blocking, when poll() says that it takes any
  const std::function<std::string(std::uint64_t)> lost_line_;

  mutable std::mutex mutex_;
  std::condition_variable work_;     // there is something to write
  std::condition_variable written_;  // what was taken is out
  std::string waiting_;              // guarded by mutex_
  std::uint64_t added_bytes_ = 0;    // guarded by mutex_, as are the rest
  std::uint64_t written_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t told_dropped_ = 0;
  bool woken_ = false;
  bool ending_ = false;
  std::chrono::steady_clock::time_point give_up_at_;  // while ending
  std::thread thread_;
};

}  // namespace runwarden::app
