#include "api/otlp.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/json_text.h"
#include "base/protobuf.h"
#include "http/problem.h"

namespace runwarden::api {
namespace {

constexpr int kLongestRetryS = 3;  // exporters drop a batch rather than wait beyond their timeout of 10 s

constexpr std::string_view kEndpoint = "/v1/ingest/otlp";

// OTEL_EXPORTER_OTLP_HEADERS holds percent-encoded values, which LangSmith's exporter sends without decoding.
constexpr std::string_view kEncodedBearer = "bearer%20";

enum Rpc : std::int32_t {  // google/rpc/code.proto
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

Rpc rpc_code(Code code) {
  switch (code) {
    case Code::unauthorized: return kUnauthenticated;
    case Code::forbidden: return kPermissionDenied;
    case Code::not_found: return kNotFound;
    case Code::method_not_allowed: return kUnimplemented;
    case Code::request_timeout: return kDeadlineExceeded;
    case Code::conflict: return kAlreadyExists;
    case Code::payload_too_large:
    case Code::rate_limited: return kResourceExhausted;
    case Code::internal: return kInternal;
    case Code::unavailable: return kUnavailable;
    default: return kInvalidArgument;
  }
}

bool begins_with(std::string_view text, std::string_view start) {
  const auto same = [](char wanted, char got) { return wanted == ascii::to_lower(got); };
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(), same);
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() > word.size() && text[word.size()] == ' ' && begins_with(text, word);
}

// The password of Basic credentials (RFC 7617).
std::optional<std::string> basic_password(std::string_view credentials) {
  while (!credentials.empty() && credentials.front() == ' ') credentials.remove_prefix(1);
  while (!credentials.empty() && (credentials.back() == '=' || credentials.back() == ' ')) credentials.remove_suffix(1);
  const FromBase64 decoded = bytes_from_base64(credentials);
  if (decoded.read != credentials.size()) return std::nullopt;
  const auto colon = decoded.bytes.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return decoded.bytes.substr(colon + 1);
}

}  // namespace

http::Reply otlp_reply(Media media, const ingest::TraceAnswer& answer) {
  http::Reply reply;
  if (media == Media::protobuf) {
    reply.content_type = "application/x-protobuf";
    if (answer.message.empty() && answer.rejected == 0) {
      reply.headers.push_back({"Content-Type", reply.content_type});  // the server omits it from an answer without a body
      return reply;
    }
    protozero::pbf_writer out(reply.body);
    protozero::pbf_writer partial(out, 1);
    if (answer.rejected > 0) partial.add_int64(1, static_cast<std::int64_t>(answer.rejected));
    partial.add_string(2, answer.message);
    return reply;
  }
  JsonWriter out(reply.body);
  out.begin_object();
  if (!answer.message.empty() || answer.rejected > 0) {
    out.key("partialSuccess").begin_object().key("rejectedSpans").string(std::to_string(answer.rejected));
    out.key("errorMessage").string(answer.message).end_object();
  }
  out.end_object();
  return reply;
}

http::Reply otlp_problem(Media media, Error error) {
  error.retry_after_s = std::min(error.retry_after_s, kLongestRetryS);
  http::Reply reply = http::problem(error, {});
  reply.body.clear();
  if (media == Media::protobuf) {
    reply.content_type = "application/x-protobuf";
    protozero::pbf_writer out(reply.body);
    out.add_int32(1, rpc_code(error.code));
    out.add_string(2, error.detail);
    return reply;
  }
  reply.content_type = "application/json";
  JsonWriter out(reply.body);
  out.begin_object().key("code").integer(rpc_code(error.code)).key("message").string(error.detail).end_object();
  return reply;
}

bool is_otlp_path(std::string_view raw_path) {
  return raw_path.starts_with(kEndpoint) && (raw_path.size() == kEndpoint.size() || raw_path[kEndpoint.size()] == '/');
}

Media otlp_media(std::string_view content_type) {
  std::string type = ascii::to_lower(content_type.substr(0, content_type.find(';')));
  const auto first = type.find_first_not_of(" \t");
  if (first == std::string::npos) return Media::none;
  type = type.substr(first, type.find_last_not_of(" \t") - first + 1);
  if (type == "application/x-protobuf") return Media::protobuf;
  return type == "application/json" ? Media::json : Media::none;
}

std::vector<std::string> otlp_credentials(const http::RequestHead& head) {
  std::vector<std::string> authorizations;
  for (const http::Header& header : head.headers) {
    if (header.name == "authorization") authorizations.push_back(header.value);
  }
  if (authorizations.empty() && head.count("x-api-key") == 1) return {"Bearer " + *head.header("x-api-key")};
  if (authorizations.size() != 1) return authorizations;
  if (authorizations[0].size() > kEncodedBearer.size() && begins_with(authorizations[0], kEncodedBearer)) {
    return {"Bearer " + authorizations[0].substr(kEncodedBearer.size())};
  }
  if (!begins_with_word(authorizations[0], "basic")) return authorizations;
  if (auto password = basic_password(std::string_view(authorizations[0]).substr(6))) return {"Bearer " + *password};
  return authorizations;
}

}  // namespace runwarden::api
