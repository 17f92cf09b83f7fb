// Writes the head of an answer (RFC 9112). Pure, except that each worker caches its Date field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/reply.h"

namespace runwarden::http {

// The text of the Date field, formatted once a second.
class DateText {
 public:
  std::string_view at(std::int64_t wall_s);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

struct AnswerFrame {
  std::string_view request_id;
  std::string_view date;
  bool close = false;
};

// False for 1xx, 204 and 304, which have no body.
bool status_has_body(int status);
// Status line and fields up to and including the empty line. Omits fields that contain a line break or NUL.
std::string answer_head(const Reply& reply, const AnswerFrame& frame);

}  // namespace runwarden::http
