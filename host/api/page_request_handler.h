// Serves the web page's files from memory. Called on the worker that owns the connection.
#pragma once

#include <string>

#include "api/request_handler.h"

namespace runwarden::api {

class PageRequestHandler final : public RequestHandler {
 public:
  PageRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head);

  void on_body(std::string, http::Responder responder) override;

 private:
  http::Reply answer();

  std::string known_etags_;  // If-None-Match; empty if there is none
};

}  // namespace runwarden::api
