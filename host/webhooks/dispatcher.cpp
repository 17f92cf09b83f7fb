#include "webhooks/dispatcher.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <tuple>
#include <utility>

#include "base/mutex.h"
#include "http_client/http_sender.h"
#include "http_client/retry_schedule.h"
#include "model/record_ids.h"
#include "webhooks/message_body.h"
#include "webhooks/rising_groups.h"
#include "webhooks/signature.h"

namespace runwarden::webhooks {
namespace {

constexpr std::int64_t kLookMs = 50;          // between scans of the outbox
constexpr std::int64_t kLookForFirstMs = 1000;  // likewise, while there are no webhooks
constexpr std::int64_t kRisingMs = 5000;      // between searches for rising groups
constexpr std::int64_t kStateMs = 1000;       // between counts for the metrics
constexpr std::size_t kMostChecks = 16;       // of addresses at once: each may occupy a resolver thread
constexpr std::int64_t kAfterFaultMs = 1000;  // before the store is used again
constexpr std::int64_t kMostFailingMs = 5 * 86'400'000LL;  // an endpoint that fails for so long is disabled
constexpr int kGone = 410;
constexpr const char* kRecordDeleted = "record_deleted";  // the failure was deleted, so nothing was sent

}  // namespace

class Dispatcher::Work : public std::enable_shared_from_this<Work> {
 public:
  Work(Parts parts, DispatchSettings settings)
      : parts_(std::move(parts)),
        settings_(std::move(settings)),
        sender_(settings_.rules, settings_.timeout_ms),
        rising_(parts_.groups),
        random_(std::random_device()()) {}

