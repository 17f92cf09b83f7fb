// Webhooks on PostgreSQL; see store/webhook_store.h. Any thread.
//
// Hosts share what is due: a delivery given to one host goes to no other for kLeaseMs, unless it is settled before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/postgres/database_clock.h"
#include "store/postgres/messages.h"
#include "store/postgres/pool.h"
#include "store/webhook_store.h"

namespace runwarden::store::postgres {

class PostgresWebhookStore final : public WebhookStore {
 public:
  static constexpr std::int64_t kLeaseMs = 60'000;  // longer than an attempt takes

  struct Parts {
    Pool& pool;
    const DatabaseClock& clock;
    std::function<std::uint64_t()> next_seq;
    std::function<void(const std::string& text)> on_unreadable;  // called for each record that a list skips
    std::uint64_t max_pending = 100'000;                         // messages per webhook; further failures are reported in one
  };

  // Frees at once what was given to processes that have ended.
  void take_from_gone_hosts();

  explicit PostgresWebhookStore(Parts parts)
      : parts_(std::move(parts)), rules_{parts_.next_seq, parts_.max_pending}, host_(static_cast<std::int64_t>(parts_.next_seq())) {}

  Result<model::Endpoint> add_endpoint(model::TenantId tenant, model::Endpoint endpoint) override;
  std::vector<model::Endpoint> endpoints(model::TenantId tenant) override;
  std::optional<model::Endpoint> find_endpoint(model::TenantId tenant, std::string_view id) override;
  std::optional<model::Endpoint> change_endpoint(model::TenantId tenant, std::string_view id,
                                                 const std::function<void(model::Endpoint&)>& change) override;
  bool remove_endpoint(model::TenantId tenant, std::string_view id) override;
  bool queue_test(model::TenantId tenant, const model::RecordKey& endpoint) override;
  bool queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) override;
  Page<model::Delivery> deliveries(model::TenantId tenant, const model::RecordKey& endpoint, const DeliveryQuery& query) override;
  bool replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view delivery_id) override;
  Replayed replay_dead(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& from, std::size_t most) override;
  std::vector<TenantEndpoint> all_endpoints() override;
  std::vector<model::Delivery> due(const TenantEndpoint& to, std::int64_t now_ms, std::size_t most) override;
  void keep_bodies(std::span<const MadeBody> bodies) override;
  void settle(std::span<const Attempt> attempts) override;
  std::optional<std::int64_t> oldest_pending_ms(const TenantEndpoint& of) override;

 private:
  // Passes the messages of a transaction to `use`, then commits. Repeats this after a conflict with another transaction.
  template <class Use>
  auto writing(Use use) -> decltype(use(std::declval<Connection&>(), std::declval<Messages&>()));
  void report(const std::string& text) const;
  std::vector<TenantEndpoint> read_endpoints(const Rows& rows) const;

  const Parts parts_;
  const MessageQueue::Rules rules_;
  const std::int64_t host_;  // marks the deliveries leased by this store
};

}  // namespace runwarden::store::postgres
