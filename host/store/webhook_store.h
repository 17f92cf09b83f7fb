// Webhooks in a store: endpoints, and the deliveries of messages to them.
//
// The transaction that stores failures and groups also queues the messages about them. Any thread. Functions that write return once the
// data is on stable storage; while serving, call them in WriteQueue::run_between(). Throws StoreError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/webhook.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

struct DeliveryQuery {
  Range range = {};  // of queueing
  std::optional<model::DeliveryState> state = std::nullopt;
};

struct TenantEndpoint {
  model::TenantId tenant = 0;
  model::Endpoint endpoint;
};

// The outcome of an attempt.
struct Attempt {
  model::TenantId tenant = 0;
  model::RecordKey endpoint;
  model::RecordKey delivery;
  std::int64_t at_ms = 0;
  bool delivered = false;
  bool sent = true;  // false: there was nothing to send, which does not count against the endpoint
  int status = 0;
  std::string error;                    // a short code; empty: none
  std::optional<std::int64_t> next_ms;  // not delivered: the next attempt; nothing: that was the last
  std::optional<model::Endpoint::Disabled> disable;
  bool dropped = false;  // nothing was sent, and the delivery is deleted: it is not to be sent any more
};

struct MadeBody {
  model::TenantId tenant = 0;
  model::RecordKey endpoint;
  model::RecordKey delivery;
  std::string body;
};

class WebhookStore {
 public:
  virtual ~WebhookStore() = default;

  // Key, id and counts are assigned here. `conflict`: the tenant already has kMostEndpoints.
  virtual Result<model::Endpoint> add_endpoint(model::TenantId tenant, model::Endpoint endpoint) = 0;
  virtual std::vector<model::Endpoint> endpoints(model::TenantId tenant) = 0;  // oldest first
  virtual std::optional<model::Endpoint> find_endpoint(model::TenantId tenant, std::string_view id) = 0;
  // Nothing if it does not exist.
  virtual std::optional<model::Endpoint> change_endpoint(model::TenantId tenant, std::string_view id,
                                                         const std::function<void(model::Endpoint&)>& change) = 0;
  // False if it does not exist. Its deliveries are neither shown nor sent any more; retention deletes them.
  virtual bool remove_endpoint(model::TenantId tenant, std::string_view id) = 0;

  // Queues a webhook.test message for it. False if it does not exist.
  virtual bool queue_test(model::TenantId tenant, const model::RecordKey& endpoint) = 0;
  // Queues a cluster.rising message for every webhook that wants it, unless the group had one within the last day, or is resolved or
  // ignored.
  virtual bool queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) = 0;

  // Newest first, without bodies.
  virtual Page<model::Delivery> deliveries(model::TenantId tenant, const model::RecordKey& endpoint, const DeliveryQuery& query) = 0;
  // Sends it again, whatever its outcome was. False if it does not exist.
  virtual bool replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view delivery_id) = 0;
  // The same for dead deliveries queued at `from` or later, at most `most`. `next`: there are more, starting there.
  struct Replayed {
    std::uint64_t queued = 0;
    std::optional<model::RecordKey> next;
  };
  virtual Replayed replay_dead(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& from,
                               std::size_t most) = 0;

  // Of all tenants, including disabled ones.
  virtual std::vector<TenantEndpoint> all_endpoints() = 0;
  // Deliveries of an endpoint whose next attempt is due, with their bodies, longest due first, at most `most`.
  virtual std::vector<model::Delivery> due(const TenantEndpoint& to, std::int64_t now_ms, std::size_t most) = 0;
  // Stores the bodies of deliveries that have none. Skips deliveries that are gone.
  virtual void keep_bodies(std::span<const MadeBody> bodies) = 0;
  virtual void settle(std::span<const Attempt> attempts) = 0;
  // About when the oldest waiting delivery was queued: exact for up to some thousands of them.
  virtual std::optional<std::int64_t> oldest_pending_ms(const TenantEndpoint& of) = 0;
};

}  // namespace runwarden::store
