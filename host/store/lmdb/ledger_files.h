// What ledgers keep in files next to the store: the signing keys, and the sizes of the checkpoints that were given out. Internal to store/;
// one thread at a time, alongside other processes. Throws StoreError, which names the file.
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

  // The signing key; made if there is none. `noted`: the public key of the last committed rotation, or empty. A rotation that was
  // interrupted after its commit is finished here.
  ledger::SigningKey current(std::string_view noted);
  // Reads what current() would read, and makes nothing.
  void check_current(std::string_view noted) const;
  // Reads the keys of every name.
  void check_all() const;
  // The key before it, if it has this public key.
  std::optional<ledger::SigningKey> previous(std::string_view public_key) const;
  // Makes another key, which must not sign before its entries are committed.
  ledger::SigningKey make_next();
  // That key signs from here on.
  void take_next();

 private:
  std::optional<ledger::SigningKey> read(const char* name) const;
  void write(const char* name, const ledger::SigningKey& key) const;

  std::filesystem::path folder_;
};

// One line per checkpoint, appended and flushed before the checkpoint is given out. The last line of an origin counts.
class LedgerLast {
 public:
  struct Noted : NotedCheckpoint {
    std::uint64_t announced = 0;  // size of the tree at the last checkpoint that was announced, not only asked for
  };

  explicit LedgerLast(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_there() const;
  void make() { note({}); }
  // All that is noted, by any process.
  const std::map<std::string, Noted>& read();
  void note(const std::map<std::string, Noted>& checkpoints);

 private:
  void take_lines(std::string_view text);
  void rewrite();

  std::filesystem::path folder_;
  std::map<std::string, Noted> noted_;
  ino_t file_ = 0;          // inode that the notes were read from
  std::uint64_t upto_ = 0;  // offset read so far
};

}  // namespace runwarden::store
