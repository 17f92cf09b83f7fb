// Converts rows of the database to records, and their places to parameters. Internal to store/postgres. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/record_key.h"
#include "store/envelope.h"
#include "store/errors.h"
#include "store/key_encoding.h"
#include "store/postgres/params.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

inline model::RecordKey record_key(const Rows& rows, std::size_t row, int time_column) {
  return {rows.number(row, time_column), static_cast<std::uint64_t>(rows.number(row, time_column + 1))};
}
inline std::int64_t number_of(std::uint64_t seq) { return static_cast<std::int64_t>(seq); }

// $1 the tenant, $2 and $3 the places of the records as two arrays.
inline Params by_keys(model::TenantId tenant, std::span<const model::RecordKey> keys) {
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> seqs;
  for (const model::RecordKey& key : keys) {
    times.push_back(key.time_ms);
    seqs.push_back(number_of(key.seq));
  }
  return std::move(Params().i32(static_cast<std::int32_t>(tenant)).i64s(times).i64s(seqs));
}
inline std::string_view view(const model::Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

// event.first of a row that came packed from an LMDB store: a run's first events, all that its previous revisions had.
constexpr std::int32_t kPackedFirst = -1;
// The index of the first event in a row.
inline std::int64_t index_of(std::int64_t first) {
  return first == kPackedFirst ? 0 : first;
}
// The key that seals a row of events.
inline KeyBytes events_place(const RunKey& run, std::int64_t first) {
  return events_key(run, first == kPackedFirst, static_cast<std::uint32_t>(index_of(first)));
}

// Whether the database can hold that text. If it cannot, the text is not there to be found.
bool is_text(std::string_view text);
// The text as a column can hold it, for a column that no query reads: U+FFFD takes the place of NUL, which only the record keeps.
std::string column_text(std::string_view text);

// The digest in a column; errors call it `what`. Throws BadValue.
model::Digest digest_in(std::string_view bytes, const char* what);

// Select it in a transaction: from then on, rows are looked up by their keys, whatever the statistics say, and a statement is planned once.
// Otherwise, a plan made while a table was empty is kept for long.
inline constexpr const char* kByKeys =
    "set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

// A SQL expression: the part of a sealed value (envelope.h) that is needed to read its head and the length of its body.
std::string head_of(const std::string& column);

// Says which row cannot be read, why, and the remedy.
std::string unreadable_text(const char* table, std::string_view key, const char* why);

// Runs a decoder; a BadValue becomes a StoreError.
template <class Decode>
auto decoded(const char* table, std::string_view key, Decode decode) {
  try {
    return decode();
  } catch (const BadValue& bad) {
    throw StoreError(unreadable_text(table, key, bad.what()));
  }
}

}  // namespace runwarden::store::postgres
