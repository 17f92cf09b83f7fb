#include "store/lmdb/message_writer.h"

#include <algorithm>

#include "model/record_ids.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

// So many places have to be free before skipped failures are told: else every delivery would be followed by another such message.
std::uint64_t most_pending_to_tell(std::uint64_t max_pending) {
  return max_pending - std::max<std::uint64_t>(1, max_pending / 10);
}

}  // namespace

KeyBytes endpoint_key(model::TenantId tenant, std::uint64_t endpoint_seq) {
  return KeyBytes().u32(tenant).u64(endpoint_seq);
}

KeyBytes delivery_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::RecordKey& delivery) {
  return endpoint_key(tenant, endpoint_seq).time(delivery.time_ms).u64(delivery.seq);
}

KeyBytes outbox_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::Delivery& delivery) {
  return endpoint_key(tenant, endpoint_seq).time(delivery.next_ms).u64(delivery.key.seq);
}

std::string encode_queued(std::string_view key, std::int64_t queued_ms) {
  return seal(key, KeyBytes().time(queued_ms));
}

std::int64_t decode_queued(std::string_view key, std::string_view value) {
  const std::string_view time = open_head(key, value);
  if (time.size() != 8) throw BadValue("the time has " + std::to_string(time.size()) + " bytes");
  return read_time(time, 0);
}

std::optional<model::Endpoint> read_endpoint(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t endpoint_seq) {
  const KeyBytes key = endpoint_key(tenant, endpoint_seq);
  const auto value = txn.get(tables.endpoints.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.endpoints, key, [&] { return decode_endpoint(key, *value); });
}

std::optional<model::Delivery> read_delivery(const Txn& txn, const Tables& tables, std::string_view key, BodyToo body) {
  const auto value = txn.get(tables.deliveries.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.deliveries, key,
                 [&] { return body == BodyToo::yes ? decode_delivery(key, *value) : decode_delivery_head(key, *value); });
}

// An endpoint that cannot be read gets nothing, and keeps nobody else from anything; verify names it.
MessageWriter::OfTenant& MessageWriter::of(model::TenantId tenant) {
  const auto [place, fresh] = known_.try_emplace(tenant);
  if (!fresh) return place->second;
  const KeyBytes prefix = KeyBytes().u32(tenant);
  Cursor cursor(txn_, tables_.endpoints.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    try {
      place->second.emplace(read_be(cursor.key(), 4, 8), Known{decode_endpoint(cursor.key(), cursor.value()), false});
    } catch (const BadValue&) {
    }
  }
  return place->second;
}

bool MessageWriter::wanted(model::TenantId tenant, model::MessageType type) {
  const OfTenant& known = of(tenant);
  return std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.second.endpoint.wants(type); });
}

void MessageWriter::tell(model::TenantId tenant, const model::Message& message, const model::MessageSubject& about) {
  for (auto& [seq, known] : of(tenant)) {
    model::Endpoint& endpoint = known.endpoint;
    if (!endpoint.wants(message.type) || !endpoint.filter.lets_pass(about)) continue;
    known.changed = true;
    tell_of_skipped(tenant, endpoint);
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

model::Endpoint* MessageWriter::endpoint(model::TenantId tenant, std::uint64_t endpoint_seq) {
  OfTenant& known = of(tenant);
  const auto found = known.find(endpoint_seq);
  if (found == known.end()) return nullptr;
  found->second.changed = true;
  return &found->second.endpoint;
}

void MessageWriter::queue(model::TenantId tenant, model::Endpoint& endpoint, const model::Message& message) {
  model::Delivery delivery;
  delivery.key = new_key();
  delivery.message = message;
  delivery.next_ms = now_ms_;
  const KeyBytes key = delivery_key(tenant, endpoint.key.seq, delivery.key);
  txn_.put(tables_.deliveries.handle, key, encode_delivery(key, delivery));
  const KeyBytes due = outbox_key(tenant, endpoint.key.seq, delivery);
  txn_.put(tables_.outbox.handle, due, encode_queued(due, delivery.key.time_ms));
  count(endpoint, model::DeliveryState::pending, 1);
}

void MessageWriter::count(model::Endpoint& endpoint, model::DeliveryState state, int change) const {
  if (state == model::DeliveryState::delivered) return;
  std::uint64_t& counted = state == model::DeliveryState::pending ? endpoint.pending : endpoint.dead;
  if (change > 0) {
    ++counted;
  } else {
    counted -= counted > 0 ? 1 : 0;
  }
}

void MessageWriter::replace(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& before, const model::Delivery& after) {
  const KeyBytes key = delivery_key(tenant, endpoint.key.seq, after.key);
  txn_.put(tables_.deliveries.handle, key, encode_delivery(key, after));
  if (before.state == model::DeliveryState::pending) txn_.erase(tables_.outbox.handle, outbox_key(tenant, endpoint.key.seq, before));
  if (after.state == model::DeliveryState::pending) {
    const KeyBytes due = outbox_key(tenant, endpoint.key.seq, after);
    txn_.put(tables_.outbox.handle, due, encode_queued(due, after.key.time_ms));
  }
  count(endpoint, before.state, -1);
  count(endpoint, after.state, 1);
  tell_of_skipped(tenant, endpoint);
}

void MessageWriter::erase(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery) {
  txn_.erase(tables_.deliveries.handle, delivery_key(tenant, endpoint.key.seq, delivery.key));
  if (delivery.state == model::DeliveryState::pending) txn_.erase(tables_.outbox.handle, outbox_key(tenant, endpoint.key.seq, delivery));
  count(endpoint, delivery.state, -1);
}

void MessageWriter::tell_of_skipped(model::TenantId tenant, model::Endpoint& endpoint) {
  if (endpoint.skipped.count == 0 || endpoint.pending > most_pending_to_tell(rules_.max_pending)) return;
  model::Message message;
  message.key = new_key();
  message.type = model::MessageType::failures_skipped;
  message.skipped = std::exchange(endpoint.skipped, {});
  queue(tenant, endpoint, message);
}

void MessageWriter::flush() {
  for (auto& [tenant, endpoints] : known_) {
    for (auto& [seq, known] : endpoints) {
      if (!std::exchange(known.changed, false)) continue;
      const KeyBytes key = endpoint_key(tenant, seq);
      txn_.put(tables_.endpoints.handle, key, encode_endpoint(key, known.endpoint));
    }
  }
}

}  // namespace runwarden::store
