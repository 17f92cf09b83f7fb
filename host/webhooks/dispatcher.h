// Sends the messages in the outbox. Its own thread finds due deliveries, makes bodies, sends them, and has the writer record the outcome
// of each attempt.
//
// Makes at most kMostOfEndpoint attempts at once per endpoint and kMostAttempts in all: an endpoint that does not answer delays no other.
// A message leaves the outbox only after its 2xx is recorded. If the process dies before that, the message is sent again with the same id
// and body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log_function.h"
#include "store/group_store.h"
#include "store/run_store.h"
#include "store/webhook_store.h"
#include "store/write_queue.h"
#include "http_client/address_rules.h"

namespace runwarden::webhooks {

constexpr std::size_t kMostOfEndpoint = 4;
constexpr std::size_t kMostAttempts = 32;

struct DispatchSettings {
  http_client::AddressRules rules;
  std::vector<std::int64_t> retry_ms;
  std::int64_t timeout_ms = 15'000;
  std::string public_url;  // page.public_url
  std::string user_agent;
};

struct DispatchState {
  std::uint64_t pending = 0;
  std::uint64_t dead = 0;
  std::int64_t oldest_pending_ms = 0;  // age
};

class Dispatcher {
 public:
  struct Parts {
    store::WebhookStore& webhooks;
    store::RunStore& records;
    store::GroupStore& groups;
    store::WriteQueue& queue;
    const Clock& clock;
    std::function<std::string(model::TenantId tenant)> tenant_name;
    std::function<void(model::DeliveryState after)> on_attempt;  // the delivery's state after the attempt: pending if there will be another
    LogFunction log;
  };

  // Starts the thread. Throws std::runtime_error if libcurl cannot be set up. The objects in `parts` must outlive the writer's drain.
  Dispatcher(Parts parts, DispatchSettings settings);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Ends the thread. Messages in flight are sent again after the next start. Call it before draining the queue.
  void stop();

  // Any thread. Calls `done` on the dispatcher's thread, but never after stop(), with the reason why an address of the URL's host is not
  // allowed; empty: all are allowed.
  void check_addresses(std::string url, std::function<void(std::string fault)> done);
  // Any thread. A webhook was added: while there are none, they are looked for only now and then.
  void look_soon();
  DispatchState state() const;
  const http_client::AddressRules& rules() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace runwarden::webhooks
