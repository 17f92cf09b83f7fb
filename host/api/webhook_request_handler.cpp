#include "api/webhook_request_handler.h"

#include <utility>

#include "api/list_query.h"
#include "api/store_problem.h"
#include "base/json_text.h"
#include "http/problem.h"
#include "store/store.h"
#include "webhooks/endpoint_request.h"
#include "webhooks/signature.h"
#include "webhooks/webhook_json.h"

namespace runwarden::api {
namespace {

constexpr std::uint64_t kReplyBytes = 64 * 1024;
constexpr std::size_t kReplayedAtOnce = 200;  // per transaction, which takes a few milliseconds

http::Reply reply_of(int status, std::string body) {
  http::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

Error overloaded() {
  return {Code::unavailable, "too many requests are in flight; nothing was changed, retry in a moment", {}, {}};
}

// A request between its body and its answer.
struct PendingWebhookRequest : std::enable_shared_from_this<PendingWebhookRequest> {
  using ReplyResult = Result<http::Reply>;

  PendingWebhookRequest(ApiParts& of, Admission to, std::string id, std::string text, http::Responder back, FairBudget::Lease held,
                        FairBudget::Lease reply, Permit permitted)
      : parts(of),
        admission(std::move(to)),
        request_id(std::move(id)),
        body(std::move(text)),
        responder(std::move(back)),
        lease(std::move(held)),
        reply_lease(std::move(reply)),
        permit(std::move(permitted)) {}

  model::TenantId tenant() const { return admission.principal->tenant; }
  const std::string& endpoint_id() const { return admission.parameters.at(0); }
  store::WebhookStore& webhooks() const { return parts.webhooks.store; }
  Error no_such_webhook() const {
    return {Code::not_found, "no webhook with the endpointId \"" + endpoint_id().substr(0, 256) + "\"", {}, {}};
  }

  void answer(ReplyResult with) {
    http::Reply reply = with.ok() ? std::move(*with) : http::problem(parts.redaction.error(std::move(with.error()), body), request_id);
    reply.lease = std::move(reply_lease);
    reply.lease.resize(reply.body.size());
    responder.send(std::move(reply));
  }

  // Runs `work` between the writer's batches, unless the key has become invalid.
  void write(std::function<std::optional<ReplyResult>(PendingWebhookRequest&)> work) {
    parts.webhooks.queue.run_between([pending = shared_from_this(), work = std::move(work)] {
      std::optional<ReplyResult> answer;
      try {
        const auto refusal = pending->permit ? (*pending->permit)() : std::nullopt;
        answer = refusal ? ReplyResult(*refusal) : work(*pending);
      } catch (const store::StoreError& fault) {
        answer = ReplyResult(store_problem(fault, Code::unavailable));  // the transaction was rolled back
      }
      if (answer) pending->answer(std::move(*answer));
    });
  }

  ReplyResult list() const;
  ReplyResult show() const;
  ReplyResult deliveries() const;
  void add();
  void rotate();
  void set_disabled(model::Endpoint::Disabled disabled);
  void replay();
  std::optional<ReplyResult> replay_dead(const model::RecordKey& endpoint, const model::RecordKey& from, std::uint64_t before);

  ApiParts& parts;
  Admission admission;
  std::string request_id;
  std::string body;
  http::Responder responder;
  FairBudget::Lease lease;
  FairBudget::Lease reply_lease;
  Permit permit;
};

PendingWebhookRequest::ReplyResult queued(std::uint64_t count) {
  std::string text;
  JsonWriter(text).begin_object().key("queued").integer(static_cast<std::int64_t>(count)).end_object();
  return reply_of(202, std::move(text));
}

PendingWebhookRequest::ReplyResult PendingWebhookRequest::list() const {
  auto query = ListQuery::read_page(admission.query, "/v1/webhooks");
  if (!query.ok()) return std::move(query.error());
  const auto range = query->range(tenant(), parts.webhooks.seal);
  if (!range.ok()) return range.error();
  std::optional<model::RecordKey> last;
  std::optional<model::RecordKey> next;
  std::size_t count = 0;
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (const model::Endpoint& one : webhooks().endpoints(tenant())) {
    if (range->after && one.key <= *range->after) continue;
    if (count++ == range->limit) {
      next = last;
      break;
    }
    out.raw(webhooks::endpoint_json(one, webhooks::SecretToo::no));
    last = one.key;
  }
  out.end_array().key("nextCursor").raw(query->next_cursor(tenant(), parts.webhooks.seal, next)).end_object();
  return reply_of(200, std::move(text));
}

PendingWebhookRequest::ReplyResult PendingWebhookRequest::show() const {
  const auto endpoint = webhooks().find_endpoint(tenant(), endpoint_id());
  if (!endpoint) return no_such_webhook();
  return reply_of(200, webhooks::endpoint_json(*endpoint, webhooks::SecretToo::no));
}

PendingWebhookRequest::ReplyResult PendingWebhookRequest::deliveries() const {
  auto query = ListQuery::read(admission.query, {"state"}, "/v1/webhooks/" + endpoint_id() + "/deliveries");
  if (!query.ok()) return std::move(query.error());
  auto range = query->range(tenant(), parts.webhooks.seal);
  if (!range.ok()) return std::move(range.error());
  store::DeliveryQuery deliveries;
  deliveries.range = *range;
  if (const std::string* state = query->find("state")) {
    deliveries.state = model::delivery_state(*state);
    if (!deliveries.state) {
      return Error{Code::bad_request, "the query's state must be pending, delivered or dead, got \"" + state->substr(0, 80) + "\"", {}, {}};
    }
  }
  const auto endpoint = webhooks().find_endpoint(tenant(), endpoint_id());
  if (!endpoint) return no_such_webhook();
  const auto page = webhooks().deliveries(tenant(), endpoint->key, deliveries);
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("items").begin_array();
  for (const model::Delivery& one : page.items) out.raw(webhooks::delivery_json(one));
  out.end_array().key("nextCursor").raw(query->next_cursor(tenant(), parts.webhooks.seal, page.next)).end_object();
  return reply_of(200, std::move(text));
}

// The sending thread resolves the addresses without blocking.
void PendingWebhookRequest::add() {
  std::vector<std::string> detectors;
  for (detect::DetectorInfo& one : parts.detectors()->list(admission.principal->tenant_name)) detectors.push_back(std::move(one.key));
  auto read = webhooks::read_endpoint_request(body, parts.webhooks.dispatcher.rules(), detectors);
  if (!read.ok()) return answer(std::move(read.error()));
  const std::string url = read->url;
  parts.webhooks.dispatcher.check_addresses(
      url, [pending = shared_from_this(), endpoint = std::move(*read)](const std::string& fault) mutable {
        if (!fault.empty()) return pending->answer(webhooks::address_not_allowed(endpoint.url));
        endpoint.secret = webhooks::make_secret();
        pending->write([endpoint = std::move(endpoint)](PendingWebhookRequest& in) -> std::optional<ReplyResult> {
          auto added = in.webhooks().add_endpoint(in.tenant(), endpoint);
          if (!added.ok()) return ReplyResult(std::move(added.error()));
          in.parts.webhooks.dispatcher.look_soon();
          http::Reply reply = reply_of(201, webhooks::endpoint_json(*added, webhooks::SecretToo::yes));
          reply.headers.push_back({"Location", "/v1/webhooks/" + added->id});
          reply.headers.push_back({"Cache-Control", "no-store"});
          return ReplyResult(std::move(reply));
        });
      });
}

void PendingWebhookRequest::rotate() {
  const auto overlap_ms = webhooks::read_rotation(body);
  if (!overlap_ms.ok()) return answer(overlap_ms.error());
  write([overlap_ms = *overlap_ms](PendingWebhookRequest& in) -> std::optional<ReplyResult> {
    const std::int64_t now_ms = in.parts.clock.wall_ms();
    Status rotated = Nothing{};
    const auto changed = in.webhooks().change_endpoint(in.tenant(), in.endpoint_id(),
                                                       [&](model::Endpoint& one) { rotated = webhooks::rotate(one, overlap_ms, now_ms); });
    if (!changed) return ReplyResult(in.no_such_webhook());
    if (!rotated.ok()) return ReplyResult(std::move(rotated.error()));
    http::Reply reply = reply_of(200, webhooks::endpoint_json(*changed, webhooks::SecretToo::yes));
    reply.headers.push_back({"Cache-Control", "no-store"});
    return ReplyResult(std::move(reply));
  });
}

void PendingWebhookRequest::set_disabled(model::Endpoint::Disabled disabled) {
  if (Status status = webhooks::check_nothing_asked(body); !status.ok()) return answer(std::move(status.error()));
  write([disabled](PendingWebhookRequest& in) -> std::optional<ReplyResult> {
    const auto changed = in.webhooks().change_endpoint(in.tenant(), in.endpoint_id(),
                                                       [&](model::Endpoint& one) { webhooks::set_disabled(one, disabled); });
    if (!changed) return ReplyResult(in.no_such_webhook());
    return ReplyResult(reply_of(200, webhooks::endpoint_json(*changed, webhooks::SecretToo::no)));
  });
}

void PendingWebhookRequest::replay() {
  const auto wanted = webhooks::read_replay(body);
  if (!wanted.ok()) return answer(wanted.error());
  write([wanted = *wanted](PendingWebhookRequest& in) -> std::optional<ReplyResult> {
    const auto endpoint = in.webhooks().find_endpoint(in.tenant(), in.endpoint_id());
    if (!endpoint) return ReplyResult(in.no_such_webhook());
    if (wanted.delivery_id.empty()) return in.replay_dead(endpoint->key, {wanted.since_ms, 0}, 0);
    if (in.webhooks().replay(in.tenant(), endpoint->key, wanted.delivery_id)) return queued(1);
    return ReplyResult(
        Error{Code::not_found, "the webhook has no delivery \"" + wanted.delivery_id + "\"; GET .../deliveries lists them", {}, {}});
  });
}

// Works in slices, each between the writer's batches.
std::optional<PendingWebhookRequest::ReplyResult> PendingWebhookRequest::replay_dead(const model::RecordKey& endpoint,
                                                                                     const model::RecordKey& from, std::uint64_t before) {
  const auto replayed = webhooks().replay_dead(tenant(), endpoint, from, kReplayedAtOnce);
  const std::uint64_t count = before + replayed.queued;
  if (!replayed.next) return queued(count);
  write([endpoint, next = *replayed.next, count](PendingWebhookRequest& in) { return in.replay_dead(endpoint, next, count); });
  return std::nullopt;
}

void remove(PendingWebhookRequest& pending) {
  pending.write([](PendingWebhookRequest& in) -> std::optional<PendingWebhookRequest::ReplyResult> {
    if (!in.webhooks().remove_endpoint(in.tenant(), in.endpoint_id())) return PendingWebhookRequest::ReplyResult(in.no_such_webhook());
    return PendingWebhookRequest::ReplyResult(reply_of(204, {}));
  });
}

void test(PendingWebhookRequest& pending) {
  if (Status status = webhooks::check_nothing_asked(pending.body); !status.ok()) return pending.answer(std::move(status.error()));
  pending.write([](PendingWebhookRequest& in) -> std::optional<PendingWebhookRequest::ReplyResult> {
    const auto endpoint = in.webhooks().find_endpoint(in.tenant(), in.endpoint_id());
    if (!endpoint || !in.webhooks().queue_test(in.tenant(), endpoint->key)) return PendingWebhookRequest::ReplyResult(in.no_such_webhook());
    return queued(1);
  });
}

void take(PendingWebhookRequest& pending, const std::string& method) {
  switch (pending.admission.route->id) {
    case RouteId::webhooks: return method == "POST" ? pending.add() : pending.answer(pending.list());
    case RouteId::webhook: return method == "DELETE" ? remove(pending) : pending.answer(pending.show());
    case RouteId::webhook_rotate: return pending.rotate();
    case RouteId::webhook_test: return test(pending);
    case RouteId::webhook_enable: return pending.set_disabled(model::Endpoint::Disabled::no);
    case RouteId::webhook_disable: return pending.set_disabled(model::Endpoint::Disabled::asked);
    case RouteId::webhook_replay: return pending.replay();
    default: return pending.answer(pending.deliveries());
  }
}

}  // namespace

WebhookRequestHandler::WebhookRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head)
    : RequestHandler(parts, std::move(admission), head.request_id), method_(head.method) {}

void WebhookRequestHandler::on_body(std::string body, http::Responder responder) {
  const model::TenantId tenant = admission().principal->tenant;
  auto lease = parts().in_flight.take(tenant, body.size());
  auto reply_lease = parts().replies.reads.take(tenant, kReplyBytes);
  if (!lease || !reply_lease) return responder.send(http::problem(overloaded(), request_id()));
  const auto pending = std::make_shared<PendingWebhookRequest>(parts(), admission(), request_id(), std::move(body), std::move(responder),
                                                               std::move(*lease), std::move(*reply_lease), permit());
  parts().pool.post(
      [pending, method = method_](std::size_t) {
        try {
          take(*pending, method);
        } catch (const store::StoreError& fault) {
          pending->answer(store_problem(fault, Code::unavailable));
        }
      },
      tenant);
}

}  // namespace runwarden::api
