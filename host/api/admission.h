// Decides from a request's head whether to read its body. Checks route, method, key, scope, rate, media type, coding, Idempotency-Key and
// query, in that order.
// Pure, except for the key ring and the rate limiter; any thread.
#pragma once

#include <optional>
#include <string>

#include "api/router.h"
#include "auth/key_ring.h"
#include "auth/rate_limiter.h"
#include "auth/sessions.h"
#include "base/permit.h"
#include "base/result.h"
#include "http/request_head.h"
#include "model/record_key.h"

namespace runwarden::api {

enum class Media : std::uint8_t { none, json, ndjson, protobuf };

// Whether the route accepts OTLP requests.
bool is_otlp(RouteId route);

struct Admission {
  const Route* route = nullptr;
  std::vector<std::string> parameters;
  std::vector<std::pair<std::string, std::string>> query;
  std::optional<auth::Principal> principal;  // none on open routes
  std::optional<auth::Session> session;      // if a session cookie was sent instead of a key
  Media media = Media::none;
  std::optional<std::string> idempotency_key;
  std::string if_none_match;  // all fields of that name, joined by commas
  std::optional<Error> fault;  // refuses the request, unless its body is too large, which ranks before it
};

struct Refusal {
  Error error;
  std::vector<http::Header> headers;  // Allow with 405, Accept-Encoding with a refused content coding
};

// What admit() consults.
struct AdmissionServices {
  auth::KeyRing& keys;
  auth::RateLimiter& rates;
  const auth::Sessions* sessions;  // null: no page is served, and cookies are ignored
};

std::variant<Admission, Refusal> admit(const http::RequestHead& head, const AdmissionServices& services);

// A permit that lasts as long as the key is valid. A failure to read the keys does not withdraw it; store faults are reported elsewhere.
Permit permit_of(auth::KeyRing& keys, const auth::Principal& principal);

// The identity of an Idempotency-Key: per path, and per line of a batch (0: the whole body). The store keeps tenants apart.
model::Digest idempotency_identity(std::string_view path_pattern, std::string_view key, std::uint64_t line);

}  // namespace runwarden::api
