#include "store/lmdb/webhook_store.h"

#include <algorithm>
#include <utility>

#include "model/record_ids.h"
#include "store/lmdb/groups.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kMostLooked = 4096;  // entries of a list per transaction
constexpr std::size_t kMostAged = 2048;    // outbox entries examined for the oldest, from either end

}  // namespace

template <class Use>
auto LmdbWebhookStore::reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
  std::optional<decltype(use(std::declval<const Txn&>()))> result;
  parts_.reading([&] {
    const ReadTxn txn = parts_.env.read();
    result.emplace(use(static_cast<const Txn&>(txn)));
  });
  return std::move(*result);
}

template <class Use>
auto LmdbWebhookStore::writing(Use use) -> decltype(use(std::declval<WriteTxn&>(), std::declval<MessageWriter&>())) {
  std::optional<decltype(use(std::declval<WriteTxn&>(), std::declval<MessageWriter&>()))> result;
  parts_.writing([&](WriteTxn& txn) {
    MessageWriter messages(txn, parts_.tables, rules_, parts_.clock.wall_ms());
    result.emplace(use(txn, messages));
    messages.flush();
  });
  return std::move(*result);
}

void LmdbWebhookStore::report(const std::string& text) const {
  if (parts_.on_unreadable) parts_.on_unreadable(text);
}

std::vector<TenantEndpoint> LmdbWebhookStore::read_endpoints(const Txn& txn, std::optional<model::TenantId> tenant) const {
  std::vector<TenantEndpoint> all;
  const Table& table = parts_.tables.endpoints;
  Cursor cursor(txn, table.handle);
  for (bool more = cursor.at_or_after(KeyBytes().u32(tenant.value_or(0))); more; more = cursor.next()) {
    if (tenant && tenant_of(cursor.key()) != *tenant) break;
    try {
      all.push_back({tenant_of(cursor.key()), decoded(table, cursor.key(), [&] { return decode_endpoint(cursor.key(), cursor.value()); })});
    } catch (const StoreError& bad) {
      report(bad.what());
    }
  }
  return all;
}

Result<model::Endpoint> LmdbWebhookStore::add_endpoint(model::TenantId tenant, model::Endpoint endpoint) {
  return writing([&](WriteTxn& txn, MessageWriter& messages) -> Result<model::Endpoint> {
    if (read_endpoints(txn, tenant).size() >= model::kMostEndpoints) {
      return Error{
          Code::conflict,
          "the tenant has " + std::to_string(model::kMostEndpoints) + " webhooks, which is the limit; remove one that is not needed",
          {},
          {}};
    }
    // A command that runs alongside the service may have started with the same numbers.
    do {
      endpoint.key = messages.new_key();
    } while (txn.get(parts_.tables.endpoints.handle, endpoint_key(tenant, endpoint.key.seq)));
    endpoint.id = model::make_endpoint_id(endpoint.key);
    const KeyBytes key = endpoint_key(tenant, endpoint.key.seq);
    txn.put(parts_.tables.endpoints.handle, key, encode_endpoint(key, endpoint));
    return endpoint;
  });
}

std::vector<model::Endpoint> LmdbWebhookStore::endpoints(model::TenantId tenant) {
  return reading([&](const Txn& txn) {
    std::vector<model::Endpoint> of;
    for (TenantEndpoint& one : read_endpoints(txn, tenant)) of.push_back(std::move(one.endpoint));
    std::ranges::sort(of, {}, &model::Endpoint::key);  // of several hosts, the one that started later gives the higher numbers
    return of;
  });
}

std::optional<model::Endpoint> LmdbWebhookStore::find_endpoint(model::TenantId tenant, std::string_view id) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return std::nullopt;
  auto found = reading([&](const Txn& txn) { return read_endpoint(txn, parts_.tables, tenant, key->seq); });
  return found && found->id == id ? std::move(found) : std::nullopt;
}

std::optional<model::Endpoint> LmdbWebhookStore::change_endpoint(model::TenantId tenant, std::string_view id,
                                                                 const std::function<void(model::Endpoint&)>& change) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return std::nullopt;
  return writing([&](WriteTxn&, MessageWriter& messages) -> std::optional<model::Endpoint> {
    model::Endpoint* const endpoint = messages.endpoint(tenant, key->seq);
    if (endpoint == nullptr || endpoint->id != id) return std::nullopt;
    change(*endpoint);
    return *endpoint;
  });
}

