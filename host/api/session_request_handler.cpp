#include "api/session_request_handler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/store_problem.h"
#include "base/json_check.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "http/problem.h"
#include "store/errors.h"

namespace runwarden::api {
namespace {

constexpr int kMaxDepth = 4;

Error wrong_shape(std::string_view pointer, std::string detail) {
  Error error{Code::validation_failed, "the body must be {\"key\": \"rw_...\"}: an API key with scope \"read\"", {}, {}};
  error.faults.push_back({std::string(pointer), "wrong_type", std::move(detail)});
  return error;
}

// The key of {"key": "rw_..."}.
Result<std::string> key_of(const std::string& body) {
  if (Status valid = check_json(body, kMaxDepth); !valid.ok()) return std::move(valid.error());
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || body[first] != '{') return wrong_shape("", "expected an object");
  const auto members = json_members(body);
  const auto count = std::count_if(members.begin(), members.end(), [](const JsonMember& one) { return one.name == "key"; });
  if (count > 1) return Error{Code::malformed_json, "the member \"key\" appears twice; send it once", {}, {}};
  const std::string* const key = find_json_member(members, "key");
  if (key == nullptr || !key->starts_with('"')) return wrong_shape("/key", "expected a string");
  return json_string_value(*key);
}

}  // namespace

SessionRequestHandler::SessionRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head)
    : RequestHandler(parts, std::move(admission), head.request_id), method_(head.method), client_(head.client), https_(head.https) {}

void SessionRequestHandler::on_body(std::string body, http::Responder responder) {
  if (method_ == "DELETE") return log_out(std::move(responder));
  if (method_ == "POST") return responder.send(log_in(body));
  responder.send(session_reply(*admission().principal, *admission().session));
}

// A malformed body does not count as a failed login.
Result<auth::Principal> SessionRequestHandler::owner_of(const std::string& body) {
  auto key = key_of(body);
  if (!key.ok()) return std::move(key.error());
  const std::string authorization = "Bearer " + *key;
  auto principal =
      auth::bearer_key(authorization) == *key
          ? parts().keys.admit({authorization}, auth::Scope::read)
          : Result<auth::Principal>(Error{Code::unauthorized, "not an API key; keys start with rw_ and are a single line", {}, {}});
  if (!principal.ok()) parts().page->failed_logins.failed(client_);
  return principal;
}

http::Reply SessionRequestHandler::log_in(const std::string& body) {
  if (const auto wait_s = parts().page->failed_logins.wait_s(client_)) {
    Error error{Code::rate_limited, "too many failed attempts from this address; try again in " + std::to_string(*wait_s) + " s", {}, {}};
    error.retry_after_s = *wait_s;
    return http::problem(error, request_id());
  }
  try {
    const auto principal = owner_of(body);
    if (!principal.ok()) return http::problem(principal.error(), request_id());
    const auth::Sessions& sessions = *parts().page->sessions;
    const auto session = sessions.begin(principal->key_id);
    if (!session.ok()) return http::problem(session.error(), request_id());
    http::Reply reply = session_reply(*principal, *session);
    reply.headers.push_back(cookie(sessions.seal(*session), auth::kSessionMs / 1000));
    return reply;
  } catch (const store::StoreError& fault) {  // keys are in the store
    return http::problem(store_problem(fault, Code::unavailable), request_id());
  }
}

// Runs on the pool, because the end is written to disk before the answer.
void SessionRequestHandler::log_out(http::Responder responder) {
  http::Reply done;
  done.status = 204;
  done.headers = {cookie({}, 0), {"Cache-Control", "no-store"}};
  struct PendingLogout {
    http::Responder responder;
    http::Reply done;
    auth::Session session;
  };
  const auto pending = std::make_shared<PendingLogout>(PendingLogout{std::move(responder), std::move(done), *admission().session});
  const auto end = [pending, &sessions = *parts().page->sessions, id = request_id()](std::size_t) {
    const Status ended = sessions.end(pending->session);
    pending->responder.send(ended.ok() ? std::move(pending->done) : http::problem(ended.error(), id));
  };
  parts().pool.post(end, admission().principal->tenant);
}

http::Reply SessionRequestHandler::session_reply(const auth::Principal& principal, const auth::Session& session) const {
  http::Reply reply;
  JsonWriter out(reply.body);
  out.begin_object().key("tenant").string(principal.tenant_name);
  out.key("keyName").string(principal.key_name.empty() ? principal.key_id : principal.key_name).key("scopes").begin_array();
  if (principal.may_ingest) out.string("ingest");
  if (principal.may_read) out.string("read");
  if (principal.may_manage) out.string("manage");
  out.end_array().key("csrf").string(session.csrf).key("expiresAt").string(format_time(session.issued_ms + auth::kSessionMs)).end_object();
  reply.headers.push_back({"Cache-Control", "no-store"});
  return reply;
}

// RFC 6265bis: hidden from scripts, and not sent with requests from other sites.
http::Header SessionRequestHandler::cookie(const std::string& value, std::int64_t max_age_s) const {
  return {"Set-Cookie",
          "rw_session=" + value + "; HttpOnly; SameSite=Strict; Path=/; Max-Age=" + std::to_string(max_age_s) + (https_ ? "; Secure" : "")};
}

}  // namespace runwarden::api
