// Webhooks in a store: endpoints, and the deliveries of messages to them.
//
// Messages of failures and groups are put in by the transaction that stores these. Any thread; what writes returns when it is on stable
// storage: while serving, it belongs into WriteQueue::run_between(). Throws StoreError.
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

// What became of an attempt.
struct Attempt {
  model::TenantId tenant = 0;
  model::RecordKey endpoint;
  model::RecordKey delivery;
  std::int64_t at_ms = 0;
  bool delivered = false;
  bool sent = true;  // false: there was nothing to send, and the endpoint has no part in it
  int status = 0;
  std::string error;                    // a short code; empty: none
  std::optional<std::int64_t> next_ms;  // not delivered: the next attempt; nothing: that was the last
  std::optional<model::Endpoint::Disabled> disable;
  bool dropped = false;  // there was none, and the delivery goes: it is not to be told any more
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

  // Key, id and counts are given here. `conflict`: the tenant has kMostEndpoints.
  virtual Result<model::Endpoint> add_endpoint(model::TenantId tenant, model::Endpoint endpoint) = 0;
  virtual std::vector<model::Endpoint> endpoints(model::TenantId tenant) = 0;  // oldest first
  virtual std::optional<model::Endpoint> find_endpoint(model::TenantId tenant, std::string_view id) = 0;
  // Nothing: it is not there.
  virtual std::optional<model::Endpoint> change_endpoint(model::TenantId tenant, std::string_view id,
                                                         const std::function<void(model::Endpoint&)>& change) = 0;
  // False: it is not there. Its deliveries are no longer shown or sent; retention deletes them.
  virtual bool remove_endpoint(model::TenantId tenant, std::string_view id) = 0;

  // A webhook.test message to it. False: it is not there.
  virtual bool queue_test(model::TenantId tenant, const model::RecordKey& endpoint) = 0;
  // A cluster.rising message to all who want it, if the group has none of the last day, is neither resolved nor ignored.
  virtual bool queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) = 0;

  // Newest first, without bodies.
  virtual Page<model::Delivery> deliveries(model::TenantId tenant, const model::RecordKey& endpoint, const DeliveryQuery& query) = 0;
  // Sends it again, whatever became of it. False: it is not there.
  virtual bool replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view delivery_id) = 0;
  // The same for dead ones that were queued from then on; at most that many. `next`: there are more, from there.
  struct Replayed {
    std::uint64_t queued = 0;
    std::optional<model::RecordKey> next;
  };
  virtual Replayed replay_dead(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& from, std::size_t most) = 0;

  // Of every tenant, also those that are disabled.
  virtual std::vector<TenantEndpoint> all_endpoints() = 0;
  // Deliveries of an endpoint whose next attempt is due, longest due first, at most that many, with their bodies.
  virtual std::vector<model::Delivery> due(const TenantEndpoint& to, std::int64_t now_ms, std::size_t most) = 0;
  // Keeps the bodies of deliveries that have none. One that has gone meanwhile is passed over.
  virtual void keep_bodies(std::span<const MadeBody> bodies) = 0;
  virtual void settle(std::span<const Attempt> attempts) = 0;
  // When the oldest delivery that is waiting was queued, about: exact up to some thousands of them.
  virtual std::optional<std::int64_t> oldest_pending_ms(const TenantEndpoint& of) = 0;
};

}  // namespace runwarden::store
