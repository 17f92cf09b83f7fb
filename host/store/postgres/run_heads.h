// Heads of runs as lists show them, and how much JSON each makes. For the files of store/postgres only. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "model/records.h"
#include "store/postgres/connection.h"
#include "store/queries.h"

namespace runwarden::store::postgres {

// SQL expressions of a row `r` of runwarden.run. The value of a run, which of one that is open stands among the open runs; a column of another
// revision of it, whose row is `f`; and the columns that sized_head() reads: time, seq, head and two more.
std::string run_body();
std::string former_column(const std::string& value, const std::string& revision);
std::string head_columns();

struct HeadOf {
  model::TenantId tenant = 0;
  OutlineToo outline = OutlineToo::no;
};
// A head with json_bytes, of the row's five columns from that one on. Throws StoreError.
model::RunRecord sized_head(const Rows& rows, std::size_t row, int column, const HeadOf& of);

}  // namespace runwarden::store::postgres
