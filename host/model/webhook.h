// Webhooks: receivers (endpoints), what they receive (messages), and the progress of each (deliveries). Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/record_key.h"

namespace runwarden::model {

// Stored values: do not change them.
enum class MessageType : std::uint8_t {
  webhook_test,
  failures_skipped,
  cluster_created,
  cluster_regressed,
  cluster_rising,
  failure_created,
  cluster_triaged,
  checkpoint_created,
};
constexpr MessageType kLastMessageType = MessageType::checkpoint_created;

const char* name(MessageType type);  // "cluster.created"
// Types that an endpoint can subscribe to; not webhook.test and failures.skipped, which every endpoint gets.
std::optional<MessageType> subscribable(std::string_view name);
std::vector<MessageType> subscribable_types();
std::vector<MessageType> usual_events();  // of an endpoint that lists none

enum class MessageTemplate : std::uint8_t { standard, slack };
const char* name(MessageTemplate form);
std::optional<MessageTemplate> message_template(std::string_view name);

// What a filter checks: the failure of failure.created; otherwise the group, with its highest score and severity.
struct MessageSubject {
  std::string_view detector_key;
  int score = 0;
  Severity severity = Severity::low;
};

struct MessageFilter {
  std::string detector;  // empty: any
  int min_score = 0;
  std::optional<Severity> severity;  // only this severity, as in GET /v1/failures

  bool lets_pass(const MessageSubject& subject) const;
};

// Failures that got no message of their own because too many messages were waiting.
struct SkippedFailures {
  std::int64_t from_ms = 0;  // of detection
  std::int64_t until_ms = 0;
  std::uint64_t count = 0;
};

constexpr std::size_t kMostEndpoints = 20;   // of a tenant
constexpr std::size_t kSecretBytes = 32;

struct Endpoint {
  // Why it receives nothing.
  enum class Disabled : std::uint8_t { no, asked, gone, failing };

  std::string id;  // we_...; encodes its key
  RecordKey key;   // time of creation
  std::string url;
  std::string description;
  std::vector<MessageType> events;
  MessageFilter filter;
  MessageTemplate form = MessageTemplate::standard;
  std::string secret;           // kSecretBytes bytes
  std::string previous_secret;  // also signs, until previous_until_ms; empty: none
  std::int64_t previous_until_ms = 0;

  Disabled disabled = Disabled::no;
  std::int64_t last_success_ms = kNever;
  std::string last_error;                   // of the latest failed attempt; empty: none since the last success
  std::int64_t failing_since_ms = kNever;   // every attempt has failed since then
  std::uint64_t pending = 0;                // deliveries in that state
  std::uint64_t dead = 0;
  SkippedFailures skipped;  // not yet reported by a message

  bool wants(MessageType type) const;
};

// The group as of the creation of the message.
struct MessageCluster {
  ClusterKey key{};
  ClusterState state = ClusterState::fresh;
  std::uint64_t count = 0;
  std::int64_t first_ms = 0;
};

struct Message {
  RecordKey key;  // its id encodes it; the time is that of the event
  MessageType type = MessageType::webhook_test;
  std::optional<RecordKey> failure;
  std::optional<MessageCluster> cluster;
  std::optional<RecordKey> triage;  // cluster.triaged: the entry of the group's history
  SkippedFailures skipped;          // failures.skipped
  std::string checkpoint;           // checkpoint.created: the signed note
};

enum class DeliveryState : std::uint8_t { pending, delivered, dead };
const char* name(DeliveryState state);
std::optional<DeliveryState> delivery_state(std::string_view name);

// A message on its way to one endpoint.
struct Delivery {
  std::string id;  // wd_...; encodes its key
  RecordKey key;   // when it was queued
  Message message;
  std::string body;  // as sent, the same in every attempt; empty: not made yet, or not read
  bool has_body = false;
  DeliveryState state = DeliveryState::pending;
  std::uint32_t attempts = 0;
  std::uint32_t attempts_before = 0;  // those before the latest replay
  int last_status = 0;                // HTTP; 0: there was no answer
  std::string last_error;             // a short code; empty: none
  std::int64_t next_ms = 0;           // pending: when the next attempt is due
};

}  // namespace runwarden::model
