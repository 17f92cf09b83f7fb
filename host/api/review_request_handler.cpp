#include "api/review_request_handler.h"

#include <memory>
#include <utility>

#include "api/window.h"
#include "http/problem.h"

namespace runwarden::api {
namespace {

// A request between its body and its answer.
struct Asked {
  ApiParts& parts;
  Admission admission;
  std::string request_id;
  http::Responder responder;
  FairBudget::Lease lease;
  FairBudget::Lease reply_lease;
  ingest::IngestRequest request;
  bool takes_back = false;

  const std::string& id() const { return admission.parameters.at(0); }
  bool of_failure() const { return admission.route->id == RouteId::failure_review; }
};

void refuse(Asked& asked, Error error) {
  asked.responder.send(http::problem(error, asked.request_id));
}

// Reads the answer on the pool, because this may be the writer's thread.
void answer(const std::shared_ptr<Asked>& asked) {
  asked->parts.pool.post(
      [asked](std::size_t) {
        http::Reply reply;
        reply.status = asked->takes_back ? 204 : 200;
        try {
          if (!asked->takes_back) {
            const model::TenantId tenant = asked->admission.principal->tenant;
            auto json = asked->of_failure() ? asked->parts.reads.failure_json(tenant, asked->id())
                                            : asked->parts.reads.run_head_json(tenant, asked->id());
            if (!json.ok()) return refuse(*asked, std::move(json.error()));
            reply.body = std::move(*json);
          }
          reply.lease = std::move(asked->reply_lease);
          reply.lease.resize(reply.body.size());
          asked->responder.send(std::move(reply));
        } catch (const store::StoreError& fault) {
          refuse(*asked, {Code::internal, fault.what(), {}, {}});
        }
      },
      asked->admission.principal->tenant);
}

// The detector in a DELETE's query; empty for all detectors.
Result<std::string> detector_of(const Asked& asked) {
  for (const auto& [name, value] : asked.admission.query) {
    if (!asked.takes_back || asked.of_failure() || name != "detector") {
      const char* const known = asked.takes_back && !asked.of_failure() ? "; the only query parameter here is detector" : "; it takes none";
      return Error{Code::bad_request, "the query of a review has no member \"" + name.substr(0, 80) + "\"" + known, {}, {}};
    }
    if (value.empty()) return empty_member(name);
    return value;
  }
  return std::string();
}

void take(const std::shared_ptr<Asked>& asked) {
  const auto detector = detector_of(*asked);
  if (!detector.ok()) return refuse(*asked, asked->parts.redaction.error(detector.error(), {}));
  const auto done = [asked](std::optional<Status> stored) {
    if (!stored) return asked->responder.hang_up();
    stored->ok() ? answer(asked) : refuse(*asked, std::move(stored->error()));
  };
  ingest::ReviewIngest& reviews = asked->parts.ingest.reviews;
  if (asked->takes_back) {
    return asked->of_failure() ? reviews.take_back_failure(std::move(asked->request), asked->id(), done)
                               : reviews.take_back_run(std::move(asked->request), asked->id(), *detector, done);
  }
  asked->of_failure() ? reviews.review_failure(std::move(asked->request), asked->id(), done)
                      : reviews.review_run(std::move(asked->request), asked->id(), done);
}

}  // namespace

ReviewRequestHandler::ReviewRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head)
    : RequestHandler(parts, std::move(admission), head.request_id), takes_back_(head.method == "DELETE") {}

void ReviewRequestHandler::on_body(std::string body, http::Responder responder) {
  const model::TenantId tenant = admission().principal->tenant;
  auto lease = parts().in_flight.take(tenant, body.size());
  auto reply_lease = parts().replies.reads.take(tenant, kReadReplyBytes);
  if (!lease || !reply_lease) {
    const Error overloaded{Code::unavailable, "too many requests are in flight; nothing was stored, retry in a moment", {}, {}};
    return responder.send(http::problem(overloaded, request_id()));
  }
  const auto asked = std::make_shared<Asked>(Asked{parts(), admission(), request_id(), std::move(responder), std::move(*lease),
                                                   std::move(*reply_lease), ingest_request(), takes_back_});
  asked->request.body = std::move(body);
  if (admission().idempotency_key) {
    const std::string path = std::string(admission().route->pattern) + "\n" + asked->id();
    asked->request.idempotency = idempotency_identity(path, *admission().idempotency_key, 0);
  }
  parts().pool.post(
      [asked](std::size_t) {
        try {
          take(asked);
        } catch (const store::StoreError& fault) {
          refuse(*asked, {Code::unavailable, fault.what(), {}, {}});  // nothing was written yet
        }
      },
      tenant);
}

}  // namespace runwarden::api
