#include "http/problem.h"

#include <algorithm>

#include "base/error_json.h"
#include "http/handler.h"

namespace runwarden::http {
namespace {

const char* title_of(Code code) {
  switch (code) {
    case Code::malformed_json: return "The body is not valid JSON";
    case Code::bad_request: return "The request cannot be understood";
    case Code::unauthorized: return "A valid API key is needed";
    case Code::forbidden: return "The request is not allowed";
    case Code::not_found: return "There is no such resource";
    case Code::method_not_allowed: return "The resource does not take this method";
    case Code::request_timeout: return "The request did not arrive in time";
    case Code::conflict: return "The request conflicts with what is stored";
    case Code::payload_too_large: return "The body is too large";
    case Code::unsupported_media_type: return "The media type or encoding is not supported";
    case Code::validation_failed: return "The document has the wrong shape";
    case Code::rate_limited: return "Too many requests";
    case Code::headers_too_large: return "The request header is too large";
    case Code::internal: return "Internal error";
    case Code::unavailable: return "The service cannot take the request now";
  }
  return "Internal error";
}

}  // namespace

std::string problem_json(const Error& error, std::string_view request_id) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("type").string(std::string("urn:runwarden:problem:") + code_name(error.code));
  out.key("title").string(title_of(error.code));
  write_error(out, error);
  out.key("requestId").string(request_id).end_object();
  return text;
}

Reply RequestHandler::refusal(const Error& error, const std::string& request_id) {
  return problem(error, request_id);
}

Reply problem(const Error& error, std::string_view request_id) {
  Reply reply;
  reply.status = http_status(error.code);
  reply.content_type = "application/problem+json";
  if (error.code == Code::unauthorized) reply.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (error.code == Code::rate_limited || error.code == Code::unavailable) {
    reply.headers.push_back({"Retry-After", std::to_string(std::max(error.retry_after_s, 1))});
  }
  reply.body = problem_json(error, request_id);
  return reply;
}

}  // namespace runwarden::http
