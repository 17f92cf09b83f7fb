// Webhooks in the LMDB tables: endpoints, deliveries, and the outbox, which has an entry for each waiting delivery, by its due time.
// Internal to store/; the transaction's thread.
//
// Outbox keys begin with the endpoint, not with the time, so that deliveries to an endpoint that does not answer hold up no others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/webhook.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/message_queue.h"

namespace runwarden::store {

constexpr std::size_t kEndpointKeyBytes = 12;   // tenant, seq
constexpr std::size_t kDeliveryKeyBytes = 28;   // endpoint, time of queueing, seq
constexpr std::size_t kOutboxKeyBytes = 28;     // endpoint, due time, seq

KeyBytes endpoint_key(model::TenantId tenant, std::uint64_t endpoint_seq);
KeyBytes delivery_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::RecordKey& delivery);
KeyBytes outbox_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::Delivery& delivery);
// The value of an outbox entry: the time of queueing. Throws BadValue.
std::string encode_queued(std::string_view key, std::int64_t queued_ms);
std::int64_t decode_queued(std::string_view key, std::string_view value);

std::optional<model::Endpoint> read_endpoint(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t endpoint_seq);
// With or without its body.
enum class BodyToo : std::uint8_t { no, yes };
std::optional<model::Delivery> read_delivery(const Txn& txn, const Tables& tables, std::string_view key, BodyToo body);

// Writes the messages of one transaction.
class MessageWriter final : public MessageQueue {
 public:
  MessageWriter(WriteTxn& txn, const Tables& tables, const Rules& rules, std::int64_t now_ms)
      : MessageQueue(rules, now_ms), txn_(txn), tables_(tables) {}

 private:
  std::vector<model::Endpoint> read_endpoints(model::TenantId tenant) override;
  void put_endpoint(model::TenantId tenant, const model::Endpoint& endpoint) override;
  void put_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery* before,
                    const model::Delivery& after) override;
  void erase_delivery(model::TenantId tenant, const model::Endpoint& endpoint, const model::Delivery& delivery) override;

  WriteTxn& txn_;
  const Tables& tables_;
};

}  // namespace runwarden::store
