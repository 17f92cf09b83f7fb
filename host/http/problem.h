// Faults as application/problem+json (RFC 9457). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/server.h"

namespace runwarden::http {

// The body of a problem: type, title, status, detail, code, requestId, and errors where the error has faults.
std::string problem_json(const Error& error, std::string_view request_id);

// The whole answer, with WWW-Authenticate on 401 and Retry-After (1 s unless told) on 429 and 503.
Reply problem(const Error& error, std::string_view request_id, int retry_after_s = 1);

}  // namespace runwarden::http
