#include "store/message_queue.h"

#include <algorithm>
#include <utility>

namespace runwarden::store {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

// Skipped failures are reported only at or below this: otherwise every delivery would be followed by another such message.
std::uint64_t most_pending_to_tell(std::uint64_t max_pending) {
  return max_pending - std::max<std::uint64_t>(1, max_pending / 10);
}

model::MessageCluster message_cluster(const model::Cluster& cluster, std::int64_t now_ms) {
  return {cluster.key, model::state_of(cluster.triage, cluster.first_ms, now_ms).state, cluster.count, cluster.first_ms};
}

}  // namespace

MessageQueue::OfTenant& MessageQueue::of(model::TenantId tenant) {
  const auto [place, fresh] = cache_.try_emplace(tenant);
  if (!fresh) return place->second;
  for (model::Endpoint& endpoint : read_endpoints(tenant)) {
    const std::uint64_t seq = endpoint.key.seq;
    place->second.emplace(seq, CachedEndpoint{std::move(endpoint), false});
  }
  return place->second;
}

bool MessageQueue::wanted(model::TenantId tenant, model::MessageType type) {
  const OfTenant& known = of(tenant);
  return std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.second.endpoint.wants(type); });
}

void MessageQueue::enqueue(model::TenantId tenant, const model::Message& message, const model::MessageSubject& about) {
  for (auto& [seq, known] : of(tenant)) {
    model::Endpoint& endpoint = known.endpoint;
    if (!endpoint.wants(message.type) || !endpoint.filter.lets_pass(about)) continue;
    known.changed = true;
    enqueue_skipped_message(tenant, endpoint);
    const bool full = endpoint.pending >= rules_.max_pending || endpoint.skipped.count > 0;
    if (message.type != model::MessageType::failure_created || !full) {
      queue(tenant, endpoint, message);
      continue;
    }
    model::SkippedFailures& skipped = endpoint.skipped;
    const std::int64_t at_ms = message.key.time_ms;
    skipped.from_ms = skipped.count == 0 ? at_ms : std::min(skipped.from_ms, at_ms);
    skipped.until_ms = skipped.count == 0 ? at_ms : std::max(skipped.until_ms, at_ms);
    ++skipped.count;
  }
}

model::Endpoint* MessageQueue::endpoint(model::TenantId tenant, std::uint64_t endpoint_seq) {
  OfTenant& known = of(tenant);
  const auto found = known.find(endpoint_seq);
  if (found == known.end()) return nullptr;
  found->second.changed = true;
  return &found->second.endpoint;
}

void MessageQueue::queue(model::TenantId tenant, model::Endpoint& endpoint, const model::Message& message) {
  model::Delivery delivery;
  delivery.key = new_key();
  delivery.message = message;
  delivery.next_ms = now_ms_;
  put_delivery(tenant, endpoint, nullptr, delivery);
  count(endpoint, model::DeliveryState::pending, 1);
}

void MessageQueue::count(model::Endpoint& endpoint, model::DeliveryState state, int change) const {
  if (state == model::DeliveryState::delivered) return;
  std::uint64_t& counted = state == model::DeliveryState::pending ? endpoint.pending : endpoint.dead;
  if (change > 0) {
    ++counted;
  } else {
    counted -= counted > 0 ? 1 : 0;
  }
}

void MessageQueue::replace(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& before, const model::Delivery& after) {
  put_delivery(tenant, endpoint, &before, after);
  count(endpoint, before.state, -1);
  count(endpoint, after.state, 1);
  enqueue_skipped_message(tenant, endpoint);
}

void MessageQueue::erase(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery) {
  erase_delivery(tenant, endpoint, delivery);
  count(endpoint, delivery.state, -1);
}

void MessageQueue::send_again(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery) {
  model::Delivery again = delivery;
  again.state = model::DeliveryState::pending;
  again.attempts_before = again.attempts;
  again.next_ms = now_ms_;
  replace(tenant, endpoint, delivery, again);
}

void MessageQueue::settle(const Attempt& attempt, model::Endpoint& endpoint, const std::optional<model::Delivery>& before) {
  if (attempt.dropped) {
    if (before && before->state == model::DeliveryState::pending) erase(attempt.tenant, endpoint, *before);
    return;
  }
  if (attempt.delivered) {
    endpoint.last_success_ms = attempt.at_ms;
    endpoint.last_error.clear();
    endpoint.failing_since_ms = model::kNever;
  } else if (attempt.sent) {
    endpoint.last_error = attempt.error;
    if (endpoint.failing_since_ms == model::kNever) endpoint.failing_since_ms = attempt.at_ms;
    if (attempt.disable && endpoint.disabled == model::Endpoint::Disabled::no) endpoint.disabled = *attempt.disable;
  }
  if (!before || before->state != model::DeliveryState::pending) return;
  model::Delivery after = *before;
  ++after.attempts;
  after.last_status = attempt.status;
  after.last_error = attempt.error;
  after.next_ms = attempt.next_ms.value_or(0);
  if (attempt.delivered || !attempt.next_ms) after.state = attempt.delivered ? model::DeliveryState::delivered : model::DeliveryState::dead;
  replace(attempt.tenant, endpoint, *before, after);
}

void MessageQueue::enqueue_skipped_message(model::TenantId tenant, model::Endpoint& endpoint) {
  if (endpoint.skipped.count == 0 || endpoint.pending > most_pending_to_tell(rules_.max_pending)) return;
  model::Message message;
  message.key = new_key();
  message.type = model::MessageType::failures_skipped;
  message.skipped = std::exchange(endpoint.skipped, {});
  queue(tenant, endpoint, message);
}

void MessageQueue::flush() {
  for (auto& [tenant, endpoints] : cache_) {
    for (auto& [seq, known] : endpoints) {
      if (std::exchange(known.changed, false)) put_endpoint(tenant, known.endpoint);
    }
  }
}

void enqueue_group_message(MessageQueue& messages, model::MessageType type, const GroupNow& group,
                           const std::optional<model::RecordKey>& failure, const model::TriageEntry* entry) {
  if (!messages.wanted(group.tenant, type)) return;
  model::Message message;
  message.key = messages.new_key();
  message.type = type;
  message.failure = failure;
  message.cluster = message_cluster(group.cluster, group.now_ms);
  if (entry != nullptr) message.triage = entry->key;
  messages.enqueue(group.tenant, message, {group.cluster.detector_key, group.cluster.max_score, group.cluster.severity});
}

void enqueue_failure_messages(MessageQueue& messages, model::TenantId tenant, const model::Cluster* cluster, const ClusterChange& change) {
  if (change.told.empty()) return;
  model::Message message;
  message.type = model::MessageType::failure_created;
  if (cluster != nullptr) message.cluster = message_cluster(*cluster, messages.now_ms());
  if (message.cluster && message.cluster->state == model::ClusterState::ignored) return;
  for (const ClusterChange::NewFailure& one : change.told) {
    message.key = one.key;
    message.failure = one.key;
    messages.enqueue(tenant, message, {change.detector_key, one.score, one.severity});
  }
}

bool may_rise(const ClusterHead& head, std::int64_t now_ms) {
  const auto state = model::state_of(head.cluster.triage, head.cluster.first_ms, now_ms).state;
  const bool told = head.rising_told_ms != model::kNever && now_ms - head.rising_told_ms < kDayMs;
  return !told && state != model::ClusterState::ignored && state != model::ClusterState::resolved;
}

}  // namespace runwarden::store
