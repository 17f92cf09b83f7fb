#include "store/postgres/webhook_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/record_ids.h"
#include "store/group_codec.h"
#include "store/postgres/group_rows.h"
#include "store/webhook_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr int kMostTries = 5;
constexpr std::int64_t kDeliveriesAtOnce = 512;
constexpr std::size_t kMostLooked = 4096;  // deliveries that a replay of dead ones examines

constexpr const char* kBegin = "BEGIN; SET LOCAL synchronous_commit = on";
// Only one transaction at a time counts a tenant's webhooks.
constexpr const char* kTouchTenant =
    "INSERT INTO runwarden.cluster_total(tenant, clusters, left_out) VALUES ($1, 0, 0) ON CONFLICT (tenant) DO NOTHING";
constexpr const char* kLockTenant = "SELECT tenant FROM runwarden.cluster_total WHERE tenant = $1 FOR UPDATE";
constexpr const char* kAddEndpoint = "INSERT INTO runwarden.endpoint(tenant, seq, removed, disabled, body) VALUES ($1, $2, false, $3, $4)";
constexpr const char* kRemoveEndpoint = "UPDATE runwarden.endpoint SET removed = true WHERE tenant = $1 AND seq = $2 AND NOT removed";
constexpr const char* kEndpoints = "SELECT tenant, seq, body FROM runwarden.endpoint WHERE tenant = $1 AND NOT removed ORDER BY seq";
constexpr const char* kEndpoint = "SELECT tenant, seq, body FROM runwarden.endpoint WHERE tenant = $1 AND seq = $2 AND NOT removed";
constexpr const char* kAllEndpoints = "SELECT tenant, seq, body FROM runwarden.endpoint WHERE NOT removed ORDER BY tenant, seq";

constexpr const char* kLockCluster = "SELECT body FROM runwarden.cluster WHERE tenant = $1 AND half = $2 AND body <> '' FOR UPDATE";
constexpr const char* kPutCluster = "UPDATE runwarden.cluster SET body = $3 WHERE tenant = $1 AND half = $2";
constexpr const char* kNewestFailure = R"sql(
SELECT time_ms, seq FROM runwarden.failure WHERE tenant = $1 AND fingerprint = $2 AND NOT shadow AND NOT false_alarm ORDER BY time_ms DESC, seq DESC LIMIT 1)sql";

constexpr const char* kLockDeliveries = R"sql(
SELECT d.tenant, d.endpoint, d.time_ms, d.seq, d.body FROM runwarden.delivery d
JOIN unnest($1, $2, $3, $4) AS k(tenant, endpoint, time_ms, seq)
  ON d.tenant = k.tenant AND d.endpoint = k.endpoint AND d.time_ms = k.time_ms AND d.seq = k.seq
ORDER BY 1, 2, 3, 4 FOR UPDATE OF d)sql";
constexpr const char* kPutBody =
    "UPDATE runwarden.delivery SET body = $5 WHERE tenant = $1 AND endpoint = $2 AND time_ms = $3 AND seq = $4";
constexpr const char* kDead = R"sql(
SELECT tenant, endpoint, time_ms, seq, body FROM runwarden.delivery
WHERE tenant = $1 AND endpoint = $2 AND (time_ms, seq) >= ($3, $4) AND state = 2 ORDER BY time_ms, seq LIMIT $5 FOR UPDATE)sql";
constexpr const char* kOldestPending = R"sql(
SELECT min(time_ms) FROM runwarden.delivery WHERE tenant = $1 AND endpoint = $2 AND state = 0)sql";

// Takes due deliveries that no other host holds: this host ($5) holds them from now ($6) until $7. Skips what another host takes at the
// same time.
constexpr const char* kDue = R"sql(
UPDATE runwarden.delivery d SET leased_by = $5, lease_ms = $7 FROM (
  SELECT tenant, endpoint, time_ms, seq FROM runwarden.delivery
  WHERE tenant = $1 AND endpoint = $2 AND state = 0 AND due_ms <= $3 AND (leased_by = $5 OR lease_ms <= $6)
  ORDER BY due_ms, seq LIMIT $4 FOR UPDATE SKIP LOCKED) k