bool LmdbWebhookStore::remove_endpoint(model::TenantId tenant, std::string_view id) {
  const auto key = model::parse_endpoint_id(id);
  if (!key) return false;
  return writing([&](WriteTxn& txn, MessageWriter&) {
    const auto found = read_endpoint(txn, parts_.tables, tenant, key->seq);
    return found && found->id == id && txn.erase(parts_.tables.endpoints.handle, endpoint_key(tenant, key->seq));
  });
}

bool LmdbWebhookStore::queue_test(model::TenantId tenant, const model::RecordKey& endpoint) {
  return writing([&](WriteTxn&, MessageWriter& messages) {
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return false;
    model::Message message;
    message.key = messages.new_key();
    message.type = model::MessageType::webhook_test;
    messages.queue(tenant, *to, message);
    return true;
  });
}

bool LmdbWebhookStore::queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) {
  return writing([&](WriteTxn& txn, MessageWriter& messages) {
    auto head = read_cluster(txn, parts_.tables, tenant, cluster);
    if (!head) return false;
    const std::int64_t now_ms = parts_.clock.wall_ms();
    if (!may_rise(*head, now_ms)) return false;
    head->rising_told_ms = now_ms;
    const KeyBytes key = cluster_row_key(tenant, cluster);
    txn.put(parts_.tables.clusters.handle, key, encode_cluster(key, *head));
    enqueue_group_message(messages, model::MessageType::cluster_rising, {tenant, head->cluster, now_ms},
                          newest_failure(txn, parts_.tables, tenant, cluster));
    return true;
  });
}

Page<model::Delivery> LmdbWebhookStore::deliveries(model::TenantId tenant, const model::RecordKey& endpoint, const DeliveryQuery& query) {
  Page<model::Delivery> page;
  const Table& table = parts_.tables.deliveries;
  const KeyBytes prefix = endpoint_key(tenant, endpoint.seq);
  KeyBytes from = query.range.before_ms == kEndMs ? KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0})
                                                  : KeyBytes(prefix).time(query.range.before_ms);
  if (query.range.after) {
    const KeyBytes after = delivery_key(tenant, endpoint.seq, *query.range.after);
    if (after.view() < from.view()) from = after;
  }
  std::string reached(from.view());
  for (bool more = true; more;) {
    more = reading([&](const Txn& txn) {
      Cursor cursor(txn, table.handle);
      std::size_t looked = 0;
      for (bool is_there = cursor.before(reached); is_there && cursor.key().starts_with(prefix.view()); is_there = cursor.previous()) {
        if (read_time(cursor.key(), kEndpointKeyBytes) < query.range.since_ms) return false;
        if (page.items.size() == query.range.limit) {
          page.next = page.items.back().key;
          return false;
        }
        reached = cursor.key();
        try {
          auto delivery = decoded(table, cursor.key(), [&] { return decode_delivery_head(cursor.key(), cursor.value()); });
          if (!query.state || delivery.state == *query.state) page.items.push_back(std::move(delivery));
        } catch (const StoreError& bad) {
          report(bad.what());
        }
        if (++looked == kMostLooked) return true;
      }
      return false;
    });
  }
  return page;
}

bool LmdbWebhookStore::replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view delivery_id) {
  const auto key = model::parse_delivery_id(delivery_id);
  if (!key) return false;
  return writing([&](WriteTxn& txn, MessageWriter& messages) {
    const auto found = read_delivery(txn, parts_.tables, delivery_key(tenant, endpoint.seq, *key), BodyToo::yes);
    if (!found || found->id != delivery_id) return false;
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return false;
    messages.send_again(tenant, *to, *found);
    return true;
  });
}

WebhookStore::Replayed LmdbWebhookStore::replay_dead(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& from,
                                                     std::size_t most) {
  return writing([&](WriteTxn& txn, MessageWriter& messages) {
    Replayed replayed;
    model::Endpoint* const to = messages.endpoint(tenant, endpoint.seq);
    if (to == nullptr) return replayed;
    const KeyBytes prefix = endpoint_key(tenant, endpoint.seq);
    std::vector<std::string> dead;
    {
      Cursor cursor(txn, parts_.tables.deliveries.handle);
      std::size_t looked = 0;
      for (bool more = cursor.at_or_after(delivery_key(tenant, endpoint.seq, from)); more && cursor.key().starts_with(prefix.view());
           more = cursor.next()) {
        if (dead.size() == most || looked++ == kMostLooked) {
          replayed.next = model::RecordKey{read_time(cursor.key(), kEndpointKeyBytes), read_be(cursor.key(), kEndpointKeyBytes + 8, 8)};
          break;
        }
        try {
          if (decode_delivery_head(cursor.key(), cursor.value()).state == model::DeliveryState::dead) dead.emplace_back(cursor.key());
        } catch (const BadValue& bad) {
          report(place_text(parts_.tables.deliveries, cursor.key()) + ": " + bad.what());
        }
      }
    }
    for (const std::string& key : dead) {
      const auto delivery = read_delivery(txn, parts_.tables, key, BodyToo::yes);
      if (!delivery) continue;
      messages.send_again(tenant, *to, *delivery);
      ++replayed.queued;
    }
    return replayed;
  });
}

