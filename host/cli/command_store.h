// Opens the configured store for a command that reads or writes some of its records. A service may be using the store. [main] only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/followed_clock.h"
#include "cli/context.h"
#include "store/store.h"

namespace runwarden::cli {

// The machine's clock, until a store is opened whose hosts share another clock.
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

// Null if the store cannot be opened; the faults have been reported. The clock must outlive the store.
std::unique_ptr<store::Store> open_command_store(Context& context, const config::Settings& settings, CommandClock& clock,
                                                 IfMissing if_missing);

// The tenant's number; 0 if the store has no such tenant, which has then been reported.
model::TenantId find_tenant(Context& context, store::Store& store, const std::string& tenant);

// A store and a tenant's number in it.
struct TenantStore {
  std::unique_ptr<store::Store> store;
  model::TenantId tenant = 0;
};

// Nothing if the store cannot be opened or has no such tenant; the faults have been reported.
std::optional<TenantStore> open_tenant_store(Context& context, const config::Settings& settings, CommandClock& clock,
                                             const std::string& tenant);

}  // namespace runwarden::cli
