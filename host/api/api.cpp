#include "api/api.h"

#include <utility>

#include "api/admission.h"
#include "api/ndjson_ingest.h"
#include "api/otlp.h"
#include "api/page_request_handler.h"
#include "api/request_handler.h"
#include "api/review_request_handler.h"
#include "api/session_request_handler.h"
#include "api/store_problem.h"
#include "api/webhook_request_handler.h"
#include "base/json_text.h"
#include "base/path_segment.h"
#include "http/problem.h"
#include "ingest/analyze.h"
#include "ingest/explain.h"
#include "ingest/faults.h"

namespace runwarden::api {
namespace {

using http::Reply;
using http::Responder;

Reply json_reply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

// The parts of the query that an answer to a read may quote.
std::string query_text(const Admission& admission) {
  std::string text;
  for (const auto& [name, value] : admission.query) text.append(name).append("=").append(value).append("\n");
  return text;
}

int status_of(ingest::IngestAnswer::Kind kind) {
  switch (kind) {
    case ingest::IngestAnswer::Kind::created: return 201;
    case ingest::IngestAnswer::Kind::buffered: return 202;
    default: return 200;
  }
}

// `lease` was reserved for an answer of the usual size.
Reply ingest_reply(const ApiParts& parts, ingest::IngestAnswer answer, const std::string& request_id, FairBudget::Lease lease) {
  if (answer.kind == ingest::IngestAnswer::Kind::refused) {
    return http::problem(parts.redaction.error(std::move(answer.error), {}), request_id);
  }
  Reply reply = json_reply(status_of(answer.kind), with_warnings(std::move(answer.body), answer.warnings));
  reply.lease = answer.lease ? std::move(answer.lease) : std::move(lease);
  reply.lease.resize(reply.body.size());
  if (!answer.run_id.empty()) reply.headers.push_back({"Location", "/v1/runs/" + path_segment(answer.run_id)});
  return reply;
}

// OpenTelemetry exporters expect errors in the encoding of their request, also where they were given a wrong path.
Reply refusal_reply(const http::RequestHead& head, const Error& error) {
  const std::string* const type = head.header("content-type");
  const Media media = is_otlp_path(head.path) && type != nullptr ? otlp_media(*type) : Media::none;
  return media == Media::none ? http::problem(error, head.request_id) : otlp_problem(media, error);
}

// OPTIONS *: the methods of the server as a whole (RFC 9110, section 9.3.7). Clients use it as a ping.
Reply server_options() {
  Reply reply;
  reply.status = 204;
  reply.headers.push_back({"Allow", "GET, HEAD, POST, DELETE, OPTIONS"});
  return reply;
}

Error overloaded() {
  return {Code::unavailable, "too many requests are in flight; nothing was stored, retry in a moment", {}, {}};
}

// Answers from memory on the worker itself, so a slow plugin or disk does not delay these requests. Readiness may depend on a canary run,
// but does not block the worker.
class OpenRequestHandler final : public RequestHandler {
 public:
  using RequestHandler::RequestHandler;

  void on_body(std::string, Responder responder) override {
    switch (admission().route->id) {
      case RouteId::healthz: return responder.send(json_reply(200, R"({"status":"ok"})"));
      case RouteId::metrics: return responder.send(metrics());
      default: {
        const auto shared = std::make_shared<Responder>(std::move(responder));
        return parts().readiness.check([shared, id = request_id()](const Readiness& now) { shared->send(readyz(now, id)); });
      }
    }
  }

 private:
  Reply metrics() {
    auto lease = parts().replies.open.take(0, kReadReplyBytes);
    if (!lease) return http::problem(overloaded(), request_id());
    Reply reply = json_reply(200, parts().metrics.page(parts().gauges()));
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.lease = std::move(*lease);
    reply.lease.resize(reply.body.size());
    return reply;
  }

