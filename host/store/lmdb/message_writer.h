// Webhooks in the tables: endpoints, deliveries, and the outbox, which has an entry for each delivery that waits, by when it is due. For the
// files of store/ only; the transaction says which thread.
//
// Keys of the outbox begin with the endpoint, not with the time: what waits for one that does not answer is in nobody's way.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "model/webhook.h"
#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"

namespace runwarden::store {

constexpr std::size_t kEndpointKeyBytes = 12;   // tenant, seq
constexpr std::size_t kDeliveryKeyBytes = 28;   // endpoint, time of queueing, seq
constexpr std::size_t kOutboxKeyBytes = 28;     // endpoint, due time, seq

KeyBytes endpoint_key(model::TenantId tenant, std::uint64_t endpoint_seq);
KeyBytes delivery_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::RecordKey& delivery);
KeyBytes outbox_key(model::TenantId tenant, std::uint64_t endpoint_seq, const model::Delivery& delivery);
// The time of queueing that an entry of the outbox holds. Throws BadValue.
std::string encode_queued(std::string_view key, std::int64_t queued_ms);
std::int64_t decode_queued(std::string_view key, std::string_view value);

std::optional<model::Endpoint> read_endpoint(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t endpoint_seq);
// With or without its body.
enum class BodyToo : std::uint8_t { no, yes };
std::optional<model::Delivery> read_delivery(const Txn& txn, const Tables& tables, std::string_view key, BodyToo body);

// Puts messages and changes deliveries in one transaction; endpoints are written by flush(), each once.
class MessageWriter {
 public:
  struct Rules {
    std::function<std::uint64_t()> next_seq;
    std::uint64_t max_pending = 100'000;  // of an endpoint; more failures are told as one message
  };

  MessageWriter(WriteTxn& txn, const Tables& tables, const Rules& rules, std::int64_t now_ms)
      : txn_(txn), tables_(tables), rules_(rules), now_ms_(now_ms) {}

  // Whether any endpoint of the tenant would get such a message.
  bool wanted(model::TenantId tenant, model::MessageType type);
  // A key for a message that no failure gives its own.
  model::RecordKey new_key() const { return {now_ms_, rules_.next_seq()}; }
  // To every endpoint that wants it and whose filter lets it pass.
  void tell(model::TenantId tenant, const model::Message& message, const model::MessageSubject& about);

  // Null: it is not there. What the caller changes is written.
  model::Endpoint* endpoint(model::TenantId tenant, std::uint64_t endpoint_seq);
  void queue(model::TenantId tenant, model::Endpoint& endpoint, const model::Message& message);
  // Puts a delivery in place of what it was before, which the endpoint's counts go by.
  void replace(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& before, const model::Delivery& after);
  void erase(model::TenantId tenant, model::Endpoint& endpoint, const model::Delivery& delivery);

  void flush();

 private:
  struct Known {
    model::Endpoint endpoint;
    bool changed = false;
  };
  using OfTenant = std::map<std::uint64_t, Known>;  // by seq

  OfTenant& of(model::TenantId tenant);
  void count(model::Endpoint& endpoint, model::DeliveryState state, int change) const;
  void tell_of_skipped(model::TenantId tenant, model::Endpoint& endpoint);

  WriteTxn& txn_;
  const Tables& tables_;
  const Rules& rules_;
  std::int64_t now_ms_;
  std::map<model::TenantId, OfTenant> known_;
};

}  // namespace runwarden::store
