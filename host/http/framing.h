// What HTTP/1.1 is: finds the end of a head, reads it and takes the framing off the body, with Boost.Beast's parser and
// stricter where requests are smuggled. One owner, one thread; one RequestParser a request.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/body_reader.h"
#include "http/server.h"

namespace runwarden::http {

// Looks for the end of a head in bytes that grow at their end. Refuses bare line feeds and folded fields on sight.
class HeadScan {
 public:
  explicit HeadScan(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // The size of the head, 0 when it is not whole yet; empty lines before it count to it.
  Result<std::size_t> scan(std::string_view bytes);

 private:
  std::size_t max_bytes_;
  std::size_t at_ = 0;    // bytes looked at
  std::size_t line_ = 0;  // where the current line begins
  bool in_head_ = false;  // a line that is not empty was seen
};

// What frames the message; the rest of the head is in RequestHead.
struct Framing {
  bool http_1_1 = false;
  bool keep_alive = false;
  bool chunked = false;
  bool gzip = false;
  bool expect_continue = false;
  std::uint64_t content_length = 0;  // 0 when chunked
  bool has_body() const { return chunked || content_length > 0; }
};

class RequestParser final : private boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(std::size_t max_fields);

  // A whole head as HeadScan found it. Method, path, query and headers of `head` are filled as far as they are good.
  std::optional<Error> read_head(std::string_view bytes, RequestHead& head);
  const Framing& framing() const { return framing_; }

  // Body bytes off the wire; returns how many were taken. `reader` null: they are counted and dropped.
  std::size_t read_body(std::string_view bytes, BodyReader* reader);
  bool body_done() { return is_done(); }
  bool body_broken() const { return body_fault_ != nullptr; }
  // What is wrong with a body that is broken.
  std::string_view body_fault() const { return body_fault_; }
  std::uint64_t body_bytes() const { return body_bytes_; }  // without the chunks' frames

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
  RequestHead* head_ = nullptr;  // while its head is read
  Framing framing_;
  std::optional<std::string> target_authority_;  // of a target in absolute form
  BodyReader* reader_ = nullptr;                 // during read_body
  bool too_many_fields_ = false;
  const char* body_fault_ = nullptr;
  std::uint64_t chunk_rest_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t overhead_ = 0;  // frame bytes beyond what sensible chunks need
};

}  // namespace runwarden::http
