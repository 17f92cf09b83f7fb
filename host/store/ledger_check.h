// Checks one tenant's ledger row by row, in order: every entry has its record or its receipt, and the tree is made of the entries. Internal
// to store/; one thread.
#pragma once

#include <string>
#include <vector>

#include "ledger/erased_ranges.h"
#include "store/ledger_reader.h"

namespace runwarden::store {

class LedgerCheck {
 public:
  explicit LedgerCheck(model::TenantId tenant) : tenant_(tenant) {}

  model::TenantId tenant() const { return tenant_; }
  // What is wrong with the row and with all that it refers to, in the reader's transaction.
  std::vector<std::string> take(LedgerReader& reader, const LedgerRow& row);
  // Call after the last row: faults that no row shows.
  std::vector<std::string> end() const;

 private:
  void check_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at, std::vector<std::string>& faults);

  model::TenantId tenant_;
  ledger::RightEdge tree_;
  ledger::ErasedRanges erased_;
  bool is_whole_ = false;  // the rows so far are all that the head counts
};

}  // namespace runwarden::store