std::vector<TenantEndpoint> LmdbWebhookStore::all_endpoints() {
  return reading([&](const Txn& txn) { return read_endpoints(txn, std::nullopt); });
}

std::vector<model::Delivery> LmdbWebhookStore::due(const TenantEndpoint& to, std::int64_t now_ms, std::size_t most) {
  return reading([&](const Txn& txn) {
    std::vector<model::Delivery> found;
    const std::uint64_t seq = to.endpoint.key.seq;
    const KeyBytes prefix = endpoint_key(to.tenant, seq);
    Cursor cursor(txn, parts_.tables.outbox.handle);
    for (bool more = cursor.at_or_after(prefix); more && found.size() < most && cursor.key().starts_with(prefix.view());
         more = cursor.next()) {
      if (read_time(cursor.key(), kEndpointKeyBytes) > now_ms) break;
      try {
        const std::int64_t queued_ms =
            decoded(parts_.tables.outbox, cursor.key(), [&] { return decode_queued(cursor.key(), cursor.value()); });
        const model::RecordKey key{queued_ms, read_be(cursor.key(), kEndpointKeyBytes + 8, 8)};
        if (auto delivery = read_delivery(txn, parts_.tables, delivery_key(to.tenant, seq, key), BodyToo::yes)) {
          found.push_back(std::move(*delivery));
        }
      } catch (const StoreError& bad) {
        report(bad.what());  // the others are sent
      }
    }
    return found;
  });
}

void LmdbWebhookStore::keep_bodies(std::span<const MadeBody> bodies) {
  writing([&](WriteTxn& txn, MessageWriter&) {
    for (const MadeBody& one : bodies) {
      const KeyBytes key = delivery_key(one.tenant, one.endpoint.seq, one.delivery);
      auto delivery = read_delivery(txn, parts_.tables, key, BodyToo::no);
      if (!delivery || delivery->has_body) continue;
      delivery->body = one.body;
      txn.put(parts_.tables.deliveries.handle, key, encode_delivery(key, *delivery));
    }
    return Nothing{};
  });
}

void LmdbWebhookStore::settle(std::span<const Attempt> attempts) {
  writing([&](WriteTxn& txn, MessageWriter& messages) {
    for (const Attempt& one : attempts) settle_one(txn, messages, one);
    return Nothing{};
  });
}

// What was removed, purged or settled meanwhile does not change.
void LmdbWebhookStore::settle_one(WriteTxn& txn, MessageWriter& messages, const Attempt& attempt) {
  model::Endpoint* const endpoint = messages.endpoint(attempt.tenant, attempt.endpoint.seq);
  if (endpoint == nullptr) return;
  const KeyBytes key = delivery_key(attempt.tenant, attempt.endpoint.seq, attempt.delivery);
  messages.settle(attempt, *endpoint, read_delivery(txn, parts_.tables, key, attempt.dropped ? BodyToo::no : BodyToo::yes));
}

// Retries are due last and were queued first, so the oldest is near either end.
std::optional<std::int64_t> LmdbWebhookStore::oldest_pending_ms(const TenantEndpoint& of) {
  return reading([&](const Txn& txn) {
    std::optional<std::int64_t> oldest;
    const KeyBytes prefix = endpoint_key(of.tenant, of.endpoint.key.seq);
    const auto look = [&](const Cursor& cursor) {
      try {
        const std::int64_t queued_ms = decode_queued(cursor.key(), cursor.value());
        oldest = std::min(oldest.value_or(queued_ms), queued_ms);
      } catch (const BadValue&) {  // reported where it is due
      }
    };
    Cursor cursor(txn, parts_.tables.outbox.handle);
    std::size_t looked = 0;
    for (bool more = cursor.at_or_after(prefix); more && looked < kMostAged && cursor.key().starts_with(prefix.view());
         more = cursor.next()) {
      ++looked;
      look(cursor);
    }
    if (looked < kMostAged) return oldest;
    looked = 0;
    const KeyBytes beyond = KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0});
    for (bool more = cursor.before(beyond); more && looked < kMostAged && cursor.key().starts_with(prefix.view());
         more = cursor.previous()) {
      ++looked;
      look(cursor);
    }
    return oldest;
  });
}

}  // namespace runwarden::store
