#include "store/lmdb/ledger_store.h"

#include <utility>

#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/ledger_start.h"
#include "store/lmdb/ledger_writer.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/runs.h"

namespace runwarden::store {
namespace {

// The latest revision that has an entry.
RecordName latest_revision(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& run) {
  const KeyBytes prefix = ledger_record_key(tenant, ledger::Kind::run, place_name(run));
  Cursor cursor(txn, tables.ledger_records.handle);
  if (!cursor.before(KeyBytes(prefix).u32(~std::uint32_t{0}).u8(0)) || !cursor.key().starts_with(prefix.view())) return run_name(run, 1);
  return RecordName(cursor.key().substr(ledger_record_key(tenant, ledger::Kind::run, {}).view().size()));
}

std::optional<EntryName> find_record(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view id,
                                     std::optional<std::uint32_t> revision) {
  if (const auto run = find_run_place(txn, tables, tenant, id)) {
    return EntryName{ledger::Kind::run, revision ? run_name(*run, *revision) : latest_revision(txn, tables, tenant, *run)};
  }
  if (const auto failure = find_failure(txn, tables, tenant, id)) {
    return EntryName{ledger::Kind::run, run_name(failure->run, model::revision_of(*failure))};
  }
  if (const auto change = model::parse_change_id(id); change && read_change(txn, tables, tenant, *change)) {
    // A policy revision among the changes has one entry, that of the revision.
    const bool of_policy = is_of_policy(*read_change(txn, tables, tenant, *change));
    return EntryName{of_policy ? ledger::Kind::policy : ledger::Kind::change, place_name(*change)};
  }
  const auto policy = model::parse_policy_revision_id(id);
  if (policy && read_policy(txn, tables, tenant, *policy)) return EntryName{ledger::Kind::policy, place_name(*policy)};
  return std::nullopt;
}

}  // namespace

template <class Use>
auto LmdbLedgerStore::reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
  std::optional<decltype(use(std::declval<const Txn&>()))> result;
  parts_.reading([&] {
    const ReadTxn txn = parts_.env.read();
    result.emplace(use(static_cast<const Txn&>(txn)));
  });
  return std::move(*result);
}

bool LmdbLedgerStore::is_on() {
  return reading([&](const Txn& txn) { return ledger_state(txn, parts_.tables) == LedgerState::on; });
}

LmdbLedgerStore::Heads LmdbLedgerStore::read_heads() {
  return reading([&](const Txn& txn) { return read_ledger_heads(txn, parts_.tables); });
}

std::vector<LedgerSize> LmdbLedgerStore::sizes() {
  std::vector<LedgerSize> sizes;
  for (const auto& [tenant, head] : read_heads()) sizes.push_back({tenant, head.origin, head.tree.size(), head.last_ms});
  return sizes;
}

LedgerHead LmdbLedgerStore::head_of(model::TenantId tenant) {
  auto head = reading([&](const Txn& txn) { return read_ledger_head(txn, parts_.tables, tenant); });
  if (head) return std::move(*head);
  parts_.writing([&](WriteTxn& txn) {
    LedgerWriter writer(txn, parts_.tables, parts_.clock.wall_ms(), LedgerWriter::Records::make_entries);
    head = writer.head(tenant);
    writer.flush();
  });
  return std::move(*head);
}

// A command may be the first to sign in a restored backup.
void LmdbLedgerStore::ensure_may_sign() {
  if (may_sign_) return;
  parts_.reading([&] { store::ensure_may_sign({parts_.env, parts_.tables, parts_.folder, parts_.clock.wall_ms(), parts_.writing}); });
  may_sign_ = true;
}

SignedCheckpoint LmdbLedgerStore::checkpoint(model::TenantId tenant) {
  const MutexLock lock(mutex_);
  ensure_may_sign();
  return std::move(sign({{tenant, head_of(tenant)}}, Announce::no).front());
}

std::vector<SignedCheckpoint> LmdbLedgerStore::checkpoint_grown() {
  const MutexLock lock(mutex_);
  ensure_may_sign();
  Heads heads = read_heads();
  const auto& noted = last_.read();
  std::erase_if(heads, [&](const auto& one) {
    const auto last = noted.find(one.second.origin);
    return one.second.tree.size() == (last == noted.end() ? 0 : last->second.announced);
  });
  return sign(heads, Announce::yes);
}

