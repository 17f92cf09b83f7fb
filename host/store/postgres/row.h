// Rows of the database as records. For the files of store/postgres only. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/records.h"
#include "store/envelope.h"
#include "store/errors.h"
#include "store/layout.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

inline model::RecordKey record_key(const Rows& rows, std::size_t row, int time_column) {
  return {rows.number(row, time_column), static_cast<std::uint64_t>(rows.number(row, time_column + 1))};
}
inline std::int64_t number_of(std::uint64_t seq) { return static_cast<std::int64_t>(seq); }
inline std::string_view view(const model::Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

constexpr std::int32_t kPackedFirst = -1;  // event.first of the row that holds the events of former revisions
// What a row of events is sealed with.
inline KeyBytes events_place(const RunPlace& run, std::int64_t first) {
  return events_key(run, first == kPackedFirst, static_cast<std::uint32_t>(std::max<std::int64_t>(first, 0)));
}

// Whether the database can hold that text, so that one that it cannot is not to be found there.
bool is_text(std::string_view text);

// The digest of a column, which an error calls `what`. Throws BadValue.
model::Digest digest_in(std::string_view bytes, const char* what);

// To be selected in a transaction: rows are looked up by their keys from then on, whatever the statistics say, and a statement is planned
// once. A plan that was made while a table was empty is kept for long.
inline constexpr const char* kByKeys =
    "set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

// A SQL expression: what is needed of a sealed value (envelope.h) to read its head and to tell how long its body is.
std::string head_of(const std::string& column);

// That a row cannot be read: which, why, and the remedy.
std::string unreadable_text(const char* table, std::string_view key, const char* why);

// Runs a decoder; a bad value becomes a StoreError.
template <class Decode>
auto decoded(const char* table, std::string_view key, Decode decode) {
  try {
    return decode();
  } catch (const BadValue& bad) {
    throw StoreError(unreadable_text(table, key, bad.what()));
  }
}

}  // namespace runwarden::store::postgres
