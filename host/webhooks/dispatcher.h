// Sends what is in the outbox: one thread of its own that looks for what is due, makes bodies, sends, and has the writer note what became of
// each attempt.
//
// At most kMostOfEndpoint attempts at once to an endpoint and kMostAttempts in all; one that does not answer delays nobody else. A message
// leaves the outbox only when its 2xx has been noted: a process that dies before sends it again, with the same id and body.
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

  // Begins to send. Throws std::runtime_error where libcurl cannot be set up. What is in `parts` has to outlive the writer's drain.
  Dispatcher(Parts parts, DispatchSettings settings);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Ends the thread; what is on its way is sent again after the next start. Before the queue is drained.
  void stop();

  // Any thread. `done` is told, on the dispatcher's thread, why an address of the URL's host is not allowed, or nothing; never after stop().
  void check_addresses(std::string url, std::function<void(std::string fault)> done);
  DispatchState state() const;
  const http_client::AddressRules& rules() const;

 private:
  class Work;
  std::shared_ptr<Work> work_;
};

}  // namespace runwarden::webhooks
