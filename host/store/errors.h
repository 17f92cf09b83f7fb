// How a store fails.
#pragma once

#include <stdexcept>

namespace runwarden::store {

// The medium failed (an fsync error). The write in progress is in doubt, nothing more may be acknowledged, and the process must end.
struct FatalStoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One operation failed; the store keeps working.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Part of the store is damaged. A retry fails until an operator restores a backup.
struct StoreDamaged : StoreError {
  using StoreError::StoreError;
};

// The store cannot be reached. Nothing was stored, and a retry may soon succeed.
struct StoreAway : StoreError {
  using StoreError::StoreError;
};

}  // namespace runwarden::store
