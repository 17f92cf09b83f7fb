#include "store/lmdb_store.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "store/lmdb_env.h"
#include "store/lmdb_keys.h"
#include "store/lmdb_runs.h"
#include "store/room.h"
#include "store/tables.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr std::uint64_t kSmallestMap = std::uint64_t{4} << 20;
constexpr int kCounterBits = 40;  // of a seq, below the number of the start
constexpr std::int64_t kCheckReadersNs = 60'000'000'000;

class LmdbStore final : public Store {
 public:
  LmdbStore(const LmdbSettings& settings, const Clock& clock)
      : settings_(settings),
        clock_(clock),
        env_({.folder = settings.path, .map_size = settings.map_size, .databases = kMostTables, .machine = settings.machine}),
        room_(env_, clock) {
    WriteTxn txn = env_.write();
    tables_.each([&](Table& table) { table.handle = txn.open_database(table.name); });
    check_format(txn);
    start_ = read_meta(txn, tables_, meta::kStart) + 1;
    seq_ = start_ << kCounterBits;
    txn.commit();
  }

  void prepare(Write& write) override {
    std::visit([](auto& one) { prepare_run(one); }, write);
  }

  std::vector<WriteResult> commit(std::span<const Write> batch) override {
    refuse_after_fault();
    std::vector<WriteResult> results(batch.size());
    try {
      commit_range(batch, results);
    } catch (const LmdbFault& fault) {
      fail(fault);
    }
    return results;
  }

  std::uint64_t next_seq() override { return seq_.fetch_add(1, std::memory_order_relaxed); }

  std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) override {
    return reading([&](const Txn& txn) -> std::optional<model::RunRecord> {
      const auto place = find_run_place(txn, tables_, tenant, run_id);
      if (!place) return std::nullopt;
      auto stored = store::read_run(txn, tables_, tenant, *place);
      if (!stored) return std::nullopt;
      return std::move(stored->run);
    });
  }

  std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) override {
    return reading([&](const Txn& txn) -> std::optional<Replay> {
      const auto answered = find_answered(txn, tables_, tenant, identity, times());
      if (!answered) return std::nullopt;
      auto stored = store::read_run(txn, tables_, tenant, answered->record);
      if (!stored) return std::nullopt;
      return Replay{answered->idempotency.content, std::move(stored->run)};
    });
  }

  model::KeyRecord put_key(model::KeyRecord key) override {
    return writing([&](WriteTxn& txn) { return write_key(txn, tables_, std::move(key)); });
  }

  std::vector<model::KeyRecord> keys() override {
    return reading([&](const Txn& txn) { return read_keys(txn, tables_); });
  }

  std::uint64_t keys_version() override {
    return reading([&](const Txn& txn) { return read_meta(txn, tables_, meta::kKeysVersion); });
  }

  void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) override {
    writing([&](WriteTxn& txn) {
      write_key_uses(txn, tables_, last_used);
      return Nothing{};
    });
  }

  void tend() override {
    const std::int64_t now_ns = clock_.monotonic_ns();
    if (now_ns - readers_checked_ns_ < kCheckReadersNs) return;
    readers_checked_ns_ = now_ns;
    env_.check_readers();
  }

  Space space() override {
    return reading([&](const Txn& txn) { return room_.now(txn); });
  }

  Status writable() override {
    if (failed_.load(std::memory_order_acquire))
      return Error{Code::unavailable, "the store's disk failed; the service has to restart", {}, {}};
    const Space now = space();
    if (now.refusing) return Error{Code::unavailable, now.reason, {}, {}};
    return Nothing{};
  }

 private:
  void check_format(WriteTxn& txn) {
    const std::uint64_t found = read_meta(txn, tables_, meta::kFormatVersion);
    if (found == kFormat) return;
    if (found > kFormat) {
      throw StoreError("the store has format " + std::to_string(found) + ", this program knows up to " + std::to_string(kFormat) +
                       "; install the version of runwarden that wrote it, or a later one, or restore a backup made before it");
    }
    write_meta(txn, tables_, meta::kFormatVersion, kFormat);
  }

  IdempotencyTimes times() const { return {clock_.wall_ms(), settings_.keep_idempotency_ms}; }

  // What does not fit in one transaction is tried in halves, in order, down to the single writes that do not fit alone.
  void commit_range(std::span<const Write> batch, std::span<WriteResult> results) {
    if (batch.empty()) return;
    try {
      commit_whole(batch, results);
      return;
    } catch (const NoRoom& full) {
      if (batch.size() == 1) {
        room_.note_refused(bytes_of(batch.front()));
        results.front() = {Outcome::unavailable, {}, no_room_text(full.what())};
        return;
      }
    }
    const std::size_t half = batch.size() / 2;
    commit_range(batch.first(half), results.first(half));
    commit_range(batch.subspan(half), results.subspan(half));
  }

  void commit_whole(std::span<const Write> batch, std::span<WriteResult> results) {
    WriteTxn txn = env_.write();
    room_.begin();
    bool stored = false;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      results[i] = apply(txn, batch[i]);
      stored = stored || results[i].outcome == Outcome::stored;
    }
    // Numbers of this start are in the store from here on: the next start has to begin above them.
    if (stored && !start_noted_) write_meta(txn, tables_, meta::kStart, start_);
    txn.commit();
    start_noted_ = start_noted_ || stored;
    if (stored) room_.note_stored();
  }

  WriteResult apply(WriteTxn& txn, const Write& write) {
    try {
      WriteResult result = std::visit([&](const auto& one) { return apply_one(txn, one); }, write);
      if (result.outcome == Outcome::unavailable && result.detail.empty()) result.detail = no_room_text({});
      return result;
    } catch (const StoreError& unreadable) {
      return {Outcome::unavailable, {}, unreadable.what()};
    }
  }

  WriteResult apply_one(WriteTxn& txn, const RunWrite& write) {
    if (!write.prepared.empty()) return write_run(txn, tables_, room_, write, times());
    RunWrite prepared = write;
    prepare_run(prepared);
    return write_run(txn, tables_, room_, prepared, times());
  }

  static std::string no_room_text(std::string_view why) {
    std::string text = "the store has no room for this now; nothing of it was stored, send it again later";
    if (!why.empty()) text.append(" (").append(why).append(")");
    return text;
  }

  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>())) {
    try {
      const ReadTxn txn = env_.read();
      return use(static_cast<const Txn&>(txn));
    } catch (const LmdbFault& fault) {
      throw StoreError(std::string("store: cannot read: ") + fault.what());
    }
  }

  template <class Use>
  auto writing(Use use) -> decltype(use(std::declval<WriteTxn&>())) {
    refuse_after_fault();
    try {
      WriteTxn txn = env_.write();
      auto result = use(txn);
      txn.commit();
      return result;
    } catch (const NoRoom& full) {
      throw StoreError(no_room_text(full.what()));
    } catch (const LmdbFault& fault) {
      fail(fault);
    }
  }

  void refuse_after_fault() const {
    if (failed_.load(std::memory_order_acquire)) throw FatalStoreError("store: its disk failed before; the process has to end");
  }

  [[noreturn]] void fail(const LmdbFault& fault) {
    failed_.store(true, std::memory_order_release);
    throw FatalStoreError("store: \"" + settings_.path.string() + "\": " + fault.what() +
                          "; what was being written is in doubt, so the process has to end: look at the disk, then start again");
  }

  LmdbSettings settings_;
  const Clock& clock_;
  LmdbEnv env_;
  Tables tables_;
  Room room_;
  std::uint64_t start_ = 0;
  bool start_noted_ = false;
  std::atomic<std::uint64_t> seq_{0};
  std::int64_t readers_checked_ns_ = 0;
  std::atomic<bool> failed_{false};
};

