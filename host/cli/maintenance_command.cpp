#include "cli/maintenance_command.h"

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/time_text.h"
#include "config/core_types.h"
#include "part_settings/part_settings.h"
#include "store/engines/engine_module.h"
#include "store/lmdb/store.h"
#include "store/lmdb/store_folder.h"
#include "store/open_store.h"

namespace runwarden::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

extern "C" void note_signal(int) {
  asked_to_stop.store(true, std::memory_order_relaxed);
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int number : kSignals) ::sigaction(number, &action, nullptr);
}

}  // namespace

MaintenanceCommand::MaintenanceCommand(Context& context, Signals signals) : context_(context), progress_(context.err) {
  asked_to_stop = false;
  if (signals == Signals::stop_in_order) handle_signals(note_signal);
}

MaintenanceCommand::~MaintenanceCommand() {
  handle_signals(SIG_DFL);
}

bool MaintenanceCommand::interrupted() {
  return asked_to_stop.load(std::memory_order_relaxed);
}

bool MaintenanceCommand::find_store(IfNoStore if_none) {
  if (!settings_) settings_ = context_.settings();
  if (!settings_) return false;
  if (in_database()) return if_none == IfNoStore::refuse || find_schema();
  const std::filesystem::path folder = settings_->store.path;
  if (const Status lost = store::refuse_lost_store(folder); !lost.ok()) {
    context_.refuse(lost.error().detail);
    return false;
  }
  if (store::look_at_folder(folder) == store::FolderState::store) return true;
  if (if_none == IfNoStore::refuse) {
    context_.refuse("no store at " + folder.string() + " is visible to this user; check --config and --data-dir");
    return false;
  }
  return make_store();
}

bool MaintenanceCommand::make_store() {
  store::StoreSettings opening;
  opening.postgres = part_settings::postgres_target(*settings_);
  opening.state_dir = settings_->store.path;
  opening.max_bytes = static_cast<std::uint64_t>(settings_->store.map_size_bytes);
  if (settings_->ledger.enabled) opening.ledger = store::StoreSettings::Ledger::on;
  const auto made = store::open_store(opening, clock_, store::Role::command);
  if (!made.ok()) context_.refuse(made.error().detail);
  return made.ok();
}

// Makes the schema of an empty database.
bool MaintenanceCommand::find_schema() {
  const auto engine = store::postgres_engine();
  if (!engine.ok()) return context_.refuse(engine.error().detail) == kFine;
  const auto schema = (*engine)->migrate(*part_settings::postgres_target(*settings_), clock_, false);
  if (!schema.ok()) return context_.refuse(schema.error().detail) == kFine;
  return schema->version > 0 || make_store();
}

bool MaintenanceCommand::in_database() const {
  return settings_->store.driver == "postgres";
}

bool MaintenanceCommand::find_folder(const char* instead) {
  if (!settings_) settings_ = context_.settings();
  if (!settings_) return false;
  if (!in_database()) return true;
  context_.refuse(std::string("store.driver is postgres: the records are in a database; use ") + instead);
  return false;
}

bool MaintenanceCommand::find_stopped_store(IfNoStore if_none) {
  if (!settings_) settings_ = context_.settings();
  if (!settings_) return false;
  if (in_database()) return find_store(if_none);  // a database accepts concurrent writers
  if (if_none == IfNoStore::refuse && !find_store(if_none)) return false;
  std::error_code ignored;
  const bool had_folder = std::filesystem::exists(settings_->store.path, ignored);
  auto lock = store::ServiceLock::take(settings_->store.path);
  if (!lock.ok()) {
    context_.refuse(lock.error().detail);
    return false;
  }
  lock_.emplace(std::move(*lock));
  made_folder_ = !had_folder;
  made_store_ = store::look_at_folder(settings_->store.path) == store::FolderState::no_store;
  return find_store(if_none);
}

void MaintenanceCommand::undo_making() {
  if (!made_store_) return;
  const std::filesystem::path folder = settings_->store.path;
  store::remove_empty_store(folder);
  if (!made_folder_ || store::look_at_folder(folder) != store::FolderState::no_store) return;
  std::error_code ignored;
  std::filesystem::remove(folder / "service.lock", ignored);
  std::filesystem::remove(folder, ignored);  // unless something else is in it
}

store::MaintenanceContext MaintenanceCommand::maintenance() {
  // Beside a serving process, the map keeps the size that process gave it; alone, it gets the size that the service will use.
  const std::uint64_t max_bytes = lock_ ? static_cast<std::uint64_t>(settings_->store.map_size_bytes) : 0;
  return {settings_->store.path,
          clock_,
          [this](const store::Progress& progress) {
            progress_.show(progress);
            return !interrupted();
          },
          max_bytes,
          settings_->page.dimensions,
          static_cast<std::uint64_t>(settings_->limits.max_clusters),
          part_settings::postgres_target(*settings_)};
}

int MaintenanceCommand::refuse(const Error& error) {
  clear_progress();
  return context_.refuse(error.detail);
}

std::optional<std::int64_t> point_in_time(std::string_view text, std::int64_t now_ms) {
  if (const auto time = parse_time(text)) return time;
  if (const auto ago = config::duration_ms(text)) return now_ms - *ago;
  return std::nullopt;
}

std::string check_point_in_time(const std::string& text) {
  if (point_in_time(text, 0)) return "";
  return "expected a time such as 2026-11-01T00:00:00Z, or an age such as 30d, got \"" + text + "\"";
}

}  // namespace runwarden::cli
