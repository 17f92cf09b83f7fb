// Purge, backup, compaction and upgrade: what is there afterwards, and what is there when they were stopped.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "maintenance_store.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/upgrade.h"
#include "support/files.h"

namespace runwarden::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OfflineMaintenance : public MaintenanceTest {
 protected:
  Purged purged(const std::string& tenant, std::int64_t before_ms = kEndMs) {
    const auto result = purge(maintenance(), {tenant, before_ms});
    if (!result.ok()) throw std::runtime_error(result.error().detail);
    return *result;
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 0777;
  }
  // Runs it in a process that dies of SIGKILL when it tells its progress for that time; whether it came to that.
  template <class Work>
  bool killed_at(int at, Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      MaintenanceContext dying = maintenance();
      int told = 0;
      dying.on_progress = [&told, at](const Progress&) {
        if (++told == at) ::kill(::getpid(), SIGKILL);
        return true;
      };
      work(dying);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  }
  // Returns when the store has done its housekeeping once more: that follows each turn of its writing thread.
  static void let_it_tend(Store& store) {
    for (int turn = 0; turn < 2; ++turn) {
      std::promise<void> turned;
      store.run_between([&] { turned.set_value(); });
      turned.get_future().wait();
    }
  }
  MaintenanceContext stopping(int at) {
    MaintenanceContext maintenance = this->maintenance();
    maintenance.on_progress = [told = 0, at](const Progress&) mutable { return ++told < at; };
    return maintenance;
  }
};

TEST_F(OfflineMaintenance, Purge_LeavesNothingOfTheTenantAndEverythingOfOthers) {
  fill();
  const Rows before = rows(path_);
  const Purged gone = purged("acme");
  EXPECT_EQ(gone.gone.runs, 24u);
  EXPECT_EQ(gone.gone.failures, 20u + 5u + 3u + 1u);
  EXPECT_EQ(gone.gone.triage, before.at("triage").size());
  EXPECT_EQ(gone.gone.deliveries, before.at("deliveries").size());
  EXPECT_EQ(gone.gone.events, 12u);
  EXPECT_EQ(gone.gone.policies, 4u);
  EXPECT_EQ(gone.gone.changes, 6u);
  EXPECT_EQ(gone.gone.idempotency_keys, before.at("idempotency").size() - 3);
  const Rows after = rows(path_);
  for (const auto& [table, entries] : before) {
    if (table == "endpoints") {  // they stay as keys do, and have nothing to send any more
      EXPECT_EQ(after.at(table).size(), entries.size());
      continue;
    }
    if (table == "keys" || table == "tenants") {
      EXPECT_EQ(after.at(table), entries);
      continue;
    }
    const std::size_t at = table == "idempotency" ? 4 : 0;
    for (const auto& [key, value] : entries) {
      const bool others = read_be(key, at, 4) == 1;
      EXPECT_EQ(after.contains(table) && after.at(table).contains(key), others) << table;
    }
  }
  expect_good(path_);
  EXPECT_EQ(exported("acme").find(R"("record":"run")"), std::string::npos);
}

TEST_F(OfflineMaintenance, PurgeBefore_TakesTheOlderRecordsWithAllThatIsTheirs) {
  fill();
  std::int64_t middle_ms = 0;
  {
    const auto store = open(path_);
    middle_ms = store->find_run(2, "client-9")->key.time_ms;
  }
  const Purged gone = purged("acme", middle_ms);
  EXPECT_EQ(gone.gone.runs, 9u);
  EXPECT_EQ(gone.gone.changes, 0u);
  {
    const auto store = open(path_);
    EXPECT_FALSE(store->find_run(2, "client-6"));
    EXPECT_TRUE(store->find_run(2, "client-9"));
    EXPECT_EQ(store->count_runs(2, kBeginningMs, kEndMs), 15u);
  }
  expect_good(path_);
}

// The times of the tenant's runs, in their order.
std::vector<std::int64_t> times_of_runs(const Rows& rows, model::TenantId tenant) {
  std::vector<std::int64_t> times;
  for (const auto& [key, value] : rows.at("runs")) {
    if (tenant_of(key) == tenant) times.push_back(record_key_of(key).time_ms);
  }
  return times;
}

