// The store of the configuration for a command that reads or writes some of its records, beside a serving process or without one.
// [main] only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "cli/context.h"
#include "store/store.h"

namespace runwarden::cli {

enum class IfMissing : std::uint8_t { make, refuse };

// Null: the faults are told. The clock has to outlive the store.
std::unique_ptr<store::Store> open_command_store(Context& context, const config::Settings& settings, const SystemClock& clock, IfMissing if_missing);

// The store, and a tenant's number in it.
struct TenantStore {
  std::unique_ptr<store::Store> store;
  model::TenantId tenant = 0;
};

// Nothing: the faults are told; there may be no such tenant.
std::optional<TenantStore> open_tenant_store(Context& context, const config::Settings& settings, const SystemClock& clock, const std::string& tenant);

}  // namespace runwarden::cli
