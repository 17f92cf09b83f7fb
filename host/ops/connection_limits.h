// Warns when the process cannot hold as many connections as limits.max_connections promises, and when accepting has to pause.
//
// One thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/log_function.h"

namespace runwarden::ops {

class ConnectionLimits {
 public:
  ConnectionLimits(std::uint64_t max_connections, const Clock& clock, LogFunction log);

  // Raises the soft limit on open files, which is low for the sake of select(2), to the hard limit.
  static void raise_descriptor_limit();
  // Logs once if the limit on open files is too low.
  void check_descriptors() const;
  // With the server's counts: pauses since its start, connections now. Logs at most once in ten seconds.
  void tick(std::uint64_t accept_pauses, std::uint64_t connections_open);

 private:
  const std::uint64_t max_connections_;
  const Clock& clock_;
  LogFunction log_;
  std::uint64_t logged_pauses_ = 0;
  std::int64_t next_log_ns_ = 0;
};

}  // namespace runwarden::ops
