// What ledgers keep beside the store: the key that signs, and the sizes of the checkpoints that were given away. For the files of store/
// only; one thread at a time, other processes beside. Throws StoreError, naming the file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ledger/signing_key.h"
#include "store/ledger_signing.h"

namespace runwarden::store {

class LedgerKeys {
 public:
  explicit LedgerKeys(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The key that signs; made where there is none. `noted`: the public key of the last rotation that was committed, or empty: one that was
  // interrupted behind its commit is finished here.
  ledger::SigningKey current(std::string_view noted);
  // The key before it, if that is the one with this public key.
  std::optional<ledger::SigningKey> former(std::string_view public_key) const;
  // Another key, which waits for its entries.
  ledger::SigningKey make_next();
  // It signs from now on.
  void take_next();

 private:
  std::optional<ledger::SigningKey> read(const char* name) const;
  void write(const char* name, const ledger::SigningKey& key) const;

  std::filesystem::path folder_;
};

// A line a checkpoint, appended and flushed before the checkpoint is given away; the last one of an origin counts.
class LedgerLast {
 public:
  using Noted = NotedCheckpoint;

  explicit LedgerLast(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_there() const;
  void make() { note({}); }
  // What is noted now, by any process.
  const std::map<std::string, Noted>& read();
  void note(const std::map<std::string, Noted>& checkpoints);

 private:
  void take_lines(std::string_view text);
  void write_anew();

  std::filesystem::path folder_;
  std::map<std::string, Noted> noted_;
  ino_t file_ = 0;          // that it was read from
  std::uint64_t upto_ = 0;  // how far
};

}  // namespace runwarden::store
