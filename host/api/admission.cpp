#include "api/admission.h"

#include <algorithm>

#include "api/otlp.h"
#include "base/ascii.h"
#include "base/digest.h"

namespace runwarden::api {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> values_of(const http::RequestHead& head, std::string_view name) {
  std::vector<std::string> values;
  for (const http::Header& header : head.headers) {
    if (header.name == name) values.push_back(header.value);
  }
  return values;
}

// The scope that the key needs; empty if no key is required.
std::optional<auth::Scope> scope_of(Access access) {
  switch (access) {
    case Access::ingest: return auth::Scope::ingest;
    case Access::read: return auth::Scope::read;
    case Access::manage: return auth::Scope::manage;
    case Access::open:
    case Access::page:
    case Access::session: break;
  }
  return std::nullopt;
}

Refusal refuse(Code code, std::string detail) {
  return {Error{code, std::move(detail), {}, {}}, {}};
}

std::string several(std::string_view name) {
  return "there are several " + std::string(name) + " fields; send one: ";
}

// Requests that need no body often come without a media type, too.
bool body_is_needed(RouteId route) {
  return route != RouteId::webhook_rotate && route != RouteId::webhook_test && route != RouteId::webhook_enable &&
         route != RouteId::webhook_disable;
}

std::optional<Refusal> check_media(const http::RequestHead& head, Admission& admission) {
  const auto values = values_of(head, "content-type");
  const std::string type =
      values.size() == 1 ? ascii::to_lower(trimmed(std::string_view(values[0]).substr(0, values[0].find(';')))) : std::string();
  const bool lines_allowed = admission.route->id == RouteId::ingest_runs;
  const bool otlp = is_otlp(admission.route->id);
  if (type == "application/json" || (values.empty() && !body_is_needed(admission.route->id))) {
    admission.media = Media::json;
  } else if (type == "application/x-protobuf" && otlp) {
    admission.media = Media::protobuf;
  } else if (type == "application/x-ndjson" && lines_allowed) {
    admission.media = Media::ndjson;
  } else {
    std::string wanted = lines_allowed ? "application/json or application/x-ndjson"
                         : otlp        ? "application/x-protobuf or application/json"
                                       : "application/json";
    if (values.size() > 1) return refuse(Code::unsupported_media_type, several("Content-Type") + wanted);
    const std::string got = values.empty() ? "there is no Content-Type" : "the Content-Type is \"" + values[0].substr(0, 80) + "\"";
    return refuse(Code::unsupported_media_type, got + "; send " + wanted);
  }
  const auto codings = values_of(head, "content-encoding");
  const std::string wanted = otlp ? "gzip, deflate, or none" : "gzip, or none";
  if (codings.size() > 1) return refuse(Code::unsupported_media_type, several("Content-Encoding") + wanted);
  const std::string coding = codings.empty() ? "identity" : ascii::to_lower(trimmed(codings[0]));
  if (coding == "identity" || coding == "gzip" || coding == "x-gzip" || (coding == "deflate" && otlp)) return std::nullopt;
  Refusal refusal = refuse(Code::unsupported_media_type, "unknown Content-Encoding \"" + coding.substr(0, 80) + "\"; send " + wanted);
  refusal.headers.push_back({"Accept-Encoding", otlp ? "gzip, deflate, identity" : "gzip, identity"});  // RFC 9110, section 15.5.16
  return refusal;
}

std::optional<Error> check_idempotency(const http::RequestHead& head, Admission& admission) {
  // Spans have ids, so repeating an OTLP request is safe without an Idempotency-Key.
  const bool taken = admission.route->access == Access::ingest || admission.route->access == Access::manage;
  if (!taken || admission.route->method != "POST" || is_otlp(admission.route->id)) return std::nullopt;
  auto values = values_of(head, "idempotency-key");
  if (values.empty()) return std::nullopt;
  const std::string& key = values[0];
  const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (values.size() > 1 || key.empty() || key.size() > 255 || !visible) {
    return Error{Code::bad_request, "Idempotency-Key must be one field of 1 to 255 visible ASCII characters", {}, {}};
  }
  admission.idempotency_key = key;
  return std::nullopt;
}

std::optional<Error> check_query(const http::RequestHead& head, Admission& admission) {
  if (admission.route->access == Access::page) return std::nullopt;  // the page reads its own address
  auto query = parse_query(head.query);
  if (!query.ok()) return std::move(query.error());
  admission.query = std::move(*query);
  if (takes_query(*admission.route) || admission.query.empty()) return std::nullopt;
  return Error{
      Code::bad_request, "the query has no member \"" + admission.query[0].first.substr(0, 80) + "\"; this request takes none", {}, {}};
}

constexpr std::string_view kCookie = "rw_session";

// The session cookies of the request. Another service on the same host may have set one with the same name.
std::vector<std::string_view> session_cookies(const http::RequestHead& head) {
  std::vector<std::string_view> values;
  for (const http::Header& field : head.headers) {
    if (field.name != "cookie") continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const auto end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == kCookie) values.push_back(pair.substr(equals + 1));
    }
  }
  return values;
}

// The first session that was sealed here and is still valid.
std::optional<auth::Session> session_of(const http::RequestHead& head, const auth::Sessions& sessions) {
  for (const std::string_view cookie : session_cookies(head)) {
    if (auto session = sessions.find(cookie)) return session;
  }
  return std::nullopt;
}

Error no_session() {
  return {Code::unauthorized, "no session, or it has expired; log in: POST /v1/session", {}, {}};
}

