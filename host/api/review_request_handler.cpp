#include "api/review_request_handler.h"

#include <memory>
#include <utility>

#include "api/store_problem.h"
#include "api/window.h"
#include "http/problem.h"

namespace runwarden::api {
namespace {

// A request between its body and its answer.
struct PendingReview {
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

void refuse(PendingReview& pending, Error error) {
  pending.responder.send(http::problem(error, pending.request_id));
}

// Reads the answer on the pool, because this may be the writer's thread.
void answer(const std::shared_ptr<PendingReview>& pending, const std::optional<model::RecordKey>& replayed) {
  pending->parts.pool.post(
      [pending, replayed](std::size_t) {
        http::Reply reply;
        reply.status = pending->takes_back ? 204 : 200;
        try {
          if (!pending->takes_back) {
            const model::TenantId tenant = pending->admission.principal->tenant;
            auto json = pending->of_failure() ? pending->parts.reads.failure_json(tenant, pending->id(), replayed)
                                              : pending->parts.reads.run_head_json(tenant, pending->id(), replayed);
            if (!json.ok()) return refuse(*pending, std::move(json.error()));
            reply.body = std::move(*json);
          }
          reply.lease = std::move(pending->reply_lease);
          reply.lease.resize(reply.body.size());
          pending->responder.send(std::move(reply));
        } catch (const store::StoreError& fault) {
          refuse(*pending, store_problem(fault, Code::internal));
        }
      },
      pending->admission.principal->tenant);
}

// The detector in a DELETE's query; empty for all detectors.
Result<std::string> detector_of(const PendingReview& pending) {
  for (const auto& [name, value] : pending.admission.query) {
    if (!pending.takes_back || pending.of_failure() || name != "detector") {
      const char* const known =
          pending.takes_back && !pending.of_failure() ? "; the only query parameter here is detector" : "; it takes none";
      return Error{Code::bad_request, "the query of a review has no member \"" + name.substr(0, 80) + "\"" + known, {}, {}};
    }
    if (value.empty()) return empty_member(name);
    return value;
  }
  return std::string();
}

void take(const std::shared_ptr<PendingReview>& pending) {
  const auto detector = detector_of(*pending);
  if (!detector.ok()) return refuse(*pending, pending->parts.redaction.error(detector.error(), {}));
  const auto done = [pending](std::optional<Result<ingest::ReviewIngest::Stored>> stored) {
    if (!stored) return pending->responder.hang_up();
    stored->ok() ? answer(pending, (*stored)->replayed) : refuse(*pending, std::move(stored->error()));
  };
  ingest::ReviewIngest& reviews = pending->parts.ingest.reviews;
  if (pending->takes_back) {
    return pending->of_failure() ? reviews.take_back_failure(std::move(pending->request), pending->id(), done)
                                 : reviews.take_back_run(std::move(pending->request), pending->id(), *detector, done);
  }
  pending->of_failure() ? reviews.review_failure(std::move(pending->request), pending->id(), done)
                        : reviews.review_run(std::move(pending->request), pending->id(), done);
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
  const auto pending = std::make_shared<PendingReview>(PendingReview{
      parts(), admission(), request_id(), std::move(responder), std::move(*lease), std::move(*reply_lease), ingest_request(), takes_back_});
  pending->request.body = std::move(body);
  if (admission().idempotency_key) {
    const std::string path = std::string(admission().route->pattern) + "\n" + pending->id();
    pending->request.idempotency = idempotency_identity(path, *admission().idempotency_key, 0);
  }
  parts().pool.post(
      [pending](std::size_t) {
        try {
          take(pending);
        } catch (const store::StoreError& fault) {
          refuse(*pending, store_problem(fault, Code::unavailable));  // nothing was written yet
        }
      },
      tenant);
}

}  // namespace runwarden::api
