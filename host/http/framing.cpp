#include "http/framing.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "http/authority.h"

namespace runwarden::http {
namespace {

namespace beast = boost::beast;

constexpr std::size_t kMaxChunkFrame = 16 * 1024;       // largest chunk line or trailer, which is parsed in one piece
constexpr std::uint64_t kMaxChunkOverhead = 64 * 1024;  // framing bytes beyond 16 plus twice the data of each chunk
constexpr std::size_t kShortestChunkedRest = 5;         // "0\r\n\r\n"

constexpr const char* kBadChunk = "the chunked body is malformed: each chunk is its length in hexadecimal digits, CRLF, its bytes, CRLF";
constexpr const char* kLargeChunkFrame =
    "the chunked body has a chunk line or trailers of more than 16 KiB, or 64 KiB of chunk extensions: send fewer or shorter ones";
constexpr const char* kFramingTrailer =
    "a trailer field is Content-Length or Transfer-Encoding, which frame the body: send them in the head";
constexpr const char* kFoldedTrailer = "a trailer field is folded over several lines (obs-fold): send each field on one line";

Error bad_request(std::string detail) {
  return {Code::bad_request, std::move(detail), {}, {}};
}

// Whether bytes that are too few to be parsed can begin a chunk line, after a chunk with the CRLF that ends it.
bool may_begin_chunk(std::string_view rest, bool after_chunk) {
  const std::string_view crlf = "\r\n";
  if (after_chunk) {
    const auto length = std::min(rest.size(), crlf.size());
    if (rest.substr(0, length) != crlf.substr(0, length)) return false;
    rest.remove_prefix(length);
  }
  const auto digits = std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size());
  if (digits == rest.size()) return true;
  rest.remove_prefix(digits);
  const bool is_end = rest.front() == '\r' && (rest.size() == 1 || rest[1] == '\n');
  const auto extension = std::min(rest.find_first_not_of(" \t"), rest.size());
  return digits > 0 && (is_end || extension == rest.size() || rest[extension] == ';');
}

struct Target {
  std::string_view local;  // path and query
  std::optional<std::string_view> authority;
};

// "http://host/path?query" is the absolute form (RFC 9112, 3.2.2): its authority is validated and otherwise ignored; the rest is the path.
Target split_target(std::string_view target) {
  const auto scheme = target.find("://");
  if (target.empty() || target.front() == '/' || scheme == std::string_view::npos) return {target, std::nullopt};
  const std::string name = ascii::to_lower(target.substr(0, scheme));
  if (name != "http" && name != "https") return {target, std::nullopt};
  const std::string_view rest = target.substr(scheme + 3);
  const auto path = std::min(rest.find_first_of("/?"), rest.size());
  return {path == rest.size() ? std::string_view("/") : rest.substr(path), rest.substr(0, path)};
}

// Treats a request line of a later HTTP/1 version as HTTP/1.1 (RFC 9110, 2.5), as the parser requires. Returns `head`, or a modified copy
// in `copy`.
std::string_view as_http_1_1(std::string_view head, std::string& copy) {
  constexpr std::string_view kVersion = " HTTP/1.";
  const auto digit = head.find("\r\n") - 1;
  if (digit >= head.size() || digit < kVersion.size() || head.substr(digit - kVersion.size(), kVersion.size()) != kVersion) return head;
  if (head[digit] < '2' || head[digit] > '9') return head;
  copy = head;
  copy[digit] = '1';
  return copy;
}

std::optional<Error> check_target(const RequestHead& head, const std::optional<std::string>& authority) {
  if (authority && (authority->empty() || !is_host_and_port(*authority))) {
    return bad_request("the request target is an http URL with an invalid host or port; a valid one is \"http://example.com:8080/\"");
  }
  if (head.path == "*") {
    if (head.method == "OPTIONS") return std::nullopt;
    return bad_request("the request target \"*\" is for OPTIONS only: send a path that begins with \"/\"");
  }
  if (!head.path.empty() && head.path.front() == '/') return std::nullopt;
  return bad_request("the request target must be a path that begins with \"/\", or an http URL");
}

bool holds_fold(std::string_view lines) {
  return lines.find("\r\n ") != std::string_view::npos || lines.find("\r\n\t") != std::string_view::npos;
}

const char* body_fault_text(const beast::error_code& fault) {
  using beast::http::error;
  if (fault == error::header_limit) return kLargeChunkFrame;
  if (fault == error::bad_content_length || fault == error::bad_transfer_encoding) return kFramingTrailer;
  return kBadChunk;
}

std::string fault_text(const beast::error_code& fault) {
  using beast::http::error;
  if (fault == error::bad_method) return "the method is not a token";
  if (fault == error::bad_target) return "the request target contains a control character or a space, or is empty";
  if (fault == error::bad_version) return "the request line must end in HTTP/1.1, or another HTTP/1, and CRLF";
  if (fault == error::bad_field) return "a header field name is empty or not a token, or is followed by white space";
  if (fault == error::bad_value) return "a header field value contains a control character";
  if (fault == error::bad_line_ending) return "a line must end in CRLF";
  if (fault == error::bad_content_length) return "Content-Length must be one decimal number below 2^64, without Transfer-Encoding";
  if (fault == error::bad_transfer_encoding) return "Transfer-Encoding must be \"chunked\", once, without Content-Length";
  return "the head is malformed (" + fault.message() + ")";
}

const std::string* only(const RequestHead& head, std::string_view name) {
  return head.count(name) == 1 ? head.header(name) : nullptr;
}

}  // namespace