TEST_F(OfflineMaintenance, CountPurge_CountsWhatThePurgeThenDeletes) {
  for (const bool spoiled : {false, true}) {
    for (const std::size_t eighths : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
      fs::remove_all(path_);
      fill();
      for (const char* table : {"runs", "failures", "policies", "idempotency"}) {
        if (spoiled) spoil_last(path_, table);
      }
      const Rows before = rows(path_);
      const auto times = times_of_runs(before, 2);
      // Between a run and its failures, too.
      const std::int64_t before_ms = eighths == 8 ? kEndMs : times[times.size() * eighths / 8] + 1;
      const auto counted = count_purge(maintenance(), {"acme", before_ms});
      ASSERT_TRUE(counted.ok()) << counted.error().detail;
      EXPECT_EQ(rows(path_), before) << "nothing is deleted";
      const Expired gone = purged("acme", before_ms).gone;
      EXPECT_GT(gone.total(), 0u);
      EXPECT_EQ(counted->runs, gone.runs);
      EXPECT_EQ(counted->failures, gone.failures);
      EXPECT_EQ(counted->events, gone.events);
      EXPECT_EQ(counted->changes, gone.changes);
      EXPECT_EQ(counted->policies, gone.policies);
      EXPECT_EQ(counted->idempotency_keys, gone.idempotency_keys);
      EXPECT_EQ(counted->crash_marks, gone.crash_marks);
      EXPECT_EQ(counted->triage, gone.triage);
      EXPECT_EQ(counted->deliveries, gone.deliveries);
    }
  }
  EXPECT_FALSE(count_purge(maintenance(), {"nobody"}).ok());
  EXPECT_THAT(count_purge(stopping(1), {"acme"}).error().detail, HasSubstr("interrupted"));
}

TEST_F(OfflineMaintenance, Purge_TakesUnreadableRecordsAndWhatTheyLeftInIndexes) {
  fill();
  for (const char* table : {"runs", "failures", "policies", "idempotency"}) spoil_last(path_, table);
  EXPECT_GT(purged("acme").leftovers, 0u);
  for (const auto& [table, entries] : rows(path_)) {
    if (table == "keys" || table == "tenants" || table == "endpoints") continue;
    for (const auto& [key, value] : entries) EXPECT_EQ(read_be(key, table == "idempotency" ? 4 : 0, 4), 1u) << table;
  }
  expect_good(path_);
}

TEST_F(OfflineMaintenance, PurgeThenCompact_LeavesNoByteOfItsTextInTheFile) {
  fill();
  ASSERT_NE(test::read_file(path_ / "data.mdb").find("refunds of acme"), std::string::npos);
  purged("acme");
  const auto compacted = compact(maintenance());
  ASSERT_TRUE(compacted.ok()) << compacted.error().detail;
  EXPECT_LT(compacted->bytes_after, compacted->bytes_before);
  const std::string bytes = test::read_file(path_ / "data.mdb");
  EXPECT_EQ(bytes.find("refunds of acme"), std::string::npos);
  EXPECT_EQ(bytes.find("ended-and-open"), std::string::npos);
}

TEST_F(OfflineMaintenance, PurgeOfAnUnknownTenant_IsRefused) {
  fill();
  const auto result = purge(maintenance(), {"nobody"});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().detail, HasSubstr("no tenant \"nobody\""));
}

