// Formats errors as application/problem+json (RFC 9457). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/reply.h"

namespace runwarden::http {

// The body: type, title, status, detail, code, requestId and, if the error has faults, errors.
std::string problem_json(const Error& error, std::string_view request_id);

// The complete answer, with WWW-Authenticate on 401 and Retry-After on 429 and 503.
Reply problem(const Error& error, std::string_view request_id);

}  // namespace runwarden::http