Result<std::size_t> HeadScan::scan(std::string_view bytes) {
  while (true) {
    if (line_ < bytes.size() && in_head_ && (bytes[line_] == ' ' || bytes[line_] == '\t')) {
      return bad_request("a header field is folded over several lines (obs-fold): send each field on one line");
    }
    const auto feed = bytes.find('\n', at_);
    if (std::min(feed, bytes.size()) >= max_bytes_) {
      return Error{Code::headers_too_large,
                   "the request head exceeds the limit of " + std::to_string(max_bytes_) + " bytes: send fewer or shorter fields",
                   {},
                   {}};
    }
    if (feed == std::string_view::npos) {
      at_ = bytes.size();
      return std::size_t{0};
    }
    if (feed == 0 || bytes[feed - 1] != '\r') return bad_request("a line of the head ends in a bare line feed: end it in CRLF");
    const bool empty = feed - 1 == line_;
    at_ = line_ = feed + 1;
    if (empty && in_head_) return at_;
    in_head_ = in_head_ || !empty;
  }
}

RequestParser::RequestParser(std::size_t max_fields) : max_fields_(max_fields) {
  eager(false);
  header_limit(std::numeric_limits<std::uint32_t>::max());  // HeadScan enforces the limit
  body_limit(std::numeric_limits<std::uint64_t>::max());  // BodyReader enforces the limit on decoded bytes; boost::none would refuse every
                                                          // body in Boost 1.74
}

std::optional<Error> RequestParser::read_head(std::string_view bytes, RequestHead& head) {
  while (bytes.substr(0, 2) == "\r\n") bytes.remove_prefix(2);  // RFC 9112, 2.2
  std::string copy;
  bytes = as_http_1_1(bytes, copy);
  head_ = &head;
  beast::error_code fault;
  put(boost::asio::buffer(bytes.data(), bytes.size()), fault);
  head_ = nullptr;
  if (too_many_fields_) {
    return Error{
        Code::headers_too_large, "the request has more than " + std::to_string(max_fields_) + " header fields: send fewer", {}, {}};
  }
  if (fault) return bad_request(fault_text(fault));
  framing_.keep_alive = framing_.http_1_1 && keep_alive();
  framing_.chunked = chunked();
  framing_.content_length = chunked() ? 0 : content_length().value_or(0);
  head.has_body = framing_.has_body();
  auto wrong = check_target(head, target_authority_);
  if (!wrong) {
    // The checks read the fields from this head.
    head_ = &head;
    wrong = check_framing();
    head_ = nullptr;
  }
  return wrong;
}

std::optional<Error> RequestParser::check_framing() {
  const RequestHead& head = *head_;
  const auto lengths = head.count("content-length");
  const auto codings = head.count("transfer-encoding");
  if (lengths > 1) return bad_request("Content-Length appears " + std::to_string(lengths) + " times: send it once");
  if (lengths == 1 && !ascii::is_number(*head.header("content-length"))) return bad_request("Content-Length must be one decimal number");
  if (lengths == 1 && codings > 0) return bad_request("both Content-Length and Transfer-Encoding are present: send one of them");
  if (codings > 1 || (codings == 1 && ascii::to_lower(*head.header("transfer-encoding")) != "chunked")) {
    return bad_request("Transfer-Encoding must be \"chunked\" and nothing else");
  }
  if (codings == 1 && !framing_.http_1_1) return bad_request("Transfer-Encoding is not part of HTTP/1.0: send Content-Length");

  const auto hosts = head.count("host");
  if (hosts > 1) return bad_request("Host appears " + std::to_string(hosts) + " times: send it once");
  if (hosts == 0 && framing_.http_1_1) return bad_request("Host is missing: HTTP/1.1 requires it");
  if (hosts == 1 && !is_host_and_port(*head.header("host"))) {
    return bad_request("Host must be a host and an optional port, such as \"example.com\", \"10.0.0.1:8080\" or \"[::1]:8080\"");
  }

  if (head.count("expect") > 0 && framing_.http_1_1) {
    const std::string* expect = only(head, "expect");
    if (!expect || ascii::to_lower(*expect) != "100-continue") return bad_request("Expect: only \"100-continue\" is supported");
    framing_.expect_continue = true;
  }
  if (const std::string* coding = only(head, "content-encoding")) {
    const std::string name = ascii::to_lower(*coding);
    if (name == "gzip" || name == "x-gzip") framing_.coding = Coding::gzip;
    if (name == "deflate") framing_.coding = Coding::deflate;
  }
  return std::nullopt;
}

