// The ledger of a store on LMDB: what purges, imports, backups and lost files leave of it, and what verify finds.
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "base/base64.h"
#include "base/hex.h"
#include "ledger_reading.h"
#include "maintenance_store.h"
#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/lmdb/ledger_files.h"
#include "store/lmdb/ledger_rows.h"
#include "store/lmdb/runs.h"
#include "store/record_codec.h"

namespace runwarden::store {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Ledger = StoreSettings::Ledger;

class LedgerTest : public MaintenanceTest {
 protected:
  LedgerTest() { ledger_ = Ledger::on; }

  void expect_fault(const std::string& table, const std::string& detail) {
    const auto verified = verify(maintenance());
    ASSERT_TRUE(verified.ok()) << verified.error().detail;
    EXPECT_THAT(verified->first_ones,
                Contains(::testing::AllOf(Field(&StoreFault::table, table), Field(&StoreFault::detail, HasSubstr(detail)))));
  }
};

TEST_F(LedgerTest, AfterExpiry_IsGood) {
  fill();
  {
    const auto store = open(path_);
    Retention retention;
    retention.runs_before_ms = retention.failures_before_ms = retention.changes_before_ms = retention.policies_before_ms =
        clock_.wall_ms() + 1;
    while (store->expire(retention, 7).more) {
    }
  }
  expect_good(path_);
  EXPECT_THAT(rows(path_)["ledger_records"], Not(IsEmpty())) << "of the tenant's decisions and policies in force";
}

TEST_F(LedgerTest, OnSinceItHadRecords_AndOffMeanwhile_IsGood) {
  ledger_ = Ledger::as_it_is;
  fill();
  expect_good(path_);
  for (const Ledger next : {Ledger::on, Ledger::off, Ledger::on}) {
    ledger_ = next;
    {
      const auto store = open(path_);
      commit(*store, sample_run(tenant_of(*store), new_key(*store)));
    }
    expect_good(path_);
  }
}

TEST_F(LedgerTest, Purge_LeavesReceipts_AndTakesEverySalt) {
  fill();
  ASSERT_TRUE(purge(maintenance(), {"acme"}).ok());
  expect_good(path_);
  auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  EXPECT_EQ(wrong(*store, tenant), "");
  const auto all = entries(*store, tenant);
  store.reset();
  EXPECT_EQ(bodies(all, ledger::Kind::run).size() + bodies(all, ledger::Kind::policy).size() + bodies(all, ledger::Kind::triage).size(),
            0U);
  EXPECT_THAT(bodies(all, ledger::Kind::purge), Contains(HasSubstr(R"("before":null,"counts":{)")));
  auto left = rows(path_);
  for (const auto& [key, value] : left["ledger_records"]) EXPECT_NE(store::tenant_of(key), tenant);
}

TEST_F(LedgerTest, PurgeOfRecordsOlderThanTheLedger_IsInIt) {
  ledger_ = Ledger::as_it_is;
  fill();
  ledger_ = Ledger::on;
  open(path_).reset();
  const auto purged = purge(maintenance(), {"acme"});
  ASSERT_TRUE(purged.ok());
  expect_good(path_);
  const auto store = open(path_);
  EXPECT_EQ(wrong(*store, tenant_of(*store)), "");
  EXPECT_THAT(bodies(entries(*store, tenant_of(*store)), ledger::Kind::purge),
              ElementsAre(::testing::AllOf(HasSubstr(R"("before":null,"counts":{},"entries":[],"deleted":{)"),
                                           HasSubstr("\"runs\":" + std::to_string(purged->gone.runs) + ","))));
}

TEST_F(LedgerTest, PurgeOfOneTime_LeavesTheRest) {
  fill();
  const std::int64_t half_ms = clock_.wall_ms() - 300;
  PurgeQuery query{"acme"};
  query.before_ms = half_ms;
  ASSERT_TRUE(purge(maintenance(), query).ok());
  expect_good(path_);
  const auto store = open(path_);
  EXPECT_EQ(wrong(*store, tenant_of(*store)), "");
  EXPECT_THAT(bodies(entries(*store, tenant_of(*store)), ledger::Kind::policy), Not(IsEmpty()));
}

TEST_F(LedgerTest, PurgeWithTheLedger_TellsItsLastCheckpoint_AndBeginsAnother) {
  fill();
  std::string before;
  std::string told;
  {
    const auto store = open(path_);
    before = store->ledger().checkpoint(tenant_of(*store)).checkpoint.origin;
  }
  PurgeQuery query{"acme"};
  query.on_last_checkpoint = [&](const std::string& note) { told = note; };
  ASSERT_TRUE(purge(maintenance(), query).ok());
  EXPECT_THAT(told, StartsWith(before + "\n"));
  expect_good(path_);
  const auto store = open(path_);
  const SignedCheckpoint after = store->ledger().checkpoint(tenant_of(*store));
  EXPECT_EQ(after.checkpoint.tree.size, 0U);
  EXPECT_NE(after.checkpoint.origin, before);
  EXPECT_EQ(wrong(*store, tenant_of(*store, "other")), "") << "another tenant's stays";
}

TEST_F(LedgerTest, Import_MakesEntriesThatSaySo) {
  fill();
  const std::string text = exported();
  path_ = folder_.path() / "other";
  open(path_).reset();
  ASSERT_TRUE(import_lines(maintenance(), lines_of(text)).ok());
  expect_good(path_);
  {
    const auto store = open(path_);
    const model::TenantId tenant = tenant_of(*store);
    EXPECT_EQ(wrong(*store, tenant), "");
    const auto all = entries(*store, tenant);
    // The previous revisions of runs that go on, too.
    EXPECT_EQ(kinds(all), (std::map<std::string, int>{{"run", 23}, {"change", 2}, {"policy", 4}, {"triage", 14}}));
    for (const ledger::EntryLine& one : all) EXPECT_THAT(one.told->body, EndsWith(R"("imported":true})"));
  }
  ASSERT_TRUE(import_lines(maintenance(), lines_of(text)).ok());
  const auto store = open(path_);
  EXPECT_EQ(entries(*store, tenant_of(*store)).size(), 43U) << "what was there already makes none";
}

// Deletions tell of what they empty also while nothing makes entries.
TEST_F(LedgerTest, SwitchedOff_APurgeStillLeavesReceipts) {
  fill();
  ledger_ = Ledger::off;
  open(path_).reset();
  ASSERT_TRUE(purge(maintenance(), {"acme"}).ok());
  expect_good(path_);
}

TEST_F(LedgerTest, Backup_TakesTheKey_AndGoesOnUnderAnotherName) {
  fill();
  std::string told;
  {
    const auto store = open(path_);
    told = store->ledger().checkpoint(tenant_of(*store)).note;
  }
  const auto copy = folder_.path() / "copy";
  ASSERT_TRUE(back_up(maintenance(), copy).ok());
  EXPECT_TRUE(std::filesystem::exists(copy / kLedgerKey));
  EXPECT_FALSE(std::filesystem::exists(copy / kLedgerLast));
  struct stat found {};
  ASSERT_EQ(::stat((copy / kLedgerKey).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  const auto store = open(copy);
  const model::TenantId tenant = tenant_of(*store);
  const auto note = *ledger::read_note(told);
  const SignedCheckpoint after = store->ledger().checkpoint(tenant);
  EXPECT_NE(after.checkpoint.origin, note.checkpoint.origin);
  const auto all = entries(*store, tenant);
  EXPECT_EQ(all.back().entry.kind, ledger::Kind::start);
  EXPECT_THAT(all.back().told->body, HasSubstr(R"("previous":{"origin":")" + note.checkpoint.origin + R"(","size":43,"root":")"));
  EXPECT_TRUE(note.is_signed_by(after.public_key)) << "the key is the same";
  EXPECT_EQ(wrong(*store, tenant), "");
}

// The first note of a checkpoint must not make the copy look like the store that published the others.
TEST_F(LedgerTest, ABackupThatACommandSignsFirst_GoesOnUnderAnotherName) {
  fill();
  std::map<std::string, std::string> told;
  {
    const auto store = open(path_);
    for (const char* const name : {"acme", "other"}) told[name] = store->ledger().checkpoint(tenant_of(*store, name)).checkpoint.origin;
  }
  const auto copy = folder_.path() / "copy";
  ASSERT_TRUE(back_up(maintenance(), copy).ok());
  std::string signed_first;
  ledger_ = Ledger::as_it_is;
  {
    const auto command = open(copy);
    signed_first = command->ledger().checkpoint(tenant_of(*command)).checkpoint.origin;
    EXPECT_NE(signed_first, told["acme"]);
  }
  ledger_ = Ledger::on;
  const auto store = open(copy);
  EXPECT_EQ(store->ledger().checkpoint(tenant_of(*store)).checkpoint.origin, signed_first);
  EXPECT_NE(store->ledger().checkpoint(tenant_of(*store, "other")).checkpoint.origin, told["other"]);
  EXPECT_EQ(wrong(*store, tenant_of(*store)), "");
}

TEST_F(LedgerTest, ABackupPurgedWithALedgerFirst_GoesOnUnderAnotherName) {
  fill();
  std::string told;
  {
    const auto store = open(path_);
    told = store->ledger().checkpoint(tenant_of(*store, "other")).checkpoint.origin;
  }
  const auto copy = folder_.path() / "copy";
  ASSERT_TRUE(back_up(maintenance(), copy).ok());
  PurgeQuery query{"acme"};
  query.on_last_checkpoint = [](const std::string&) {};
  ASSERT_TRUE(purge(maintenance(copy), query).ok());
  const auto store = open(copy);
  EXPECT_NE(store->ledger().checkpoint(tenant_of(*store, "other")).checkpoint.origin, told);
}

// The file of the records alone was put back: it has fewer entries than a checkpoint that was given away.
TEST_F(LedgerTest, AnOlderFilePutBack_GoesOnUnderAnotherName) {
  fill();
  std::filesystem::copy_file(path_ / "data.mdb", folder_.path() / "before");
  std::string told;
  {
    const auto store = open(path_);
    const model::TenantId tenant = tenant_of(*store);
    commit(*store, sample_run(tenant, new_key(*store), "lost"));
    told = store->ledger().checkpoint(tenant).checkpoint.origin;
  }
  std::filesystem::copy_file(folder_.path() / "before", path_ / "data.mdb", std::filesystem::copy_options::overwrite_existing);
  const auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  EXPECT_NE(store->ledger().checkpoint(tenant).checkpoint.origin, told);
  EXPECT_EQ(wrong(*store, tenant), "");
}

TEST_F(LedgerTest, ARotationInterruptedBehindItsCommit_IsFinished) {
  fill();
  auto store = open(path_);
  const std::string before = store->ledger().public_key();
  const std::string after = store->ledger().rotate_key();
  store.reset();
  // As it was before the files were renamed.
  std::filesystem::rename(path_ / kLedgerKey, path_ / kNextLedgerKey);
  std::filesystem::rename(path_ / kPreviousLedgerKey, path_ / kLedgerKey);
  store = open(path_);
  EXPECT_EQ(store->ledger().public_key(), after);
  EXPECT_TRUE(ledger::read_note(store->ledger().checkpoint(tenant_of(*store)).note)->is_signed_by(before));
}

TEST_F(LedgerTest, ALostKey_IsMadeAnew_AndTold) {
  fill();
  auto store = open(path_);
  const std::string before = store->ledger().public_key();
  store.reset();
  std::filesystem::remove(path_ / kLedgerKey);
  store = open(path_);
  EXPECT_NE(store->ledger().public_key(), before);
  const auto all = entries(*store, tenant_of(*store));
  EXPECT_EQ(all.back().told->body, ledger::key_body(store->ledger().public_key(), before));
  EXPECT_EQ(wrong(*store, tenant_of(*store)), "");
}

TEST_F(LedgerTest, LedgerLast_CutShortByACrash_IsReadUpToThere) {
  const auto folder = folder_.path();
  LedgerLast last(folder);
  const LedgerLast::Noted noted{{{7, sha256("r")}, true}, 5};
  last.note({{"o", noted}});
  std::ofstream(folder / kLedgerLast, std::ios::app) << "o 9";
  LedgerLast again(folder);
  EXPECT_EQ(again.read().at("o").tree.size, 7U);
  again.note({{"p", {{{3, sha256("s")}, false}, 0}}});
  LedgerLast third(folder);
  EXPECT_EQ(third.read().at("o").tree.size, 7U);
  EXPECT_TRUE(third.read().at("o").by_both_keys);
  EXPECT_EQ(third.read().at("o").announced, 5U);
  EXPECT_EQ(third.read().at("p").tree.size, 3U);
  EXPECT_EQ(last.read().at("p").tree.size, 3U) << "what another process has noted";
}

TEST_F(LedgerTest, ACheckpointThatWasOnlyAskedFor_IsStillAnnounced_AlsoAfterARestart) {
  auto store = open(path_);
  const model::TenantId tenant = new_tenant(*store);
  commit(*store, sample_run(tenant, new_key(*store)));
  store->ledger().checkpoint(tenant);
  store.reset();
  store = open(path_);
  const auto announced = store->ledger().checkpoint_grown();
  ASSERT_EQ(announced.size(), 1U);
  EXPECT_EQ(announced.front().checkpoint.tree.size, 1U);
  store.reset();
  store = open(path_);
  EXPECT_TRUE(store->ledger().checkpoint_grown().empty()) << "announced once";
}

TEST_F(LedgerTest, LedgerLast_WithoutTheAnnouncedSize_TakesWhatItNotesAsAnnounced) {
  const std::string root = bytes_to_base64(std::string(32, 'r'));
  std::ofstream(folder_.path() / kLedgerLast) << "o 9 " << root << " 1\n"
                                              << "p 9 " << root << " 2 4\n";
  LedgerLast last(folder_.path());
  EXPECT_EQ(last.read().at("o").announced, 9U);
  EXPECT_EQ(last.read().at("p").announced, 4U);
}

TEST_F(LedgerTest, LedgerLast_IsWrittenAnewBeforeItGrowsForEver) {
  LedgerLast last(folder_.path());
  for (std::uint64_t round = 1; round <= 300; ++round) {
    std::map<std::string, LedgerLast::Noted> many;
    for (int i = 0; i < 100; ++i) many["runwarden/tenant/" + std::to_string(i)] = {{{round, sha256("r")}, false}, 0};
    last.note(many);
  }
  EXPECT_LT(std::filesystem::file_size(folder_.path() / kLedgerLast), 1'300'000U);
  EXPECT_EQ(LedgerLast(folder_.path()).read().at("runwarden/tenant/99").tree.size, 300U);
}

// A record that was changed together with its checksums, in the store's own file.
TEST_F(LedgerTest, Verify_MissesTheEntryOfEveryKindOfRecord) {
  fill();
  tamper(path_, "ledger_records", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) cursor.erase();
  });
  for (const char* const table : {"runs", "former", "changes", "policies", "triage", "reviews"}) {
    SCOPED_TRACE(table);
    expect_fault(table, "it has no ledger entry");
  }
}

TEST_F(LedgerTest, Verify_FindsARecordThatWasRewritten) {
  fill();
  tamper(path_, "runs", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    cursor.first();
    const std::string key(cursor.key());
    StoredRun stored = decode_run(key, cursor.value());
    stored.run.detectors_json = R"([{"key":"false_success","status":"fired"}])";
    txn.put(in.handle, key, encode_run(key, stored));
  });
  expect_fault("ledger_entries", "its record does not match its commitment");
}

TEST_F(LedgerTest, Verify_FindsWhatIsMissing) {
  fill();
  const auto good = rows(path_);
  const auto drop_first = [&](const char* table) {
    tamper(path_, table, [](WriteTxn& txn, const Table& in) {
      Cursor cursor(txn, in.handle);
      cursor.first();
      if (store::tenant_of(cursor.key()) == 0) cursor.next();
      cursor.erase();
    });
  };
  const auto restore = [&](const std::string& table) {
    tamper(path_, table, [&](WriteTxn& txn, const Table& in) {
      for (const auto& [key, value] : good.at(table)) txn.put(in.handle, key, value);
    });
  };
  drop_first("ledger_records");
  expect_fault("ledger_entries", "the ledger entry's salt is missing");
  expect_fault("runs", "it has no ledger entry");
  restore("ledger_records");
  drop_first("runs");
  expect_fault("ledger_entries", "the ledger entry's record is missing");
  restore("runs");
  drop_first("ledger_entries");
  expect_fault("ledgers", "its first entries are missing");
  restore("ledger_entries");
  drop_first("ledgers");
  expect_fault("ledger_entries", "the ledger's size and its number of entries differ");
  restore("ledgers");
  expect_good(path_);
}

TEST_F(LedgerTest, Verify_FindsAnEntryThatWasChangedAndErasedWithoutAReceipt) {
  fill();
  const auto change_first = [&](auto change) {
    tamper(path_, "ledger_entries", [&](WriteTxn& txn, const Table& in) {
      Cursor cursor(txn, in.handle);
      cursor.first();
      const std::string key(cursor.key());
      LedgerRow row = decode_ledger_row(key, cursor.value());
      change(row);
      txn.put(in.handle, key, encode_ledger_row(key, row));
    });
  };
  change_first([](LedgerRow& row) { row.entries[0].at_ms += 1; });
  expect_fault("ledger_entries", "the ledger's root does not match its entries");
  change_first([](LedgerRow& row) { row.entries[0].at_ms -= 1; });
  expect_good(path_);
  change_first([](LedgerRow& row) { row.names[0].clear(); });
  expect_fault("ledger_entries", "entry 0 has lost its record, but no receipt covers it");
  expect_fault("ledger_records", "its entry is missing or belongs to a different record");
}

TEST_F(LedgerTest, Verify_FindsAPartOfTheTreeThatIsMissingOrChanged) {
  {
    const auto store = open(path_);
    const model::TenantId tenant = new_tenant(*store);
    std::vector<Write> runs;
    for (int i = 0; i < 300; ++i) runs.emplace_back(sample_run(tenant, new_key(*store)));
    commit_together(*store, runs);
  }
  expect_good(path_);
  const auto good = rows(path_)["ledger_subtrees"];
  ASSERT_EQ(good.size(), 1U);
  tamper(path_, "ledger_subtrees", [&](WriteTxn& txn, const Table& in) {
    txn.put(in.handle, good.begin()->first, encode_subtree(good.begin()->first, sha256("x")));
  });
  expect_fault("ledger_entries", "that it completes does not match its entries");
  tamper(path_, "ledger_subtrees", [&](WriteTxn& txn, const Table& in) { txn.erase(in.handle, good.begin()->first); });
  expect_fault("ledger_entries", "that it completes is missing");
}

}  // namespace
}  // namespace runwarden::store
