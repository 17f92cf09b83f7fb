// Answers requests under /v1/webhooks: creates, changes and removes endpoints, lists deliveries and sends them again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/request_handler.h"

namespace runwarden::api {

class WebhookRequestHandler final : public RequestHandler {
 public:
  WebhookRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head);

  void on_body(std::string body, http::Responder responder) override;

 private:
  std::string method_;
};

}  // namespace runwarden::api