  static Reply readyz(const Readiness& readiness, const std::string& request_id) {
    std::string body;
    JsonWriter out(body);
    out.begin_object();
    if (!readiness.reasons.empty()) {
      std::string detail;
      for (const std::string& reason : readiness.reasons) detail += (detail.empty() ? "" : "; ") + reason;
      out.key("type").string("urn:runwarden:problem:unavailable").key("title").string("Not ready").key("status").integer(503);
      out.key("detail").string(detail).key("code").string("unavailable").key("requestId").string(request_id);
    }
    const bool ready = readiness.reasons.empty();
    if (ready) out.key("status").string("ready");
    out.key("reasons")
        .strings(readiness.reasons)
        .key("quarantined")
        .strings(readiness.quarantined)
        .key("notLoaded")
        .strings(readiness.not_loaded)
        .key("warnings")
        .begin_array();
    for (const ops::OperatorWarning& warning : readiness.warnings) {
      out.begin_object().key("name").string(warning.name).key("detail").string(warning.detail).end_object();
    }
    out.end_array().end_object();
    Reply reply = json_reply(ready ? 200 : 503, std::move(body));
    if (!ready) {
      reply.content_type = "application/problem+json";
      reply.headers.push_back({"Retry-After", std::to_string(readiness.retry_after_s)});
    }
    return reply;
  }
};

// An ingest request between its body and its answer.
struct PendingIngest {
  Responder responder;
  FairBudget::Lease lease;
  FairBudget::Lease reply_lease;
  ingest::IngestRequest request;
};

// POST /v1/ingest/*, except batches: one task on the pool, answered after the commit.
class IngestRequestHandler final : public RequestHandler {
 public:
  using RequestHandler::RequestHandler;

  void on_body(std::string body, Responder responder) override {
    auto lease = parts().in_flight.take(admission().principal->tenant, body.size());
    auto reply_lease = parts().replies.ingest.take(admission().principal->tenant, kIngestReplyBytes);
    if (!lease || !reply_lease) return responder.send(http::problem(overloaded(), request_id()));
    ingest::IngestRequest request = ingest_request();
    request.body = std::move(body);
    if (admission().idempotency_key) {
      request.idempotency = idempotency_identity(admission().route->pattern, *admission().idempotency_key, 0);
    }
    auto pending = std::make_shared<PendingIngest>(
        PendingIngest{std::move(responder), std::move(*lease), std::move(*reply_lease), std::move(request)});
    const auto take = [&parts = parts(), route = admission().route->id, pending, id = request_id()](std::size_t worker) {
      auto done = [&parts, pending, id](ingest::IngestAnswer answer) {
        if (answer.kind == ingest::IngestAnswer::Kind::in_doubt) return pending->responder.hang_up();
        pending->responder.send(ingest_reply(parts, std::move(answer), id, std::move(pending->reply_lease)));
      };
      try {
        switch (route) {
          case RouteId::ingest_events: return parts.ingest.events.take(worker, std::move(pending->request), done);
          case RouteId::ingest_changes: return parts.ingest.changes.take_change(std::move(pending->request), done);
          case RouteId::ingest_policies: return parts.ingest.changes.take_policy(std::move(pending->request), done);
          default: return parts.ingest.runs.take(worker, std::move(pending->request), done);
        }
      } catch (const store::StoreError& fault) {
        pending->responder.send(http::problem(store_problem(fault, Code::unavailable), id));  // nothing was written yet
      }
    };
    parts().pool.post(take, admission().principal->tenant);
  }
};

// POST /v1/ingest/otlp/*: one task on the pool, answered after the commit in the encoding of the request.
class OtlpRequestHandler final : public RequestHandler {
 public:
  using RequestHandler::RequestHandler;

  http::Reply refusal(const Error& error, const std::string&) override {
    return otlp_problem(admission().media, parts().redaction.error(error, {}));
  }