Error cannot_open(const std::filesystem::path& path, const std::string& why) {
  return {Code::unavailable, "store: cannot open \"" + path.string() + "\": " + why, {}, {}};
}

std::uint64_t statfs_type(const std::filesystem::path& folder) {
  struct statfs found {};
  if (::statfs(folder.c_str(), &found) != 0) return 0;
  return static_cast<std::uint32_t>(found.f_type);
}

// Locks and mapped files of these do not hold between machines, or not at all.
bool is_network(std::uint64_t file_system_type) {
  constexpr std::array<std::uint64_t, 4> kNetworks = {0x6969 /* NFS */, 0xFF534D42 /* CIFS */, 0xFE534D42 /* SMB2 */, 0x517B /* SMB */};
  for (const std::uint64_t network : kNetworks) {
    if (file_system_type == network) return true;
  }
  return false;
}

Status make_folder(const LmdbSettings& settings) {
  std::error_code fault;
  const bool parents = settings.path.has_parent_path() && !std::filesystem::exists(settings.path.parent_path(), fault);
  if (parents) std::filesystem::create_directories(settings.path.parent_path(), fault);
  if (::mkdir(settings.path.c_str(), 0750) != 0 && errno != EEXIST) {
    const std::string why = std::strerror(errno);
    return cannot_open(settings.path, "the folder cannot be made: " + why + "; make it, owned by the user that runs the service");
  }
  const auto type = settings.machine.file_system_type ? settings.machine.file_system_type(settings.path) : statfs_type(settings.path);
  if (is_network(type)) {
    return cannot_open(settings.path, "it is on a network file system, where a store may be corrupted; put store.path on a local disk");
  }
  return Nothing{};
}

// The commands may be run by root; the service that uses the files later is not.
void give_files_to_owner_of_folder(const std::filesystem::path& path) {
  struct stat folder {};
  if (::geteuid() != 0 || ::stat(path.c_str(), &folder) != 0 || folder.st_uid == 0) return;
  for (const char* name : {"data.mdb", "lock.mdb"}) {
    const std::filesystem::path file = path / name;
    struct stat found {};
    if (::lstat(file.c_str(), &found) != 0 || found.st_uid != 0) continue;
    [[maybe_unused]] const int refused = ::lchown(file.c_str(), folder.st_uid, folder.st_gid);
  }
}

std::string open_fault_text(const LmdbFault& fault) {
  switch (fault.code) {
    case EACCES:
    case EPERM: return std::string(fault.what()) + "; run this as the user that owns the files";
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID: return std::string(fault.what()) + "; data.mdb there is no store of runwarden, or is damaged: restore a backup";
    case ENOMEM: return std::string(fault.what()) + "; the address space is too small for store.map_size: lower it, or raise `ulimit -v`";
    default: return fault.what();
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock) {
  if (settings.map_size != 0 && settings.map_size < kSmallestMap) {
    return Error{Code::bad_request, "store.map_size is " + std::to_string(settings.map_size) + " bytes; use at least 4 MiB", {}, {}};
  }
  if (Status made = make_folder(settings); !made.ok()) return std::move(made.error());
  try {
    auto store = std::make_unique<LmdbStore>(settings, clock);
    give_files_to_owner_of_folder(settings.path);
    return std::unique_ptr<Store>(std::move(store));
  } catch (const LmdbFault& fault) {
    return cannot_open(settings.path, open_fault_text(fault));
  } catch (const NoRoom& full) {
    return cannot_open(settings.path, std::string("there is no room to begin it: ") + full.what() + "; free some of the disk");
  } catch (const StoreError& refused) {
    return cannot_open(settings.path, refused.what());
  }
}

}  // namespace runwarden::store
