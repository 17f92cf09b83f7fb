// How a store fails.
#pragma once

#include <stdexcept>

namespace runwarden::store {

// The medium failed (an fsync error): what was being written is in doubt, nothing more may be acknowledged, and the process has to end.
struct FatalStoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One thing could not be read or done; the store goes on.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The store cannot be reached now; nothing was stored, and the same may succeed in a moment.
struct StoreAway : StoreError {
  using StoreError::StoreError;
};

}  // namespace runwarden::store
