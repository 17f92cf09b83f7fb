// Answers /v1/session: begins, describes and ends a browser's session. Called on the worker that owns the connection.
#pragma once

#include <cstdint>
#include <string>

#include "api/request_handler.h"

namespace runwarden::api {

constexpr std::uint64_t kMaxLoginBytes = 4096;

class SessionRequestHandler final : public RequestHandler {
 public:
  SessionRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head);

  void on_body(std::string body, http::Responder responder) override;

 private:
  http::Reply log_in(const std::string& body);
  Result<auth::Principal> owner_of(const std::string& body);
  void log_out(http::Responder responder);
  http::Reply session_reply(const auth::Principal& principal, const auth::Session& session) const;
  http::Header cookie(const std::string& value, std::int64_t max_age_s) const;

  std::string method_;
  std::string client_;
  bool https_;
};

}  // namespace runwarden::api
