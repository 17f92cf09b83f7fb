#include "store/lmdb/page_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/mutex.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kMostFiles = 16;  // open at once in a process; with more, SIGBUS ends the process

// LMDB's page header, as in the file.
struct PageHeader {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint16_t lower;
  std::uint16_t upper;
};
struct OverflowHeader {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint32_t pages;
};
constexpr std::uint16_t kOverflow = 0x04;
constexpr std::uint16_t kBranch = 0x01;
constexpr std::uint16_t kLeaf = 0x02;
constexpr std::size_t kHeaderBytes = 16;
// The header of an entry in a page.
struct EntryHeader {
  std::uint16_t low;
  std::uint16_t high;
  std::uint16_t flags;
  std::uint16_t key_bytes;
};
constexpr std::uint16_t kLarge = 0x01;  // the value has pages of its own, and the entry holds their number

// A guarded call in progress.
struct Frame {
  jmp_buf back;
  const MappedFile* file = nullptr;
  Doing doing = Doing::reading;
  const void* page_seen = nullptr;  // the page whose entries were checked last
  MappedFile::GoodPage good;        // the page checked last, while reading

  const char* fault_of(const MDB_val& node) {
    if (doing == Doing::reading) return file->fault_of_page(node, good);
    if (doing == Doing::writing) return file->fault_of_page(node);
    if (page_seen != nullptr && file->same_page(page_seen, node.mv_data)) return file->fault_of_place(node);
    page_seen = node.mv_data;
    return file->fault_of_entries(node);
  }
};

thread_local Frame* frame = nullptr;
thread_local std::array<char, 400> damage{};
thread_local MDB_val behind{};  // of the keys of branch pages that the last call compared, the least that is greater than the one sought

std::array<std::atomic<MappedFile*>, kMostFiles> files;
std::atomic<int> in_handler{0};  // handlers that may be using one of the files
struct sigaction previous_segv, previous_bus;

[[noreturn]] void give_up(const char* why) {
  std::strncpy(damage.data(), why, damage.size() - 1);
  longjmp(frame->back, 1);  // not _longjmp: ThreadSanitizer does not know that one
}

void on_assertion(MDB_env*, const char* text) {
  if (frame != nullptr) give_up(text);
  std::fprintf(stderr, "runwarden: store: its pages are damaged: restore a backup (%s)\n", text);
  ::_exit(EXIT_FAILURE);
}

void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& previous = number == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, info, context);
  ::sigaction(number, &previous, nullptr);  // the fault happens again on return
  if (info->si_code <= 0) ::raise(number);
}

// Leaving a handler by longjmp does not restore the signal mask, and handlers may be nested.
void restore_blocked(const void* context) {
  pthread_sigmask(SIG_SETMASK, &static_cast<const ucontext_t*>(context)->uc_sigmask, nullptr);
}

bool zeros_put(const void* address) {
  ++in_handler;
  bool put = false;
  for (auto& one : files) {
    MappedFile* const file = one.load();
    put = put || (file != nullptr && file->put_zeros_at(address));
  }
  --in_handler;
  return put;
}

void on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool fault = info->si_code > 0;
  if (fault && number == SIGBUS && zeros_put(info->si_addr)) {
    errno = saved;
    return;
  }
  if (fault && frame != nullptr) {
    restore_blocked(context);
    give_up(number == SIGBUS ? "a page could not be read" : "a page points outside the file");
  }
  pass_on(number, info, context);
}

void install_handlers() {
  [[maybe_unused]] static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &previous_segv);
    ::sigaction(SIGBUS, &action, &previous_bus);
    return true;
  }();
}

// The mapping of the file in this process.
struct Mapping {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
};

// Allocates nothing while it reads: that might add mappings, and the list would never end.
Mapping find_mapping(const std::filesystem::path& path, std::size_t bytes) {
  std::error_code fault;
  const std::string wanted = std::filesystem::canonical(path, fault).string() + "\n";
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return {};
  static Mutex mutex;
  const MutexLock lock(mutex);
  static std::array<char, 8192> line RW_GUARDED_BY(mutex);
  Mapping found;
  while (std::fgets(line.data(), static_cast<int>(line.size()), maps) != nullptr) {
    Mapping one;
    int name_at = 0;
    if (std::sscanf(line.data(), "%lx-%lx %*s %*s %*s %*s %n", &one.from, &one.to, &name_at) < 2 || name_at == 0) continue;
    if (line.data() + name_at != std::string_view(wanted) || one.to - one.from < bytes) continue;
    found = one;
    break;
  }
  std::fclose(maps);
  return found;
}

}  // namespace

