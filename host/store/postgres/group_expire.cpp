// Retention of histories and deliveries; see group_writer.h.
#include <set>

#include "store/postgres/group_rows.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/messages.h"

namespace runwarden::store::postgres {
namespace {

// The latest entry of a group stays as long as the group has failures.
constexpr const char* kOldEntries = R"sql(
DELETE FROM runwarden.triage t USING (
  SELECT o.tenant, o.half, o.time_ms, o.seq FROM runwarden.triage o
  WHERE o.time_ms < $1 AND ($3::bigint IS NULL OR o.tenant = $3)
    AND (EXISTS (SELECT FROM runwarden.triage n WHERE n.tenant = o.tenant AND n.half = o.half AND (n.time_ms, n.seq) > (o.time_ms, o.seq))
      OR NOT EXISTS (SELECT FROM runwarden.cluster c WHERE c.tenant = o.tenant AND c.half = o.half AND c.failures > 0))
  ORDER BY o.time_ms LIMIT $2) k
WHERE t.tenant = k.tenant AND t.half = k.half AND t.time_ms = k.time_ms AND t.seq = k.seq RETURNING t.tenant, t.half, t.time_ms, t.seq)sql";
// Groups that have nothing left.
constexpr const char* kForgetClusters = R"sql(
WITH gone AS (DELETE FROM runwarden.cluster c USING (SELECT DISTINCT tenant, half FROM unnest($1, $2) AS u(tenant, half)) k
  WHERE c.tenant = k.tenant AND c.half = k.half AND c.failures = 0
    AND NOT EXISTS (SELECT FROM runwarden.triage t WHERE t.tenant = k.tenant AND t.half = k.half) RETURNING c.tenant),
  counted AS (SELECT tenant, count(*) AS n FROM gone GROUP BY tenant)
UPDATE runwarden.cluster_total t SET clusters = greatest(t.clusters - g.n, 0) FROM counted g WHERE t.tenant = g.tenant)sql";

// All deliveries of a removed webhook; of other webhooks, those that are too old. Deliveries that wait for an active webhook stay until
// they are settled, but a purge deletes them, too.
constexpr const char* kOldDeliveries = R"sql(
SELECT g.tenant, g.endpoint, g.time_ms, g.seq, g.state, e.removed FROM runwarden.endpoint e CROSS JOIN LATERAL (
  SELECT d.tenant, d.endpoint, d.time_ms, d.seq, d.state FROM runwarden.delivery d WHERE d.tenant = e.tenant AND d.endpoint = e.seq
    AND (e.removed OR (d.time_ms < $1 AND (d.state <> 0 OR e.disabled <> 0 OR $3::bigint IS NOT NULL))) ORDER BY d.time_ms, d.seq LIMIT $2) g
WHERE $3::bigint IS NULL OR e.tenant = $3 LIMIT $2)sql";
constexpr const char* kForgetEndpoints = R"sql(
DELETE FROM runwarden.endpoint e WHERE e.removed AND NOT EXISTS (SELECT FROM runwarden.delivery d WHERE d.tenant = e.tenant AND d.endpoint = e.seq))sql";
constexpr const char* kDeleteDeliveries = R"sql(
DELETE FROM runwarden.delivery d USING unnest($1, $2, $3, $4) AS k(tenant, endpoint, time_ms, seq)
WHERE d.tenant = k.tenant AND d.endpoint = k.endpoint AND d.time_ms = k.time_ms AND d.seq = k.seq)sql";

Params limits(std::int64_t before_ms, std::size_t most, const std::optional<model::TenantId>& tenant) {
  const auto of = tenant ? std::optional<std::int64_t>(*tenant) : std::nullopt;
  return std::move(Params().i64(before_ms).i64(static_cast<std::int64_t>(most)).i64_or_null(of));
}

// Deliveries whose webhook is not among the messages' webhooks.
struct OrphanColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> endpoints, times, seqs;

  void add(model::TenantId tenant, std::int64_t endpoint, const model::RecordKey& delivery) {
    tenants.push_back(static_cast<std::int32_t>(tenant));
    endpoints.push_back(endpoint);
    times.push_back(delivery.time_ms);
    seqs.push_back(number_of(delivery.seq));
  }
  Params params() const { return std::move(Params().i32s(tenants).i64s(endpoints).i64s(times).i64s(seqs)); }
};

std::set<std::int32_t> tenants_in(const Rows& deliveries) {
  std::set<std::int32_t> tenants;
  for (std::size_t row = 0; row < deliveries.size(); ++row) tenants.insert(static_cast<std::int32_t>(deliveries.number(row, 0)));
  return tenants;
}

void lock_webhooks_of(const std::set<std::int32_t>& tenants, Connection& connection, Messages& messages) {
  const std::vector<std::int32_t> locked(tenants.begin(), tenants.end());
  const Connection::Statement lock = Messages::lock_statement(locked);
  for (const std::int32_t tenant : locked) messages.know(static_cast<model::TenantId>(tenant));
  messages.know(connection.run({&lock, 1}).front());
}

model::Delivery old_delivery_at(const Rows& rows, std::size_t row) {
  model::Delivery delivery;
  delivery.key = record_key(rows, row, 2);
  delivery.state = static_cast<model::DeliveryState>(rows.number(row, 4));
  return delivery;
}

}  // namespace

std::uint64_t expire_triage(Connection& connection, const Retention& retention, std::size_t most, const ExpiryNotes& notes) {
  if (retention.changes_before_ms == kBeginningMs) return 0;
  const Rows gone = connection.query(kOldEntries, limits(retention.changes_before_ms, most, retention.tenant));
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> halves;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    tenants.push_back(static_cast<std::int32_t>(gone.number(row, 0)));
    halves.push_back(gone.bytes(row, 1));
    notes.notes.note(tenant_at(gone, row, 0));
    notes.erased.push_back(
        {tenant_at(gone, row, 0), ledger::Kind::triage, triage_name(cluster_key_of(gone.bytes(row, 1)), record_key(gone, row, 2))});
  }
  if (!tenants.empty()) connection.query(kForgetClusters, std::move(Params().i32s(tenants).byteas(halves)));
  return gone.size();
}

std::uint64_t expire_deliveries(Connection& connection, const Retention& retention, std::size_t most) {
  const auto look = [&] { return connection.query(kOldDeliveries, limits(retention.deliveries_before_ms, most, retention.tenant)); };
  const std::set<std::int32_t> tenants = tenants_in(look());
  std::uint64_t gone = 0;
  if (!tenants.empty()) {
    const MessageQueue::Rules none{[] { return std::uint64_t{0}; }};
    Messages messages(connection, none, 0);
    lock_webhooks_of(tenants, connection, messages);
    const Rows old = look();  // again, under the locks: no one else can change them
    OrphanColumns orphans;
    for (std::size_t row = 0; row < old.size(); ++row) {
      const model::TenantId tenant = tenant_at(old, row, 0);
      if (!tenants.contains(column(tenant))) continue;
      ++gone;
      const model::Delivery delivery = old_delivery_at(old, row);
      if (model::Endpoint* const endpoint = messages.endpoint(tenant, unsigned_at(old, row, 1))) {
        messages.erase(tenant, *endpoint, delivery);
      } else {
        orphans.add(tenant, old.number(row, 1), delivery.key);
      }
    }
    std::vector<Connection::Statement> statements = messages.take_statements();
    if (!orphans.tenants.empty()) statements.push_back({kDeleteDeliveries, orphans.params()});
    connection.run(statements);
  }
  connection.query(kForgetEndpoints);
  return gone;
}

}  // namespace runwarden::store::postgres
