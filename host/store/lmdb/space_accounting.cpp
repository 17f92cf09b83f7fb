#include "store/lmdb/space_accounting.h"

#include <algorithm>
#include <cstring>

namespace runwarden::store {
namespace {

constexpr MDB_dbi kFreeList = 0;  // LMDB's own database of pages that are free for reuse
constexpr std::int64_t kCountAgainNs = 1'000'000'000;
constexpr std::int64_t kRefusedForNs = 10'000'000'000;
// Must be free for an ordinary run. With less, the store says beforehand that it refuses runs.
constexpr std::uint64_t kRunPages = 32;
constexpr std::uint64_t kTellingBytes = std::uint64_t{256} << 10;  // a larger write that does not fit says nothing about an ordinary run

[[noreturn]] void refuse_list() {
  throw LmdbFault("the list of free pages is wrong", kPageDamaged);
}

std::size_t number_at(std::string_view list, std::size_t index) {
  std::size_t number = 0;
  std::memcpy(&number, list.data() + index * sizeof number, sizeof number);
  return number;
}

// Each entry is a list of page numbers that begins with its length.
std::size_t length_of(std::string_view list) {
  if (list.size() < sizeof(std::size_t) || number_at(list, 0) >= list.size() / sizeof(std::size_t)) refuse_list();
  return number_at(list, 0);
}

std::uint64_t pages_in_free_list(const Txn& txn) {
  std::uint64_t pages = 0;
  Cursor cursor(txn, kFreeList);
  for (bool more = cursor.first(); more; more = cursor.next()) pages += length_of(cursor.value());
  return pages;
}

// With a wrong list, LMDB might reuse pages that hold records. The greatest number comes first.
void check_free_list(const Txn& txn, std::uint64_t last_page) {
  constexpr std::size_t kFirstOfRecords = 2;
  Cursor cursor(txn, kFreeList);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    std::size_t before = last_page + 1;
    for (std::size_t i = 1; i <= length_of(cursor.value()); ++i) {
      const std::size_t page = number_at(cursor.value(), i);
      if (page >= before || page < kFirstOfRecords) refuse_list();
      before = page;
    }
  }
}

}  // namespace

SpaceAccounting::Pages SpaceAccounting::count(const Txn& txn) const {
  const LmdbEnv::Info info = env_.info();
  Pages pages;
  pages.page_bytes = info.page_bytes;
  pages.all = info.map_bytes / info.page_bytes;
  pages.file = info.last_page + 1;
  pages.unused = pages_in_free_list(txn);
  const std::uint64_t in_map = pages.all > pages.file ? pages.all - pages.file : 0;
  const std::uint64_t on_disk = env_.disk_left() / info.page_bytes;
  const std::uint64_t in_limit = env_.file_limit_left() / info.page_bytes;
  pages.growth = std::min({in_map, on_disk, in_limit});
  pages.file_limit_is_short = in_limit < std::min(in_map, on_disk);
  pages.disk_is_short = on_disk < in_map;
  return pages;
}

// A thousandth of the map, but enough for a deletion to touch every database.
std::uint64_t SpaceAccounting::reserve_pages(const Pages& pages) {
  constexpr std::uint64_t kLeast = std::uint64_t{512} << 10;
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
  return std::clamp(pages.all * pages.page_bytes / 1024, kLeast, kMost) / pages.page_bytes;
}

void SpaceAccounting::begin() {
  counted_in_this_txn_ = false;
  admitted_in_this_txn_ = 0;
  if (!counted_ || clock_.monotonic_ns() - counted_ns_ >= kCountAgainNs) count_again();
}

void SpaceAccounting::count_again() {
  const ReadTxn committed(env_);  // LMDB shows the list of free pages only to readers
  const Pages pages = count(committed);
  if (!checked_) check_free_list(committed, pages.file - 1);
  checked_ = true;
  page_bytes_ = pages.page_bytes;
  const std::uint64_t left = pages.left() * page_bytes_;
  left_bytes_ = left - std::min(left, admitted_in_this_txn_);
  reserve_bytes_ = reserve_pages(pages) * page_bytes_;
  counted_ns_ = clock_.monotonic_ns();
  counted_ = true;
  counted_in_this_txn_ = true;
}

// A value of half a page or more has pages of its own; smaller ones share theirs, which are two thirds full on average.
std::uint64_t SpaceAccounting::taken_by(std::uint64_t bytes) const {
  return bytes < page_bytes_ / 2 ? bytes * 3 / 2 : bytes + page_bytes_ * 3 / 2;
}

bool SpaceAccounting::admit(std::uint64_t bytes) {
  const std::uint64_t wanted = taken_by(bytes);
  if (left_bytes_ < reserve_bytes_ + wanted && !counted_in_this_txn_) count_again();
  if (left_bytes_ < reserve_bytes_ + wanted) return false;
  left_bytes_ -= wanted;
  admitted_in_this_txn_ += wanted;
  return true;
}

void SpaceAccounting::note_refused(std::uint64_t bytes) {
  counted_ = false;
  if (bytes > kTellingBytes) return;
  refused_ns_.store(std::max<std::int64_t>(clock_.monotonic_ns(), 1), std::memory_order_relaxed);
}

SpaceStatus SpaceAccounting::now(const Txn& txn) const {
  const Pages pages = count(txn);
  SpaceStatus room;
  room.limit_bytes = pages.all * pages.page_bytes;
  room.used_bytes = (pages.file - std::min(pages.unused, pages.file)) * pages.page_bytes;
  room.disk_bytes = pages.file * pages.page_bytes;
  const std::int64_t refused_ns = refused_ns_.load(std::memory_order_relaxed);
  const bool refused_lately = refused_ns != 0 && clock_.monotonic_ns() - refused_ns < kRefusedForNs;
  if (!refused_lately && pages.left() >= reserve_pages(pages) + kRunPages) return room;
  room.refusing = true;
  const std::string left = std::to_string(pages.growth * pages.page_bytes / 1024) + " KiB are left; ";
  if (pages.file_limit_is_short) {
    room.reason = "the store's file has reached the limit on the size of files: " + left +
                  "raise LimitFSIZE= (ulimit -f) and restart, or shorten retention";
  } else if (pages.disk_is_short) {
    room.reason = "the disk of \"" + env_.folder().string() + "\" is full: " + left + "free some space, or shorten retention";
  } else {
    room.reason = "the store is full: " + std::to_string(room.used_bytes >> 10) + " of " + std::to_string(*room.limit_bytes >> 10) +
                  " KiB of store.map_size are in use; raise store.map_size and restart, shorten retention, or purge";
  }
  return room;
}

}  // namespace runwarden::store
