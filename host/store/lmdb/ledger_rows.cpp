#include "store/lmdb/ledger_rows.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "model/triage_json.h"
#include "store/fields.h"
#include "store/group_codec.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"

namespace runwarden::store {
namespace {

namespace field {
enum Head { origin = 1, size, peaks, last_time, key_entry, former_key };
}  // namespace field

constexpr std::size_t kPlaceNameBytes = 16;
constexpr std::size_t kRunNameBytes = kPlaceNameBytes + 4;
constexpr std::size_t kTriageNameBytes = sizeof(model::ClusterKey) + kPlaceNameBytes;
constexpr std::size_t kEntryBytes = 8 + 1 + sizeof(ledger::Hash);
constexpr std::uint64_t kImported = std::uint64_t{1} << 63;

std::string_view view_of(const ledger::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

std::vector<ledger::Hash> hashes_in(std::string_view bytes) {
  std::vector<ledger::Hash> hashes(bytes.size() / sizeof(ledger::Hash));
  if (bytes.size() % sizeof(ledger::Hash) != 0) throw BadValue("its hashes are cut off");
  if (!bytes.empty()) std::memcpy(hashes.data(), bytes.data(), bytes.size());
  return hashes;
}

// Cuts pieces off a text; throws BadValue where it ends before.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes) : rest_(bytes) {}
  std::string_view take(std::size_t bytes) {
    if (rest_.size() < bytes) throw BadValue("the value is cut off");
    const auto piece = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return piece;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

model::RecordKey place_in(std::string_view name) {
  return {read_time(name, 0), read_be(name, 8, 8)};
}

[[noreturn]] void not_there(const Table& table, std::string_view key, const char* what) {
  throw NotThere("store: " + place_text(table, key) + ": " + what + "; run `runwarden verify`, and restore a backup");
}

std::optional<EntryBody> run_of(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view name, ledger::CameBy came) {
  const model::RecordKey place = place_in(name);
  const auto revision = static_cast<std::uint32_t>(read_be(name, kPlaceNameBytes, 4));
  auto stored = read_run(txn, tables, tenant, place);
  if (!stored || stored->buffering || stored->run.revision != revision) stored = read_former(txn, tables, {tenant, place}, revision);
  if (!stored) return std::nullopt;
  const model::RunRecord& run = stored->run;
  return EntryBody{ledger::run_body(run, came), {run.document, run.failures_json, run.detectors_json}};
}

std::optional<EntryBody> decided_of(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view name,
                                    ledger::CameBy came) {
  if (name.size() == kPlaceNameBytes) {
    const auto review = read_review_at(txn, tables, tenant, place_in(name));
    if (!review) return std::nullopt;
    const ledger::Decision decision = decision_of(*review);
    return EntryBody{ledger::triage_body(decision, came), {decision.document, {}, {}}};
  }
  const KeyBytes key = KeyBytes().u32(tenant).bytes(name);
  const auto value = txn.get(tables.triage.handle, key);
  if (!value) return std::nullopt;
  model::ClusterKey cluster{};
  std::copy_n(name.begin(), cluster.size(), cluster.begin());
  const auto entry = decoded(tables.triage, key, [&] { return decode_triage(key, *value); });
  ledger::Decision decision = ledger::decision_of(cluster, entry);
  return EntryBody{ledger::triage_body(decision, came), {decision.document, {}, {}}};
}

}  // namespace

KeyBytes ledger_head_key(model::TenantId tenant) {
  return KeyBytes().u32(tenant);
}

std::string encode_ledger_head(std::string_view key, const LedgerHead& head) {
  std::string bytes;
  Writer out(bytes);
  out.add_string(field::origin, head.origin);
  out.add_fixed64(field::size, head.tree.size());
  const auto& peaks = head.tree.peaks();
  out.add_bytes(field::peaks, reinterpret_cast<const char*>(peaks.data()), peaks.size() * sizeof(ledger::Hash));
  out.add_sint64(field::last_time, head.last_ms);
  if (head.key_entry != 0) out.add_uint64(field::key_entry, head.key_entry);
  if (!head.former_key.empty()) out.add_bytes(field::former_key, head.former_key);
  return seal(key, bytes);
}

LedgerHead decode_ledger_head(std::string_view key, std::string_view value) {
  LedgerHead head;
  std::uint64_t size = 0;
  std::vector<ledger::Hash> peaks;
  read_fields(open_head(key, value), [&](Reader& in) {
    switch (in.tag()) {
      case field::origin: head.origin = in.get_string(); return true;
      case field::size: size = in.get_fixed64(); return true;
      case field::peaks: peaks = hashes_in(read_view(in)); return true;
      case field::last_time: head.last_ms = in.get_sint64(); return true;
      case field::key_entry: head.key_entry = in.get_uint64(); return true;
      case field::former_key: head.former_key = in.get_bytes(); return true;
      default: return false;
    }
  });
  if (peaks.size() != static_cast<std::size_t>(std::popcount(size))) throw BadValue("its right edge is not that of a tree of its size");
  head.tree = ledger::RightEdge(size, std::move(peaks));
  return head;
}

std::optional<LedgerHead> read_ledger_head(const Txn& txn, const Tables& tables, model::TenantId tenant) {
  const KeyBytes key = ledger_head_key(tenant);
  const auto value = txn.get(tables.ledgers.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.ledgers, key, [&] { return decode_ledger_head(key, *value); });
}

// Tenants are numbered from 1.
std::map<model::TenantId, LedgerHead> read_ledger_heads(const Txn& txn, const Tables& tables) {
  std::map<model::TenantId, LedgerHead> heads;
  Cursor cursor(txn, tables.ledgers.handle);
  for (bool more = cursor.at_or_after(ledger_head_key(1)); more; more = cursor.next()) {
    heads.emplace(tenant_of(cursor.key()),
                  decoded(tables.ledgers, cursor.key(), [&] { return decode_ledger_head(cursor.key(), cursor.value()); }));
  }
  return heads;
}

std::string read_signing_key(const Txn& txn, const Tables& tables) {
  const KeyBytes key = ledger_head_key(0);
  const auto value = txn.get(tables.ledgers.handle, key);
  if (!value) return {};
  return decoded(tables.ledgers, key, [&] { return std::string(open_head(key, *value)); });
}

void write_signing_key(WriteTxn& txn, const Tables& tables, std::string_view public_key) {
  const KeyBytes key = ledger_head_key(0);
  txn.put(tables.ledgers.handle, key, seal(key, public_key));
}

KeyBytes ledger_row_key(model::TenantId tenant, std::uint64_t first) {
  return KeyBytes().u32(tenant).u64(first);
}

std::string encode_ledger_row(std::string_view key, const LedgerRow& row) {
  std::string bytes(KeyBytes().u32(static_cast<std::uint32_t>(row.entries.size())).view());
  std::size_t names = 0;
  for (const RecordName& name : row.names) names += name.size();
  bytes.reserve(bytes.size() + row.entries.size() * (kEntryBytes + 1) + names);
  for (const ledger::Entry& entry : row.entries) {
    bytes.append(KeyBytes().time(entry.at_ms).u8(static_cast<std::uint8_t>(entry.kind)).view()).append(view_of(entry.commit));
  }
  if (names == 0) return seal(key, bytes);
  for (const RecordName& name : row.names) bytes.append(1, static_cast<char>(name.size())).append(name);
  return seal(key, bytes);
}

LedgerRow decode_ledger_row(std::string_view key, std::string_view value) {
  if (key.size() != ledger_row_key(0, 0).view().size()) throw BadValue("the key has " + std::to_string(key.size()) + " bytes");
  Pieces in(open_head(key, value));
  LedgerRow row;
  row.first = read_be(key, 4, 8);
  const auto count = static_cast<std::size_t>(read_be(in.take(4), 0, 4));
  if (count == 0 || count > kMostEntriesARow) throw BadValue("it has " + std::to_string(count) + " entries");
  row.entries.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view bytes = in.take(kEntryBytes);
    const auto kind = static_cast<std::uint8_t>(bytes[8]);
    if (kind > static_cast<std::uint8_t>(ledger::kLastKind)) throw BadValue("an entry is of a kind that this program does not know");
    ledger::Entry entry{read_time(bytes, 0), static_cast<ledger::Kind>(kind), {}};
    std::memcpy(entry.commit.data(), bytes.data() + 9, entry.commit.size());
    row.entries.push_back(entry);
  }
  row.names.resize(count);
  if (in.rest().empty()) return row;
  for (RecordName& name : row.names) name = in.take(static_cast<std::uint8_t>(in.take(1)[0]));
  return row;
}

std::optional<LedgerRow> find_ledger_row(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t index) {
  Cursor cursor(txn, tables.ledger_entries.handle);
  if (!cursor.before(ledger_row_key(tenant, index + 1)) || tenant_of(cursor.key()) != tenant) return std::nullopt;
  LedgerRow row = decoded(tables.ledger_entries, cursor.key(), [&] { return decode_ledger_row(cursor.key(), cursor.value()); });
  if (index - row.first >= row.entries.size()) return std::nullopt;
  return row;
}

KeyBytes subtree_key(model::TenantId tenant, unsigned height, std::uint64_t number) {
  return KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(height)).u64(number);
}

std::string encode_subtree(std::string_view key, const ledger::Hash& root) {
  return seal(key, view_of(root));
}

ledger::Hash decode_subtree(std::string_view key, std::string_view value) {
  const auto hashes = hashes_in(open_head(key, value));
  if (hashes.size() != 1) throw BadValue("it is no hash");
  return hashes.front();
}

KeyBytes ledger_record_key(model::TenantId tenant, ledger::Kind kind, std::string_view name) {
  return KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(kind)).bytes(name);
}

