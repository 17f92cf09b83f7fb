// Writes the head of an answer (RFC 9112). Pure but for the Date line, which each worker keeps for itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/server.h"

namespace runwarden::http {

// The text of the Date field, made anew once a second.
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

// 1xx, 204 and 304 have no body, whatever the reply holds.
bool status_has_body(int status);
// Status line and fields up to the empty line. Fields that hold a line break or NUL are left out.
std::string answer_head(const Reply& reply, const AnswerFrame& frame);

}  // namespace runwarden::http