WHERE d.tenant = k.tenant AND d.endpoint = k.endpoint AND d.time_ms = k.time_ms AND d.seq = k.seq
RETURNING d.tenant, d.endpoint, d.time_ms, d.seq, d.body)sql";

// The number that a delivery is leased by contains the number of the process (see Engine::next_seq()).
constexpr const char* kFree = R"sql(
UPDATE runwarden.delivery d SET lease_ms = 0 FROM runwarden.host h
WHERE d.state = 0 AND d.lease_ms > 0 AND h.start = d.leased_by >> 40 AND h.seen_ms = 0)sql";

// The delivery in the first five columns of a row.
model::Delivery delivery_of(const Rows& rows, std::size_t row) {
  const KeyBytes key = delivery_place(tenant_at(rows, row, 0), unsigned_at(rows, row, 1), record_key(rows, row, 2));
  return decoded("delivery", key, [&] { return decode_delivery(key, rows.bytes(row, 4)); });
}

struct DeliveryColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> endpoints, times, seqs;

  void add(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& delivery) {
    tenants.push_back(column(tenant));
    endpoints.push_back(column(endpoint.seq));
    times.push_back(delivery.time_ms);
    seqs.push_back(column(delivery.seq));
  }
  Params params() const { return std::move(Params().i32s(tenants).i64s(endpoints).i64s(times).i64s(seqs)); }
};

using DeliveryPlace = std::tuple<model::TenantId, std::uint64_t, model::RecordKey>;

DeliveryPlace place_of(const Rows& rows, std::size_t row) {
  return {tenant_at(rows, row, 0), unsigned_at(rows, row, 1), record_key(rows, row, 2)};
}

// Locks the webhooks of several tenants in one order.
template <class Items>
void lock_endpoints(Connection& connection, Messages& messages, const Items& items) {
  std::set<std::int32_t> tenants;
  for (const auto& one : items) tenants.insert(column(one.tenant));
  const std::vector<std::int32_t> locked(tenants.begin(), tenants.end());
  for (const std::int32_t tenant : locked) messages.know(static_cast<model::TenantId>(tenant));
  const Connection::Statement lock = Messages::lock_statement(locked);
  messages.know(connection.run({&lock, 1}).front());
}

}  // namespace

template <class Use>
auto PostgresWebhookStore::writing(Use use) -> decltype(use(std::declval<Connection&>(), std::declval<Messages&>())) {
  return parts_.pool.write([&](Connection& connection) {
    for (int tries = 1;; ++tries) {
      try {
        connection.script(kBegin);
        Messages messages(connection, rules_, parts_.clock.now_ms());
        auto result = use(connection, messages);
        std::vector<Connection::Statement> last = messages.take_statements();
        last.push_back({"COMMIT"});
        connection.run(last);
        return result;
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again || tries == kMostTries) throw;
        connection.rollback();
      }
    }
  });
}

void PostgresWebhookStore::report(const std::string& text) const {
  if (parts_.on_unreadable) parts_.on_unreadable(text);
}

