#include "cli/command_store.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "part_settings/part_settings.h"
#include "store/lmdb/store_folder.h"
#include "store/open_store.h"

namespace runwarden::cli {

std::unique_ptr<store::Store> open_command_store(Context& context, const config::Settings& settings, CommandClock& clock,
                                                 IfMissing if_missing) {
  const std::filesystem::path folder = settings.store.path;
  const bool in_folder = settings.store.driver == "lmdb";
  if (const Status lost = in_folder ? store::refuse_lost_store(folder) : Status(Nothing{}); !lost.ok()) {
    context.refuse(lost.error().detail);
    return nullptr;
  }
  const bool exists = !in_folder || store::look_at_folder(folder) == store::FolderState::store;
  if (!exists && if_missing == IfMissing::refuse) {
    context.refuse("no store at " + folder.string() +
                   " is visible to this user; check --config and --data-dir, or create a key first: runwarden keys create");
    return nullptr;
  }
  store::StoreSettings opening;
  opening.state_dir = folder;
  opening.postgres = part_settings::postgres_target(settings);
  opening.max_bytes = exists ? 0 : static_cast<std::uint64_t>(settings.store.map_size_bytes);
  opening.max_pending_messages = static_cast<std::uint64_t>(settings.webhooks.max_pending);
  opening.listener.on_shared_clock = [&clock](std::shared_ptr<const Clock> shared) { clock.follow(std::move(shared)); };
  // The outcome of the current write is unknown, and its caller never gets an answer.
  opening.listener.on_fatal = [](const std::string& text) {
    std::fprintf(stderr, "runwarden: %s\n", text.c_str());
    std::_Exit(kWanting);
  };
  auto opened = store::open_store(opening, clock, store::Role::command);
  if (!opened.ok()) {
    context.refuse(opened.error().detail);
    return nullptr;
  }
  return std::move(*opened);
}

model::TenantId find_tenant(Context& context, store::Store& store, const std::string& tenant) {
  for (const model::Tenant& one : store.tenants()) {
    if (one.name == tenant) return one.id;
  }
  context.refuse("no tenant \"" + tenant + "\"; `runwarden keys list` shows the tenants that have keys");
  return 0;
}

std::optional<TenantStore> open_tenant_store(Context& context, const config::Settings& settings, CommandClock& clock,
                                             const std::string& tenant) {
  TenantStore opened{open_command_store(context, settings, clock, IfMissing::refuse), 0};
  if (!opened.store) return std::nullopt;
  opened.tenant = find_tenant(context, *opened.store, tenant);
  return opened.tenant != 0 ? std::optional<TenantStore>(std::move(opened)) : std::nullopt;
}

}  // namespace runwarden::cli
