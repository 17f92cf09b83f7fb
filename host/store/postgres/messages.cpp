#include "store/postgres/messages.h"

#include <utility>

#include "store/postgres/group_rows.h"
#include "store/webhook_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kLock = R"sql(
SELECT tenant, seq, body FROM runwarden.endpoint WHERE tenant = ANY($1) AND NOT removed ORDER BY tenant, seq FOR UPDATE)sql";

constexpr const char* kPutEndpoints = R"sql(
UPDATE runwarden.endpoint e SET disabled = k.disabled, body = k.body FROM unnest($1, $2, $3, $4) AS k(tenant, seq, disabled, body)
WHERE e.tenant = k.tenant AND e.seq = k.seq)sql";

// The delivery is new, or its holder has settled it.
constexpr const char* kPutDeliveries = R"sql(
INSERT INTO runwarden.delivery(tenant, endpoint, time_ms, seq, state, due_ms, body)
SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) ORDER BY 1, 2, 3, 4
ON CONFLICT (tenant, endpoint, time_ms, seq) DO UPDATE
SET state = excluded.state, due_ms = excluded.due_ms, leased_by = 0, lease_ms = 0, body = excluded.body)sql";

constexpr const char* kEraseDeliveries = R"sql(
DELETE FROM runwarden.delivery d USING unnest($1, $2, $3, $4) AS k(tenant, endpoint, time_ms, seq)
WHERE d.tenant = k.tenant AND d.endpoint = k.endpoint AND d.time_ms = k.time_ms AND d.seq = k.seq)sql";

// Places of deliveries: tenant, webhook and key.
struct PlaceColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> endpoints, times, seqs;

  void add(const std::tuple<model::TenantId, std::uint64_t, model::RecordKey>& place) {
    const auto& [tenant, endpoint, key] = place;
    tenants.push_back(static_cast<std::int32_t>(tenant));
    endpoints.push_back(number_of(endpoint));
    times.push_back(key.time_ms);
    seqs.push_back(number_of(key.seq));
  }
  Params params() const { return std::move(Params().i32s(tenants).i64s(endpoints).i64s(times).i64s(seqs)); }
};

}  // namespace

model::Endpoint endpoint_of(model::TenantId tenant, std::uint64_t seq, std::string_view body) {
  const KeyBytes key = endpoint_place(tenant, seq);
  return decoded("endpoint", key, [&] { return decode_endpoint(key, body); });
}

Connection::Statement Messages::lock_statement(std::span<const std::int32_t> tenants) { return {kLock, std::move(Params().i32s(tenants))}; }

// A webhook that cannot be read gets nothing, and holds up no other; verify reports it.
void Messages::know(const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::TenantId tenant = tenant_at(rows, row, 0);
    try {
      locked_[tenant].push_back(endpoint_of(tenant, unsigned_at(rows, row, 1), rows.bytes(row, 2)));
    } catch (const StoreError&) {
    }
  }
}

std::vector<model::Endpoint> Messages::read_endpoints(model::TenantId tenant) {
  if (!locked_.contains(tenant)) {
    know(tenant);
    const std::vector<std::int32_t> tenants{column(tenant)};
    const Connection::Statement lock = lock_statement(tenants);
    know(connection_.run({&lock, 1}).front());
  }
  return std::exchange(locked_[tenant], {});
}

void Messages::put_endpoint(model::TenantId tenant, const model::Endpoint& endpoint) {
  endpoints_[{tenant, endpoint.key.seq}] = {endpoint.disabled, encode_endpoint(endpoint_place(tenant, endpoint.key.seq), endpoint)};
}

void Messages::put_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery*, const model::Delivery& after) {
  const KeyBytes key = delivery_place(tenant, endpoint.key.seq, after.key);
  deliveries_[{tenant, endpoint.key.seq, after.key}] = {after.state, after.next_ms, encode_delivery(key, after)};
}

void Messages::erase_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery& delivery) {
  erased_.emplace_back(tenant, endpoint.key.seq, delivery.key);
}

Connection::Statement Messages::endpoint_rows() {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> seqs;
  std::vector<std::int16_t> states;
  std::vector<std::string> bodies;
  for (auto& [place, row] : endpoints_) {
    tenants.push_back(column(place.first));
    seqs.push_back(column(place.second));
    states.push_back(static_cast<std::int16_t>(row.first));
    bodies.push_back(std::move(row.second));
  }
  return {kPutEndpoints, std::move(Params().i32s(tenants).i64s(seqs).i16s(states).byteas(bodies))};
}

Connection::Statement Messages::delivery_rows() {
  PlaceColumns places;
  std::vector<std::int16_t> states;
  std::vector<std::int64_t> dues;
  std::vector<std::string> bodies;
  for (auto& [place, row] : deliveries_) {
    places.add(place);
    states.push_back(static_cast<std::int16_t>(row.state));
    dues.push_back(row.due_ms);
    bodies.push_back(std::move(row.body));
  }
  return {kPutDeliveries, std::move(places.params().i16s(states).i64s(dues).byteas(bodies))};
}

std::vector<Connection::Statement> Messages::take_statements() {
  flush();
  std::vector<Connection::Statement> statements;
  if (!endpoints_.empty()) statements.push_back(endpoint_rows());
  if (!deliveries_.empty()) statements.push_back(delivery_rows());
  if (!erased_.empty()) {
    PlaceColumns places;
    for (const DeliveryPlace& place : erased_) places.add(place);
    statements.push_back({kEraseDeliveries, places.params()});
  }
  endpoints_.clear(), deliveries_.clear(), erased_.clear();
  return statements;
}

}  // namespace runwarden::store::postgres
