// The error that a client gets when the store fails. Any thread.
#pragma once

#include "base/result.h"
#include "store/errors.h"

namespace runwarden::api {

constexpr int kStoreAwayRetryS = 1;

// 503 with Retry-After if the store cannot be reached; `otherwise` if a record cannot be read or written.
inline Error store_problem(const store::StoreError& fault, Code otherwise) {
  if (dynamic_cast<const store::StoreAway*>(&fault) != nullptr) return {Code::unavailable, fault.what(), {}, {}, kStoreAwayRetryS};
  return {otherwise, fault.what(), {}, {}};
}

}  // namespace runwarden::api
