// The error that a client gets when the store fails. Any thread.
#pragma once

#include "base/result.h"
#include "store/capacity.h"
#include "store/errors.h"

namespace runwarden::api {

constexpr int kStoreAwayRetryS = 1;

// 503 if the store cannot be reached; `otherwise` if a record cannot be read or written. A 503 says when a retry may succeed.
inline Error store_problem(const store::StoreError& fault, Code otherwise) {
  if (const auto* away = dynamic_cast<const store::StoreAway*>(&fault)) {
    return {Code::unavailable, away->client_text, away->what(), {}, kStoreAwayRetryS};
  }
  if (const auto* whole = dynamic_cast<const store::EngineFault*>(&fault)) return {otherwise, whole->client_text, whole->what(), {}};
  if (dynamic_cast<const store::StoreDamaged*>(&fault) != nullptr) return {otherwise, fault.what(), {}, {}, store::kStoreDamagedRetryS};
  return {otherwise, fault.what(), {}, {}};
}

}  // namespace runwarden::api
