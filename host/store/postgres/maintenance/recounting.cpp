#include "store/postgres/maintenance/recounting.h"

#include <limits>
#include <string>

#include "store/postgres/group_rows.h"
#include "store/postgres/row.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {

ClusterRecount recount_cluster(Connection& connection, model::TenantId tenant, const model::ClusterKey& cluster) {
  static const std::string kHeads = "SELECT time_ms, seq, " + head_of("body") +
                                    " FROM runwarden.failure WHERE tenant = $1 AND fingerprint = $2 AND NOT shadow AND time_ms >= $3 AND "
                                    "(time_ms, seq) > ($3, $4) ORDER BY time_ms, seq LIMIT 4096";
  ClusterRecount counted;
  std::int64_t time_ms = std::numeric_limits<std::int64_t>::min();
  std::int64_t seq = -1;
  for (;;) {
    const Rows rows = connection.query(kHeads, std::move(Params().i32(column(tenant)).bytes(view(cluster)).i64(time_ms).i64(seq)));
    if (rows.empty()) return counted;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const model::RecordKey place = record_key(rows, row, 0);
      try {
        counted.add(decode_failure_head(place_key(tenant, place), rows.bytes(row, 2)));
      } catch (const BadValue&) {
        counted.add_unreadable();
      }
    }
    time_ms = rows.number(rows.size() - 1, 0);
    seq = rows.number(rows.size() - 1, 1);
  }
}

}  // namespace runwarden::store::postgres
