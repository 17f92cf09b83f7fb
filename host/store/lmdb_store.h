// The store on one machine: an LMDB environment in a folder of its own.
//
// Other processes (the commands) may have the same folder open at the same time; in one process it can be open once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/clock_guard.h"
#include "base/result.h"
#include "store/store.h"

namespace runwarden::store {

// What the store asks of the machine. Empty: the machine is asked; tests put their own answers in.
struct MachineAnswers {
  std::function<std::uint64_t(const std::filesystem::path&)> disk_free_bytes;
  std::function<std::uint64_t(const std::filesystem::path&)> file_system_type;  // statfs(2)'s f_type
  std::function<int()> commit_fault;  // asked before each commit: 0, or the errno it is to fail with
};

struct LmdbSettings {
  std::filesystem::path path;  // made if it is not there
  // The most it may grow to; from 4 MiB. 0: as the store was made, which is what every process but the service asks for.
  std::uint64_t map_size = std::uint64_t{64} << 30;
  std::int64_t keep_idempotency_ms = std::int64_t{48} * 3600 * 1000;
  // What becomes of a store of an older format. Only who holds the service lock may upgrade it: an older service beside would
  // not know what it reads.
  enum class IfOlder { refuse, upgrade };
  IfOlder if_older = IfOlder::refuse;
  // Told of each record that a list passes over because it cannot be read: which, why, and the remedy. Any thread.
  std::function<void(const std::string& text)> on_unreadable;
  // Told once while the store opens, before anything in it goes by the clock.
  std::function<void(const ClockGuard::LastUse&)> on_last_use;
  // Told once, when a damaged page of the store's file is met. Any thread.
  std::function<void(const std::string& text)> on_damage;
  // What becomes of a folder that held a store whose file is gone, cut off or damaged. Begun anew, what is left of the file is
  // set aside under another name; a store that can be opened is opened.
  enum class IfLost { refuse, begin_anew };
  IfLost if_lost = IfLost::refuse;
  std::function<void(const std::string& text)> on_begun_anew;
  MachineAnswers machine;
};

// The folder of copies that are not finished, in a store's own: what stands there was interrupted, and goes.
constexpr const char* kUnfinishedCopy = "compacting";

// The clock has to outlive the store.
Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock);

}  // namespace runwarden::store
