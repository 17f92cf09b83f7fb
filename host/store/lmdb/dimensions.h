// The values of each dimension, and the runs that have them. Internal to store/.
//
// Kept for each stretch of 2^28 ms, the coarsest entry of a series: a head, and a row for each value. The first kMostValues values of a
// stretch have rows of their own; further ones count as kOtherValue. A row stays until the last run of its stretch is gone, so that a run
// leaves the row that it entered. Keys: tenant u32, half digest of the dimension's name, stretch i64; for a value's row, then the value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dimensions.h"
#include "store/group_store.h"
#include "store/lmdb/open_run_index.h"
#include "store/lmdb/series.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

Half value_half(const model::Dimension& dimension);  // identifies the value in its series

struct ValueRow {
  std::uint64_t runs = 0;
  model::RecordKey first;    // the first run; if it is gone and the next one not found, the beginning of the first entry of the series
  std::int64_t last_ms = 0;  // of the last run; if it is gone, the end of the last entry at most
};
struct StretchHead {
  std::string dimension;
  std::uint64_t values = 0;  // rows, without that of kOtherValue
  std::uint64_t runs = 0;
};

KeyBytes stretch_key(model::TenantId tenant, std::string_view dimension, std::int64_t stretch);
StretchHead decode_stretch(std::string_view key, std::string_view value);
ValueRow decode_value_row(std::string_view key, std::string_view value);

// Gathers the changes of one transaction. add_to() passes the series their counts; flush(), called after the series', writes each row once.
class DimensionChanges {
 public:
  // Counts the run in, or out again. Runs in one transaction share look-ups.
  void enter(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension);
  void leave(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension);
  // The value that a counted run counts under: its own, or kOtherValue.
  Half counted_as(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension);
  void add_to(SeriesChanges& series);
  void flush(WriteTxn& txn, const Tables& tables);

 private:
  struct Row {
    ValueRow kept;
    Half half{};
    bool is_there = false;
    bool removed = false;
    bool lost_first = false;
    std::int64_t runs = 0;                         // change of their number
    std::map<std::int64_t, std::int64_t> entries;  // the same by finest entry of the series
  };
  struct Stretch {
    StretchHead kept;
    std::uint64_t fresh = 0;  // new values
    std::map<std::string, Row, std::less<>> rows;
  };

  struct StretchPlace {
    model::TenantId tenant = 0;
    const std::string& dimension;
    std::int64_t number = 0;
  };

  static void look_at_rest(const Txn& txn, const Tables& tables, const StretchPlace& place, Row& row);
  static void look_for_first(const Txn& txn, const Tables& tables, const StretchPlace& place, std::map<std::string_view, Row*> rows);
  static void write(WriteTxn& txn, const Tables& tables, const StretchPlace& place, Stretch& stretch);
  Stretch& stretch_of(const Txn& txn, const Tables& tables, const RunKey& place, const std::string& dimension);
  Row& row_of(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension, Stretch& stretch);
  enum class IfNew : std::uint8_t { makes_row, counts_as_other };
  Row& counting_row(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension, IfNew if_new);

  // By tenant and stretch, then by dimension.
  std::map<std::pair<model::TenantId, std::int64_t>, std::map<std::string, Stretch, std::less<>>> stretches_;
};

// Values with runs in the stretches that overlap the span, by dimension; at most `most` of each, those with the most runs.
std::vector<DimensionRow> read_dimensions(const Txn& txn, const Tables& tables, model::TenantId tenant, const std::optional<Span>& span,
                                          std::size_t most);
std::optional<model::RecordKey> first_run_with(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                               const model::Dimension& dimension);

}  // namespace runwarden::store
