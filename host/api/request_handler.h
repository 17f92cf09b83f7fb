// The state of one request between its head and its answer. Called on the worker that owns the connection.
#pragma once

#include <string>
#include <utility>

#include "api/admission.h"
#include "api/api.h"
#include "http/handler.h"
#include "http/responder.h"

namespace runwarden::api {

class RequestHandler : public http::RequestHandler {
 public:
  RequestHandler(ApiParts& parts, Admission admission, std::string request_id)
      : parts_(parts), admission_(std::move(admission)), request_id_(std::move(request_id)) {
    if (admission_.principal) permit_ = permit_of(parts_.keys, *admission_.principal);
  }

  const Admission& admission() const { return admission_; }

  // Ends the request if its key becomes invalid while the body arrives.
  std::optional<Error> recheck() override { return permit_ ? (*permit_)() : std::nullopt; }

  // A subclass overrides the function for its form of body: whole or lines.
  void on_body(std::string, http::Responder) override {}
  void on_lines(http::LineBatch, http::Responder) override {}

 protected:
  ApiParts& parts() { return parts_; }
  const std::string& request_id() const { return request_id_; }
  const Permit& permit() const { return permit_; }

  ingest::IngestRequest ingest_request() const {
    ingest::IngestRequest request;
    request.tenant = admission_.principal->tenant;
    request.tenant_name = admission_.principal->tenant_name;
    request.key_name = admission_.principal->key_name.empty() ? admission_.principal->key_id : admission_.principal->key_name;
    request.may_read = admission_.principal->may_read;
    request.max_json_depth = parts_.limits.max_json_depth;
    request.permit = permit_;
    return request;
  }

 private:
  ApiParts& parts_;
  Admission admission_;
  std::string request_id_;
  Permit permit_;  // null on open routes
};

}  // namespace runwarden::api
