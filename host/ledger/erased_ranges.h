// Which entries have lost their bodies, and which of them a receipt tells of. One thread; holds ranges, not entries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace runwarden::ledger {

// Numbers as ranges of them that touch neither one another.
class Ranges {
 public:
  void add(std::uint64_t first, std::uint64_t last);
  // The first number in here that is not in the other.
  std::optional<std::uint64_t> first_not_in(const Ranges& other) const;
  bool empty() const { return ends_.empty(); }
  const std::map<std::uint64_t, std::uint64_t>& ends() const { return ends_; }  // first -> last

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;
};

class ErasedRanges {
 public:
  void note_erased(std::uint64_t index) { erased_.add(index, index); }
  // The body of a purge or an expiry, entry `index`: it tells of entries before it alone. False: it is no such body.
  bool take_receipt(std::uint64_t index, std::string_view body);
  // The first entry without a body that no receipt tells of.
  std::optional<std::uint64_t> first_without_receipt() const { return erased_.first_not_in(told_); }

 private:
  Ranges erased_;
  Ranges told_;
};

}  // namespace runwarden::ledger
