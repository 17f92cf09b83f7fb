#include "webhooks/webhook_json.h"

#include "base/json_text.h"
#include "base/time_text.h"
#include "model/record_ids.h"
#include "webhooks/signature.h"

namespace runwarden::webhooks {
namespace {

void add_text_or_null(JsonWriter& out, const char* member, const std::string& text) {
  out.key(member);
  text.empty() ? out.null() : out.string(text);
}

void add_time_or_null(JsonWriter& out, const char* member, bool there, std::int64_t time_ms) {
  add_text_or_null(out, member, there ? format_time(time_ms) : "");
}

void add_filter(JsonWriter& out, const model::MessageFilter& filter) {
  out.key("filter").begin_object();
  if (!filter.detector.empty()) out.key("detector").string(filter.detector);
  if (filter.min_score > 0) out.key("minScore").integer(filter.min_score);
  if (filter.severity) out.key("severity").string(model::name(*filter.severity));
  out.end_object();
}

}  // namespace

const char* name(model::Endpoint::Disabled why) {
  switch (why) {
    case model::Endpoint::Disabled::no: return "";
    case model::Endpoint::Disabled::asked: return "request";
    case model::Endpoint::Disabled::gone: return "gone";
    case model::Endpoint::Disabled::failing: return "failing";
  }
  return "";
}

std::string endpoint_json(const model::Endpoint& endpoint, SecretToo secret) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("endpointId").string(endpoint.id);
  if (secret == SecretToo::yes) out.key("secret").string(secret_text(endpoint.secret));
  out.key("url").string(endpoint.url).key("events").begin_array();
  for (const model::MessageType type : endpoint.events) out.string(model::name(type));
  out.end_array();
  add_filter(out, endpoint.filter);
  out.key("template").string(model::name(endpoint.form));
  if (!endpoint.description.empty()) out.key("description").string(endpoint.description);
  const bool active = endpoint.disabled == model::Endpoint::Disabled::no;
  out.key("state").string(active ? "active" : "disabled");
  add_text_or_null(out, "disabledReason", name(endpoint.disabled));
  out.key("createdAt").string(format_time(endpoint.key.time_ms));
  out.key("pending").integer(static_cast<std::int64_t>(endpoint.pending)).key("dead").integer(static_cast<std::int64_t>(endpoint.dead));
  add_time_or_null(out, "lastSuccessAt", endpoint.last_success_ms != model::kNever, endpoint.last_success_ms);
  add_text_or_null(out, "lastError", endpoint.last_error);
  out.end_object();
  return text;
}

std::string delivery_json(const model::Delivery& delivery) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("deliveryId").string(delivery.id).key("messageId").string(model::make_message_id(delivery.message.key));
  out.key("type").string(model::name(delivery.message.type)).key("state").string(model::name(delivery.state));
  out.key("attempts").integer(delivery.attempts).key("lastStatus");
  delivery.last_status == 0 ? out.null() : out.integer(delivery.last_status);
  add_text_or_null(out, "lastError", delivery.last_error);
  add_time_or_null(out, "nextAt", delivery.state == model::DeliveryState::pending, delivery.next_ms);
  out.key("createdAt").string(format_time(delivery.key.time_ms)).end_object();
  return text;
}

}  // namespace runwarden::webhooks
