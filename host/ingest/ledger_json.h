// Ledger checkpoints and proofs as JSON. Reads the store; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_record.h"
#include "store/ledger_store.h"

namespace runwarden::ingest {

std::string checkpoint_json(const store::SignedCheckpoint& checkpoint);
std::string proof_json(const store::LedgerProof& proof);
struct SizeRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};
std::string consistency_json(const SizeRange& range, const std::vector<ledger::Hash>& path);

// The proof of a run's entry, for its bundle; empty: it has none.
std::string bundled_proof(store::LedgerStore& ledger, model::TenantId tenant, const model::RunRecord& run);

}  // namespace runwarden::ingest
