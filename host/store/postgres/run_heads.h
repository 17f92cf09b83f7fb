// Heads of runs as lists show them, with the size of each run's JSON. Internal to store/postgres. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "model/record_key.h"
#include "model/run_record.h"
#include "store/postgres/rows.h"
#include "store/queries.h"

namespace runwarden::store::postgres {

// SQL expressions over a row `r` of runwarden.run: the value of a run, which is among the open runs while it is open; a column of another
// revision of it, in row `f`; and the columns that sized_head() reads: time, seq, head and two more.
std::string run_body();
std::string previous_column(const std::string& value, const std::string& revision);
std::string head_columns();

struct HeadOf {
  model::TenantId tenant = 0;
  OutlineToo outline = OutlineToo::no;
};
// A head with json_bytes, from five columns of the row, starting at `column`. Throws StoreError.
model::RunRecord sized_head(const Rows& rows, std::size_t row, int column, const HeadOf& of);

}  // namespace runwarden::store::postgres