TEST_F(OfflineMaintenance, ServiceBesideAPurge_ForgetsItsOpenRuns) {
  fill();
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = open(path_);
    const std::uint64_t before = store->open_runs().count;
    char byte = 'r';
    if (::write(ready[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(9);
    clock_.advance_ms(2000);
    let_it_tend(*store);
    post(*store, 2, "new", "e1", false);
    clock_.advance_ms(2000);
    let_it_tend(*store);
    ::_exit(static_cast<int>(before * 10 + store->open_runs().count));
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  purged("acme");
  ASSERT_EQ(::write(go[1], "g", 1), 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 31) << "three were open, then the new one alone";
  for (const int end : {go[0], go[1], ready[0], ready[1]}) ::close(end);
}

TEST_F(OfflineMaintenance, Backup_IsTheSameStoreForItsOwnerAlone) {
  fill();
  std::ofstream(path_ / "cursor.secret") << "secret";
  const fs::path target = folder_.path() / "backup";
  const auto copied = back_up(maintenance(), target);
  ASSERT_TRUE(copied.ok()) << copied.error().detail;
  EXPECT_EQ(mode_of(target), 0700u);
  EXPECT_EQ(mode_of(target / "data.mdb"), 0600u);
  EXPECT_EQ(mode_of(target / "cursor.secret"), 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(target), {}), 2);
  EXPECT_EQ(rows(target), rows(path_));
  EXPECT_EQ(copied->bytes, fs::file_size(target / "data.mdb"));
}

TEST_F(OfflineMaintenance, BackupIntoAnEmptyFolder_IsMadeInsideOfIt) {
  fill();
  const fs::path target = folder_.path() / "mounted";
  fs::create_directory(target);
  ASSERT_TRUE(back_up(maintenance(), target).ok());
  EXPECT_EQ(rows(target), rows(path_));
  EXPECT_FALSE(fs::exists(target / ".partial"));
}

TEST_F(OfflineMaintenance, BackupWhereSomethingStands_IsRefusedAndLeavesItAlone) {
  fill();
  const fs::path target = folder_.path() / "backup";
  fs::create_directory(target);
  std::ofstream(target / "mine") << "mine";
  const auto refused = back_up(maintenance(), target);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("is not empty and was left alone"));
  EXPECT_EQ(test::read_file(target / "mine"), "mine");
  EXPECT_FALSE(back_up(maintenance(), path_).ok());
  EXPECT_FALSE(back_up(maintenance(), folder_.path() / "no" / "folder").ok());
}

TEST_F(OfflineMaintenance, BackupIntoTheStoreItself_IsRefused) {
  fill();
  const auto refused = back_up(maintenance(), path_ / "backup");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("lies in the store itself; name a folder elsewhere"));
  EXPECT_FALSE(fs::exists(path_ / "backup"));
}

TEST_F(OfflineMaintenance, BackupWhereAnotherIsWritten_IsRefusedAndLeavesItAlone) {
  fill();
  for (const bool there : {false, true}) {
    const fs::path target = folder_.path() / (there ? "mounted" : "backup");
    if (there) fs::create_directory(target);
    std::string refusal;
    auto first = maintenance();
    first.on_progress = [&](const auto&) {
      if (!refusal.empty()) return true;
      const auto second = back_up(maintenance(), target);
      refusal = second.ok() ? "none" : second.error().detail;
      return true;
    };
    ASSERT_TRUE(back_up(first, target).ok());
    EXPECT_THAT(refusal, HasSubstr("another copy is being written to"));
    EXPECT_EQ(rows(target), rows(path_));
  }
}

TEST_F(OfflineMaintenance, BackupThatIsStoppedOrKilled_LeavesNothingThatLooksFinished) {
  fill();
  const fs::path target = folder_.path() / "backup";
  int stopped = 0;
  for (int at = 1; at < 40 && !back_up(stopping(at), target).ok(); ++at, ++stopped) {
    EXPECT_FALSE(fs::exists(target)) << at;
    EXPECT_FALSE(fs::exists(target.string() + ".partial")) << at;
  }
  EXPECT_GT(stopped, 3);
  fs::remove_all(target);
  for (const int at : {1, 3, 6}) {
    ASSERT_TRUE(killed_at(at, [&](const MaintenanceContext& maintenance) { return back_up(maintenance, target).ok(); }));
    EXPECT_FALSE(fs::exists(target)) << at;
  }
  ASSERT_TRUE(back_up(maintenance(), target).ok());
  EXPECT_FALSE(fs::exists(target.string() + ".partial"));
  expect_good(target);
}

TEST_F(OfflineMaintenance, BackupOfADamagedStore_IsRefused) {
  fill();
  tamper(path_, "tally", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    cursor.last();
    cursor.erase();
  });
  const auto refused = back_up(maintenance(), folder_.path() / "backup");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("run `runwarden verify`"));
  EXPECT_FALSE(fs::exists(folder_.path() / "backup"));
}

TEST_F(OfflineMaintenance, Compact_KeepsEveryRow) {
  fill();
  const Rows before = rows(path_);
  ASSERT_TRUE(compact(maintenance()).ok());
  EXPECT_EQ(rows(path_), before);
  EXPECT_EQ(mode_of(path_ / "data.mdb"), 0600u);
  EXPECT_FALSE(fs::exists(path_ / kUnfinishedCopy));
  const auto store = open(path_);
  EXPECT_EQ(commit(*store, sample_run(2, new_key(*store))).outcome, WriteResult::Outcome::stored);
}

