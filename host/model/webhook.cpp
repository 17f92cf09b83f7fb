#include "model/webhook.h"

#include <algorithm>

namespace runwarden::model {

const char* name(MessageType type) {
  switch (type) {
    case MessageType::webhook_test: return "webhook.test";
    case MessageType::failures_skipped: return "failures.skipped";
    case MessageType::cluster_created: return "cluster.created";
    case MessageType::cluster_regressed: return "cluster.regressed";
    case MessageType::cluster_rising: return "cluster.rising";
    case MessageType::failure_created: return "failure.created";
    case MessageType::cluster_triaged: return "cluster.triaged";
    case MessageType::checkpoint_created: return "checkpoint.created";
  }
  return "";
}

std::vector<MessageType> subscribable_types() {
  return {MessageType::cluster_created, MessageType::cluster_regressed, MessageType::cluster_rising, MessageType::failure_created,
          MessageType::cluster_triaged, MessageType::checkpoint_created};
}

std::vector<MessageType> usual_events() {
  return {MessageType::cluster_created, MessageType::cluster_regressed, MessageType::cluster_rising};
}

std::optional<MessageType> subscribable(std::string_view text) {
  for (const MessageType type : subscribable_types()) {
    if (text == name(type)) return type;
  }
  return std::nullopt;
}

const char* name(MessageTemplate form) {
  return form == MessageTemplate::slack ? "slack" : "standard";
}

std::optional<MessageTemplate> message_template(std::string_view text) {
  for (const MessageTemplate form : {MessageTemplate::standard, MessageTemplate::slack}) {
    if (text == name(form)) return form;
  }
  return std::nullopt;
}

bool MessageFilter::lets_pass(const MessageSubject& subject) const {
  if (!detector.empty() && subject.detector_key != detector) return false;
  return subject.score >= min_score && (!severity || subject.severity == *severity);
}

bool Endpoint::wants(MessageType type) const {
  if (disabled != Disabled::no) return false;
  if (type == MessageType::webhook_test || type == MessageType::failures_skipped) return true;
  return std::find(events.begin(), events.end(), type) != events.end();
}

const char* name(DeliveryState state) {
  switch (state) {
    case DeliveryState::pending: return "pending";
    case DeliveryState::delivered: return "delivered";
    case DeliveryState::dead: return "dead";
  }
  return "";
}

std::optional<DeliveryState> delivery_state(std::string_view text) {
  for (const DeliveryState state : {DeliveryState::pending, DeliveryState::delivered, DeliveryState::dead}) {
    if (text == name(state)) return state;
  }
  return std::nullopt;
}

}  // namespace runwarden::model
