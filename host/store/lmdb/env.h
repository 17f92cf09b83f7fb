// The owner of LMDB's environment: opens the files of a store, checks them, and begins transactions (txn.h). Internal to store/.
// Any thread.
#pragma once

#include <lmdb.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/page_guard.h"
#include "store/lmdb/store.h"
#include "store/lmdb/store_use.h"

namespace runwarden::store {

class WriteTxn;
class ReadTxn;

class LmdbEnv {
 public:
  static constexpr unsigned kMaxReaders = 512;

  struct Options {
    std::filesystem::path folder;
    std::uint64_t map_size = 0;  // 0: as it was created
    unsigned databases = 0;
    StoreUse::Kind use = StoreUse::Kind::shared;
    MachineAnswers machine;
  };

  // Throws LmdbFault, also if the file is shorter than its pages.
  explicit LmdbEnv(Options options);
  ~LmdbEnv();
  LmdbEnv(const LmdbEnv&) = delete;
  LmdbEnv& operator=(const LmdbEnv&) = delete;

  ReadTxn read();
  WriteTxn write();

  // The store is on a read-only file system and was opened for reading: no write transactions.
  bool read_only() const { return read_only_; }

  MDB_env* handle() const { return env_; }
  void look_at_file();  // notes whether it has become shorter, or is no longer the file at its path
  // Why nothing may be written to this file, which is damaged or gone; empty: writes are allowed.
  std::string write_refusal() const;
  // What an operator does about damage, including the reason of write_refusal().
  const char* remedy() const;
  // A write met damage midway: this process must end. Tells the next one not to try again.
  void note_broken_write(const std::string& why);
  const MachineAnswers& machine() const { return options_.machine; }
  // What the disk has left, and by how much a limit of this process (RLIMIT_FSIZE) lets data.mdb grow.
  std::uint64_t disk_left() const { return options_.machine.disk_free_bytes(options_.folder); }
  std::uint64_t file_limit_left() const;
  const std::filesystem::path& folder() const { return options_.folder; }

  struct Info {
    std::uint64_t map_bytes = 0;
    std::uint64_t last_page = 0;
    std::uint64_t page_bytes = 0;
    std::uint64_t transaction = 0;  // number of the last commit
  };
  Info info() const;

  // Why the list of tables or a list of free pages, as of the last commit, cannot be right; empty: nothing was found. Others may commit
  // meanwhile.
  std::string fault_of_own_pages() const;

  // Frees the reader slots of processes that died.
  void check_readers();

  // Writes the whole store, as of the beginning of the call, to a file descriptor; compacted: without free pages. Other writes go on
  // meanwhile. Throws LmdbFault.
  enum class Copy { as_it_is, compacted };
  void copy_to(int file, Copy how);

 private:
  friend class ReadTxn;
  void open();
  void check_length() const;
  bool tail_is_free(std::uint64_t from_page, std::uint64_t last_page) const;
  MDB_txn* borrow();
  void give_back(MDB_txn* txn);

  Options options_;
  std::filesystem::path data_;  // data.mdb
  StoreUse use_;
  bool read_only_ = false;
  MDB_env* env_ = nullptr;
  std::unique_ptr<MappedFile> mapped_;
  std::pair<dev_t, ino_t> data_identity_;  // at opening
  std::atomic<bool> data_gone_{false};     // from its path: another start would not find what is written now
  std::string damage_noted_;               // by a process before this one
  Mutex mutex_;
  CondVar returned_;
  std::vector<MDB_txn*> idle_ RW_GUARDED_BY(mutex_);  // reset, ready to renew
  unsigned made_ RW_GUARDED_BY(mutex_) = 0;           // idle or lent
};

}  // namespace runwarden::store