  void start() {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "webhooks");
      while (!stopping_) turn();
    });
  }
  void stop() {
    stopping_ = true;
    sender_.wake();
    if (thread_.joinable()) thread_.join();
    const MutexLock lock(mutex_);
    closed_ = true;
    answers_.clear();  // they hold references to this object
    address_checks_.clear();
  }

  void check_addresses(std::string url, std::function<void(std::string)> done) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return;
      address_checks_.push_back({std::move(url), std::move(done)});
    }
    sender_.wake();
  }
  void look_soon() {
    answer([self = shared_from_this()] { self->looked_ns_ = 0; });
  }
  const http_client::AddressRules& rules() const { return settings_.rules; }
  DispatchState state() const {
    const MutexLock lock(mutex_);
    return state_;
  }

 private:
  using DeliveryId = std::tuple<model::TenantId, std::uint64_t, model::RecordKey>;  // tenant, endpoint's seq, delivery
  // A delivery from the scan that found it until the outcome of its attempt is recorded.
  struct InFlightDelivery {
    model::TenantId tenant = 0;
    model::Endpoint endpoint;
    model::Delivery delivery;
  };
  struct AddressCheck {
    std::string url;
    std::function<void(std::string)> done;
  };
  static DeliveryId id_of(const InFlightDelivery& one) { return {one.tenant, one.endpoint.key.seq, one.delivery.key}; }

  void turn() {
    try {
      for (http_client::SendResult& result : sender_.work(wait_ms())) ended(result);
      take_answers();
      note_attempts();
      if (due(looked_ns_, look_ms())) {
        look();
        if (!noting_ && attempts_.empty()) paused_ = false;
      }
      if (due(rising_ns_, kRisingMs)) look_for_rising();
      if (due(counted_ns_, kStateMs)) count();
    } catch (const std::exception& fault) {
      pause(std::string("webhooks paused: ") + fault.what());
    }
  }

  // Logs only the first of the faults in a row, as a database may be away for hours.
  void pause(const std::string& why) {
    if (!std::exchange(paused_, true)) parts_.log(LogLevel::warn, "webhooks_wait", why);
    quiet_until_ns_ = now_ns() + kAfterFaultMs * 1'000'000;
  }

  std::int64_t now_ns() const { return parts_.clock.monotonic_ns(); }
  std::int64_t look_ms() const { return endpoints_.empty() ? kLookForFirstMs : kLookMs; }
  std::int64_t wait_ms() const {
    if (now_ns() < quiet_until_ns_) return kLookMs;
    return std::clamp<std::int64_t>((looked_ns_ + look_ms() * 1'000'000 - now_ns()) / 1'000'000, 1, kLookMs);
  }
  bool due(std::int64_t& last_ns, std::int64_t interval_ms) const {
    const std::int64_t now = now_ns();
    if (now < quiet_until_ns_ || (last_ns != 0 && now - last_ns < interval_ms * 1'000'000)) return false;
    last_ns = now;
    return true;
  }

  // Starts with another endpoint each time, so that the limit does not always leave out the same one.
  void look() {
    endpoints_ = parts_.webhooks.all_endpoints();
    if (endpoints_.empty()) return;
    const std::size_t first = turn_++ % endpoints_.size();
    std::vector<InFlightDelivery> without_body;
    try {
      for (std::size_t i = 0; i < endpoints_.size() && in_flight_.size() < kMostAttempts; ++i) {
        look_at(endpoints_[(first + i) % endpoints_.size()], without_body);
      }
    } catch (...) {
      for (const InFlightDelivery& one : without_body) release(one);  // the next scan finds them again
      throw;
    }
    if (!without_body.empty()) make_bodies(std::move(without_body));
  }

  void look_at(const store::TenantEndpoint& to, std::vector<InFlightDelivery>& without_body) {
    if (to.endpoint.disabled != model::Endpoint::Disabled::no || to.endpoint.pending == 0) return;
    const DeliveryId first{to.tenant, to.endpoint.key.seq, {store::kBeginningMs, 0}};
    const DeliveryId beyond{to.tenant, to.endpoint.key.seq + 1, {store::kBeginningMs, 0}};
    auto busy = static_cast<std::size_t>(std::distance(in_flight_.lower_bound(first), in_flight_.lower_bound(beyond)));
    if (busy >= kMostOfEndpoint) return;
    for (model::Delivery& delivery : parts_.webhooks.due(to, parts_.clock.wall_ms(), kMostOfEndpoint + busy)) {
      if (busy >= kMostOfEndpoint || in_flight_.size() >= kMostAttempts) return;
      InFlightDelivery one{to.tenant, to.endpoint, std::move(delivery)};
      if (!in_flight_.emplace(id_of(one), 0).second) continue;
      ++busy;
      if (is_void(one)) {
        drop(one);
      } else if (one.delivery.has_body && is_deleted(one)) {
        attempted(one, {0, 0, kRecordDeleted, {}}, std::nullopt);
      } else if (one.delivery.has_body) {
        send(std::move(one));
      } else {
        without_body.push_back(std::move(one));
      }
    }
  }

  // A message whose failure cannot be read is not dropped.
  bool is_void(const InFlightDelivery& one) const {
    try {
      return tells_of_false_alarm(parts_.records, one.tenant, one.delivery.message);
    } catch (const store::StoreError&) {
      return false;
    }
  }

  // Whether the body that was made for an earlier attempt quotes a failure that was deleted since. One that cannot be read is not deleted.
  bool is_deleted(const InFlightDelivery& one) const {
    try {
      return tells_of_deleted_failure(parts_.records, one.tenant, one.delivery.message);
    } catch (const store::StoreError&) {
      return false;
    }
  }

  void drop(const InFlightDelivery& one) {
    store::Attempt attempt;
    attempt.tenant = one.tenant;
    attempt.endpoint = one.endpoint.key;
    attempt.delivery = one.delivery.key;
    attempt.dropped = true;
    attempts_.push_back(std::move(attempt));
  }

  void release(const InFlightDelivery& one) { in_flight_.erase(id_of(one)); }

  // Stores each body before its first attempt, so that every attempt sends the same one.
  void make_bodies(std::vector<InFlightDelivery> deliveries) {
    std::vector<store::MadeBody> bodies;
    std::vector<InFlightDelivery> made;
    for (InFlightDelivery& one : deliveries) {
      std::optional<std::string> body;
      try {
        const std::string tenant_name = parts_.tenant_name(one.tenant);
        body =
            make_body({parts_.records, parts_.groups, settings_.public_url}, {one.tenant, tenant_name, one.endpoint}, one.delivery.message);
      } catch (const store::StoreError& fault) {
        release(one);
        parts_.log(LogLevel::warn, "webhooks_wait",
                   "the message " + model::make_message_id(one.delivery.message.key) + " cannot be built: " + fault.what());
        quiet_until_ns_ = now_ns() + kAfterFaultMs * 1'000'000;
        continue;
      }
      if (!body) {
        attempted(one, {0, 0, kRecordDeleted, {}}, std::nullopt);
        continue;
      }
      one.delivery.body = *body;
      bodies.push_back({one.tenant, one.endpoint.key, one.delivery.key, std::move(*body)});
      made.push_back(std::move(one));
    }
    if (!bodies.empty()) store_bodies(std::move(bodies), std::move(made));
  }

  // Sends the deliveries once their bodies are stored.
  void store_bodies(std::vector<store::MadeBody> bodies, std::vector<InFlightDelivery> deliveries) {
    const auto self = shared_from_this();
    const auto deliver = std::make_shared<std::vector<InFlightDelivery>>(std::move(deliveries));
    parts_.queue.run_between([self, deliver, bodies = std::move(bodies)] {
      bool kept = true;
      try {
        self->parts_.webhooks.keep_bodies(bodies);
      } catch (const store::FatalStoreError&) {
        throw;
      } catch (const store::StoreError&) {
        kept = false;
      }
      self->answer([self, deliver, kept] {
        for (InFlightDelivery& one : *deliver) kept ? self->send(std::move(one)) : self->release(one);
        if (!kept) self->quiet_until_ns_ = self->now_ns() + kAfterFaultMs * 1'000'000;
      });
    });
  }

  void send(InFlightDelivery one) {
    const std::int64_t now_ms = parts_.clock.wall_ms();
    const std::string id = model::make_message_id(one.delivery.message.key);
    http_client::SendRequest request;
    request.url = one.endpoint.url;
    request.headers = {"content-type: application/json",
                       "user-agent: " + settings_.user_agent,
                       "webhook-id: " + id,
                       "webhook-timestamp: " + std::to_string(now_ms / 1000),
                       "webhook-signature: " + signatures(one.endpoint, id, now_ms, one.delivery.body),
                       "expect:"};
    request.body = std::move(one.delivery.body);
    request.new_connection = one.delivery.attempts > 0;  // the host name may resolve differently by now
    const std::uint64_t number = ++numbers_;
    sending_.emplace(number, std::move(one));
    sender_.post(number, std::move(request));
  }

  void ended(const http_client::SendResult& result) {
    if (const auto check = checking_.find(result.id); check != checking_.end()) {
      const auto done = std::move(check->second);
      checking_.erase(check);
      return done(result.error);
    }
    const auto found = sending_.find(result.id);
    const InFlightDelivery one = std::move(found->second);
    sending_.erase(found);
    const std::int64_t now_ms = parts_.clock.wall_ms();
    const std::uint32_t attempts = one.delivery.attempts - one.delivery.attempts_before + 1;
    const auto retry_after_ms = http_client::read_retry_after(result.retry_after, now_ms);
    const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
    std::optional<std::int64_t> next_ms;
    if (!result.error.empty()) next_ms = http_client::next_attempt_ms(settings_.retry_ms, attempts, chance, retry_after_ms, now_ms);
    attempted(one, result, next_ms);
  }

  void attempted(const InFlightDelivery& one, const http_client::SendResult& result, std::optional<std::int64_t> next_ms) {
    store::Attempt attempt{one.tenant, one.endpoint.key, one.delivery.key, parts_.clock.wall_ms(), result.error.empty(),
                           result.error != kRecordDeleted, result.status, result.error, next_ms, {}};
    if (!attempt.delivered && attempt.sent) attempt.disable = why_disable(one.endpoint, result, attempt.at_ms);
    using State = model::DeliveryState;
    const State after = attempt.delivered ? State::delivered : next_ms ? State::pending : State::dead;
    parts_.on_attempt(after);
    if (after == State::dead) {
      parts_.log(LogLevel::warn, "webhook_dead",
                 "the message " + model::make_message_id(one.delivery.message.key) + " to the webhook " + one.endpoint.id +
                     " was not accepted (" + result.error + "); POST /v1/webhooks/" + one.endpoint.id + "/replay sends it again");
    }
    if (attempt.disable) {
      parts_.log(LogLevel::warn, "webhook_disabled",
                 "the webhook " + one.endpoint.id + of_tenant(one.tenant) +
                     " is disabled: " + (result.status == kGone ? "it answered 410" : "all attempts of 5 days failed") +
                     "; its pending messages stay until it is enabled");
    }
    attempts_.push_back(std::move(attempt));
  }

  // For log texts. Empty if the store is unavailable, because the attempt must be recorded anyway.
  std::string of_tenant(model::TenantId tenant) const {
    try {
      return " of tenant " + parts_.tenant_name(tenant);
    } catch (const store::StoreError&) {
      return {};
    }
  }

  static std::optional<model::Endpoint::Disabled> why_disable(const model::Endpoint& endpoint, const http_client::SendResult& result,
                                                              std::int64_t now_ms) {
    if (result.status == kGone) return model::Endpoint::Disabled::gone;
    const bool long_ago = endpoint.failing_since_ms != model::kNever && now_ms - endpoint.failing_since_ms >= kMostFailingMs;
    return long_ago ? std::optional(model::Endpoint::Disabled::failing) : std::nullopt;
  }

  // One write at a time. Attempts that end meanwhile go into the next one.
  void note_attempts() {
    if (noting_ || attempts_.empty() || now_ns() < quiet_until_ns_) return;
    noting_ = true;
    const auto self = shared_from_this();
    const auto noted = std::make_shared<std::vector<store::Attempt>>(std::exchange(attempts_, {}));
    parts_.queue.run_between([self, noted] {
      std::string fault;
      try {
        self->parts_.webhooks.settle(*noted);
      } catch (const store::FatalStoreError&) {
        throw;
      } catch (const store::StoreError& bad) {
        fault = bad.what();
      }
      self->answer([self, noted, fault] { self->attempts_noted(*noted, fault); });
    });
  }

  void attempts_noted(std::vector<store::Attempt>& noted, const std::string& fault) {
    noting_ = false;
    if (fault.empty()) {
      looked_ns_ = 0;  // scan at once: deliveries may be waiting for these places
      for (const store::Attempt& one : noted) in_flight_.erase({one.tenant, one.endpoint.seq, one.delivery});
      return;
    }
    pause("storing the outcome of webhook messages is postponed: " + fault);
    std::move(noted.begin(), noted.end(), std::back_inserter(attempts_));
  }

  // Called on the store's threads. The dispatcher's thread calls `done` in its next turn.
  void answer(std::function<void()> done) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return;
      answers_.push_back(std::move(done));
    }
    sender_.wake();
  }

  void take_answers() {
    std::vector<std::function<void()>> answers;
    std::vector<AddressCheck> next;
    {
      const MutexLock lock(mutex_);
      std::swap(answers, answers_);
      for (; !address_checks_.empty() && checking_.size() + next.size() < kMostChecks; address_checks_.pop_front())
        next.push_back(std::move(address_checks_.front()));
    }
    for (const auto& one : answers) one();
    for (AddressCheck& one : next) {
      checking_.emplace(++numbers_, std::move(one.done));
      sender_.check(numbers_, one.url);
    }
  }

  void look_for_rising() {
    std::map<model::TenantId, bool> wanted;
    for (const store::TenantEndpoint& one : endpoints_) {
      if (one.endpoint.wants(model::MessageType::cluster_rising)) wanted[one.tenant] = true;
    }
    const std::int64_t now_ms = parts_.clock.wall_ms();
    std::erase_if(risen_, [&](const auto& one) { return now_ms - one.second >= kRisingWindowMs; });
    for (const auto& [tenant, any] : wanted) {
      for (const model::ClusterKey& cluster : rising_.look(tenant, now_ms)) {
        if (!risen_.emplace(std::pair(tenant, cluster), now_ms).second) continue;
        queue_rising(tenant, cluster);
      }
    }
  }

  void queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) {
    const auto self = shared_from_this();
    parts_.queue.run_between([self, tenant, cluster] {
      try {
        self->parts_.webhooks.queue_rising(tenant, cluster);
      } catch (const store::StoreError& bad) {
        self->answer([self, tenant, cluster, fault = std::string(bad.what())] { self->rising_not_queued(tenant, cluster, fault); });
      }
    });
  }

  // Makes a later search find the group again.
  void rising_not_queued(model::TenantId tenant, const model::ClusterKey& cluster, const std::string& fault) {
    parts_.log(LogLevel::warn, "webhooks_wait", "queueing a message about a rising group is postponed: " + fault);
    risen_.erase({tenant, cluster});
    rising_.forget(tenant);
  }

  void count() {
    DispatchState now;
    const std::int64_t now_ms = parts_.clock.wall_ms();
    for (const store::TenantEndpoint& one : endpoints_) {
      now.pending += one.endpoint.pending;
      now.dead += one.endpoint.dead;
      if (one.endpoint.pending == 0 || one.endpoint.disabled != model::Endpoint::Disabled::no) continue;
      if (const auto oldest = parts_.webhooks.oldest_pending_ms(one))
        now.oldest_pending_ms = std::max(now.oldest_pending_ms, now_ms - *oldest);
    }
    const MutexLock lock(mutex_);
    state_ = now;
  }

  const Parts parts_;
  const DispatchSettings settings_;
  http_client::HttpSender sender_;
  RisingGroups rising_;
  std::mt19937_64 random_;
  std::atomic<bool> stopping_{false};

  // Used only on the dispatcher's thread.
  std::vector<store::TenantEndpoint> endpoints_;
  std::map<DeliveryId, int> in_flight_;
  std::map<std::uint64_t, InFlightDelivery> sending_;                      // by transfer number
  std::map<std::uint64_t, std::function<void(std::string)>> checking_;     // likewise
  std::vector<store::Attempt> attempts_;                                   // to be recorded
  std::map<std::pair<model::TenantId, model::ClusterKey>, std::int64_t> risen_;  // groups already reported, and when
  bool noting_ = false;
  bool paused_ = false;  // the last use of the store failed
  std::uint64_t numbers_ = 0;
  std::size_t turn_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t rising_ns_ = 0;
  std::int64_t counted_ns_ = 0;
  std::int64_t quiet_until_ns_ = 0;

  mutable Mutex mutex_;
  std::vector<std::function<void()>> answers_ RW_GUARDED_BY(mutex_);
  std::deque<AddressCheck> address_checks_ RW_GUARDED_BY(mutex_);
  DispatchState state_ RW_GUARDED_BY(mutex_);
  bool closed_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

Dispatcher::Dispatcher(Parts parts, DispatchSettings settings) : work_(std::make_shared<Work>(std::move(parts), std::move(settings))) {
  work_->start();
}
Dispatcher::~Dispatcher() {
  stop();
}
void Dispatcher::stop() {
  work_->stop();
}
void Dispatcher::check_addresses(std::string url, std::function<void(std::string)> done) {
  work_->check_addresses(std::move(url), std::move(done));
}
void Dispatcher::look_soon() {
  work_->look_soon();
}
DispatchState Dispatcher::state() const {
  return work_->state();
}
const http_client::AddressRules& Dispatcher::rules() const {
  return work_->rules();
}

}  // namespace runwarden::webhooks
