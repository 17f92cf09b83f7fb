// The sections of the configuration that say which records are stored, where, and for how long. Values; any thread once loaded.
//
// Durations are in milliseconds, sizes in bytes. The defaults apply to a service without a file.
#pragma once

#include <cstdint>
#include <string>

namespace runwarden::config {

constexpr std::int64_t kForever = -1;
constexpr std::int64_t kDayMs = 86'400'000;

struct BufferSection {
  std::int64_t idle_timeout_ms = 300'000;
  std::int64_t max_age_ms = kDayMs;
  std::int64_t max_events = 10'000;
  std::int64_t max_open_runs = 1'000'000;
  std::int64_t otlp_root_grace_ms = 10'000;
  std::int64_t otlp_idle_timeout_ms = 900'000;
};

struct StoreSection {
  std::string driver = "lmdb";
  std::string path = "/var/lib/runwarden";  // absolute once loaded; a relative path starts at the file's folder
  std::int64_t map_size_bytes = 64LL << 30;
  std::int64_t commit_interval_ms = 0;
  std::int64_t max_commit_records = 512;
  // Of driver postgres.
  std::string dsn;            // without a password
  std::string password_file;  // absolute once loaded; empty: none
  std::int64_t write_connections = 4;
  std::int64_t read_connections = 8;
  std::int64_t connect_timeout_ms = 3'000;
  std::int64_t patience_ms = 20'000;
  bool require_sync_standby = false;
  bool prepared = true;
  bool allow_plaintext = false;
  bool create_new = false;  // not in the file: `serve --new-store`
};

// Retention of records; kForever: until they are purged.
struct RetentionSection {
  std::int64_t runs_ms = 90 * kDayMs;
  std::int64_t failures_ms = 90 * kDayMs;
  std::int64_t changes_ms = 400 * kDayMs;
  std::int64_t policies_ms = kForever;
  std::int64_t idempotency_keys_ms = 2 * kDayMs;
  std::int64_t max_clock_step_ms = 7 * kDayMs;  // the longest plausible time between the store's last use and a start; kForever: unlimited
};

}  // namespace runwarden::config
