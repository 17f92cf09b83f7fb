// The store of the configuration for a command that reads or writes some of its records, beside a serving process or without one.
// [main] only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/followed_clock.h"
#include "cli/context.h"
#include "store/store.h"

namespace runwarden::cli {

// The machine's clock, until a store is opened whose hosts go by another one.
class CommandClock final : public Clock {
 public:
  void follow(std::shared_ptr<const Clock> shared) { followed_.follow(std::move(shared)); }
  std::int64_t wall_ms() const override { return followed_.wall_ms(); }
  std::int64_t monotonic_ns() const override { return followed_.monotonic_ns(); }
  std::int64_t elapsed_ns() const override { return followed_.elapsed_ns(); }

 private:
  SystemClock machine_;
  FollowedClock followed_{machine_};
};

enum class IfMissing : std::uint8_t { make, refuse };

// Null: the faults are told. The clock has to outlive the store.
std::unique_ptr<store::Store> open_command_store(Context& context, const config::Settings& settings, CommandClock& clock, IfMissing if_missing);

// The store, and a tenant's number in it.
struct TenantStore {
  std::unique_ptr<store::Store> store;
  model::TenantId tenant = 0;
};

// Nothing: the faults are told; there may be no such tenant.
std::optional<TenantStore> open_tenant_store(Context& context, const config::Settings& settings, CommandClock& clock, const std::string& tenant);

}  // namespace runwarden::cli