std::vector<SignedCheckpoint> LmdbLedgerStore::sign(const Heads& heads, Announce announce) {
  std::vector<SignedCheckpoint> all;
  std::map<std::string, LedgerLast::Noted> to_note;
  const std::string noted_key = reading([&](const Txn& txn) { return read_signing_key(txn, parts_.tables); });
  const auto& noted = last_.read();
  std::vector<model::TenantId> to_sign;
  for (const auto& [tenant, head] : heads) {
    const auto known = signed_.find(tenant);
    const bool is_signed = known != signed_.end() && known->second.checkpoint.origin == head.origin &&
                           known->second.checkpoint.tree.size == head.tree.size() && known->second.public_key == noted_key;
    const auto before = noted.find(head.origin);
    const LedgerLast::Noted* const last = before == noted.end() ? nullptr : &before->second;
    if (is_signed) all.push_back(known->second);
    if (is_signed && announce == Announce::no) continue;
    const bool both = is_signed ? last != nullptr && last->by_both_keys : by_both_keys(head, last);
    const std::uint64_t announced = announce == Announce::yes ? head.tree.size() : last == nullptr ? 0 : last->announced;
    to_note[head.origin] = {{{head.tree.size(), head.tree.root()}, both}, announced};
    if (!is_signed) to_sign.push_back(tenant);
  }
  if (to_note.empty()) return all;
  std::optional<ledger::SigningKey> key;
  if (!to_sign.empty()) key = keys_.current(noted_key);
  last_.note(to_note);
  for (const model::TenantId tenant : to_sign) {
    const LedgerHead& head = heads.at(tenant);
    const bool both = to_note.at(head.origin).by_both_keys;
    SignedCheckpoint made = sign_checkpoint(head, *key, both ? keys_.previous(head.previous_key) : std::nullopt);
    made.tenant = tenant;
    made.at_ms = parts_.clock.wall_ms();
    signed_[tenant] = made;
    all.push_back(std::move(made));
  }
  return all;
}

void LmdbLedgerStore::queue_messages(std::span<const SignedCheckpoint> checkpoints) {
  if (checkpoints.empty() || reading([&](const Txn& txn) { return txn.entries(parts_.tables.endpoints.handle); }) == 0) return;
  parts_.writing([&](WriteTxn& txn) {
    MessageWriter messages(txn, parts_.tables, parts_.rules, parts_.clock.wall_ms());
    for (const SignedCheckpoint& one : checkpoints) {
      if (!messages.wanted(one.tenant, model::MessageType::checkpoint_created)) continue;
      model::Message message;
      message.key = messages.new_key();
      message.type = model::MessageType::checkpoint_created;
      message.checkpoint = one.note;
      messages.enqueue(one.tenant, message, {});
    }
    messages.flush();
  });
}

Result<LedgerProof> LmdbLedgerStore::prove(model::TenantId tenant, std::string_view id, std::optional<std::uint32_t> revision) {
  SignedCheckpoint signed_one = checkpoint(tenant);
  return reading([&](const Txn& txn) -> Result<LedgerProof> {
    LmdbLedgerReader reader(txn, parts_.tables, tenant);
    return prove_entry(reader, find_record(txn, parts_.tables, tenant, id, revision), id, std::move(signed_one));
  });
}

Result<std::vector<ledger::Hash>> LmdbLedgerStore::consistency(model::TenantId tenant, std::uint64_t from, std::uint64_t to) {
  const LedgerHead head = head_of(tenant);
  return reading([&](const Txn& txn) -> Result<std::vector<ledger::Hash>> {
    LmdbLedgerReader reader(txn, parts_.tables, tenant);
    return prove_consistency(reader, from, to, head.tree.size());
  });
}

std::vector<ledger::EntryLine> LmdbLedgerStore::entries(model::TenantId tenant, std::uint64_t from, std::uint64_t before, PartsToo parts) {
  return reading([&](const Txn& txn) {
    LmdbLedgerReader reader(txn, parts_.tables, tenant);
    return read_entries(reader, from, before, parts);
  });
}

std::string LmdbLedgerStore::public_key() {
  const MutexLock lock(mutex_);
  return keys_.current(reading([&](const Txn& txn) { return read_signing_key(txn, parts_.tables); })).public_key();
}

std::string LmdbLedgerStore::rotate_key() {
  const MutexLock lock(mutex_);
  const std::string before = keys_.current(reading([&](const Txn& txn) { return read_signing_key(txn, parts_.tables); })).public_key();
  const std::string after = keys_.make_next().public_key();
  const Heads heads = read_heads();
  parts_.writing([&](WriteTxn& txn) {
    LedgerWriter writer(txn, parts_.tables, parts_.clock.wall_ms(), LedgerWriter::Records::make_entries);
    for (const auto& [tenant, head] : heads) writer.append_key(tenant, after, before);
    write_signing_key(txn, parts_.tables, after);
    writer.flush();
  });
  keys_.take_next();
  return after;
}

std::string sign_last_checkpoint(const std::filesystem::path& folder, const Txn& txn, const Tables& tables, model::TenantId tenant) {
  const auto head = read_ledger_head(txn, tables, tenant);
  if (!head) return {};
  LedgerKeys keys(folder);
  const ledger::SigningKey key = keys.current(read_signing_key(txn, tables));
  LedgerLast last(folder);
  const auto& noted = last.read();
  const auto before = noted.find(head->origin);
  const LedgerLast::Noted* const known = before == noted.end() ? nullptr : &before->second;
  const bool both = by_both_keys(*head, known);
  last.note({{head->origin, {{{head->tree.size(), head->tree.root()}, both}, known == nullptr ? 0 : known->announced}}});
  return sign_checkpoint(*head, key, both ? keys.previous(head->previous_key) : std::nullopt).note;
}

}  // namespace runwarden::store
