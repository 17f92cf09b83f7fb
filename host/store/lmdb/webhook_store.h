// Webhooks: webhook_store.h on the LMDB tables. Internal to store/.
#pragma once

#include <functional>

#include "base/clock.h"
#include "store/lmdb/env.h"
#include "store/lmdb/message_writer.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/webhook_store.h"

namespace runwarden::store {

class LmdbWebhookStore final : public WebhookStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    const Clock& clock;
    // Runs a read; throws a StoreError that names any damage it meets.
    std::function<void(const std::function<void()>& work)> reading;
    // Runs a write in a transaction, and commits it.
    std::function<void(const std::function<void(WriteTxn& txn)>& work)> writing;
    const std::function<void(const std::string& text)>& on_unreadable;
  };

  LmdbWebhookStore(Parts parts, MessageWriter::Rules rules) : parts_(std::move(parts)), rules_(std::move(rules)) {}

  // The rules for messages of other writes.
  const MessageWriter::Rules& rules() const { return rules_; }

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
  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>()));
  // Passes the transaction and its writer to `use`; flushes and commits when `use` returns.
  template <class Use>
  auto writing(Use use) -> decltype(use(std::declval<WriteTxn&>(), std::declval<MessageWriter&>()));
  void settle_one(WriteTxn& txn, MessageWriter& messages, const Attempt& attempt);
  std::vector<TenantEndpoint> read_endpoints(const Txn& txn, std::optional<model::TenantId> tenant) const;
  void report(const std::string& text) const;

  Parts parts_;
  MessageWriter::Rules rules_;
};

}  // namespace runwarden::store
