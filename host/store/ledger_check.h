// Checks one tenant's ledger row by row, in order: that every entry has its record or its receipt, and that the tree is made of them. For
// the files of store/ only; one thread.
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
  // What is wrong with the row and all that it speaks of as of the reader's transaction.
  std::vector<std::string> take(LedgerReader& reader, const LedgerRow& row);
  // After the last row: what no row told of.
  std::vector<std::string> end() const;

 private:
  void check_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at, std::vector<std::string>& faults);

  model::TenantId tenant_;
  ledger::RightEdge tree_;
  ledger::ErasedRanges erased_;
  bool is_whole_ = false;  // the rows so far are all that the head tells of
};

}  // namespace runwarden::store
