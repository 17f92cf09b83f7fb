// What the application implements to answer requests: it decides on each head, then gets the body, whole or in lines.
//
// Handler and RequestHandler run on a reactor worker and must not block. Each request is answered once, from any thread, through its
// Responder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "http/responder.h"

namespace runwarden::http {

// Consecutive lines of a body in BodyForm::lines. A body that breaks off (framing fault, timeout, early end, drain) still ends in a last
// batch with the complete lines and the reason. Lines exclude their line feed and a carriage return before it.
struct LineBatch {
  struct Line {
    std::uint64_t number = 0;  // from 1, counting empty lines
    std::string text;
  };
  std::vector<Line> lines;  // without lines of only white space
  bool last = false;
  // If last: how the body ended. Unless it is complete, lines from end_line on are not included.
  enum class End : std::uint8_t { complete, line_too_long, over_batch_bytes, over_lines, bad_encoding, broken_off } end = End::complete;
  std::uint64_t end_line = 0;
  Error fault;  // broken_off: the reason
};

// The application's handler of one request, from its head to its answer. Created and called on one worker. It and its RequestHead live
// until on_answered returns; if the client leaves before the answer, until the outstanding responder is used or destroyed. Exceptions are
// answered with 500.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void on_body(std::string body, Responder responder) = 0;  // the decoded body; empty if there is none
  // The next lines. The server continues reading after responder.read_more(). responder.send() answers the last batch.
  virtual void on_lines(LineBatch batch, Responder responder) = 0;
  // The answer that the client gets if the server itself refuses its body, or if the application lost the request.
  virtual Reply refusal(const Error& error, const std::string& request_id);
  // Called at least once a second while the body is received; an error ends it.
  virtual std::optional<Error> recheck() { return std::nullopt; }
};

enum class BodyForm : std::uint8_t { whole, lines };

struct Accepted {
  std::unique_ptr<RequestHandler> request_handler;
  BodyForm form = BodyForm::whole;
  std::uint64_t max_body_bytes = 0;   // decoded: the whole body, or one line
  std::uint64_t max_batch_bytes = 0;  // lines: decoded, all of them
  std::uint64_t max_lines = 0;        // lines: non-empty ones
  std::string_view limit_name = {};   // the setting that limits the body, for the error; static storage
  std::string_view when_too_large = "send less in one request";  // what the client can do; static storage
  std::optional<Reply> refusal = {};  // the answer instead of reading the body, unless its length exceeds the limit
};

// Describes each answer that was sent or dropped, for the log and the metrics.
struct AccessRecord {
  const RequestHead* head = nullptr;          // null if the request could not be framed
  RequestHandler* request_handler = nullptr;  // null if on_head refused
  std::string request_id, client;
  int status = 0;
  std::uint64_t request_bytes = 0, answer_bytes = 0;  // on the wire; request_bytes counts the body only
  std::int64_t elapsed_us = 0;
  bool delivered = false;  // false: the client was gone or did not read
};

class Handler {
 public:
  virtual ~Handler() = default;
  // [worker] Refuses the request, or decides how to read its body. A fault that ranks behind the body's size is Accepted::refusal. Called
  // before the body is read; must not block.
  virtual std::variant<Reply, Accepted> on_head(const RequestHead& head) = 0;
  virtual void on_answered(const AccessRecord& record) = 0;  // [worker]
};

}  // namespace runwarden::http
