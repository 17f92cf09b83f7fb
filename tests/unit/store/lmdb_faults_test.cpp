// What the LMDB store does when the machine does not play along.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sample_records.h"
#include "store/lmdb/env.h"
#include "store/lmdb/service_lock.h"
#include "store/lmdb/store.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/files.h"
#include "support/sample_values.h"
#include "support/temp_folder.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using test::FakeClock;
using ::testing::HasSubstr;

// Text that does not compress.
std::string noise(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint64_t state = 88172645463325252;
  for (char& c : text) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    c = static_cast<char>(state);
  }
  return text;
}

class LmdbFaults : public ::testing::Test {
 protected:
  LmdbFaults() {
    settings_.path = folder_.path() / "store";
    settings_.map_size = 4 * kMiB;
    settings_.machine.disk_free_bytes = [this](const std::filesystem::path&) { return disk_free_; };
    settings_.machine.commit_fault = [this] { return commit_fault_; };
    settings_.listener.on_fatal = [this](const std::string&) { failed_ = true; };
  }

  std::unique_ptr<Store> open() {
    auto store = open_lmdb(settings_, clock_);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  RunWrite run(Store& store, const std::string& id, std::size_t bytes) {
    RunWrite write = sample_run(1, {clock_.wall_ms(), store.next_seq()}, id, id);
    write.run.document = noise(bytes);
    return write;
  }
  WriteResult commit(Store& store, RunWrite write) { return test::commit(store, std::move(write), &failed_); }
  // How many runs of that size it takes: fifty a transaction, then one by one. Each has an id of its own: where a transaction is refused, a
  // later one may still have room.
  int fill(Store& store, std::size_t bytes) {
    int stored = 0;
    int sent = 0;
    for (const int together : {50, 1}) {
      for (bool all = true; all;) {
        std::vector<Write> batch;
        for (int i = 0; i < together; ++i) {
          batch.push_back(run(store, "fill " + std::to_string(bytes) + " " + std::to_string(sent++), bytes));
        }
        for (const WriteResult& result : test::commit_together(store, batch)) {
          if (result.outcome == Outcome::unavailable) all = false;
          if (result.outcome == Outcome::stored) ++stored;
        }
      }
    }
    return stored;
  }

  FakeClock clock_;
  test::TempFolder folder_;
  LmdbSettings settings_;
  std::uint64_t disk_free_ = 1024 * kMiB;
  int commit_fault_ = 0;
  std::atomic<bool> failed_ = false;  // as the writing thread said
};

TEST_F(LmdbFaults, SmallestMap_StartsReady) {
  const auto store = open();
  EXPECT_TRUE(store->writable().ok());
  EXPECT_EQ(commit(*store, run(*store, "r", 1000)).outcome, Outcome::stored);
}

TEST_F(LmdbFaults, FullMap_RefusesRunsReadsOnAndTakesKeys) {
  const auto store = open();
  EXPECT_GT(fill(*store, 8000), 300);
  fill(*store, 100);
  const WriteResult refused = commit(*store, run(*store, "one more", 100));
  EXPECT_EQ(refused.outcome, Outcome::unavailable);
  EXPECT_THAT(refused.detail, HasSubstr("the store is full"));
  EXPECT_FALSE(store->find_run(1, "one more"));
  const Status writable = store->writable();
  ASSERT_FALSE(writable.ok());
  EXPECT_THAT(writable.error().detail, HasSubstr("store.map_size"));
  EXPECT_TRUE(store->find_run(1, "fill 8000 0"));
  EXPECT_EQ(commit(*store, run(*store, "fill 8000 0", 8000)).outcome, Outcome::replayed);
  model::KeyRecord key;
  key.id = "key_1";
  key.tenant_name = "acme";
  store->put_key(key);
  EXPECT_EQ(store->keys().size(), 1u);
}

TEST_F(LmdbFaults, FullMap_TakesRunsAgainWhenOldOnesWereDeleted) {
  const auto store = open();
  fill(*store, 8000);
  fill(*store, 100);
  EXPECT_FALSE(store->writable().ok());
  Retention retention;
  retention.runs_before_ms = kEndMs;
  for (int i = 0; i < 2; ++i) EXPECT_GT(store->expire(retention, 50).runs, 0u);
  EXPECT_TRUE(store->writable().ok());
  EXPECT_GT(fill(*store, 7000), 50);
  while (store->expire(retention, 200).more) continue;
  EXPECT_GT(fill(*store, 8001), 300);
}

TEST_F(LmdbFaults, SteadyLoadWithRetention_DoesNotGrowTheFile) {
  settings_.map_size = 64 * kMiB;
  const auto store = open();
  std::uint64_t grown = 0;
  Retention retention;
  for (int round = 0; round < 60; ++round) {
    std::vector<Write> batch;
    for (int i = 0; i < 50; ++i) batch.push_back(run(*store, std::to_string(round) + "/" + std::to_string(i), 4000));
    test::commit_together(*store, batch);
    clock_.advance_ms(1000);
    retention.runs_before_ms = clock_.wall_ms() - 5000;
    while (store->expire(retention, 200).more) continue;
    if (round == 15 || round == 30) grown = store->space().disk_bytes;  // the first time that it is read costs pages of its own
  }
  EXPECT_LE(store->space().disk_bytes, grown + grown / 10);
}

TEST_F(LmdbFaults, WriteLargerThanTheMap_DoesNotCostTheRestOfTheBatch) {
  const auto store = open();
  const std::vector<Write> batch{run(*store, "a", 1000), run(*store, "b", 5 * kMiB), run(*store, "c", 1000)};
  const auto results = test::commit_together(*store, batch);
  EXPECT_EQ(results[0].outcome, Outcome::stored);
  EXPECT_EQ(results[1].outcome, Outcome::unavailable);
  EXPECT_EQ(results[2].outcome, Outcome::stored);
  EXPECT_TRUE(store->find_run(1, "c"));
  EXPECT_TRUE(store->writable().ok());
}

TEST_F(LmdbFaults, FullDisk_RefusesAndRecoversByItself) {
  const auto store = open();
  EXPECT_EQ(commit(*store, run(*store, "a", 1000)).outcome, Outcome::stored);
  disk_free_ = 0;
  clock_.advance_ms(2000);
  const WriteResult refused = commit(*store, run(*store, "b", 100'000));
  EXPECT_EQ(refused.outcome, Outcome::unavailable);
  ASSERT_FALSE(store->writable().ok());
  EXPECT_THAT(store->writable().error().detail, HasSubstr("disk"));
  disk_free_ = 1024 * kMiB;
  EXPECT_EQ(commit(*store, run(*store, "b", 100'000)).outcome, Outcome::stored);
  EXPECT_TRUE(store->writable().ok());
}

TEST_F(LmdbFaults, NoSpaceAtCommit_RefusesAndRecoversByItself) {
  const auto store = open();
  commit_fault_ = ENOSPC;
  const std::vector<Write> batch{run(*store, "a", 1000), run(*store, "b", 1000)};
  for (const WriteResult& result : test::commit_together(*store, batch)) EXPECT_EQ(result.outcome, Outcome::unavailable);
  EXPECT_FALSE(store->writable().ok());
  EXPECT_FALSE(store->find_run(1, "a"));
  commit_fault_ = 0;
  for (const WriteResult& result : test::commit_together(*store, batch)) EXPECT_EQ(result.outcome, Outcome::stored);
  EXPECT_TRUE(store->writable().ok());
}

TEST_F(LmdbFaults, RefusalAtCommit_IsForgottenWhenNothingElseIsWrong) {
  const auto store = open();
  commit_fault_ = ENOSPC;
  commit(*store, run(*store, "a", 1000));
  commit_fault_ = 0;
  EXPECT_FALSE(store->writable().ok());
  clock_.advance_ms(10'000);
  EXPECT_TRUE(store->writable().ok());
}

TEST_F(LmdbFaults, IoErrorOfAFullDisk_IsARefusal) {
  const auto store = open();
  disk_free_ = 4096;
  commit_fault_ = EIO;
  EXPECT_EQ(commit(*store, run(*store, "a", 1000)).outcome, Outcome::unavailable);
}

// A limit on the size of this process's files.
class FileLimit {
 public:
  explicit FileLimit(std::uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit lower = before_;
    lower.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(LmdbFaults, FileAtTheLimitOfItsSize_RefusesDeletesAndRecoversByItself) {
  settings_.map_size = 64 * kMiB;
  const auto store = open();
  EXPECT_EQ(commit(*store, run(*store, "before", 1000)).outcome, Outcome::stored);
  {
    const FileLimit limit(4 * kMiB);
    clock_.advance_ms(2000);
    EXPECT_GT(fill(*store, 8000), 100);
    EXPECT_LE(std::filesystem::file_size(settings_.path / "data.mdb"), 4 * kMiB);
    ASSERT_FALSE(store->writable().ok());
    EXPECT_THAT(store->writable().error().detail, HasSubstr("LimitFSIZE="));
    EXPECT_TRUE(store->find_run(1, "before"));
    Retention retention;
    retention.runs_before_ms = kEndMs;
    EXPECT_GT(store->expire(retention, 50).runs, 0u);
  }
  clock_.advance_ms(10'000);
  EXPECT_TRUE(store->writable().ok());
  EXPECT_EQ(commit(*store, run(*store, "after", 5'000'000)).outcome, Outcome::stored);
  EXPECT_FALSE(failed_);
}

TEST_F(LmdbFaults, FileThatReachesTheLimitOfItsSizeInACommit_IsARefusal) {
  settings_.map_size = 64 * kMiB;
  const auto store = open();
  EXPECT_EQ(commit(*store, run(*store, "before", 1000)).outcome, Outcome::stored);
  const std::uint64_t bytes = std::filesystem::file_size(settings_.path / "data.mdb");
  for (const std::uint64_t beyond : {0, 10'000, 1'000'000}) {  // the last count of room is from before
    const FileLimit limit(bytes + beyond);
    EXPECT_EQ(commit(*store, run(*store, "too large", 3'000'000)).outcome, Outcome::unavailable) << beyond;
  }
  EXPECT_FALSE(failed_);
  EXPECT_EQ(commit(*store, run(*store, "too large", 3'000'000)).outcome, Outcome::stored);
  commit_fault_ = EFBIG;
  EXPECT_EQ(commit(*store, run(*store, "a", 1000)).outcome, Outcome::unavailable);
}

TEST_F(LmdbFaults, IoErrorAtCommit_IsFatalForGood) {
  const auto store = open();
  commit(*store, run(*store, "before", 1000));
  commit_fault_ = EIO;
  EXPECT_THROW(commit(*store, run(*store, "a", 1000)), FatalStoreError);
  commit_fault_ = 0;
  EXPECT_THROW(commit(*store, run(*store, "b", 1000)), FatalStoreError);
  EXPECT_THROW(store->put_key({}), FatalStoreError);
  EXPECT_FALSE(store->writable().ok());
  EXPECT_TRUE(store->find_run(1, "before"));
}

TEST_F(LmdbFaults, BadBytesInAValue_AreNamedAndCostOnlyThatRun) {
  {
    const auto store = open();
    RunWrite write = run(*store, "bad", 10);
    write.run.document = "PLAINLY-FOUND";
    commit(*store, write);
    commit(*store, run(*store, "good", 1000));
  }
  const auto file = settings_.path / "data.mdb";
  std::string bytes = test::read_file(file);
  int changed = 0;
  for (std::size_t at = bytes.find("PLAINLY"); at != std::string::npos; at = bytes.find("PLAINLY", at + 1), ++changed) bytes[at] = 'p';
  ASSERT_GT(changed, 0);
  std::ofstream(file, std::ios::binary) << bytes;
  const auto store = open();
  try {
    store->find_run(1, "bad");
    FAIL() << "the bad value was believed";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("database \"runs\", key 0x00000001"));
    EXPECT_THAT(error.what(), HasSubstr("checksum of the body"));
  }
  EXPECT_TRUE(store->find_run(1, "good"));
  const std::vector<Write> batch{run(*store, "bad", 10), run(*store, "next", 10)};
  const auto results = test::commit_together(*store, batch);
  EXPECT_EQ(results[0].outcome, Outcome::unavailable);
  EXPECT_THAT(results[0].detail, HasSubstr("checksum"));
  EXPECT_EQ(results[1].outcome, Outcome::stored);
}

// Each commit makes the file longer, and frees pages that it added.
TEST_F(LmdbFaults, OwnPages_AreFoundGoodWhileOthersCommit) {
  LmdbEnv env({.folder = folder_.path(), .map_size = 512 * kMiB, .databases = 1, .machine = {}});
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 1500; ++i) {
      WriteTxn txn = env.write();
      const MDB_dbi database = txn.open_database("growing");
      const std::string key = std::to_string(i);
      txn.put(database, key, std::string(40'000, 'x'));
      txn.put(database, key + "b", std::string(8'000, 'x'));
      txn.erase(database, key);
      txn.commit();
    }
    done = true;
  });
  std::string fault;
  while (!done) {
    const std::string found = env.fault_of_own_pages();
    if (!found.empty()) fault = found;
  }
  writer.join();
  EXPECT_EQ(fault, "");
}

TEST_F(LmdbFaults, NewerFormat_IsRefusedWithTheRemedy) {
  open();
  {
    LmdbEnv env({.folder = settings_.path, .map_size = 0, .databases = kMostTables, .machine = {}});
    WriteTxn txn = env.write();
    const MDB_dbi database = txn.open_database("meta");
    txn.put(database, "format", seal("format", KeyBytes().u64(kFormat + 1)));
    txn.commit();
  }
  const auto store = open_lmdb(settings_, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().detail, HasSubstr("has format 3"));
  EXPECT_THAT(store.error().detail, HasSubstr("install the version"));
}

TEST_F(LmdbFaults, OtherFileInItsPlace_IsRefusedAndLeftAlone) {
  ASSERT_EQ(::mkdir(settings_.path.c_str(), 0700), 0);
  std::ofstream(settings_.path / "data.mdb") << std::string(100'000, 'x');
  const auto store = open_lmdb(settings_, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().detail, HasSubstr("not a runwarden store"));
}

TEST_F(LmdbFaults, SecondOpeningInOneProcess_IsRefusedAlsoByAnotherName) {
  auto store = open();
  const auto other_name = folder_.path() / "link";
  std::filesystem::create_directory_symlink(settings_.path, other_name);
  LmdbSettings again = settings_;
  again.path = other_name;
  const auto second = open_lmdb(again, clock_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().detail, HasSubstr("already open in this process"));
  store.reset();
  EXPECT_TRUE(open_lmdb(again, clock_).ok());
}

TEST_F(LmdbFaults, NetworkFileSystem_IsRefused) {
  settings_.machine.file_system_type = [](const std::filesystem::path&) { return std::uint64_t{0x6969}; };
  const auto store = open_lmdb(settings_, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().detail, HasSubstr("local disk"));
}

TEST_F(LmdbFaults, MapTooSmall_IsRefused) {
  settings_.map_size = 4 * kMiB - 1;
  const auto store = open_lmdb(settings_, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().detail, HasSubstr("at least 4 MiB"));
}

TEST_F(LmdbFaults, FolderThatCannotBeMade_IsNamed) {
  std::ofstream(folder_.path() / "file") << "x";
  settings_.path = folder_.path() / "file" / "store";
  const auto store = open_lmdb(settings_, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().detail, HasSubstr((folder_.path() / "file" / "store").string()));
}

TEST_F(LmdbFaults, Files_AreNotForOthers) {
  const auto store = open();
  struct stat found {};
  ASSERT_EQ(::stat(settings_.path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0007, 0u);
  ASSERT_EQ(::stat((settings_.path / "data.mdb").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0077, 0u);
}

TEST_F(LmdbFaults, SecretThatWasCutShort_IsMadeAnew) {
  const auto store = open();
  const std::string secret = *store->secret("cursor");
  const auto file = settings_.path / "cursor.secret";
  struct stat found {};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  std::ofstream(file, std::ios::trunc) << "short";
  EXPECT_EQ(store->secret("cursor")->size(), 32u);
  EXPECT_NE(*store->secret("cursor"), secret);
}

TEST_F(LmdbFaults, SecretThatCannotBeMade_IsNamed) {
  const auto store = open();
  std::filesystem::create_directory(settings_.path / "cursor.secret");
  const auto secret = store->secret("cursor");
  ASSERT_FALSE(secret.ok());
  EXPECT_THAT(secret.error().detail, HasSubstr("cursor.secret"));
}

TEST_F(LmdbFaults, TryingAFolder_RefusesTheFilesThatOpeningItWould) {
  using Ledger = StoreSettings::Ledger;
  settings_.ledger = Ledger::on;
  open();
  ASSERT_TRUE(try_lmdb(settings_.path, Ledger::on).ok());
  const auto key = settings_.path / "ledger.key";
  const std::string good = test::read_file(key);
  for (const char* bytes : {"", "\xf3garble"}) {
    std::ofstream(key, std::ios::trunc) << bytes;
    EXPECT_FALSE(open_lmdb(settings_, clock_).ok());
    const Status tried = try_lmdb(settings_.path, Ledger::on);
    ASSERT_FALSE(tried.ok());
    EXPECT_THAT(tried.error().detail, HasSubstr("ledger.key"));
    EXPECT_TRUE(try_lmdb(settings_.path, Ledger::off).ok());
  }
  std::ofstream(key, std::ios::trunc) << good;
  for (const char* name : {"cursor.secret", "session.secret"}) {
    std::filesystem::create_directory(settings_.path / name);
    const Status tried = try_lmdb(settings_.path, Ledger::on);
    ASSERT_FALSE(tried.ok());
    EXPECT_THAT(tried.error().detail, HasSubstr(name));
    std::filesystem::remove(settings_.path / name);
  }
  EXPECT_TRUE(try_lmdb(settings_.path, Ledger::on).ok());
  EXPECT_FALSE(std::filesystem::exists(settings_.path / "cursor.secret"));
}

TEST(ServiceLock, SecondHolder_IsRefusedUntilTheFirstLetsGo) {
  test::TempFolder folder;
  {
    auto first = ServiceLock::take(folder.path());
    ASSERT_TRUE(first.ok());
    auto second = ServiceLock::take(folder.path());
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().detail, HasSubstr("stop the service"));
  }
  EXPECT_TRUE(ServiceLock::take(folder.path()).ok());
}

}  // namespace
}  // namespace runwarden::store