bool changes_nothing(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

// Another site can make a browser send the cookie, but cannot read the answer that contains the token.
std::optional<Error> check_csrf(const http::RequestHead& head, const auth::Session& session) {
  const auto sent = values_of(head, "x-csrf-token");
  if (changes_nothing(head.method) || (sent.size() == 1 && sent[0] == session.csrf)) return std::nullopt;
  return Error{
      Code::forbidden, "by session, " + head.method.substr(0, 32) + " needs X-CSRF-Token with the csrf of GET /v1/session", {}, {}};
}

// By key or, if none is sent, by session.
Result<auth::Principal> identify(const http::RequestHead& head, auth::Scope scope, const AdmissionServices& services,
                                 Admission& admission) {
  const auto authorization = is_otlp(admission.route->id) ? otlp_credentials(head) : values_of(head, "authorization");
  const bool by_cookie = authorization.empty() && services.sessions != nullptr && !session_cookies(head).empty();
  if (!by_cookie) return services.keys.admit(authorization, scope);
  auto session = session_of(head, *services.sessions);
  if (!session) return no_session();
  auto principal = services.keys.admit_id(session->key_id, scope);
  if (!principal.ok()) return principal;
  if (auto fault = check_csrf(head, *session)) return std::move(*fault);
  admission.session = std::move(*session);
  return principal;
}

// "https://example.org:443" -> "example.org"; other ports are kept.
std::string authority_of(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  std::string authority = ascii::to_lower(text);
  for (const std::string_view port : {":80", ":443"}) {
    if (authority.ends_with(port)) authority.resize(authority.size() - port.size());
  }
  return authority;
}

// Prevents forms and scripts on other sites from logging a user in.
std::optional<Error> check_origin(const http::RequestHead& head) {
  const std::string* site = head.header("sec-fetch-site");
  const bool other_site = site != nullptr && (*site == "cross-site" || *site == "same-site");
  const std::string* origin = head.header("origin");
  const std::string* host = head.header("host");
  bool same = true;
  if (origin != nullptr) {
    const std::string theirs = authority_of(*origin);
    const std::string ours = host == nullptr ? std::string() : authority_of(*host);
    // A proxy may forward Host without the port that clients see.
    same = *origin != "null" && (theirs == ours || theirs.substr(0, theirs.rfind(':')) == ours);
  }
  if (same && !other_site) return std::nullopt;
  return Error{Code::forbidden, "sessions are only for this service's own page; this request comes from another site", {}, {}};
}

// GET and DELETE require a session; POST begins one.
std::optional<Refusal> check_session(const http::RequestHead& head, const AdmissionServices& services, Admission& admission) {
  if (!changes_nothing(head.method)) {
    if (auto fault = check_origin(head)) return Refusal{std::move(*fault), {}};
  }
  if (head.method == "POST") return std::nullopt;
  auto session = session_of(head, *services.sessions);
  if (!session) return Refusal{no_session(), {}};
  auto principal = services.keys.admit_id(session->key_id, auth::Scope::read);
  if (!principal.ok()) return Refusal{std::move(principal.error()), {}};
  if (auto fault = check_csrf(head, *session)) return Refusal{std::move(*fault), {}};
  admission.principal = std::move(*principal);
  admission.session = std::move(*session);
  return std::nullopt;
}

}  // namespace

std::variant<Admission, Refusal> admit(const http::RequestHead& head, const AdmissionServices& services) {
  auto found = match(head.method, head.path);
  if (!found.ok()) return Refusal{std::move(found.error()), {}};
  const auto of_page = [](const Route& route) { return route.access == Access::page || route.access == Access::session; };
  if (found->route != nullptr && of_page(*found->route) && services.sessions == nullptr) found->route = nullptr;
  if (found->route == nullptr) return refuse(Code::not_found, "no such path; /v1/openapi.json lists the paths");
  if (!found->method_allowed) {
    return Refusal{Error{Code::method_not_allowed, "this path takes " + found->allow + ", not " + head.method.substr(0, 32), {}, {}},
                   {{"Allow", found->allow}}};
  }
  Admission admission;
  admission.route = found->route;
  admission.parameters = std::move(found->parameters);
  if (admission.route->access == Access::session) {
    if (auto refusal = check_session(head, services, admission)) return std::move(*refusal);
  } else if (const auto scope = scope_of(admission.route->access)) {
    auto principal = identify(head, *scope, services, admission);
    if (!principal.ok()) return Refusal{std::move(principal.error()), {}};
    admission.principal = std::move(*principal);
    if (const auto wait_s = services.rates.take(admission.principal->tenant)) {
      Refusal refusal =
          refuse(Code::rate_limited, "tenant \"" + admission.principal->tenant_name +
                                         "\" sends more than limits.requests_per_second; try again in " + std::to_string(*wait_s) + " s");
      refusal.error.retry_after_s = *wait_s;
      return refusal;
    }
  }
  if (admission.route->method == "POST") {
    if (auto refusal = check_media(head, admission)) return std::move(*refusal);
  }
  for (const std::string& tags : values_of(head, "if-none-match")) admission.if_none_match.append(tags).append(",");
  admission.fault = check_idempotency(head, admission);
  if (!admission.fault) admission.fault = check_query(head, admission);
  return admission;
}

bool is_otlp(RouteId route) {
  return route == RouteId::otlp_traces || route == RouteId::otlp_unused;
}

Permit permit_of(auth::KeyRing& keys, const auth::Principal& principal) {
  return std::make_shared<const std::function<std::optional<Error>()>>([&keys, principal]() -> std::optional<Error> {
    try {
      return keys.recheck(principal);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  });
}

model::Digest idempotency_identity(std::string_view path_pattern, std::string_view key, std::uint64_t line) {
  std::string text(path_pattern);
  text.append("\n").append(key).append("\n").append(std::to_string(line));
  return sha256(text);
}

}  // namespace runwarden::api
