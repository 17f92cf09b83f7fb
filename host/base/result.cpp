#include "base/result.h"

namespace runwarden {

const char* code_name(Code code) {
  switch (code) {
    case Code::malformed_json: return "malformed_json";
    case Code::bad_request: return "bad_request";
    case Code::unauthorized: return "unauthorized";
    case Code::forbidden: return "forbidden";
    case Code::not_found: return "not_found";
    case Code::method_not_allowed: return "method_not_allowed";
    case Code::request_timeout: return "request_timeout";
    case Code::conflict: return "conflict";
    case Code::payload_too_large: return "payload_too_large";
    case Code::unsupported_media_type: return "unsupported_media_type";
    case Code::validation_failed: return "validation_failed";
    case Code::rate_limited: return "rate_limited";
    case Code::headers_too_large: return "headers_too_large";
    case Code::internal: return "internal";
    case Code::unavailable: return "unavailable";
  }
  return "internal";
}

int http_status(Code code) {
  switch (code) {
    case Code::malformed_json: return 400;
    case Code::bad_request: return 400;
    case Code::unauthorized: return 401;
    case Code::forbidden: return 403;
    case Code::not_found: return 404;
    case Code::method_not_allowed: return 405;
    case Code::request_timeout: return 408;
    case Code::conflict: return 409;
    case Code::payload_too_large: return 413;
    case Code::unsupported_media_type: return 415;
    case Code::validation_failed: return 422;
    case Code::rate_limited: return 429;
    case Code::headers_too_large: return 431;
    case Code::internal: return 500;
    case Code::unavailable: return 503;
  }
  return 500;
}

}  // namespace runwarden