std::string encode_ledger_record(std::string_view key, const LedgerRecord& record) {
  const std::string_view salt{reinterpret_cast<const char*>(record.salt.data()), record.salt.size()};
  return seal(key, KeyBytes().bytes(salt).u64(record.index | (record.came == ledger::CameBy::import ? kImported : 0)));
}

LedgerRecord decode_ledger_record(std::string_view key, std::string_view value) {
  Pieces in(open_head(key, value));
  LedgerRecord record;
  std::memcpy(record.salt.data(), in.take(record.salt.size()).data(), record.salt.size());
  const std::uint64_t number = read_be(in.take(8), 0, 8);
  record.index = number & ~kImported;
  record.came = (number & kImported) != 0 ? ledger::CameBy::import : ledger::CameBy::itself;
  return record;
}

std::string encode_ledger_body(std::string_view key, const ledger::EntryLine::Told& told) {
  return seal(key, {reinterpret_cast<const char*>(told.salt.data()), told.salt.size()}, told.body);
}

ledger::EntryLine::Told decode_ledger_body(std::string_view key, std::string_view value) {
  ledger::EntryLine::Told told;
  const std::string_view salt = open_head(key, value);
  if (salt.size() != told.salt.size()) throw BadValue("its salt has " + std::to_string(salt.size()) + " bytes");
  std::memcpy(told.salt.data(), salt.data(), salt.size());
  told.body = open_body(key, value);
  return told;
}