TEST_F(OfflineMaintenance, CompactThatIsStoppedOrKilled_LeavesTheOldStore) {
  fill();
  const Rows before = rows(path_);
  for (int at = 1; !compact(stopping(at)).ok(); at += 9) {
    ASSERT_LT(at, 400);
    EXPECT_EQ(rows(path_), before) << at;
  }
  for (const int at : {1, 3, 6}) {
    ASSERT_TRUE(killed_at(at, [](const MaintenanceContext& maintenance) { return compact(maintenance).ok(); }));
    EXPECT_EQ(rows(path_), before) << at;
  }
  open(path_);
  EXPECT_FALSE(fs::exists(path_ / kUnfinishedCopy)) << "what an interrupted one left goes at the next start";
}

TEST_F(OfflineMaintenance, CompactWhileAnotherCommandHasItOpen_IsRefused) {
  fill();
  const StoreUse other = StoreUse::take(path_, StoreUse::Kind::shared);
  const auto refused = compact(maintenance());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("another runwarden command has it open"));
}

TEST_F(OfflineMaintenance, OpeningWhileItIsCompacted_IsRefused) {
  fill();
  const StoreUse other = StoreUse::take(path_, StoreUse::Kind::alone);
  LmdbSettings settings;
  settings.path = path_;
  settings.map_size = 0;
  const auto refused = open_lmdb(settings, clock_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("is compacting it or importing into it"));
}

// As the service does while it serves.
void count_groups(Store& store) {
  while (store.groups().build(3)) {
  }
}

