#include "store/postgres/run_heads.h"

#include <utility>

#include "store/key_encoding.h"
#include "store/page_filling.h"
#include "store/postgres/row.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

const char* const kOpenBody =
    "(SELECT o.body FROM runwarden.open_run o WHERE o.tenant = r.tenant AND o.time_ms = r.time_ms AND o.seq = r.seq)";

// The bytes that this part adds to an open run; the run leaves out a part that cannot be read.
std::uint64_t part_bytes(const Rows& rows, std::size_t row, int column, std::string_view key) {
  if (rows.is_null(row, column)) return 0;
  try {
    return body_bytes(key, rows.bytes(row, column));
  } catch (const BadValue&) {
    return 0;
  }
}

}  // namespace

std::string run_body() { return std::string("CASE WHEN r.state = 0 THEN ") + kOpenBody + " ELSE r.body END"; }

std::string previous_column(const std::string& value, const std::string& revision) {
  return "(SELECT " + value +
         " FROM runwarden.former f WHERE f.tenant = r.tenant AND f.time_ms = r.time_ms AND f.seq = r.seq AND f.revision = " + revision +
         ")";
}

// For an open run, also the heads of its parts besides its own events: the events of previous revisions, and the first revision if it came
// whole.
std::string head_columns() {
  return std::string("r.time_ms, r.seq, CASE WHEN r.state = 0 THEN ") + kOpenBody + " ELSE " + head_of("r.body") +
         " END, CASE WHEN r.state = 0 THEN (SELECT " + head_of("e.body") +
         " FROM runwarden.event e WHERE e.tenant = r.tenant AND e.time_ms = r.time_ms AND e.seq = r.seq AND e.first = -1) END, CASE WHEN "
         "r.state = 0 THEN " +
         previous_column(head_of("f.body"), "1") + " END";
}

model::RunRecord sized_head(const Rows& rows, std::size_t row, int column, const HeadOf& of) {
  const model::RecordKey at = record_key(rows, row, column);
  const KeyBytes key = place_key(of.tenant, at);
  const std::string_view head = rows.bytes(row, column + 2);
  return decoded("run", key, [&] {
    StoredRun stored = decode_run_head(key, head, of.outline);
    model::RunRecord& run = stored.run;
    run.json_bytes = kOwnRunBytes;
    if (!stored.buffering) {
      run.json_bytes += body_bytes(key, head);
    } else {
      run.json_bytes += stored.buffering->bytes + stored.buffering->total * kStepBytes +
                        part_bytes(rows, row, column + 3, events_key({of.tenant, at}, true, 0)) + part_bytes(rows, row, column + 4, key);
    }
    return std::move(run);
  });
}

}  // namespace runwarden::store::postgres