std::vector<TenantEndpoint> PostgresWebhookStore::read_endpoints(const Rows& rows) const {
  std::vector<TenantEndpoint> all;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::TenantId tenant = tenant_at(rows, row, 0);
    try {
      all.push_back({tenant, endpoint_of(tenant, unsigned_at(rows, row, 1), rows.bytes(row, 2))});
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return all;
}

Result<model::Endpoint> PostgresWebhookStore::add_endpoint(model::TenantId tenant, model::Endpoint endpoint) {
  return writing([&](Connection& connection, Messages& messages) -> Result<model::Endpoint> {
    const Params of = std::move(Params().i32(column(tenant)));
    const std::vector<Connection::Statement> look{{kTouchTenant, of}, {kLockTenant, of}, {kEndpoints, of}};
    if (connection.run(look).back().size() >= model::kMostEndpoints) {
      return Error{
          Code::conflict,
          "the tenant has " + std::to_string(model::kMostEndpoints) + " webhooks, which is the limit; remove one that is not needed",
          {},
          {}};
    }
    endpoint.key = messages.new_key();
    endpoint.id = model::make_endpoint_id(endpoint.key);
    const std::string body = encode_endpoint(endpoint_place(tenant, endpoint.key.seq), endpoint);
    connection.query(
        kAddEndpoint,
        std::move(
            Params().i32(column(tenant)).i64(column(endpoint.key.seq)).i16(static_cast<std::int16_t>(endpoint.disabled)).bytes(body)));
    return endpoint;
  });
}

std::vector<model::Endpoint> PostgresWebhookStore::endpoints(model::TenantId tenant) {
  const Rows rows =
      parts_.pool.read([&](Connection& connection) { return connection.query(kEndpoints, std::move(Params().i32(column(tenant)))); });
  std::vector<model::Endpoint> of;
  for (TenantEndpoint& one : read_endpoints(rows)) of.push_back(std::move(one.endpoint));
  std::ranges::sort(of, {}, &model::Endpoint::key);  // a host that started later gives higher numbers
  return of;
}

std::optional<model::Endpoint> PostgresWebhookStore::find_endpoint(model::TenantId tenant, std::string_view id) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return std::nullopt;
  const Rows rows = parts_.pool.read([&](Connection& connection) {
    return connection.query(kEndpoint, std::move(Params().i32(column(tenant)).i64(column(key->seq))));
  });
  if (rows.empty()) return std::nullopt;
  model::Endpoint found = endpoint_of(tenant, key->seq, rows.bytes(0, 2));
  return found.id == id ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<model::Endpoint> PostgresWebhookStore::change_endpoint(model::TenantId tenant, std::string_view id,
                                                                     const std::function<void(model::Endpoint&)>& change) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return std::nullopt;
  return writing([&](Connection&, Messages& messages) -> std::optional<model::Endpoint> {
    model::Endpoint* const endpoint = messages.endpoint(tenant, key->seq);
    if (endpoint == nullptr || endpoint->id != id) return std::nullopt;
    change(*endpoint);
    return *endpoint;
  });
}

bool PostgresWebhookStore::remove_endpoint(model::TenantId tenant, std::string_view id) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return false;
  return writing([&](Connection& connection, Messages&) {
    const Rows rows = connection.query(kEndpoint, std::move(Params().i32(column(tenant)).i64(column(key->seq))));
    if (rows.empty() || model::make_endpoint_id(endpoint_of(tenant, key->seq, rows.bytes(0, 2)).key) != id) return false;
    return connection.query(kRemoveEndpoint, std::move(Params().i32(column(tenant)).i64(column(key->seq)))).affected() > 0;
  });
}

bool PostgresWebhookStore::queue_test(model::TenantId tenant, const model::RecordKey& endpoint) {
  return writing([&](Connection&, Messages& messages) {
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return false;
    model::Message message;
    message.key = messages.new_key();
    message.type = model::MessageType::webhook_test;
    messages.queue(tenant, *to, message);
    return true;
  });
}

bool PostgresWebhookStore::queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) {
  return writing([&](Connection& connection, Messages& messages) {
    const auto of = [&] { return std::move(Params().i32(column(tenant)).bytes(view(cluster))); };
    const std::vector<Rows> rows = connection.run(std::vector<Connection::Statement>{{kLockCluster, of()}, {kNewestFailure, of()}});
    if (rows[0].empty()) return false;
    const KeyBytes key = cluster_place(tenant, cluster);
    ClusterHead head = decoded("cluster", key, [&] { return decode_cluster(key, rows[0].bytes(0, 0)); });
    if (!may_rise(head, messages.now_ms())) return false;
    head.rising_told_ms = messages.now_ms();
    Params put = of();
    put.bytes(encode_cluster(key, head));
    connection.query(kPutCluster, std::move(put));
    const auto newest = rows[1].empty() ? std::nullopt : std::optional(record_key(rows[1], 0, 0));
    enqueue_group_message(messages, model::MessageType::cluster_rising, {tenant, head.cluster, messages.now_ms()}, newest);
    return true;
  });
}

