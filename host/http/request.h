// One request from its head to its answer. Used by the thread of its worker only; outlives its connection while the application holds its
// responder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "http/body_reader.h"
#include "http/framing.h"
#include "http/handler.h"
#include "http/reply.h"
#include "http/request_head.h"
#include "http/server.h"
#include "http/shared.h"

namespace runwarden::http {

struct Request {
  Request(const ServerSettings& settings, Counters& counters)
      : parser(settings.max_header_fields), charge(counters.body_bytes, settings.max_buffered_body_bytes) {}
  RequestHead head;
  RequestParser parser;
  std::unique_ptr<RequestHandler> request_handler;
  std::optional<BodyReader> reader;
  std::string_view limit_name;   // of Accepted, as the next
  std::string_view when_too_large;
  Charge charge;                 // for the bytes that reader buffers
  std::optional<Reply> refusal;  // sent once the rest of the body has been dropped
  std::uint64_t body_wire_bytes = 0;
  std::int64_t body_began_ns = 0;  // excludes the time that the application took for batches
  std::int64_t paused_ns = 0;
  bool framed = false;          // the head was valid
  bool answer_pending = false;  // the application owes an answer
};

}  // namespace runwarden::http