// A store as format 0 left it: without a mark of its format and without counts.
void make_older(const fs::path& path) {
  OpenStore store(path, 0, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
  WriteTxn txn = store.env.write();
  txn.erase(store.tables.meta.handle, meta::kFormatVersion);
  {
    Cursor cursor(txn, store.tables.tally.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) cursor.erase();
  }  // LMDB frees what is left of a writer's cursors when it commits
  txn.commit();
}

TEST_F(OfflineMaintenance, OlderStore_IsUpgradedToTheVeryRows) {
  fill();
  const Rows before = rows(path_);
  make_older(path_);
  count_groups(*open(path_, LmdbSettings::IfOlder::upgrade));
  EXPECT_EQ(rows(path_), before);
  expect_good(path_);
}

TEST_F(OfflineMaintenance, OlderStoreBesideAService_IsLeftAlone) {
  fill();
  make_older(path_);
  LmdbSettings settings;
  settings.path = path_;
  settings.map_size = 0;
  const auto refused = open_lmdb(settings, clock_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().detail, HasSubstr("has format 0, but this program writes format 2; make a copy of its folder"));
  EXPECT_FALSE(verify(maintenance()).ok());
  open(path_, LmdbSettings::IfOlder::upgrade);
  EXPECT_TRUE(open_lmdb(settings, clock_).ok());
}

TEST_F(OfflineMaintenance, UpgradeThatIsNotCommitted_LeavesTheOlderStore) {
  fill();
  make_older(path_);
  LmdbSettings settings;
  settings.path = path_;
  settings.map_size = kMapBytes;
  settings.if_older = LmdbSettings::IfOlder::upgrade;
  settings.machine.commit_fault = [] { return EIO; };
  EXPECT_FALSE(open_lmdb(settings, clock_).ok());
  settings.machine.commit_fault = {};
  settings.if_older = LmdbSettings::IfOlder::refuse;
  const auto still_older = open_lmdb(settings, clock_);
  ASSERT_FALSE(still_older.ok());
  EXPECT_THAT(still_older.error().detail, HasSubstr("has format 0"));
}

TEST_F(OfflineMaintenance, EveryFormat_HasTheStepToTheNext) {
  std::uint64_t format = 0;
  for (const UpgradeStep& step : upgrade_steps()) EXPECT_EQ(step.from, format++);
  EXPECT_EQ(format, kFormat);
}

// Makes it: for the day when a new format begins, on the last commit of the old one.
TEST_F(OfflineMaintenance, DISABLED_WriteTheShippedStore) {
  fill();
  ASSERT_TRUE(compact(maintenance()).ok());
  fs::copy_file(path_ / "data.mdb", fs::path(RUNWARDEN_TEST_DATA) / ("store-format-" + std::to_string(kFormat) + ".mdb"));
}

// The store that stands in tests/data was written by the first release of this format.
TEST_F(OfflineMaintenance, ShippedStoreOfFormat1_OpensWithEveryRecord) {
  fs::create_directory(path_);
  fs::copy_file(fs::path(RUNWARDEN_TEST_DATA) / "store-format-1.mdb", path_ / "data.mdb");
  fs::permissions(path_ / "data.mdb", fs::perms::owner_read | fs::perms::owner_write);
  {
    const auto store = open(path_, LmdbSettings::IfOlder::upgrade);
    EXPECT_EQ(store->runs(2, {.range = {.limit = 100}}).items.size(), 23u);
    EXPECT_EQ(store->open_runs().count, 3u);
    EXPECT_EQ(store->find_run(2, "ended-and-open")->revision, 2u);
    EXPECT_EQ(store->fingerprint_stats(2, "f1").failures, 10u);
    EXPECT_EQ(store->policies(2, {}).items.size(), 4u);
    EXPECT_EQ(store->keys().size(), 2u);
    EXPECT_TRUE(store->groups().group_totals(2).building);
    count_groups(*store);
    EXPECT_FALSE(store->groups().group_totals(2).building);
    const auto group = store->groups().find_cluster(2, model::cluster_id(model::cluster_key("f1")));
    ASSERT_TRUE(group);
    EXPECT_EQ(group->count, 10u);
    EXPECT_EQ(commit(*store, sample_run(2, new_key(*store))).outcome, WriteResult::Outcome::stored);
  }
  expect_good(path_);
}

// With every body and every event spoiled: whatever reads one of them is found out.
TEST_F(OfflineMaintenance, Outlines_AreReadFromHeadsAlone) {
  const model::RunOutline outline{R"({"runId":"kept"})", R"("said")", "[]", R"([{"key":"k"}])", "[]", 3, 1};
  {
    const auto store = open(path_);
    fill(*store, "acme");
    RunWrite write = sample_run(1, new_key(*store), "kept");
    write.run.outline = outline;
    ASSERT_EQ(commit(*store, write).outcome, WriteResult::Outcome::stored);
  }
  expect_good(path_);
  for (const char* table : {"runs", "former", "events"}) {
    tamper(path_, table, [](WriteTxn& txn, const Table& in) {
      std::vector<std::pair<std::string, std::string>> rows;
      {
        Cursor cursor(txn, in.handle);
        for (bool more = cursor.first(); more; more = cursor.next()) rows.emplace_back(cursor.key(), cursor.value());
      }
      for (auto& [key, value] : rows) {
        if (value.empty()) continue;
        value.back() = static_cast<char>(value.back() ^ 1);
        if (value[1] != 0) txn.put(in.handle, key, value);  // it has a body
      }
    });
  }
  const auto store = open(path_);
  RunQuery query;
  query.outlines = OutlineToo::yes;
  query.range.limit = 100;
  const auto page = store->runs(1, query);
  EXPECT_EQ(page.items.size(), 24u);
  EXPECT_EQ(page.items.at(0).outline, outline);
  EXPECT_EQ(store->run_head(1, "kept", std::nullopt)->outline, outline);
  EXPECT_TRUE(store->run_head(1, "open", std::nullopt)->outline) << "an open run has one from its first event on";
  EXPECT_THROW(store->find_run(1, "kept"), StoreError);
}

TEST_F(OfflineMaintenance, ListWithARecordThatCannotBeRead_GoesOnAndTellsOfIt) {
  fill();
  for (const char* table : {"runs", "failures", "changes", "policies"}) spoil_last(path_, table);
  std::vector<std::string> told;
  LmdbSettings settings;
  settings.path = path_;
  settings.map_size = 0;
  settings.listener.on_unreadable = [&](const std::string& text) { told.push_back(text); };
  const auto store = open_lmdb(settings, clock_);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->runs(2, {.range = {.limit = 100}}).items.size(), 23u);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], HasSubstr("database \"runs\", key 0x00000002"));
  EXPECT_EQ((*store)->failures(2, {.range = {.limit = 100}}).items.size(), 23u);
  EXPECT_EQ((*store)->policies(2, {}).items.size(), 3u);
  EXPECT_EQ((*store)->changes(2, {}).items.size(), 5u);
}

}  // namespace
}  // namespace runwarden::store