ledger::Hash SubtreeReader::leaf(std::uint64_t index) {
  if (!row_ || index < row_->first || index - row_->first >= row_->entries.size()) row_ = find_ledger_row(txn_, tables_, tenant_, index);
  if (!row_) not_there(tables_.ledger_entries, ledger_row_key(tenant_, index), "the ledger's entry is not there");
  return ledger::leaf_of(row_->entries[index - row_->first]);
}

ledger::Hash SubtreeReader::root(unsigned height, std::uint64_t number) {
  if (height == 0) return leaf(number);
  if (is_kept_height(height)) {
    const KeyBytes key = subtree_key(tenant_, height, number);
    const auto value = txn_.get(tables_.ledger_subtrees.handle, key);
    if (!value) not_there(tables_.ledger_subtrees, key, "the root of this part of the ledger is not there");
    return decoded(tables_.ledger_subtrees, key, [&] { return decode_subtree(key, *value); });
  }
  const ledger::Hash left = root(height - 1, number * 2);
  return ledger::node_of(left, root(height - 1, number * 2 + 1));
}

std::optional<EntryBody> body_of_record(const Txn& txn, const Tables& tables, model::TenantId tenant, ledger::Kind kind,
                                        std::string_view name, ledger::CameBy came) {
  using ledger::Kind;
  // A decision about a group or, by its place alone, a review.
  const std::size_t bytes = kind == Kind::run                                        ? kRunNameBytes
                            : kind == Kind::triage && name.size() != kPlaceNameBytes ? kTriageNameBytes
                                                                                     : kPlaceNameBytes;
  if (name.size() != bytes) return std::nullopt;
  switch (kind) {
    case Kind::run: return run_of(txn, tables, tenant, name, came);
    case Kind::triage: return decided_of(txn, tables, tenant, name, came);
    case Kind::change: {
      const auto change = read_change(txn, tables, tenant, place_in(name));
      return change ? std::optional(EntryBody{ledger::change_body(*change, came), {change->document, {}, {}}}) : std::nullopt;
    }
    case Kind::policy: {
      const auto policy = read_policy(txn, tables, tenant, place_in(name));
      return policy ? std::optional(EntryBody{ledger::policy_body(*policy, came), {policy->document, {}, {}}}) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

ledger::EntryLine read_entry(const Txn& txn, const Tables& tables, model::TenantId tenant, const LedgerRow& row, std::size_t at) {
  ledger::EntryLine line;
  line.index = row.first + at;
  line.entry = row.entries[at];
  const RecordName& name = row.names[at];
  if (name.empty()) {
    const KeyBytes key = ledger_row_key(tenant, line.index);
    if (const auto value = txn.get(tables.ledger_bodies.handle, key)) {
      line.told = decoded(tables.ledger_bodies, key, [&] { return decode_ledger_body(key, *value); });
    }
    return line;
  }
  const KeyBytes key = ledger_record_key(tenant, line.entry.kind, name);
  const auto value = txn.get(tables.ledger_records.handle, key);
  if (!value) not_there(tables.ledger_records, key, "the salt of the ledger's entry is not there");
  const LedgerRecord record = decoded(tables.ledger_records, key, [&] { return decode_ledger_record(key, *value); });
  auto body = body_of_record(txn, tables, tenant, line.entry.kind, name, record.came);
  if (!body) not_there(tables.ledger_records, key, "the record of the ledger's entry is not there");
  line.told = ledger::EntryLine::Told{record.salt, std::move(body->body)};
  line.parts = std::move(body->parts);
  return line;
}

}  // namespace runwarden::store