Page<model::Delivery> PostgresWebhookStore::deliveries(model::TenantId tenant, const model::RecordKey& endpoint,
                                                       const DeliveryQuery& query) {
  Page<model::Delivery> page;
  // Bodies are not read.
  std::string sql = "SELECT tenant, endpoint, time_ms, seq, " + head_of("body") +
                    " FROM runwarden.delivery WHERE tenant = $1 AND endpoint = $2 AND time_ms >= $3 AND time_ms < $4 AND time_ms <= $5 AND "
                    "(time_ms, seq) < ($5, $6)";
  if (query.state) sql += " AND state = " + std::to_string(static_cast<int>(*query.state));
  sql += " ORDER BY time_ms DESC, seq DESC LIMIT $7";
  model::RecordKey behind = query.range.after.value_or(model::RecordKey{kEndMs, static_cast<std::uint64_t>(kEndMs)});
  const auto at_once = static_cast<std::int64_t>(std::min(query.range.limit, static_cast<std::size_t>(kDeliveriesAtOnce))) + 1;
  for (bool more = true; more;) {
    const Rows rows = parts_.pool.read([&](Connection& connection) {
      return connection.query(sql, std::move(Params()
                                                 .i32(column(tenant))
                                                 .i64(column(endpoint.seq))
                                                 .i64(query.range.since_ms)
                                                 .i64(query.range.before_ms)
                                                 .i64(behind.time_ms)
                                                 .i64(column(behind.seq))
                                                 .i64(at_once)));
    });
    more = rows.size() == static_cast<std::size_t>(at_once);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (page.items.size() == query.range.limit) {
        page.next = page.items.back().key;
        return page;
      }
      behind = record_key(rows, row, 2);
      const KeyBytes key = delivery_place(tenant, endpoint.seq, behind);
      try {
        page.items.push_back(decoded("delivery", key, [&] { return decode_delivery_head(key, rows.bytes(row, 4)); }));
      } catch (const StoreError& bad) {
        report(bad.what());
      }
    }
  }
  return page;
}

bool PostgresWebhookStore::replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view delivery_id) {
  const auto key = model::parse_delivery_id(delivery_id);
  if (!key) return false;
  return writing([&](Connection& connection, Messages& messages) {
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return false;
    DeliveryColumns columns;
    columns.add(tenant, endpoint, *key);
    const Rows rows = connection.query(kLockDeliveries, columns.params());
    if (rows.empty()) return false;
    const model::Delivery found = delivery_of(rows, 0);
    if (found.id != delivery_id) return false;
    messages.send_again(tenant, *to, found);
    return true;
  });
}

WebhookStore::Replayed PostgresWebhookStore::replay_dead(model::TenantId tenant, const model::RecordKey& endpoint,
                                                         const model::RecordKey& from, std::size_t most) {
  return writing([&](Connection& connection, Messages& messages) {
    Replayed replayed;
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return replayed;
    const std::size_t at_once = std::min(most, kMostLooked);
    const Rows rows = connection.query(kDead, std::move(Params()
                                                            .i32(column(tenant))
                                                            .i64(column(endpoint.seq))
                                                            .i64(from.time_ms)
                                                            .i64(column(from.seq))
                                                            .i64(static_cast<std::int64_t>(at_once) + 1)));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (row == at_once) {
        replayed.next = record_key(rows, row, 2);
        break;
      }
      try {
        messages.send_again(tenant, *to, delivery_of(rows, row));
        ++replayed.queued;
      } catch (const StoreError& bad) {
        report(bad.what());
      }
    }
    return replayed;
  });
}