bool is_damage(int code) {
  switch (code) {
    case kPageDamaged:
    case kCutOff:
    case kWriteBroken:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_CURSOR_FULL:
    case MDB_PAGE_FULL:
    case MDB_BAD_TXN:  // follows such a fault in its transaction
    case MDB_INCOMPATIBLE: return true;
    default: return false;
  }
}

MappedFile::MappedFile(MDB_env* env, const std::filesystem::path& data) {
  install_handlers();
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env, &info);
  mdb_env_stat(env, &stat);
  mdb_env_get_fd(env, &file_);
  page_bytes_ = stat.ms_psize;
  page_shift_ = std::countr_zero(page_bytes_);
  const Mapping found = find_mapping(data, info.me_mapsize);
  base_ = reinterpret_cast<const char*>(found.from);
  bytes_ = found.from == 0 ? 0 : info.me_mapsize;
  look_at_length();
  mdb_env_set_userctx(env, this);
  for (auto& one : files) {
    MappedFile* none = nullptr;
    if (base_ == nullptr || one.compare_exchange_strong(none, this)) break;
  }
}

MappedFile::~MappedFile() {
  for (auto& one : files) {
    MappedFile* me = this;
    one.compare_exchange_strong(me, nullptr);
  }
  while (in_handler.load() != 0) continue;
}

bool MappedFile::inside(const void* address) const {
  const auto* const at = static_cast<const char*>(address);
  return base_ != nullptr && at >= base_ && at < base_ + bytes_;
}

void MappedFile::look_at_length() {
  const std::size_t before = length_.load();  // read before the file's size, which others may increase meanwhile
  struct stat now {};
  if (::fstat(file_, &now) != 0) return;
  const auto bytes = static_cast<std::size_t>(now.st_size);
  if (bytes < before) torn_.store(true, std::memory_order_release);
  std::size_t greatest = before;
  while (greatest < bytes && !length_.compare_exchange_weak(greatest, bytes)) continue;
}

const char* MappedFile::fault_of_value(const MDB_val& value) {
  if (!inside(value.mv_data)) return nullptr;  // a page that a transaction has changed is elsewhere
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(value.mv_data) - base_);
  if (offset + value.mv_size > length_.load(std::memory_order_relaxed)) look_at_length();  // others write, too
  if (value.mv_size > length_.load(std::memory_order_relaxed) - std::min(offset, length_.load())) return "a page points outside the file";
  if (in_page(offset) != kHeaderBytes) return nullptr;  // it shares its page with others
  OverflowHeader page;
  std::memcpy(&page, base_ + offset - kHeaderBytes, sizeof page);
  const bool right = page.number == page_of(offset) && page.flags == kOverflow &&
                     page.pages >= (kHeaderBytes + value.mv_size + page_bytes_ - 1) / page_bytes_ &&
                     page.pages <= (bytes_ - offset) / page_bytes_ + 1;
  return right ? nullptr : "the first page of a large value is wrong";
}

const char* MappedFile::fault_of_page(const MDB_val& node, GoodPage& good) const {
  if (!inside(node.mv_data)) return nullptr;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(node.mv_data) - base_);
  const std::size_t number = page_of(offset);
  if (number != good.number) {
    PageHeader page;
    std::memcpy(&page, base_ + (number << page_shift_), sizeof page);
    if (page.number != number) return "a page has the number of another page";
    if (page.flags != kBranch && page.flags != kLeaf) return "a page is neither a branch nor a leaf";
    if (page.lower <= kHeaderBytes || page.lower > page.upper || page.upper > page_bytes_) return "a page's bounds are wrong";
    good = {number, page.upper, page.flags == kBranch};
  }
  if (in_page(offset) < good.upper || node.mv_size > page_bytes_ - in_page(offset)) return "a page's entry extends beyond the page";
  return nullptr;
}

