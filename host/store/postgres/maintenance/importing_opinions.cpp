#include "store/postgres/maintenance/importing_opinions.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/key_encoding.h"
#include "store/opinion_codec.h"
#include "store/postgres/batch_rows.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kOpinionsAt =
    "SELECT t.time_ms, t.seq, t.body FROM unnest($2, $3) AS w(time_ms, seq) JOIN runwarden.opinion t ON t.time_ms = w.time_ms AND t.seq = "
    "w.seq WHERE t.tenant = $1";
constexpr const char* kRunsAt =
    "SELECT r.time_ms, r.seq FROM unnest($2, $3) AS w(time_ms, seq) JOIN runwarden.run r ON r.time_ms = w.time_ms AND r.seq = w.seq "
    "WHERE r.tenant = $1";

template <class KeyOf>
Params places(model::TenantId tenant, const TakenLines<OpinionLine>& lines, KeyOf key_of) {
  std::vector<std::int64_t> times, seqs;
  for (const auto& line : lines) {
    times.push_back(key_of(line.record()).time_ms);
    seqs.push_back(number_of(key_of(line.record()).seq));
  }
  return std::move(Params().i32(column(tenant)).i64s(times).i64s(seqs));
}

}  // namespace

void store_opinions(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<OpinionLine>& lines,
                    const std::set<model::RecordKey>& refused) {
  if (lines.empty()) return;
  std::map<model::RecordKey, std::string> there;
  const Rows found = connection.query(kOpinionsAt, places(tenant, lines, [](const OpinionLine& line) { return line.key; }));
  for (std::size_t row = 0; row < found.size(); ++row) there.emplace(record_key(found, row, 0), found.bytes(row, 2));
  std::set<model::RecordKey> runs;
  const Rows of_runs = connection.query(kRunsAt, places(tenant, lines, [](const OpinionLine& line) { return line.run; }));
  for (std::size_t row = 0; row < of_runs.size(); ++row) runs.insert(record_key(of_runs, row, 0));
  BatchRows rows;
  std::vector<model::Opinion> opinions;
  opinions.reserve(lines.size());  // the rows point to them
  for (const auto& line : lines) {
    const OpinionLine& of = line.record();
    if (refused.contains(of.run)) continue;
    const KeyBytes key = place_key(tenant, of.key);
    std::string value = line.line.value(key);
    model::Opinion opinion = decode_opinion(key, value);
    if (opinion.key != of.key || opinion.run != of.run) throw BadLine("the opinion's bytes belong to a different opinion", line.number);
    if (!runs.contains(of.run)) throw BadLine("refers to a run that no earlier line contains", line.number);
    if (!tally.is_free(there, of.key, key, value, line, "the opinion " + of.id)) continue;
    rows.opinions.push_back({{tenant, of.key}, &opinions.emplace_back(std::move(opinion)), std::move(value)});
    tally.stored("opinion", of.key);
  }
  std::vector<Connection::Statement> statements;
  add_statements(statements, rows);
  if (!statements.empty()) connection.run(statements);
}

}  // namespace runwarden::store::postgres
