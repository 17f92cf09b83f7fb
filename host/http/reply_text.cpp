#include "http/reply_text.h"

#include <array>
#include <ctime>

namespace runwarden::http {
namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Status";
  }
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  if (name.find_first_of(kBreaks) != std::string_view::npos || value.find_first_of(kBreaks) != std::string_view::npos) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view DateText::at(std::int64_t wall_s) {
  if (wall_s == second_) return text_;
  second_ = wall_s;
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t time = wall_s;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char digits[32];
  text_ = std::string(kDays[parts.tm_wday]) + ", ";
  std::strftime(digits, sizeof digits, "%d ", &parts);
  text_ += std::string(digits) + kMonths[parts.tm_mon];
  std::strftime(digits, sizeof digits, " %Y %H:%M:%S GMT", &parts);
  text_ += digits;
  return text_;
}

bool status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string answer_head(const Reply& reply, const AnswerFrame& frame) {
  std::string out;
  out.reserve(320);
  out.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ").append(reason(reply.status)).append("\r\n");
  append_field(out, "Date", frame.date);
  if (status_has_body(reply.status)) {
    if (!reply.body.empty()) append_field(out, "Content-Type", reply.content_type);
    append_field(out, "Content-Length", std::to_string(reply.body.size()));
  }
  append_field(out, "X-Request-Id", frame.request_id);
  out.append("X-Content-Type-Options: nosniff\r\n");  // texts that clients sent are never scripts or pages
  for (const auto& header : reply.headers) append_field(out, header.name, header.value);
  if (frame.close) append_field(out, "Connection", "close");
  out.append("\r\n");
  return out;
}

}  // namespace runwarden::http