  void on_body(std::string body, Responder responder) override {
    if (admission().route->id == RouteId::otlp_unused) return responder.send(otlp_reply(admission().media, {}));
    auto lease = parts().in_flight.take(admission().principal->tenant, body.size());
    auto reply_lease = parts().replies.ingest.take(admission().principal->tenant, kIngestReplyBytes);
    if (!lease || !reply_lease) return responder.send(otlp_problem(admission().media, overloaded()));
    auto pending =
        std::make_shared<PendingIngest>(PendingIngest{std::move(responder), std::move(*lease), std::move(*reply_lease), ingest_request()});
    pending->request.body = std::move(body);
    const auto take = [&parts = parts(), pending, media = admission().media](std::size_t) {
      const auto done = [&parts, pending, media](ingest::TraceAnswer answer) {
        if (answer.in_doubt) return pending->responder.hang_up();
        if (answer.error) return pending->responder.send(otlp_problem(media, parts.redaction.error(std::move(*answer.error), {})));
        parts.metrics.spans(answer.accepted, answer.rejected);
        Reply reply = otlp_reply(media, answer);
        reply.lease = std::move(pending->reply_lease);
        reply.lease.resize(reply.body.size());
        pending->responder.send(std::move(reply));
      };
      const auto encoding = media == Media::protobuf ? intake::otlp::Encoding::protobuf : intake::otlp::Encoding::json;
      try {
        parts.ingest.traces.take(std::move(pending->request), encoding, done);
      } catch (const store::StoreError& fault) {
        pending->responder.send(otlp_problem(media, store_problem(fault, Code::unavailable)));  // nothing was written yet
      }
    };
    parts().pool.post(take, admission().principal->tenant);
  }
};

// POST /v1/clusters/{clusterId}/triage: one task on the pool, answered after the commit with the group's new state.
class TriageRequestHandler final : public RequestHandler {
 public:
  using RequestHandler::RequestHandler;

  void on_body(std::string body, Responder responder) override {
    auto lease = parts().in_flight.take(admission().principal->tenant, body.size());
    auto reply_lease = parts().replies.reads.take(admission().principal->tenant, kReadReplyBytes);
    if (!lease || !reply_lease) return responder.send(http::problem(overloaded(), request_id()));
    auto pending = std::make_shared<PendingTriage>(PendingTriage{parts(), request_id(), std::move(responder), std::move(*lease),
                                                                 std::move(*reply_lease), ingest_request(), admission().parameters.at(0)});
    pending->request.body = std::move(body);
    if (admission().idempotency_key) {
      const std::string path = std::string(admission().route->pattern) + "\n" + pending->cluster_id;
      pending->request.idempotency = idempotency_identity(path, *admission().idempotency_key, 0);
    }
    const model::TenantId tenant = pending->request.tenant;
    parts().pool.post(
        [pending, tenant](std::size_t) {
          try {
            pending->parts.ingest.triage.take(std::move(pending->request), pending->cluster_id,
                                              [pending, tenant](std::optional<Result<Triaged>> triaged) {
                                                if (!triaged) return pending->responder.hang_up();
                                                send_reply(pending, tenant, std::move(*triaged));
                                              });
          } catch (const store::StoreError& fault) {
            pending->responder.send(
                http::problem(store_problem(fault, Code::unavailable), pending->request_id));  // nothing was written yet
          }
        },
        tenant);
  }

 private:
  using Triaged = ingest::TriageIngest::Triaged;
  struct PendingTriage {
    ApiParts& parts;
    std::string request_id;
    Responder responder;
    FairBudget::Lease lease;
    FairBudget::Lease reply_lease;
    ingest::IngestRequest request;
    std::string cluster_id;
  };

