#include "store/ledger_check.h"

#include <optional>

namespace runwarden::store {
namespace {

void check_subtree(LedgerReader& reader, unsigned height, std::uint64_t number, const ledger::Hash& root,
                   std::vector<std::string>& faults) {
  const std::string which = "the root of the complete subtree of height " + std::to_string(height) + " that it completes ";
  try {
    const auto kept = reader.subtree(height, number);
    if (!kept) return faults.push_back(which + "is missing");
    if (*kept == root) return;
  } catch (const StoreError&) {
  }
  faults.push_back(which + "does not match its entries");
}

}  // namespace

std::vector<std::string> LedgerCheck::take(LedgerReader& reader, const LedgerRow& row) {
  std::vector<std::string> faults;
  if (row.first != tree_.size()) {
    faults.push_back("ledger entries are missing before it: it begins with " + std::to_string(row.first) + ", but " +
                     std::to_string(tree_.size()) + " precede it");
    return faults;
  }
  for (std::size_t at = 0; at < row.entries.size(); ++at) {
    check_entry(reader, row, at, faults);
    tree_.append(ledger::leaf_of(row.entries[at]), [&](unsigned height, std::uint64_t number, const ledger::Hash& root) {
      if (is_kept_height(height)) check_subtree(reader, height, number, root, faults);
    });
  }
  const auto head = reader.head();
  is_whole_ = head && head->tree.size() == tree_.size();
  if (is_whole_ && head->tree.peaks() != tree_.peaks()) faults.push_back("the ledger's root does not match its entries");
  return faults;
}

void LedgerCheck::check_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at, std::vector<std::string>& faults) {
  const std::uint64_t index = row.first + at;
  const std::string which = "entry " + std::to_string(index) + ": ";
  try {
    const ledger::EntryLine line = read_entry(reader, row, at);
    if (!line.told) return erased_.note_erased(index);
    if (ledger::commit_to(line.told->salt, line.told->body) != line.entry.commit) {
      faults.push_back(which + (line.parts ? "its record does not match its commitment" : "its body was changed"));
    }
    const bool is_receipt = line.entry.kind == ledger::Kind::purge || line.entry.kind == ledger::Kind::expiry;
    if (is_receipt && !erased_.take_receipt(index, line.told->body)) faults.push_back(which + "the receipt names no ranges");
  } catch (const NotThere& missing) {
    faults.push_back(which + missing.what());
  } catch (const StoreError&) {  // unreadable data is a fault of its own table
  }
}

std::vector<std::string> LedgerCheck::end() const {
  std::vector<std::string> faults;
  if (!is_whole_)
    faults.push_back("the ledger's size and its number of entries differ: it has " + std::to_string(tree_.size()) + " entries");
  if (const auto index = erased_.first_without_receipt()) {
    faults.push_back("entry " + std::to_string(*index) + " has lost its record, but no receipt covers it");
  }
  return faults;
}

}  // namespace runwarden::store
