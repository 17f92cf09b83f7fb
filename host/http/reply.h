// An answer to a request: status, fields and body. A value; one owner at a time.
#pragma once

#include <string>
#include <vector>

#include "base/fair_budget.h"
#include "http/request_head.h"

namespace runwarden::http {

struct Reply {
  int status = 200;
  std::string content_type = "application/json";  // omitted if the body is empty
  std::vector<Header> headers;                    // beyond those that answer_head() writes
  std::string body;
  bool close = false;       // close the connection after this answer
  FairBudget::Lease lease;  // of the body; released when the kernel has accepted the last byte or the connection is gone
};

}  // namespace runwarden::http