  static void send_reply(const std::shared_ptr<PendingTriage>& pending, model::TenantId tenant, Result<Triaged> triaged) {
    if (!triaged.ok()) return pending->responder.send(http::problem(triaged.error(), pending->request_id));
    // The group's counts are read on the pool, because this may be the writer's thread.
    pending->parts.pool.post(
        [pending, tenant, found = std::move(*triaged)](std::size_t) {
          try {
            Reply reply = json_reply(200, pending->parts.reads.clusters().cluster_json(tenant, found.cluster, found.replayed));
            reply.lease = std::move(pending->reply_lease);
            reply.lease.resize(reply.body.size());
            pending->responder.send(std::move(reply));
          } catch (const store::StoreError& fault) {
            pending->responder.send(http::problem(store_problem(fault, Code::internal), pending->request_id));
          }
        },
        tenant);
  }
};

// POST /v1/ingest/runs with one run per line.
class IngestLinesHandler final : public RequestHandler {
 public:
  IngestLinesHandler(ApiParts& parts, Admission admission, std::string request_id)
      : RequestHandler(parts, std::move(admission), std::move(request_id)),
        ndjson_(std::make_shared<NdjsonIngest>(parts, this->admission(), this->request_id(), permit())) {}

  void on_lines(http::LineBatch lines, Responder responder) override { ndjson_->take(std::move(lines), std::move(responder)); }

 private:
  std::shared_ptr<NdjsonIngest> ndjson_;
};

// Reads and analyses: one task on the pool, answered from there.
class PoolRequestHandler final : public RequestHandler {
 public:
  using RequestHandler::RequestHandler;

  void on_body(std::string body, Responder responder) override {
    auto lease = parts().in_flight.take(admission().principal->tenant, body.size());
    if (!lease) return responder.send(http::problem(overloaded(), request_id()));
    auto pending = std::make_shared<PendingRequest>(
        PendingRequest{parts(), admission(), request_id(), std::move(body), std::move(responder), std::move(*lease)});
    const auto answer = [pending](std::size_t worker) {
      if (pending->admission.route->id == RouteId::analyze) return analyze(pending, worker);
      try {
        if (pending->admission.route->id == RouteId::explanation) return explain(pending, worker);
        send_reply(*pending, pending->parts.reads.answer(pending->admission));
      } catch (const store::StoreError& fault) {
        send_reply(*pending, store_problem(fault, Code::internal));
      }
    };
    parts().pool.post(answer, flow_of(pending->admission));
  }

 private:
  // A guardrail draft takes up to two seconds. With a flow of their own, a tenant's drafts take turns with its other requests.
  static std::uint64_t flow_of(const Admission& admission) {
    constexpr std::uint64_t kDrafts = std::uint64_t{1} << 32;
    const RouteId route = admission.route->id;
    const bool draft = route == RouteId::failure_guardrail || route == RouteId::cluster_guardrail;
    return admission.principal->tenant | (draft ? kDrafts : 0);
  }

  struct PendingRequest {
    ApiParts& parts;
    Admission admission;
    std::string request_id;
    std::string body;
    Responder responder;
    FairBudget::Lease lease;
  };

  static void send_reply(PendingRequest& pending, Result<Reads::ReadReply> answer) {
    if (answer.ok()) {
      Reply reply = json_reply(answer->not_modified ? 304 : 200, std::move(answer->json));
      if (!answer->tag.empty()) {
        reply.headers.push_back({"ETag", answer->tag});
        reply.headers.push_back({"Cache-Control", "private, no-cache"});
        reply.headers.push_back({"Vary", "Authorization, Cookie"});
      }
      reply.content_type = std::move(answer->content_type);
      reply.lease = std::move(answer->lease);
      return pending.responder.send(std::move(reply));
    }
    const Error error = pending.parts.redaction.error(std::move(answer.error()), query_text(pending.admission));
    pending.responder.send(http::problem(error, pending.request_id));
  }

