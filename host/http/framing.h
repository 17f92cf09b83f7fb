// HTTP/1.1 framing: finds the end of a head, parses it and removes the framing of the body, using Boost.Beast's parser with stricter rules
// against request smuggling. One owner, one thread; one RequestParser per request.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/body_reader.h"
#include "http/gunzip.h"
#include "http/request_head.h"

namespace runwarden::http {

// Finds the end of a head in a growing buffer. Refuses bare line feeds and folded fields.
class HeadScan {
 public:
  explicit HeadScan(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // The size of the head, including empty lines before it; 0 if it is incomplete.
  Result<std::size_t> scan(std::string_view bytes);

 private:
  std::size_t max_bytes_;
  std::size_t at_ = 0;    // bytes scanned
  std::size_t line_ = 0;  // where the current line begins
  bool in_head_ = false;  // a non-empty line has been seen
};

// The fields that frame the message; the rest of the head is in RequestHead.
struct Framing {
  bool http_1_1 = false;
  bool keep_alive = false;
  bool chunked = false;
  Coding coding = Coding::identity;
  bool expect_continue = false;
  std::uint64_t content_length = 0;  // 0 if chunked
  bool has_body() const { return chunked || content_length > 0; }
};

class RequestParser final : private boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(std::size_t max_fields);

  // Parses a complete head found by HeadScan. Fills method, path, query and headers of `head` as far as they are valid.
  std::optional<Error> read_head(std::string_view bytes, RequestHead& head);
  const Framing& framing() const { return framing_; }

  // Processes body bytes from the wire; returns how many it consumed. If `reader` is null, counts and drops them.
  std::size_t read_body(std::string_view bytes, BodyReader* reader);
  bool body_done() { return is_done(); }
  bool body_broken() const { return body_fault_ != nullptr; }
  // Why the body is broken.
  std::string_view body_fault() const { return body_fault_; }
  // Without chunk framing; with the rest of a chunk whose length has arrived.
  std::uint64_t announced_bytes() const { return body_bytes_ + chunk_rest_; }

 private:
  using error_code = boost::beast::error_code;
  using view = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb, view method, view target, int version, error_code&) override;
  void on_response_impl(int, view, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field, view name, view value, error_code&) override;
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(view bytes, error_code&) override;
  void on_chunk_header_impl(std::uint64_t size, view extensions, error_code&) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, view bytes, error_code&) override;
  void on_finish_impl(error_code&) override {}

  std::optional<Error> check_framing();

  std::size_t max_fields_;
  RequestHead* head_ = nullptr;  // only while its head is parsed
  Framing framing_;
  std::optional<std::string> target_authority_;  // if the target is in absolute form
  BodyReader* reader_ = nullptr;                 // only during read_body
  bool too_many_fields_ = false;
  const char* body_fault_ = nullptr;
  std::uint64_t chunk_rest_ = 0;
  bool chunk_begun_ = false;  // a chunk with bytes came, whose CRLF precedes the next chunk line
  std::uint64_t body_bytes_ = 0;
  std::uint64_t overhead_ = 0;  // framing bytes beyond what reasonable chunks need
};

}  // namespace runwarden::http
