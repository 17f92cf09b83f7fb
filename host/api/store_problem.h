// The error that a client gets when the store fails. Any thread.
#pragma once

#include "base/result.h"
#include "store/capacity.h"
#include "store/errors.h"

namespace runwarden::api {

constexpr int kStoreAwayRetryS = 1;

// 503 if the store cannot be reached; `otherwise` if a record cannot be read or written. A 503 says when a retry may succeed.
inline Error store_problem(const store::StoreError& fault, Code otherwise) {
  if (dynamic_cast<const store::StoreAway*>(&fault) != nullptr) return {Code::unavailable, fault.what(), {}, {}, kStoreAwayRetryS};
  if (dynamic_cast<const store::StoreDamaged*>(&fault) != nullptr) return {otherwise, fault.what(), {}, {}, store::kStoreDamagedRetryS};
  return {otherwise, fault.what(), {}, {}};
}

}  // namespace runwarden::api
