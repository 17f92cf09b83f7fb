// How a store fails.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

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

// The engine as a whole failed, which says nothing about any one record: a list must fail with it rather than leave a record out.
struct EngineFault : StoreError {
  explicit EngineFault(const std::string& text) : EngineFault(text, text) {}
  // `text`, which is what(), is for the operator, and may name the store's place; `for_client` does not.
  EngineFault(const std::string& text, std::string for_client) : StoreError(text), client_text(std::move(for_client)) {}
  std::string client_text;
};

// The store cannot be reached, or ended a statement early. Nothing was stored, and a retry may soon succeed.
struct StoreAway : EngineFault {
  using EngineFault::EngineFault;
};

}  // namespace runwarden::store
