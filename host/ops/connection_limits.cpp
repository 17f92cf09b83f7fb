#include "ops/connection_limits.h"

#include <sys/resource.h>

#include <string>
#include <utility>

namespace runwarden::ops {
namespace {

constexpr std::uint64_t kBesideConnections = 48;         // store, log, reloaded libraries, the threads' pollers
constexpr std::int64_t kLogIntervalNs = 10'000'000'000;  // pauses can happen thousands of times a second

}  // namespace

ConnectionLimits::ConnectionLimits(std::uint64_t max_connections, const Clock& clock, LogFunction log)
    : max_connections_(max_connections), clock_(clock), log_(std::move(log)) {}

void ConnectionLimits::raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void ConnectionLimits::check_descriptors() const {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::uint64_t wanted = max_connections_ + kBesideConnections;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  log_(LogLevel::warn, "few_descriptors",
       "limits.max_connections is " + std::to_string(max_connections_) + ", but this process may only open " +
           std::to_string(limit.rlim_cur) + " files: connections beyond that wait to be accepted. Raise LimitNOFILE= (ulimit -n) to " +
           std::to_string(wanted) + ", or lower limits.max_connections");
}

void ConnectionLimits::tick(std::uint64_t accept_pauses, std::uint64_t connections_open) {
  const std::uint64_t pauses = accept_pauses - logged_pauses_;
  if (pauses == 0 || clock_.monotonic_ns() < next_log_ns_) return;
  logged_pauses_ = accept_pauses;
  next_log_ns_ = clock_.monotonic_ns() + kLogIntervalNs;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  log_(LogLevel::warn, "accept_paused",
       "accepting paused " + std::to_string(pauses) + " times with " + std::to_string(connections_open) +
           " connections open: clients wait. The limits are limits.max_connections (" + std::to_string(max_connections_) +
           ") and LimitNOFILE= (ulimit -n, " + std::to_string(limit.rlim_cur) + " files); raise the one that is exhausted");
}

}  // namespace runwarden::ops
