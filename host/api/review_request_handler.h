// POST and DELETE of /v1/failures/{failureId}/review and /v1/runs/{runId}/review: one task on the pool, answered after the commit with the
// new state of the failure or run. Called on the worker that owns the connection.
#pragma once

#include <string>

#include "api/request_handler.h"

namespace runwarden::api {

class ReviewRequestHandler final : public RequestHandler {
 public:
  ReviewRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head);

  void on_body(std::string body, http::Responder responder) override;

 private:
  bool takes_back_;
};

}  // namespace runwarden::api
