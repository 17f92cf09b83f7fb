// Keeps damage to a store's file from ending the process. LMDB trusts its pages: a damaged one shows as an error code, as a failed
// assertion, as a wild pointer (SIGSEGV) or, where the file ends too early or the disk cannot be read, as SIGBUS. Calls into LMDB go
// through guarded_call(), which turns each of them into a code. For the files of store/ only; any thread.
//
// The guard compares each page that LMDB searches with what a page has to look like, before anything is done with it.
// Reading past the end of the file, or from a sector that the disk cannot read, gives zeros, also in code that is not LMDB's:
// checksums then tell that a value is bad, and torn() says that the process does not see what the disk holds.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>

namespace runwarden::store {

constexpr int kPageDamaged = -31'000;  // beside LMDB's codes
constexpr int kCutOff = -31'002;       // the file ends before its pages do
constexpr int kWriteBroken = -31'001;  // a write met a damaged page midway: its transaction may be neither used nor ended

// Whether an error code says that the store's pages do not hold together.
bool is_damage(int code);

// The file of an environment as it is mapped.
class MappedFile {
 public:
  // `env` is open, and uses nothing else as its user context from here on. Finds the mapping in /proc/self/maps; where there is none,
  // error codes and assertions are all that is seen of damage.
  MappedFile(MDB_env* env, const std::filesystem::path& data);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Whether something of the file could not be read: nothing may be written any more by what was read.
  bool torn() const { return torn_.load(std::memory_order_acquire); }
  // Whether a write was left midway: its transaction and cursors may not be touched any more.
  bool write_broken() const { return write_broken_.load(std::memory_order_acquire); }
  void note_broken_write() { write_broken_.store(true, std::memory_order_release); }
  // Why a value that LMDB handed out cannot be right, or the pages of its own that it stands in; null: it may be.
  const char* fault_of_value(const MDB_val& value);
  // A page whose header was found right.
  struct GoodPage {
    std::size_t number = ~std::size_t{0};
    std::size_t upper = 0;  // where its entries begin
  };
  // Why this page of a B-tree, at any address in it, is damaged; null: it is not, or is not of the file. Async-signal-safe. The header of
  // `good`, the page asked for before, is not looked at again.
  const char* fault_of_page(const MDB_val& node, GoodPage& good) const;
  const char* fault_of_page(const MDB_val& node) const {
    GoodPage none;
    return fault_of_page(node, none);
  }
  // The same of all that stands in the page: its entries fill it without a gap. To be asked before the page is changed, for LMDB goes by
  // its bounds when it writes. `node` is the key of one of them.
  const char* fault_of_entries(const MDB_val& node) const;
  // Why this key belongs to no entry of the page that it stands in: a damaged page led to it.
  const char* fault_of_place(const MDB_val& node) const;

  // Whether two entries stand in one page. Of pages that a transaction has changed: whether they may.
  bool same_page(const void* one, const void* other) const;

  // Notes a file that has become shorter. Async-signal-safe.
  void look_at_length();
  // For the signal handler: puts zeros where the file cannot be read. False: the address is elsewhere, or leads beyond a file that is
  // as long as it was, while a call is guarded against that.
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
  std::atomic<std::size_t> length_{0};  // the greatest that was seen
  std::atomic<bool> torn_{false};
  std::atomic<bool> write_broken_{false};
};

// Of an open environment; null while it is being opened.
MappedFile* mapped_file(MDB_env* env);

// Compares as LMDB does, and looks at the page that it searches. For mdb_set_compare.
int compare_guarded(const MDB_val* key, const MDB_val* node);

// Has failed assertions of this environment, and wild pointers in guarded calls, end in kPageDamaged.
void install_guard(MDB_env* env);

// What a call does: one that only reads can be given up at any point, and before a change looks at all of each page on its way.
enum class Doing { reading, reading_before_change, writing };

int guarded_call(MDB_env* env, Doing doing, int (*call)(void*), void* context);

// The call is a callable without destructors in its frame that returns LMDB's code.
template <class Call>
int guarded_call(MDB_env* env, Doing doing, Call call) {
  return guarded_call(
      env, doing, [](void* context) { return (*static_cast<Call*>(context))(); }, &call);
}

// What the last guarded call of this thread that met damage met.
std::string last_damage();

}  // namespace runwarden::store
