#include "store/postgres/reviews.h"

#include "model/cluster.h"
#include "model/record_ids.h"
#include "store/key_encoding.h"
#include "store/postgres/row.h"
#include "store/review_codec.h"

namespace runwarden::store::postgres {

std::string subject_of(const model::Review& review) {
  const model::ClusterKey half = model::cluster_key(model::review_subject(review));
  return {half.data(), half.size()};
}

std::optional<model::RecordKey> reviewed_failure(const model::Review& review) { return model::parse_failure_id(review.failure_id); }

std::string is_last_review(const std::string& alias) {
  const auto same = [&](const char* column) { return std::string("l.") + column + " = " + alias + "." + column; };
  return "NOT EXISTS (SELECT FROM runwarden.review l WHERE " + same("tenant") + " AND " + same("run_time_ms") + " AND " + same("run_seq") +
         " AND " + same("subject") + " AND (l.time_ms, l.seq) > (" + alias + ".time_ms, " + alias + ".seq))";
}

std::string is_in_use(const std::string& alias) {
  const auto own = [&](const char* column) { return alias + "." + column; };
  return "(" + own("verdict") + " <> 0 AND " + is_last_review(alias) + " AND CASE WHEN " + own("failure_ms") +
         " IS NULL THEN EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = " + own("tenant") + " AND r.time_ms = " + own("run_time_ms") +
         " AND r.seq = " + own("run_seq") + ") ELSE EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = " + own("tenant") +
         " AND f.time_ms = " + own("failure_ms") + " AND f.seq = " + own("failure_seq") + ") END)";
}

std::string last_review_of_failure() {
  return " LEFT JOIN LATERAL (SELECT w.time_ms, w.seq, w.body FROM runwarden.review w WHERE f.reviewed <> 0 AND w.tenant = f.tenant"
         " AND w.failure_ms = f.time_ms AND w.failure_seq = f.seq ORDER BY w.time_ms DESC, w.seq DESC LIMIT 1) v ON true";
}

model::Review review_at(const Rows& rows, std::size_t row, int column, model::TenantId tenant) {
  const KeyBytes key = place_key(tenant, record_key(rows, row, column));
  return decoded("review", key, [&] { return decode_review(key, rows.bytes(row, column + 2)); });
}

void read_review(const Rows& rows, std::size_t row, int column, model::TenantId tenant, model::FailureRecord& failure) {
  if (failure.reviewed == model::ReviewVerdict::none || rows.is_null(row, column)) return;
  model::Review last = review_at(rows, row, column, tenant);
  if (last.verdict != model::ReviewVerdict::none) failure.review = std::move(last.document);
}

}  // namespace runwarden::store::postgres
