#include "store/lmdb/message_writer.h"

#include "store/webhook_codec.h"

namespace runwarden::store {
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

// Skips an endpoint that cannot be read, so that the others get their messages; verify names it.
std::vector<model::Endpoint> MessageWriter::read_endpoints(model::TenantId tenant) {
  std::vector<model::Endpoint> endpoints;
  const KeyBytes prefix = KeyBytes().u32(tenant);
  Cursor cursor(txn_, tables_.endpoints.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    try {
      endpoints.push_back(decode_endpoint(cursor.key(), cursor.value()));
    } catch (const BadValue&) {
    }
  }
  return endpoints;
}

void MessageWriter::put_endpoint(model::TenantId tenant, const model::Endpoint& endpoint) {
  const KeyBytes key = endpoint_key(tenant, endpoint.key.seq);
  txn_.put(tables_.endpoints.handle, key, encode_endpoint(key, endpoint));
}

void MessageWriter::put_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery* before,
                                 const model::Delivery& after) {
  const KeyBytes key = delivery_key(tenant, endpoint.key.seq, after.key);
  txn_.put(tables_.deliveries.handle, key, encode_delivery(key, after));
  if (before != nullptr && before->state == model::DeliveryState::pending)
    txn_.erase(tables_.outbox.handle, outbox_key(tenant, endpoint.key.seq, *before));
  if (after.state != model::DeliveryState::pending) return;
  const KeyBytes due = outbox_key(tenant, endpoint.key.seq, after);
  txn_.put(tables_.outbox.handle, due, encode_queued(due, after.key.time_ms));
}

void MessageWriter::erase_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery& delivery) {
  txn_.erase(tables_.deliveries.handle, delivery_key(tenant, endpoint.key.seq, delivery.key));
  if (delivery.state == model::DeliveryState::pending) txn_.erase(tables_.outbox.handle, outbox_key(tenant, endpoint.key.seq, delivery));
}

}  // namespace runwarden::store
