// Messages to webhooks in one transaction on PostgreSQL. One thread, the connection's.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "store/message_queue.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

class Messages final : public MessageQueue {
 public:
  Messages(Connection& connection, const Rules& rules, std::int64_t now_ms) : MessageQueue(rules, now_ms), connection_(connection) {}

  // A tenant's webhooks are read and locked when they are first needed. With several tenants, pass their rows beforehand, so that they are
  // locked in one order. Nothing is read for tenants that are passed without rows.
  static Connection::Statement lock_statement(std::span<const std::int32_t> tenants);
  void know(model::TenantId tenant) { locked_[tenant]; }
  void know(const Rows& rows);

  // Writes everything that was gathered. Run it before COMMIT.
  std::vector<Connection::Statement> take_statements();

 private:
  std::vector<model::Endpoint> read_endpoints(model::TenantId tenant) override;
  void put_endpoint(model::TenantId tenant, const model::Endpoint& endpoint) override;
  void put_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery* before,
                    const model::Delivery& after) override;
  void erase_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery& delivery) override;

  using DeliveryPlace = std::tuple<model::TenantId, std::uint64_t, model::RecordKey>;
  struct DeliveryRow {
    model::DeliveryState state = model::DeliveryState::pending;
    std::int64_t due_ms = 0;
    std::string body;
  };

  Connection::Statement endpoint_rows();
  Connection::Statement delivery_rows();

  Connection& connection_;
  std::map<model::TenantId, std::vector<model::Endpoint>> locked_;
  std::map<std::pair<model::TenantId, std::uint64_t>, std::pair<model::Endpoint::Disabled, std::string>> endpoints_;  // to be written
  std::map<DeliveryPlace, DeliveryRow> deliveries_;
  std::vector<DeliveryPlace> erased_;
};

// The webhook in a row `tenant, seq, body`. Throws StoreError.
model::Endpoint endpoint_of(model::TenantId tenant, std::uint64_t seq, std::string_view body);

}  // namespace runwarden::store::postgres
