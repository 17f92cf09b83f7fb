#include "api/page_request_handler.h"

#include "http/problem.h"
#include "page/files.h"

namespace runwarden::api {
namespace {

// The page may run only its own files, connect only to this service, and not be framed.
constexpr std::string_view kContentPolicy =
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

void add_safety(http::Reply& reply) {
  reply.headers.push_back({"Content-Security-Policy", std::string(kContentPolicy)});
  reply.headers.push_back({"Referrer-Policy", "no-referrer"});
  reply.headers.push_back({"Cross-Origin-Opener-Policy", "same-origin"});
  reply.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
}

// The page is a separate party in the budget for requests without a key, so it takes nothing from probes.
constexpr std::uint32_t kPageShare = 1;

// RFC 9110, section 13.1.2: a list of entity tags, weak or not, or `*`.
bool names(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

}  // namespace

PageRequestHandler::PageRequestHandler(ApiParts& parts, Admission admission, const http::RequestHead& head)
    : RequestHandler(parts, std::move(admission), head.request_id) {
  if (const std::string* etags = head.header("if-none-match")) known_etags_ = *etags;
}

http::Reply PageRequestHandler::answer() {
  http::Reply reply;
  if (admission().route->id == RouteId::page_root) {
    reply.status = 302;
    reply.headers.push_back({"Location", "/ui/"});
    return reply;
  }
  const page::File* file = &page::index_file();
  if (admission().route->id == RouteId::page_file) file = page::find_file(admission().parameters.at(0));
  if (file == nullptr) return http::problem({Code::not_found, "the page has no such file", {}, {}}, request_id());
  reply.headers.push_back({"ETag", file->etag});
  reply.headers.push_back({"Cache-Control", "no-cache"});
  if (names(known_etags_, file->etag)) {
    reply.status = 304;
    return reply;
  }
  auto lease = parts().replies.open.take(kPageShare, file->text.size());
  if (!lease) {
    return http::problem({Code::unavailable, "too many responses are waiting for slow clients; retry in a moment", {}, {}}, request_id());
  }
  reply.content_type = file->content_type;
  reply.body = file->text;
  reply.lease = std::move(*lease);
  return reply;
}

void PageRequestHandler::on_body(std::string, http::Responder responder) {
  http::Reply reply = answer();
  add_safety(reply);
  responder.send(std::move(reply));
}

}  // namespace runwarden::api
