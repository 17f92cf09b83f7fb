// Bytes on a connection: however they are cut, the same requests are seen, and the same refusal.
#include <optional>

#include "fuzz/fuzz.h"
#include "http/body_reader.h"
#include "http/framing.h"
#include "http/request_head.h"

namespace runwarden::test {
namespace {

constexpr std::size_t kMaxHead = 4096;

// What a connection would make of the bytes when it gets them in pieces of that size.
std::string seen(std::string_view bytes, std::size_t piece) {
  std::string told;
  std::string waiting;
  http::HeadScan scan(kMaxHead);
  std::optional<http::RequestParser> parser;
  std::optional<http::BodyReader> body;
  const auto finish = [&] {
    body->end();
    if (body->state() == http::BodyReader::State::whole_ready) told += " body " + body->take_body();
    if (body->state() == http::BodyReader::State::bad_encoding) told += " bad encoding";
    told += "\n";
    parser.reset();
    body.reset();
    scan = http::HeadScan(kMaxHead);
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    waiting += bytes.substr(at, piece);
    for (bool more = true; more;) {
      more = false;
      if (!parser) {
        const auto head_bytes = scan.scan(waiting);
        if (!head_bytes.ok()) return told + "refused";
        if (*head_bytes == 0) break;
        parser.emplace(100);
        http::RequestHead head;
        const auto wrong = parser->read_head(std::string_view(waiting).substr(0, *head_bytes), head);
        waiting.erase(0, *head_bytes);
        if (wrong) return told + "refused: " + wrong->detail;
        must(!head.path.empty(), "a request has a path", bytes);
        told += head.path + "?" + head.query;
        http::BodyPlan plan;
        plan.coding = parser->framing().coding;
        plan.max_body_bytes = 16 * 1024;
        plan.expected_bytes = parser->framing().content_length;
        body.emplace(plan);
        more = true;
      }
      if (parser->framing().has_body() && !parser->body_done()) {
        const std::size_t taken = parser->read_body(waiting, &*body);
        must(taken <= waiting.size(), "no more is taken than there is", bytes);
        waiting.erase(0, taken);
        if (parser->body_broken()) return told + " broken";
        if (body->state() == http::BodyReader::State::too_large) return told + " too large";
        if (body->state() == http::BodyReader::State::bad_encoding) return told + " bad encoding";
        more = taken > 0;
      }
      if (!parser->framing().has_body() || parser->body_done()) {
        finish();
        more = true;
      }
    }
  }
  return told;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      "GET /v1/runs?limit=5 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /v1/ingest/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: application/json\r\n\r\nhello",
      "POST /a%20b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nTrailer: x\r\n\r\nGET /x "
      "HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /y HTTP/1.2\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: a\r\n b\r\n\r\nOPTIONS * "
      "HTTP/1.1\r\nHost: "
      "a:80\r\n\r\n",
      "GET http://a.example:80/p?q HTTP/1.1\r\nHost: a%20b\r\n\r\n",
      "POST /z HTTP/1.0\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
  };
}

std::vector<std::string> fuzz_words() {
  return {"\r\n",
          "\n",
          "\r",
          " ",
          ":",
          "HTTP/1.1",
          "HTTP/1.2",
          "HTTP/2.0",
          "Content-Length: 5\r\n",
          "Content-Length: +5\r\n",
          "Content-Length: 18446744073709551616\r\n",
          "Transfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip, chunked\r\n",
          "Host: b\r\n",
          "[::1]",
          ":80a",
          "http://",
          "\r\n x",
          "0\r\n\r\n",
          "ffffffffffffffff\r\n",
          "fa3\r\n",
          "Expect: 100-continue\r\n",
          "Connection: close\r\n",
          "%00",
          "%2F",
          "/../",
          "\t",
          std::string(1, '\0'),
          "\x80"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = seen(bytes, size == 0 ? 1 : size);
  must(whole == seen(bytes, 1), "a byte at a time is read as all at once", bytes);
  must(whole == seen(bytes, 7), "seven bytes at a time are read as all at once", bytes);
  return 0;
}

}  // namespace runwarden::test