const char* MappedFile::fault_of_entries(const MDB_val& node) const {
  if (!inside(node.mv_data)) return nullptr;
  if (const char* const fault = fault_of_page(node)) return fault;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(node.mv_data) - base_);
  const char* const at = base_ + (page_of(offset) << page_shift_);
  PageHeader page;
  std::memcpy(&page, at, sizeof page);
  const std::size_t wanted = in_page(offset) - sizeof(EntryHeader);
  bool listed = false;
  std::size_t filled = 0;
  std::size_t lowest = page_bytes_;
  for (std::size_t index = kHeaderBytes; index < page.lower; index += sizeof(std::uint16_t)) {
    std::uint16_t place = 0;
    std::memcpy(&place, at + index, sizeof place);
    if (place < page.upper || place + sizeof(EntryHeader) > page_bytes_) return "a page's entry extends beyond the page";
    listed = listed || place == wanted;
    EntryHeader entry;
    std::memcpy(&entry, at + place, sizeof entry);
    std::size_t bytes = sizeof entry + entry.key_bytes;
    if (page.flags == kLeaf) bytes += (entry.flags & kLarge) != 0 ? sizeof(std::uint64_t) : entry.low + (std::size_t{entry.high} << 16);
    filled += bytes + bytes % 2;
    lowest = std::min<std::size_t>(lowest, place);
    if (place + bytes > page_bytes_) return "a page's entry extends beyond the page";
  }
  if (!listed) return "a page's entry extends beyond the page";
  return lowest == page.upper && filled == page_bytes_ - page.upper ? nullptr : "a page's entries do not fill it";
}

const char* MappedFile::fault_of_place(const MDB_val& node) const {
  if (!inside(node.mv_data)) return nullptr;
  if (const char* const fault = fault_of_page(node)) return fault;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(node.mv_data) - base_);
  const char* const at = base_ + (page_of(offset) << page_shift_);
  const std::size_t wanted = in_page(offset) - sizeof(EntryHeader);
  PageHeader page;
  std::memcpy(&page, at, sizeof page);
  for (std::size_t index = kHeaderBytes; index < page.lower; index += sizeof(std::uint16_t)) {
    std::uint16_t place = 0;
    std::memcpy(&place, at + index, sizeof place);
    if (place == wanted) return nullptr;
  }
  return "a page's entry extends beyond the page";
}

bool MappedFile::same_page(const void* one, const void* other) const {
  if (inside(one) != inside(other)) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(one);
  const auto beside = reinterpret_cast<std::uintptr_t>(other);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (inside(one)) return page_of(at - base) == page_of(beside - base);
  return std::max(at, beside) - std::min(at, beside) < page_bytes_;
}

bool MappedFile::put_zeros_at(const void* address) {
  if (!inside(address)) return false;
  const auto unit = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(address) - base_) / unit * unit;
  look_at_length();
  struct stat now {};
  const bool beyond = ::fstat(file_, &now) == 0 && offset >= static_cast<std::size_t>(now.st_size);
  if (beyond && !torn() && frame != nullptr) return false;
  torn_.store(true, std::memory_order_release);
  const std::size_t bytes = beyond ? bytes_ - offset : unit;
  void* const at = const_cast<char*>(base_) + offset;
  return ::mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at;
}

MappedFile* mapped_file(MDB_env* env) {
  return static_cast<MappedFile*>(mdb_env_get_userctx(env));
}

int compare_guarded(const MDB_val* key, const MDB_val* node) {
  if (frame != nullptr && frame->file != nullptr) {
    const char* const fault = frame->fault_of(*node);
    if (fault != nullptr) give_up(fault);
  }
  int difference = std::memcmp(key->mv_data, node->mv_data, std::min(key->mv_size, node->mv_size));
  if (difference == 0) difference = key->mv_size < node->mv_size ? -1 : static_cast<int>(key->mv_size > node->mv_size);
  if (difference < 0 && frame != nullptr && frame->good.branch) behind = *node;
  return difference;
}

void install_guard(MDB_env* env) {
  mdb_env_set_assert(env, on_assertion);
}

int guarded_call(MDB_env* env, Doing doing, int (*call)(void*), void* context) {
  Frame mine;
  mine.file = mapped_file(env);
  mine.doing = doing;
  behind = {};
  if (_setjmp(mine.back) != 0) {
    frame = nullptr;
    if (doing != Doing::writing) return kPageDamaged;
    if (MappedFile* const file = mapped_file(env); file != nullptr) file->note_broken_write();
    return kWriteBroken;
  }
  frame = &mine;
  const int code = call(context);
  frame = nullptr;
  return code;
}

std::string last_damage() {
  return damage.data();
}

std::string key_behind_damage() {
  return {static_cast<const char*>(behind.mv_data), behind.mv_size};
}

}  // namespace runwarden::store