std::vector<TenantEndpoint> PostgresWebhookStore::all_endpoints() {
  return read_endpoints(parts_.pool.read([](Connection& connection) { return connection.query(kAllEndpoints); }));
}

void PostgresWebhookStore::take_from_gone_hosts() {
  parts_.pool.write([](Connection& connection) { return connection.query(kFree); });
}

std::vector<model::Delivery> PostgresWebhookStore::due(const TenantEndpoint& to, std::int64_t now_ms, std::size_t most) {
  const std::int64_t at_ms = parts_.clock.now_ms();
  const Rows rows = parts_.pool.write([&](Connection& connection) {
    return connection.query(kDue, std::move(Params()
                                                .i32(column(to.tenant))
                                                .i64(column(to.endpoint.key.seq))
                                                .i64(now_ms)
                                                .i64(static_cast<std::int64_t>(most))
                                                .i64(host_)
                                                .i64(at_ms)
                                                .i64(at_ms + kLeaseMs)));
  });
  std::vector<model::Delivery> found;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      found.push_back(delivery_of(rows, row));
    } catch (const StoreError& bad) {
      report(bad.what());  // the others are sent
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return std::pair(a.next_ms, a.key.seq) < std::pair(b.next_ms, b.key.seq); });
  return found;
}

void PostgresWebhookStore::keep_bodies(std::span<const MadeBody> bodies) {
  if (bodies.empty()) return;
  writing([&](Connection& connection, Messages&) {
    DeliveryColumns columns;
    std::map<DeliveryPlace, const std::string*> made;
    for (const MadeBody& one : bodies) {
      columns.add(one.tenant, one.endpoint, one.delivery);
      made.emplace(DeliveryPlace(one.tenant, one.endpoint.seq, one.delivery), &one.body);
    }
    const Rows rows = connection.query(kLockDeliveries, columns.params());
    std::vector<Connection::Statement> puts;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      model::Delivery delivery = delivery_of(rows, row);
      if (delivery.has_body) continue;
      const auto& [tenant, endpoint_seq, at] = place_of(rows, row);
      delivery.body = *made.at(place_of(rows, row));
      const std::string value = encode_delivery(delivery_place(tenant, endpoint_seq, at), delivery);
      puts.push_back(
          {kPutBody, std::move(Params().i32(column(tenant)).i64(column(endpoint_seq)).i64(at.time_ms).i64(column(at.seq)).bytes(value))});
    }
    connection.run(puts);
    return Nothing{};
  });
}

void PostgresWebhookStore::settle(std::span<const Attempt> attempts) {
  if (attempts.empty()) return;
  writing([&](Connection& connection, Messages& messages) {
    lock_endpoints(connection, messages, attempts);
    DeliveryColumns columns;
    for (const Attempt& one : attempts) columns.add(one.tenant, one.endpoint, one.delivery);
    const Rows rows = connection.query(kLockDeliveries, columns.params());
    std::map<DeliveryPlace, std::size_t> found;
    for (std::size_t row = 0; row < rows.size(); ++row) found.emplace(place_of(rows, row), row);
    for (const Attempt& one : attempts) {
      model::Endpoint* const endpoint = messages.endpoint(one.tenant, one.endpoint.seq);
      if (endpoint == nullptr) continue;
      const auto row = found.find(DeliveryPlace(one.tenant, one.endpoint.seq, one.delivery));
      messages.settle(one, *endpoint, row == found.end() ? std::nullopt : std::optional(delivery_of(rows, row->second)));
      if (row != found.end()) found.erase(row);  // a second report is too late
    }
    return Nothing{};
  });
}

std::optional<std::int64_t> PostgresWebhookStore::oldest_pending_ms(const TenantEndpoint& of) {
  const Rows rows = parts_.pool.read([&](Connection& connection) {
    return connection.query(kOldestPending, std::move(Params().i32(column(of.tenant)).i64(column(of.endpoint.key.seq))));
  });
  if (rows.is_null(0, 0)) return std::nullopt;
  return rows.number(0, 0);
}

}  // namespace runwarden::store::postgres
