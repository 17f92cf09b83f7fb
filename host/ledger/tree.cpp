#include "ledger/tree.h"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace runwarden::ledger {
namespace {

// The largest power of two below n; n >= 2.
std::uint64_t split_of(std::uint64_t n) {
  return std::bit_floor(n - 1);
}

// The root of `count` leaves starting at `first`, a multiple of the largest power of two that is at most `count`.
Hash root_of_range(std::uint64_t first, std::uint64_t count, const Subtrees& subtrees) {
  if (std::has_single_bit(count)) {
    const auto height = static_cast<unsigned>(std::countr_zero(count));
    return subtrees(height, first >> height);
  }
  const std::uint64_t left = split_of(count);
  return node_of(root_of_range(first, left, subtrees), root_of_range(first + left, count - left, subtrees));
}

struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

void add_inclusion(std::uint64_t index, const Range& range, const Subtrees& subtrees, std::vector<Hash>& path) {
  if (range.count == 1) return;
  const std::uint64_t left = split_of(range.count);
  const Range here{range.first, left};
  const Range there{range.first + left, range.count - left};
  const bool is_left = index < there.first;
  add_inclusion(index, is_left ? here : there, subtrees, path);
  const Range& other = is_left ? there : here;
  path.push_back(root_of_range(other.first, other.count, subtrees));
}

// RFC 9162's SUBPROOF. `whole`: whether the root of the smaller tree, which equals the root of this range, is known.
enum class RootKnown : std::uint8_t { no, yes };
void add_consistency(std::uint64_t from, const Range& range, RootKnown whole, const Subtrees& subtrees, std::vector<Hash>& path) {
  if (from == range.count) {
    if (whole == RootKnown::no) path.push_back(root_of_range(range.first, range.count, subtrees));
    return;
  }
  const std::uint64_t left = split_of(range.count);
  const Range here{range.first, left};
  const Range there{range.first + left, range.count - left};
  if (from <= left) {
    add_consistency(from, here, whole, subtrees, path);
    path.push_back(root_of_range(there.first, there.count, subtrees));
  } else {
    add_consistency(from - left, there, RootKnown::no, subtrees, path);
    path.push_back(root_of_range(here.first, here.count, subtrees));
  }
}

}  // namespace

Hash node_of(const Hash& left, const Hash& right) {
  char bytes[1 + 2 * sizeof(Hash)];
  bytes[0] = 1;
  std::memcpy(bytes + 1, left.data(), left.size());
  std::memcpy(bytes + 1 + left.size(), right.data(), right.size());
  return sha256({bytes, sizeof bytes});
}

Hash root_of_nothing() {
  return sha256({});
}

RightEdge::RightEdge(std::uint64_t size, std::vector<Hash> peaks) : size_(size), peaks_(std::move(peaks)) {
  if (peaks_.size() != static_cast<std::size_t>(std::popcount(size)))
    throw std::invalid_argument("the right edge does not match the tree's size");
}

void RightEdge::append(const Hash& leaf, const OnComplete& on_complete) {
  peaks_.push_back(leaf);
  unsigned height = 0;
  for (std::uint64_t ones = size_; (ones & 1) != 0; ones >>= 1) {
    const Hash right = peaks_.back();
    peaks_.pop_back();
    peaks_.back() = node_of(peaks_.back(), right);
    ++height;
    if (on_complete) on_complete(height, size_ >> height, peaks_.back());
  }
  ++size_;
}

Hash RightEdge::root() const {
  if (peaks_.empty()) return root_of_nothing();
  Hash root = peaks_.back();
  for (std::size_t i = peaks_.size() - 1; i-- > 0;) root = node_of(peaks_[i], root);
  return root;
}

Hash root_at(std::uint64_t size, const Subtrees& subtrees) {
  return size == 0 ? root_of_nothing() : root_of_range(0, size, subtrees);
}

std::vector<Hash> inclusion_proof(std::uint64_t index, std::uint64_t size, const Subtrees& subtrees) {
  std::vector<Hash> path;
  add_inclusion(index, {0, size}, subtrees, path);
  return path;
}

std::vector<Hash> consistency_proof(std::uint64_t from, std::uint64_t to, const Subtrees& subtrees) {
  std::vector<Hash> path;
  if (from != 0 && from != to) add_consistency(from, {0, to}, RootKnown::yes, subtrees, path);
  return path;
}

}  // namespace runwarden::ledger
