// Checks one tenant's ledger row by row, in order: that every entry has its record or its receipt, and that the tree is made of them. For
// the files of store/ only; one thread.
#pragma once

#include <string>
#include <vector>

#include "ledger/erased_ranges.h"
#include "store/lmdb/ledger_rows.h"

namespace runwarden::store {

class LedgerCheck {
 public:
  LedgerCheck(const Tables& tables, model::TenantId tenant) : tables_(tables), tenant_(tenant) {}

  model::TenantId tenant() const { return tenant_; }
  // What is wrong with the row and all that it speaks of as of the transaction.
  std::vector<std::string> take(const Txn& txn, const LedgerRow& row);
  // After the last row: what no row told of.
  std::vector<std::string> end() const;

 private:
  void check_entry(const Txn& txn, const LedgerRow& row, std::size_t at, std::vector<std::string>& faults);
  void check_subtree(const Txn& txn, unsigned height, std::uint64_t number, const ledger::Hash& root,
                     std::vector<std::string>& faults) const;

  const Tables& tables_;
  model::TenantId tenant_;
  ledger::RightEdge tree_;
  ledger::ErasedRanges erased_;
  bool is_whole_ = false;  // the rows so far are all that the head tells of
};

}  // namespace runwarden::store
