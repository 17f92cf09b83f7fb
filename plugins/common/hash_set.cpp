#include "common/hash_set.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <random>

namespace runwarden::plugins {
namespace {

constexpr std::size_t kFirstTable = 64;
constexpr std::size_t kMostKept = 1u << 16;

std::uint64_t draw_factor() {
  try {
    std::random_device draw;
    return (std::uint64_t{draw()} << 32 | draw()) | 1;
  } catch (const std::exception&) {
    // The detectors must also load on a machine without a source of random numbers.
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9e3779b97f4a7c15ull | 1;
  }
}

}  // namespace

const std::uint64_t HashSet::kFactor = draw_factor();

void HashSet::clear() {
  if (used_ == 0) return;
  used_ = 0;
  if (table_.size() > kMostKept) {
    table_ = {};
  } else {
    std::fill(table_.begin(), table_.end(), 0);
  }
}

void HashSet::insert(std::uint64_t hash) {
  hash += hash == 0;
  if ((used_ + 1) * 2 > table_.size()) grow();
  auto place = place_of(hash);
  for (; table_[place] != 0; place = (place + 1) & (table_.size() - 1)) {
    if (table_[place] == hash) return;
  }
  table_[place] = hash;
  ++used_;
}

void HashSet::grow() {
  std::vector<std::uint64_t> old(std::max(kFirstTable, table_.size() * 2), 0);
  old.swap(table_);
  shift_ = static_cast<unsigned>(64 - std::countr_zero(table_.size()));
  used_ = 0;
  for (const auto hash : old) {
    if (hash != 0) insert(hash);
  }
}

}  // namespace runwarden::plugins
