#include "store/postgres/maintenance/importing_webhooks.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/group_rows.h"
#include "store/postgres/messages.h"
#include "store/postgres/row.h"
#include "store/webhook_codec.h"

namespace runwarden::store::postgres {
namespace {

// What is left of a removed webhook waits to be deleted.
constexpr const char* kForgetRemovedDeliveries =
    "DELETE FROM runwarden.delivery d USING runwarden.endpoint e WHERE e.tenant = $1 AND e.seq = $2 AND e.removed AND d.tenant = e.tenant "
    "AND d.endpoint = e.seq";
constexpr const char* kForgetRemoved = "DELETE FROM runwarden.endpoint WHERE tenant = $1 AND seq = $2 AND removed";
constexpr const char* kFind = "SELECT body FROM runwarden.endpoint WHERE tenant = $1 AND seq = $2";
constexpr const char* kPut = "INSERT INTO runwarden.endpoint (tenant, seq, removed, disabled, body) VALUES ($1, $2, false, $3, $4)";
constexpr const char* kLock =
    "SELECT seq, body FROM runwarden.endpoint WHERE tenant = $1 AND seq = ANY($2) AND NOT removed ORDER BY seq FOR UPDATE";
constexpr const char* kCount = "UPDATE runwarden.endpoint SET body = $3 WHERE tenant = $1 AND seq = $2";

constexpr const char* kDeliveriesAt =
    "SELECT d.endpoint, d.time_ms, d.seq, d.body FROM unnest($2, $3, $4) AS w(endpoint, time_ms, seq) "
    "JOIN runwarden.delivery d ON d.endpoint = w.endpoint AND d.time_ms = w.time_ms AND d.seq = w.seq WHERE d.tenant = $1";
constexpr const char* kPutDeliveries =
    "INSERT INTO runwarden.delivery (tenant, endpoint, time_ms, seq, state, due_ms, body) SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7)";

using DeliveryPlace = std::pair<std::uint64_t, model::RecordKey>;  // webhook, delivery

struct Columns {
  std::vector<std::int64_t> endpoints, times, seqs;
  void add(const DeliveryPlace& place) {
    endpoints.push_back(column(place.first));
    times.push_back(place.second.time_ms);
    seqs.push_back(column(place.second.seq));
  }
  Params params(model::TenantId tenant) const { return std::move(Params().i32(column(tenant)).i64s(endpoints).i64s(times).i64s(seqs)); }
};

std::map<std::uint64_t, model::Endpoint> lock_webhooks(Connection& connection, model::TenantId tenant, const Columns& deliveries) {
  std::map<std::uint64_t, model::Endpoint> endpoints;
  const Rows locked = connection.query(kLock, std::move(Params().i32(column(tenant)).i64s(deliveries.endpoints)));
  for (std::size_t row = 0; row < locked.size(); ++row) {
    const std::uint64_t seq = unsigned_at(locked, row, 0);
    endpoints.emplace(seq, endpoint_of(tenant, seq, locked.bytes(row, 1)));
  }
  return endpoints;
}

std::map<DeliveryPlace, std::string> deliveries_at(Connection& connection, model::TenantId tenant, const Columns& deliveries) {
  std::map<DeliveryPlace, std::string> there;
  const Rows rows = connection.query(kDeliveriesAt, deliveries.params(tenant));
  for (std::size_t row = 0; row < rows.size(); ++row)
    there.emplace(DeliveryPlace(unsigned_at(rows, row, 0), record_key(rows, row, 1)), rows.bytes(row, 3));
  return there;
}

}  // namespace

void store_webhooks(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<WebhookLine>& lines) {
  for (const auto& line : lines) {
    const std::uint64_t seq = line.record().key.seq;
    const KeyBytes key = endpoint_place(tenant, seq);
    model::Endpoint endpoint = decode_endpoint(key, line.line.value(key));
    if (endpoint.key != line.record().key) throw BadLine("the webhook's bytes belong to a different webhook", line.number);
    const auto place = [&] { return std::move(Params().i32(column(tenant)).i64(column(seq))); };
    connection.query(kForgetRemovedDeliveries, place());
    connection.query(kForgetRemoved, place());
    const Rows there = connection.query(kFind, place());
    if (!there.empty()) {
      const bool same = endpoint_of(tenant, seq, there.bytes(0, 0)).id == endpoint.id;
      same ? tally.already_there()
           : tally.conflict(line.number, "a different webhook already has the number of " + endpoint.id + ", which was skipped");
      continue;
    }
    endpoint.pending = 0;  // the deliveries that follow are counted again
    endpoint.dead = 0;
    Params row = place();
    connection.query(kPut, std::move(row.i16(static_cast<std::int16_t>(endpoint.disabled)).bytes(encode_endpoint(key, endpoint))));
    tally.stored("webhook", line.record().key);
  }
}

void store_deliveries(Connection& connection, ImportTally& tally, model::TenantId tenant, const TakenLines<DeliveryLine>& lines) {
  if (lines.empty()) return;
  Columns all;
  for (const auto& line : lines) all.add({line.record().webhook.seq, line.record().key});
  auto endpoints = lock_webhooks(connection, tenant, all);
  auto there = deliveries_at(connection, tenant, all);
  Columns put;
  std::vector<std::int16_t> states;
  std::vector<std::int64_t> dues;
  std::vector<std::string> bodies;
  for (const auto& line : lines) {
    const DeliveryPlace place(line.record().webhook.seq, line.record().key);
    const KeyBytes key = delivery_place(tenant, place.first, place.second);
    std::string value = line.line.value(key);
    const model::Delivery delivery = decode_delivery_head(key, value);
    if (delivery.key != place.second) throw BadLine("the delivery's bytes belong to a different delivery", line.number);
    const auto endpoint = endpoints.find(place.first);
    if (endpoint == endpoints.end() || endpoint->second.key != line.record().webhook) continue;  // another one is in its place; reported
    if (!tally.is_free(there, place, key, value, line, "the delivery " + delivery.id)) continue;
    endpoint->second.pending += delivery.state == model::DeliveryState::pending ? 1 : 0;
    endpoint->second.dead += delivery.state == model::DeliveryState::dead ? 1 : 0;
    put.add(place);
    states.push_back(static_cast<std::int16_t>(delivery.state));
    dues.push_back(delivery.next_ms);
    bodies.push_back(std::move(value));
    tally.stored("delivery", place.second);
  }
  if (bodies.empty()) return;
  Params params = put.params(tenant);
  connection.query(kPutDeliveries, std::move(params.i16s(states).i64s(dues).byteas(bodies)));
  for (const auto& [seq, endpoint] : endpoints) {
    const std::string body = encode_endpoint(endpoint_place(tenant, seq), endpoint);
    connection.query(kCount, std::move(Params().i32(column(tenant)).i64(column(seq)).bytes(body)));
  }
}

}  // namespace runwarden::store::postgres
