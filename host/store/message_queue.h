// Puts messages into the outbox of each webhook that wants them, and limits how many wait there. The engine reads and writes endpoints and
// deliveries. Internal to store/. One transaction, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/webhook.h"
#include "store/cluster_change.h"
#include "store/webhook_store.h"

namespace runwarden::store {

class MessageQueue {
 public:
  struct Rules {
    std::function<std::uint64_t()> next_seq;
    std::uint64_t max_pending = 100'000;  // per endpoint; failures beyond it are reported in one message
  };

  MessageQueue(const Rules& rules, std::int64_t now_ms) : rules_(rules), now_ms_(now_ms) {}
  virtual ~MessageQueue() = default;

  // Whether any endpoint of the tenant would get such a message.
  bool wanted(model::TenantId tenant, model::MessageType type);
  // A key for a message that does not use the key of a failure.
  model::RecordKey new_key() const { return {now_ms_, rules_.next_seq()}; }
  std::int64_t now_ms() const { return now_ms_; }
  // Queues the message for every endpoint that wants it and whose filter lets it pass.
  void enqueue(model::TenantId tenant, const model::Message& message, const model::MessageSubject& about);

  // Null if it does not exist. Changes by the caller are written.
  model::Endpoint* endpoint(model::TenantId tenant, std::uint64_t endpoint_seq);
  void queue(model::TenantId tenant, model::Endpoint& endpoint, const model::Message& message);
  // Replaces a delivery's previous state, and updates the endpoint's counts.
  void replace(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& before, const model::Delivery& after);
  void erase(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery);
  // Sends it again, whatever its outcome was.
  void send_again(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery);
  // Records the outcome of an attempt. `before`: its delivery; nothing: it is gone. A delivery that was settled meanwhile does not change.
  void settle(const Attempt& attempt, model::Endpoint& endpoint, const std::optional<model::Delivery>& before);

  // Writes each changed endpoint once.
  void flush();

 protected:
  // Returns the endpoints that can be read.
  virtual std::vector<model::Endpoint> read_endpoints(model::TenantId tenant) = 0;
  virtual void put_endpoint(model::TenantId tenant, const model::Endpoint& endpoint) = 0;
  // `before` is null for a new delivery.
  virtual void put_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery* before,
                            const model::Delivery& after) = 0;
  virtual void erase_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery& delivery) = 0;

 private:
  struct CachedEndpoint {
    model::Endpoint endpoint;
    bool changed = false;
  };
  using OfTenant = std::map<std::uint64_t, CachedEndpoint>;  // by seq

  OfTenant& of(model::TenantId tenant);
  void count(model::Endpoint& endpoint, model::DeliveryState state, int change) const;
  void enqueue_skipped_message(model::TenantId tenant, model::Endpoint& endpoint);

  const Rules& rules_;
  std::int64_t now_ms_;
  std::map<model::TenantId, OfTenant> cache_;
};

// Queues a message about a group for every webhook that wants it, with one of its failures and, if a decision causes it, the entry of its
// history.
struct GroupNow {
  model::TenantId tenant = 0;
  const model::Cluster& cluster;
  std::int64_t now_ms = 0;
};
void enqueue_group_message(MessageQueue& messages, model::MessageType type, const GroupNow& group,
                           const std::optional<model::RecordKey>& failure, const model::TriageEntry* entry = nullptr);
// Queues messages about the failures in `change.told`. Null: they have no group.
void enqueue_failure_messages(MessageQueue& messages, model::TenantId tenant, const model::Cluster* cluster, const ClusterChange& change);
// Whether a group may be reported as rising: at most once a day, and not while it is ignored or resolved.
bool may_rise(const ClusterHead& head, std::int64_t now_ms);

}  // namespace runwarden::store
