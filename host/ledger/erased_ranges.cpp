#include "ledger/erased_ranges.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/json_check.h"
#include "base/json_members.h"

namespace runwarden::ledger {
namespace {

constexpr int kReceiptDepth = 8;

std::optional<std::uint64_t> whole(const std::string& json) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(json.data(), json.data() + json.size(), number);
  if (end.ec != std::errc() || end.ptr != json.data() + json.size()) return std::nullopt;
  return number;
}

}  // namespace

void Ranges::add(std::uint64_t first, std::uint64_t last) {
  auto at = ends_.upper_bound(first);
  if (at != ends_.begin()) {
    const auto before = std::prev(at);
    if (before->second >= last) return;
    if (before->second + 1 >= first) {
      first = before->first;
      at = before;
    }
  }
  while (at != ends_.end() && (last == ~std::uint64_t{0} || at->first <= last + 1)) {
    last = std::max(last, at->second);
    at = ends_.erase(at);
  }
  ends_.emplace(first, last);
}

std::optional<std::uint64_t> Ranges::first_not_in(const Ranges& other) const {
  for (const auto& [first, last] : ends_) {
    const auto after = other.ends_.upper_bound(first);
    if (after == other.ends_.begin()) return first;
    const std::uint64_t covered = std::prev(after)->second;
    if (covered < first) return first;
    if (covered < last) return covered + 1;  // the other set's ranges do not touch
  }
  return std::nullopt;
}

bool ErasedRanges::take_receipt(std::uint64_t index, std::string_view body) {
  if (!check_json(body, kReceiptDepth).ok()) return false;
  for (const JsonMember& member : json_members(body)) {
    if (member.name != "entries") continue;
    for (const std::string& range : json_elements(member.json)) {
      const auto ends = json_elements(range);
      if (ends.size() != 2) return false;
      const auto first = whole(ends[0]);
      const auto last = whole(ends[1]);
      if (!first || !last) return false;
      if (index == 0 || *first > *last || *first >= index) continue;
      told_.add(*first, std::min(*last, index - 1));
    }
    return true;
  }
  return false;
}

}  // namespace runwarden::ledger
