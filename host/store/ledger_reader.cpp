#include "store/ledger_reader.h"

#include <utility>

namespace runwarden::store {
namespace {

constexpr std::uint64_t kSliceBytes = std::uint64_t{1} << 20;  // of text gathered in one slice, approximately
constexpr std::size_t kSliceEntries = 512;

[[noreturn]] void not_there(std::uint64_t index, const char* what) {
  throw NotThere("store: entry " + std::to_string(index) + ": " + what + "; run `runwarden verify`, and restore a backup");
}

LedgerRow row_with(LedgerReader& reader, std::uint64_t index) {
  auto row = reader.row_of(index);
  if (!row) not_there(index, "the ledger entry is missing");
  return std::move(*row);
}

Error not_found(std::string detail) {
  return {Code::not_found, std::move(detail), {}, {}};
}

}  // namespace

EntryBody body_of(const model::RunRecord& run, ledger::CameBy came) {
  return {ledger::run_body(run, came), {run.document, run.failures_json, run.detectors_json}};
}

EntryBody body_of(const model::ChangeRecord& change, ledger::CameBy came) {
  return {ledger::change_body(change, came), {change.document, {}, {}}};
}

EntryBody body_of(const model::PolicyRecord& policy, ledger::CameBy came) {
  return {ledger::policy_body(policy, came), {policy.document, {}, {}}};
}

EntryBody body_of(const model::ClusterKey& cluster, const model::TriageEntry& entry, ledger::CameBy came) {
  const ledger::Decision decision = ledger::decision_of(cluster, entry);
  return {ledger::triage_body(decision, came), {decision.document, {}, {}}};
}

EntryBody body_of(const model::Review& review, ledger::CameBy came) {
  const ledger::Decision decision = ledger::decision_of(review);
  return {ledger::triage_body(decision, came), {decision.document, {}, {}}};
}

ledger::Hash SubtreeRoots::leaf(std::uint64_t index) {
  if (!row_ || !row_->holds(index)) row_ = row_with(reader_, index);
  return ledger::leaf_of(row_->entries[index - row_->first]);
}

ledger::Hash SubtreeRoots::root(unsigned height, std::uint64_t number) {
  if (height == 0) return leaf(number);
  if (is_kept_height(height)) {
    const auto kept = reader_.subtree(height, number);
    if (!kept) not_there(((number + 1) << height) - 1, "the root of the subtree that it completes is missing");
    return *kept;
  }
  const ledger::Hash left = root(height - 1, number * 2);
  return ledger::node_of(left, root(height - 1, number * 2 + 1));
}

ledger::EntryLine read_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at) {
  ledger::EntryLine line;
  line.index = row.first + at;
  line.entry = row.entries[at];
  const RecordName& name = row.names[at];
  if (name.empty()) {
    line.told = reader.told(line.index);
    return line;
  }
  const auto record = reader.record(line.entry.kind, name);
  if (!record) not_there(line.index, "the ledger entry's salt is missing");
  auto body = reader.body(line.entry.kind, name, record->came);
  if (!body) not_there(line.index, "the ledger entry's record is missing");
  line.told = ledger::EntryLine::Content{record->salt, std::move(body->body)};
  line.parts = std::move(body->parts);
  return line;
}

std::vector<ledger::EntryLine> read_entries(LedgerReader& reader, std::uint64_t from, std::uint64_t before, PartsToo parts) {
  std::vector<ledger::EntryLine> lines;
  std::uint64_t bytes = 0;
  std::optional<LedgerRow> row;
  for (std::uint64_t index = from; index < before && bytes < kSliceBytes && lines.size() < kSliceEntries; ++index) {
    if (!row || !row->holds(index)) row = row_with(reader, index);
    ledger::EntryLine line = read_entry(reader, *row, index - row->first);
    if (line.parts) bytes += line.parts->document.size() + line.parts->failures.size() + line.parts->detectors.size();
    if (parts == PartsToo::no) line.parts.reset();
    lines.push_back(std::move(line));
  }
  return lines;
}

Result<LedgerProof> prove_entry(LedgerReader& reader, const std::optional<EntryName>& found, std::string_view id,
                                SignedCheckpoint checkpoint) {
  const std::string named = "\"" + std::string(id.substr(0, 256)) + "\"";
  if (!found) return not_found("no run, failure, change or policy revision " + named);
  const auto record = reader.record(found->kind, found->name);
  if (!record) {
    return not_found(named +
                     " has no ledger entry: it is an open run, a revision that does not exist, or it was stored "
                     "before the ledger was enabled");
  }
  LedgerProof proof;
  proof.checkpoint = std::move(checkpoint);
  const std::uint64_t size = proof.checkpoint.checkpoint.tree.size;
  if (record->index >= size) return Error{Code::unavailable, named + " was stored a moment ago; retry", {}, {}};
  const LedgerRow row = row_with(reader, record->index);
  proof.entry = read_entry(reader, row, record->index - row.first);
  SubtreeRoots roots(reader);
  proof.path = ledger::inclusion_proof(record->index, size, roots.subtrees());
  return proof;
}

Result<std::vector<ledger::Hash>> prove_consistency(LedgerReader& reader, std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  if (from > to || to > size) {
    return Error{
        Code::bad_request,
        "from and to must be past or current sizes of the ledger, and from at most to; it has " + std::to_string(size) + " entries",
        {},
        {}};
  }
  SubtreeRoots roots(reader);
  return ledger::consistency_proof(from, to, roots.subtrees());
}

bool has_begun_so(LedgerReader& reader, const LedgerHead& head, const ledger::SizedRoot& told) {
  if (told.size > head.tree.size()) return false;
  if (told.size == head.tree.size()) return told.root == head.tree.root();
  SubtreeRoots roots(reader);
  return ledger::root_at(told.size, roots.subtrees()) == told.root;
}

}  // namespace runwarden::store
