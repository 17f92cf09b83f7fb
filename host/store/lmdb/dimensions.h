// Which values each dimension has, and the runs that bear them. For the files of store/ only.
//
// Kept for each stretch of 2^28 ms, which is the coarsest entry of a series: a row for each value, and a head. The first
// kMostValues values of a stretch have rows of their own, further ones count as kOtherValue. A row stays until the last run of its
// stretch has gone, so that a run leaves the same row that it entered. Keys: tenant u32, half digest of the dimension's name, stretch
// i64; of a value's row then the value.
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

namespace runwarden::store {

Half value_half(const model::Dimension& dimension);  // of its series

struct ValueRow {
  std::uint64_t runs = 0;
  model::RecordKey first;    // of the runs, as long as it is there; then the beginning of the entry of the series that is first
  std::int64_t last_ms = 0;  // likewise
};
struct StretchHead {
  std::string dimension;
  std::uint64_t values = 0;  // rows but for that of kOtherValue
  std::uint64_t runs = 0;
};

KeyBytes stretch_key(model::TenantId tenant, std::string_view dimension, std::int64_t stretch);
StretchHead decode_stretch(std::string_view key, std::string_view value);
ValueRow decode_value_row(std::string_view key, std::string_view value);

// Gathers what one transaction changes: add_to() gives the series what they count, and flush() writes each row once, behind the series.
class DimensionChanges {
 public:
  // Counts the run in, or out again. Neighbors in one transaction share what is looked up.
  void enter(const Txn& txn, const Tables& tables, const RunPlace& place, const model::Dimension& dimension);
  void leave(const Txn& txn, const Tables& tables, const RunPlace& place, const model::Dimension& dimension);
  // As what a run that has been counted in is counted: its own value, or kOtherValue.
  Half counted_as(const Txn& txn, const Tables& tables, const RunPlace& place, const model::Dimension& dimension);
  void add_to(SeriesChanges& series);
  void flush(WriteTxn& txn, const Tables& tables);

 private:
  struct Row {
    ValueRow kept;
    Half half{};
    bool is_there = false;
    bool removed = false;
    std::int64_t runs = 0;  // by how many they change
    std::map<std::int64_t, std::int64_t> entries;  // the same by the finest entries of the series
  };
  struct Stretch {
    StretchHead kept;
    std::uint64_t fresh = 0;  // values that are new
    std::map<std::string, Row, std::less<>> rows;
  };

  struct StretchPlace {
    model::TenantId tenant = 0;
    const std::string& dimension;
    std::int64_t number = 0;
  };

  static void write(WriteTxn& txn, const Tables& tables, const StretchPlace& place, Stretch& stretch);
  Stretch& stretch_of(const Txn& txn, const Tables& tables, const RunPlace& place, const std::string& dimension);
  Row& row_of(const Txn& txn, const Tables& tables, const RunPlace& place, const model::Dimension& dimension, Stretch& stretch);
  enum class IfNew : std::uint8_t { makes_row, counts_as_other };
  Row& counting_row(const Txn& txn, const Tables& tables, const RunPlace& place, const model::Dimension& dimension, IfNew if_new);

  // By tenant and stretch, then by dimension.
  std::map<std::pair<model::TenantId, std::int64_t>, std::map<std::string, Stretch, std::less<>>> stretches_;
};

// Those with runs in the stretches that overlap the span, by dimension; of each at most that many, those of the most runs.
std::vector<DimensionRow> read_dimensions(const Txn& txn, const Tables& tables, model::TenantId tenant, const std::optional<Span>& span,
                                          std::size_t most);
std::optional<model::RecordKey> first_run_with(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Dimension& dimension);

}  // namespace runwarden::store
