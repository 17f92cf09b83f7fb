#include "http/problem.h"

#include "base/json_text.h"

namespace runwarden::http {
namespace {

const char* title_of(Code code) {
  switch (code) {
    case Code::malformed_json: return "The body is not valid JSON";
    case Code::bad_request: return "The request cannot be understood";
    case Code::unauthorized: return "A valid API key is needed";
    case Code::forbidden: return "The API key lacks the needed scope";
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

void append_member(std::string& out, const char* name, std::string_view value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_string(out, value);
}

void append_faults(std::string& out, const std::vector<FieldFault>& faults) {
  out += ",\"errors\":[";
  bool first = true;
  for (const auto& fault : faults) {
    out += first ? "{\"pointer\":" : ",{\"pointer\":";
    first = false;
    append_json_string(out, fault.pointer);
    append_member(out, "code", fault.code);
    append_member(out, "detail", fault.detail);
    out += '}';
  }
  out += ']';
}

}  // namespace

std::string problem_json(const Error& error, std::string_view request_id) {
  const char* code = code_name(error.code);
  std::string out = "{\"type\":\"urn:runwarden:problem:";
  out += code;
  out += '"';
  append_member(out, "title", title_of(error.code));
  out += ",\"status\":" + std::to_string(http_status(error.code));
  append_member(out, "detail", error.detail);
  append_member(out, "code", code);
  append_member(out, "requestId", request_id);
  if (!error.faults.empty()) append_faults(out, error.faults);
  out += '}';
  return out;
}

Reply problem(const Error& error, std::string_view request_id, int retry_after_s) {
  Reply reply;
  reply.status = http_status(error.code);
  reply.content_type = "application/problem+json";
  if (error.code == Code::unauthorized) reply.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (error.code == Code::rate_limited || error.code == Code::unavailable) {
    reply.headers.push_back({"Retry-After", std::to_string(retry_after_s < 1 ? 1 : retry_after_s)});
  }
  reply.body = problem_json(error, request_id);
  return reply;
}

}  // namespace runwarden::http
