// Where a PostgreSQL is that hosts share, and how this host uses it. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace runwarden::store {

struct PostgresTarget {
  std::string dsn;            // libpq's words or URI, without a password
  std::string password_file;  // empty: libpq finds one (PGPASSFILE)
  std::size_t write_connections = 4;
  std::size_t read_connections = 8;
  std::int64_t connect_timeout_ms = 3'000;
  std::int64_t patience_ms = 20'000;  // how long a commit in doubt is looked into before its sender's connection is closed
  bool require_sync_standby = false;
  bool prepared = true;          // statements; a pooler may not take them
  bool allow_plaintext = false;  // to an address that is not this machine's
  // How faults of these two begin: the key, and where it is written.
  std::string dsn_fault = "config: store.dsn: ";
  std::string password_file_fault = "config: store.password_file: ";
};

}  // namespace runwarden::store