std::size_t RequestParser::read_body(std::string_view bytes, BodyReader* reader) {
  reader_ = reader;
  std::size_t used = 0;
  while (used < bytes.size() && !is_done() && !body_broken()) {
    const std::string_view rest = bytes.substr(used);
    // Beast needs the five bytes of a last chunk together; nothing shorter can end a body.
    if (framing_.chunked && chunk_rest_ == 0 && rest.size() < kShortestChunkedRest) break;
    const bool at_frame = framing_.chunked && chunk_rest_ == 0;
    beast::error_code fault;
    const std::size_t taken = put(boost::asio::buffer(rest.data(), rest.size()), fault);
    used += taken;
    if (fault == beast::http::error::need_more) {
      if (rest.size() - taken > kMaxChunkFrame) body_fault_ = kLargeChunkFrame;
      break;
    }
    if (fault) body_fault_ = body_fault_text(fault);
    if (!fault && at_frame && taken > kMaxChunkFrame) body_fault_ = kLargeChunkFrame;
    // The last chunk is parsed in one piece with its trailers, which Beast unfolds.
    if (framing_.chunked && is_done() && holds_fold(rest.substr(0, taken))) body_fault_ = kFoldedTrailer;
    if (taken == 0) break;
    if (reader && reader->state() != BodyReader::State::reading) break;
  }
  reader_ = nullptr;
  const bool at_chunk_line = framing_.chunked && chunk_rest_ == 0 && !is_done() && !body_broken();
  if (at_chunk_line && !may_begin_chunk(bytes.substr(used), chunk_begun_)) body_fault_ = kBadChunk;
  return used;
}

void RequestParser::on_request_impl(beast::http::verb, view method, view target, int version, error_code&) {
  framing_.http_1_1 = version >= 11;
  head_->method.assign(method.data(), method.size());
  const Target parts = split_target({target.data(), target.size()});
  if (parts.authority) target_authority_ = std::string(*parts.authority);
  const auto question = parts.local.find('?');
  head_->path = question == 0 ? "/" : parts.local.substr(0, question);
  if (question != std::string_view::npos) head_->query = parts.local.substr(question + 1);
  if (head_->path == "*" && parts.local != "*") head_->path = parts.local;  // "*?x" is neither an asterisk nor a path
}

void RequestParser::on_field_impl(beast::http::field, view name, view value, error_code& fault) {
  if (!head_) return;  // ignore trailers
  if (head_->headers.size() >= max_fields_) {
    too_many_fields_ = true;
    fault = beast::http::error::header_limit;
    return;
  }
  head_->headers.push_back({ascii::to_lower({name.data(), name.size()}), std::string(value.data(), value.size())});
}

std::size_t RequestParser::on_body_impl(view bytes, error_code&) {
  const std::size_t taken = reader_ ? reader_->put({bytes.data(), bytes.size()}) : bytes.size();
  body_bytes_ += taken;
  return taken;
}

void RequestParser::on_chunk_header_impl(std::uint64_t size, view extensions, error_code& fault) {
  chunk_rest_ = size;
  chunk_begun_ = chunk_begun_ || size > 0;
  const std::uint64_t room = 16 + 2 * std::min(size, kMaxChunkOverhead);
  overhead_ += extensions.size() > room ? extensions.size() - room : 0;
  if (overhead_ > kMaxChunkOverhead) fault = beast::http::error::header_limit;
  if (reader_ && !fault) reader_->announce(size);
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t remain, view bytes, error_code&) {
  const std::size_t taken = reader_ ? reader_->put({bytes.data(), bytes.size()}) : bytes.size();
  body_bytes_ += taken;
  chunk_rest_ = remain - taken;
  return taken;
}

}  // namespace runwarden::http
