// Keeps damage to a store's file from ending the process. LMDB trusts its pages: a damaged one shows as an error code, a failed assertion,
// a wild pointer (SIGSEGV) or, if the file ends too early or the disk cannot be read, as SIGBUS. Calls into LMDB go through guarded_call(),
// which turns each of these into a code. Internal to store/; any thread.
//
// The guard checks the structure of each page that LMDB searches, before LMDB uses it. Reads past the end of the file, or from a sector
// that the disk cannot read, yield zeros, also outside LMDB. Checksums then show that a value is bad, and torn() says that the process does
// not see what the disk holds.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>

namespace runwarden::store {

constexpr int kPageDamaged = -31'000;  // in addition to LMDB's codes
constexpr int kCutOff = -31'002;       // the file ends before its pages do
constexpr int kWriteBroken = -31'001;  // a write met a damaged page midway: its transaction must be neither used nor ended

// Whether an error code means that the store's pages are damaged.
bool is_damage(int code);

// The memory mapping of an environment's file.
class MappedFile {
 public:
  // `env` is open, and keeps only this object as its user context from here on. Finds the mapping in /proc/self/maps; without one, only
  // error codes and assertions show damage.
  MappedFile(MDB_env* env, const std::filesystem::path& data);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Whether part of the file could not be read: nothing may be written on the basis of what was read.
  bool torn() const { return torn_.load(std::memory_order_acquire); }
  // Whether a write stopped midway: its transaction and cursors must not be touched.
  bool write_broken() const { return write_broken_.load(std::memory_order_acquire); }
  void note_broken_write() { write_broken_.store(true, std::memory_order_release); }
  // Why a value from LMDB, or the overflow pages that hold it, cannot be right; null: nothing is wrong.
  const char* fault_of_value(const MDB_val& value);
  // A page whose header was found to be right.
  struct GoodPage {
    std::size_t number = ~std::size_t{0};
    std::size_t upper = 0;  // where its entries begin
    bool branch = false;
  };
  // Why the B-tree page around this address is damaged; null: it is not, or is outside the file. Async-signal-safe. Does not check the
  // header again if the page is `good`, the page of the call before.
  const char* fault_of_page(const MDB_val& node, GoodPage& good) const;
  const char* fault_of_page(const MDB_val& node) const {
    GoodPage none;
    return fault_of_page(node, none);
  }
  // The same for all entries of the page: they must fill it without a gap. Call before the page is changed, because LMDB trusts its bounds
  // when it writes. `node` is the key of one of them.
  const char* fault_of_entries(const MDB_val& node) const;
  // Why this key belongs to no entry of its page: a damaged page led to it.
  const char* fault_of_place(const MDB_val& node) const;

  // Whether two entries are in one page. For pages that a transaction has changed: whether they may be.
  bool same_page(const void* one, const void* other) const;

  // Notes whether the file has become shorter. Async-signal-safe.
  void look_at_length();
  // For the signal handler: maps zeros where the file cannot be read. False: the address is elsewhere, or it is beyond a file that has not
  // become shorter, while a guarded call is there to handle it.
  bool put_zeros_at(const void* address);

 private:
  bool inside(const void* address) const;
  std::size_t page_of(std::size_t offset) const { return offset >> page_shift_; }
  std::size_t in_page(std::size_t offset) const { return offset & (page_bytes_ - 1); }

  const char* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t page_bytes_ = 0;  // a power of two
  int page_shift_ = 0;
  int file_ = -1;
  std::atomic<std::size_t> length_{0};  // the greatest length seen
  std::atomic<bool> torn_{false};
  std::atomic<bool> write_broken_{false};
};

// Of an open environment; null while it is being opened.
MappedFile* mapped_file(MDB_env* env);

// Compares as LMDB does, and checks the page that LMDB searches. For mdb_set_compare.
int compare_guarded(const MDB_val* key, const MDB_val* node);

// Makes failed assertions of this environment, and wild pointers in guarded calls, end in kPageDamaged.
void install_guard(MDB_env* env);

// What a call does. A call that only reads can be abandoned at any point. One before a change checks every page on its way in full.
enum class Doing { reading, reading_before_change, writing };

int guarded_call(MDB_env* env, Doing doing, int (*call)(void*), void* context);

// `call` returns LMDB's code, and has no destructors in its frame.
template <class Call>
int guarded_call(MDB_env* env, Doing doing, Call call) {
  return guarded_call(
      env, doing, [](void* context) { return (*static_cast<Call*>(context))(); }, &call);
}

// The damage that this thread's guarded calls met last.
std::string last_damage();

// After a search that met damage, in this thread's last guarded call and while its transaction is open: a key greater than the one sought,
// where the page behind the damaged one begins, or a page before it. Empty: the branch pages on the way name none.
std::string key_behind_damage();

}  // namespace runwarden::store
