// Tracks which entries have lost their bodies, and which of them a receipt covers. One thread; holds ranges, not entries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace runwarden::ledger {

// A set of numbers, stored as ranges that neither overlap nor touch.
class Ranges {
 public:
  void add(std::uint64_t first, std::uint64_t last);
  // The first number in this set that is not in the other.
  std::optional<std::uint64_t> first_not_in(const Ranges& other) const;
  bool empty() const { return ends_.empty(); }
  const std::map<std::uint64_t, std::uint64_t>& ends() const { return ends_; }  // first -> last

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;
};

class ErasedRanges {
 public:
  void note_erased(std::uint64_t index) { erased_.add(index, index); }
  // Reads the body of the purge or expiry entry `index`, which covers only earlier entries. Returns false if it is not such a body.
  bool take_receipt(std::uint64_t index, std::string_view body);
  // The first entry without a body that no receipt covers.
  std::optional<std::uint64_t> first_without_receipt() const { return erased_.first_not_in(told_); }

 private:
  Ranges erased_;
  Ranges told_;
};

}  // namespace runwarden::ledger
