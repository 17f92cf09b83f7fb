// Signed checkpoints of ledgers, by the key and what was noted of the checkpoint before. For the files of store/ only. Pure; any thread.
#pragma once

#include <optional>

#include "ledger/signing_key.h"
#include "ledger/tree.h"
#include "store/ledger_codec.h"
#include "store/ledger_store.h"

namespace runwarden::store {

// A checkpoint that is given away, noted before.
struct NotedCheckpoint {
  ledger::SizedRoot tree;
  bool by_both_keys = false;  // the former key signed it, too
};

// Whether the former key signs the checkpoint of that head, too: it is the first one behind the key's entry. `noted`: the last one of that
// origin, or null.
bool by_both_keys(const LedgerHead& head, const NotedCheckpoint* noted);

SignedCheckpoint sign_checkpoint(const LedgerHead& head, const ledger::SigningKey& key, const std::optional<ledger::SigningKey>& former);

}  // namespace runwarden::store