  static void analyze(const std::shared_ptr<PendingRequest>& pending, std::size_t worker) {
    ApiParts& parts = pending->parts;
    auto lease = parts.replies.reads.take(pending->admission.principal->tenant, kReadReplyBytes);
    if (!lease) return send_reply(*pending, ingest::no_room_for_reply(kReadReplyBytes));
    const auto held = std::make_shared<FairBudget::Lease>(std::move(*lease));
    const auto done = [pending, held](Result<ingest::Analysis> analysis) {
      if (!analysis.ok()) return send_reply(*pending, std::move(analysis.error()));
      pending->parts.metrics.verdict(analysis->verdict);
      held->resize(analysis->json.size());
      send_reply(*pending, Reads::ReadReply{std::move(analysis->json), std::move(*held)});
    };
    const ingest::AnalysisRequest request{
        pending->body, {.max_json_depth = parts.limits.max_json_depth}, pending->admission.principal->tenant_name, parts.redaction};
    ingest::analyze(request, *parts.detectors(), worker, parts.pool, done);
  }

  static void explain(const std::shared_ptr<PendingRequest>& pending, std::size_t worker) {
    ApiParts& parts = pending->parts;
    const auth::Principal& principal = *pending->admission.principal;
    auto lease = parts.replies.reads.take(principal.tenant, kReadReplyBytes);
    if (!lease) return send_reply(*pending, ingest::no_room_for_reply(kReadReplyBytes));
    auto run = parts.reads.run_to_explain(pending->admission, *lease);
    if (!run.ok()) return send_reply(*pending, std::move(run.error()));
    const auto held = std::make_shared<FairBudget::Lease>(std::move(*lease));
    const auto done = [pending, held](Result<std::string> text) {
      if (!text.ok()) return send_reply(*pending, std::move(text.error()));
      if (!held->try_resize(text->size())) return send_reply(*pending, ingest::no_room_for_reply(text->size()));
      send_reply(*pending, Reads::ReadReply{std::move(*text), std::move(*held)});
    };
    ingest::explain({std::move(*run), principal.tenant_name, parts.redaction}, *parts.detectors(), worker, parts.pool, done);
  }
};

std::unique_ptr<http::RequestHandler> request_handler_for(ApiParts& parts, Admission admission, const http::RequestHead& head) {
  const std::string& request_id = head.request_id;
  switch (admission.route->id) {
    case RouteId::ingest_runs:
      if (admission.media == Media::ndjson) return std::make_unique<IngestLinesHandler>(parts, std::move(admission), request_id);
      return std::make_unique<IngestRequestHandler>(parts, std::move(admission), request_id);
    case RouteId::otlp_traces:
    case RouteId::otlp_unused: return std::make_unique<OtlpRequestHandler>(parts, std::move(admission), request_id);
    case RouteId::ingest_events:
    case RouteId::ingest_changes:
    case RouteId::ingest_policies: return std::make_unique<IngestRequestHandler>(parts, std::move(admission), request_id);
    case RouteId::triage: return std::make_unique<TriageRequestHandler>(parts, std::move(admission), request_id);
    case RouteId::failure_review:
    case RouteId::run_review: return std::make_unique<ReviewRequestHandler>(parts, std::move(admission), head);
    case RouteId::healthz:
    case RouteId::readyz:
    case RouteId::metrics: return std::make_unique<OpenRequestHandler>(parts, std::move(admission), request_id);
    case RouteId::session: return std::make_unique<SessionRequestHandler>(parts, std::move(admission), head);
    case RouteId::webhooks:
    case RouteId::webhook:
    case RouteId::webhook_rotate:
    case RouteId::webhook_test:
    case RouteId::webhook_enable:
    case RouteId::webhook_disable:
    case RouteId::webhook_deliveries:
    case RouteId::webhook_replay: return std::make_unique<WebhookRequestHandler>(parts, std::move(admission), head);
    case RouteId::page_root:
    case RouteId::page_file:
    case RouteId::page: return std::make_unique<PageRequestHandler>(parts, std::move(admission), head);
    default: return std::make_unique<PoolRequestHandler>(parts, std::move(admission), request_id);
  }
}

}  // namespace

bool Api::here(const Route& route) const {
  if (serves_ == Serves::all) return true;
  return (route.access == Access::open) == (serves_ == Serves::open);
}

// Keys are in the store, which may fail.
std::variant<Admission, Refusal> Api::admit_or_refuse(const http::RequestHead& head) {
  try {
    return admit(head, {parts_.keys, parts_.rates, parts_.page == nullptr ? nullptr : parts_.page->sessions.get()});
  } catch (const store::StoreError& fault) {
    return Refusal{store_problem(fault, Code::unavailable), {}};
  }
}

std::variant<Reply, http::Accepted> Api::on_head(const http::RequestHead& head) {
  if (head.path == "*") return server_options();
  auto admitted = admit_or_refuse(head);
  if (auto* refusal = std::get_if<Refusal>(&admitted)) {
    const Error error = parts_.redaction.error(std::move(refusal->error), head.query);
    Reply reply = refusal_reply(head, error);
    for (http::Header& header : refusal->headers) reply.headers.push_back(std::move(header));
    return reply;
  }
  auto& admission = std::get<Admission>(admitted);
  if (!here(*admission.route)) {
    return http::problem({Code::not_found, "this path is served at the other address (server.address, server.ops_address)", {}, {}},
                         head.request_id);
  }
  http::Accepted accepted;
  const RouteId route = admission.route->id;
  const bool otlp = is_otlp(route);
  // The body of a GET is read and ignored: RFC 9110, section 9.3.1, gives it no meaning.
  accepted.max_body_bytes = otlp ? parts_.limits.otlp_max_body_bytes : parts_.limits.max_body_bytes;
  accepted.limit_name = otlp ? "limits.otlp_max_body_bytes" : "limits.max_body_bytes";
  if (otlp) accepted.when_too_large = "lower the exporter's batch size";
  if (route == RouteId::ingest_runs) accepted.when_too_large = "send less in one request (a long run can be streamed as events)";
  if (admission.media == Media::ndjson) {
    accepted.form = http::BodyForm::lines;
    accepted.max_batch_bytes = parts_.limits.max_batch_bytes;
    accepted.limit_name = "limits.max_batch_bytes";
    accepted.when_too_large = "send fewer lines in one request";
    accepted.max_lines = parts_.limits.max_batch_runs;
  }
  if (route == RouteId::session) {
    accepted.max_body_bytes = kMaxLoginBytes;
    accepted.limit_name = {};
  }
  if (admission.fault) accepted.refusal = refusal_reply(head, parts_.redaction.error(std::move(*admission.fault), head.query));
  accepted.request_handler = request_handler_for(parts_, std::move(admission), head);
  return accepted;
}

void Api::on_answered(const http::AccessRecord& record) {
  const auto* request_handler = static_cast<const RequestHandler*>(record.request_handler);
  const Admission* admission = request_handler == nullptr ? nullptr : &request_handler->admission();
  const std::string_view route = admission == nullptr ? "refused" : admission->route->pattern;
  const std::string_view tenant =
      admission == nullptr || !admission->principal ? std::string_view() : std::string_view(admission->principal->tenant_name);
  parts_.metrics.request(route, record.status, static_cast<double>(record.elapsed_us) / 1e6, record.request_bytes, record.answer_bytes);
  const std::string_view method = record.head == nullptr ? std::string_view() : std::string_view(record.head->method).substr(0, 32);
  const std::string_view path = record.head == nullptr ? std::string_view() : std::string_view(record.head->path).substr(0, 512);
  parts_.log.write(LogLevel::info, "request",
                   {{"requestId", std::string_view(record.request_id)},
                    {"tenant", tenant},
                    {"method", method},
                    {"path", path},
                    {"route", route},
                    {"status", std::int64_t{record.status}},
                    {"bytes", static_cast<std::int64_t>(record.request_bytes)},
                    {"answerBytes", static_cast<std::int64_t>(record.answer_bytes)},
                    {"micros", record.elapsed_us},
                    {"client", std::string_view(record.client)},
                    {"delivered", record.delivered}});
}

}  // namespace runwarden::api
