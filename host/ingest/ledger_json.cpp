#include "ingest/ledger_json.h"

#include "base/base64.h"
#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::ingest {
namespace {

void add_path(JsonWriter& out, const std::vector<ledger::Hash>& path) {
  out.key("path").begin_array();
  for (const ledger::Hash& hash : path) out.string(to_hex(hash));
  out.end_array();
}

}  // namespace

std::string checkpoint_json(const store::SignedCheckpoint& checkpoint) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("origin").string(checkpoint.checkpoint.origin).key("publicKey").string(bytes_to_base64(checkpoint.public_key));
  out.key("size").integer(static_cast<std::int64_t>(checkpoint.checkpoint.tree.size)).key("checkpoint").string(checkpoint.note);
  out.key("checkpointAt").string(format_time(checkpoint.at_ms)).end_object();
  return text;
}

std::string proof_json(const store::LedgerProof& proof) {
  const ledger::EntryLine& entry = proof.entry;
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("index").integer(static_cast<std::int64_t>(entry.index));
  out.key("size")
      .integer(static_cast<std::int64_t>(proof.checkpoint.checkpoint.tree.size))
      .key("at")
      .string(format_time(entry.entry.at_ms));
  out.key("kind").string(ledger::name(entry.entry.kind)).key("commit").string(to_hex(entry.entry.commit));
  if (entry.told) out.key("salt").string(ledger::to_hex(entry.told->salt)).key("body").string(entry.told->body);
  add_path(out, proof.path);
  out.key("checkpoint").string(proof.checkpoint.note).end_object();
  return text;
}

std::string consistency_json(const SizeRange& range, const std::vector<ledger::Hash>& path) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("from").integer(static_cast<std::int64_t>(range.from)).key("to").integer(static_cast<std::int64_t>(range.to));
  add_path(out, path);
  out.end_object();
  return text;
}

std::string bundled_proof(store::LedgerStore& ledger, model::TenantId tenant, const model::RunRecord& run) {
  if (!ledger.is_on()) return {};
  const auto proof = ledger.prove(tenant, run.run_id, run.revision);
  return proof.ok() ? proof_json(*proof) : std::string();
}

}  // namespace runwarden::ingest
