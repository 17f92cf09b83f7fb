// The ledger of a store: what makes entries, what they prove, what deletions, imports, backups and another key leave of it.
#include <sys/stat.h>

#include <fstream>

#include "base/hex.h"
#include "ledger/file_verifier.h"
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

  model::TenantId tenant_of(Store& store, const std::string& name = "acme") {
    for (const model::Tenant& one : store.tenants()) {
      if (one.name == name) return one.id;
    }
    throw std::runtime_error("no tenant " + name);
  }
  model::TenantId new_tenant(Store& store, const std::string& name = "acme") {
    model::KeyRecord key;
    key.id = "key_" + name;
    key.tenant_name = name;
    return store.put_key(key).tenant;
  }
  static std::vector<ledger::EntryLine> entries(Store& store, model::TenantId tenant, std::uint64_t size) {
    std::vector<ledger::EntryLine> all;
    while (all.size() < size) {
      for (ledger::EntryLine& one : store.ledger().entries(tenant, all.size(), size, PartsToo::yes)) all.push_back(std::move(one));
    }
    return all;
  }
  static std::vector<ledger::EntryLine> entries(Store& store, model::TenantId tenant) {
    return entries(store, tenant, store.ledger().checkpoint(tenant).checkpoint.tree.size);
  }
  // What `ledger verify` says of what `ledger export` writes; empty: it is good.
  static std::string wrong(Store& store, model::TenantId tenant, const std::string& after = {}) {
    const SignedCheckpoint checkpoint = store.ledger().checkpoint(tenant);
    ledger::FileVerifier::Trust trust{checkpoint.public_key, {}};
    if (!after.empty()) trust.after = *ledger::read_note(after);
    ledger::FileVerifier verifier(std::move(trust));
    const auto take = [&](const std::string& line) {
      const Status taken = verifier.take(line);
      return taken.ok() ? std::string() : taken.error().detail;
    };
    const std::uint64_t size = checkpoint.checkpoint.tree.size;
    std::string fault = take(ledger::line_of(ledger::HeaderLine{checkpoint.checkpoint.origin, checkpoint.public_key, size}));
    for (const ledger::EntryLine& one : entries(store, tenant, size)) {
      if (fault.empty()) fault = take(ledger::line_of(one));
    }
    if (fault.empty()) fault = take(ledger::checkpoint_line(checkpoint.note));
    if (!fault.empty()) return fault;
    const auto summary = verifier.finish();
    return summary.ok() ? std::string() : summary.error().detail;
  }
  static std::map<std::string, int> kinds(const std::vector<ledger::EntryLine>& all) {
    std::map<std::string, int> counts;
    for (const ledger::EntryLine& one : all) ++counts[ledger::name(one.entry.kind)];
    return counts;
  }
  static std::vector<std::string> bodies(const std::vector<ledger::EntryLine>& all, ledger::Kind kind) {
    std::vector<std::string> found;
    for (const ledger::EntryLine& one : all) {
      if (one.entry.kind == kind && one.told) found.push_back(one.told->body);
    }
    return found;
  }
  void expect_proven(const Result<LedgerProof>& proof) {
    ASSERT_TRUE(proof.ok()) << proof.error().detail;
    const auto& tree = proof->checkpoint.checkpoint.tree;
    EXPECT_TRUE(ledger::is_included(ledger::leaf_of(proof->entry.entry), proof->entry.index, tree.size, proof->path, tree.root));
    ASSERT_TRUE(proof->entry.told);
    EXPECT_EQ(ledger::commit_to(proof->entry.told->salt, proof->entry.told->body), proof->entry.entry.commit);
    const auto note = ledger::read_note(proof->checkpoint.note);
    ASSERT_TRUE(note.ok());
    EXPECT_TRUE(note->is_signed_by(proof->checkpoint.public_key));
  }
  void expect_fault(const std::string& table, const std::string& detail) {
    const auto verified = verify(maintenance());
    ASSERT_TRUE(verified.ok()) << verified.error().detail;
    EXPECT_THAT(verified->first_ones,
                Contains(::testing::AllOf(Field(&StoreFault::table, table), Field(&StoreFault::detail, HasSubstr(detail)))));
  }
};

TEST_F(LedgerTest, EverythingThatIsKept_HasAnEntryWhoseBodyIsMadeAgain) {
  fill();
  expect_good(path_);
  const auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  EXPECT_EQ(wrong(*store, tenant), "");
  const auto all = entries(*store, tenant);
  // Twenty whole runs, two ended ones and the one that came back; what is open has none.
  EXPECT_EQ(kinds(all), (std::map<std::string, int>{{"run", 23}, {"change", 1}, {"policy", 4}, {"triage", 12}}));
  for (const ledger::EntryLine& one : all) ASSERT_EQ(ledger::commit_to(one.told->salt, one.told->body), one.entry.commit) << one.told->body;
  const auto decided = bodies(all, ledger::Kind::triage);
  EXPECT_THAT(decided, Contains(HasSubstr(R"("action":"regressed","author":"runwarden")"))) << "also what the service does by itself";
  EXPECT_THAT(decided, Contains(HasSubstr(R"("action":"resolve","author":"ann")")));
  EXPECT_THAT(decided, Contains(HasSubstr(R"("action":"false_alarm","author":"ann")"))) << "what people say of failures, too";
  EXPECT_THAT(bodies(all, ledger::Kind::policy), Contains(HasSubstr(R"("revision":"2","author":"ann")"))) << "as the store numbered it";
}

TEST_F(LedgerTest, Off_NothingMakesAnEntry) {
  ledger_ = Ledger::off;
  fill();
  const auto store = open(path_);
  EXPECT_FALSE(store->ledger().is_on());
  EXPECT_THAT(store->ledger().sizes(), IsEmpty());
}

TEST_F(LedgerTest, Proofs_OfEachKindOfRecord) {
  const auto store = open(path_);
  fill(*store, "acme");
  const model::TenantId tenant = tenant_of(*store);
  LedgerStore& ledger = store->ledger();
  expect_proven(ledger.prove(tenant, "client-3", std::nullopt));
  const auto ended = ledger.prove(tenant, "ended-and-open", std::nullopt);
  expect_proven(ended);
  EXPECT_THAT(ended->entry.told->body, StartsWith(R"({"v":1,"runId":"ended-and-open","revision":1,)"))
      << "the one that is open has none yet";
  expect_proven(ledger.prove(tenant, "client-0", 1));
  EXPECT_EQ(ledger.prove(tenant, "client-0", 2).error().code, Code::not_found);
  EXPECT_EQ(ledger.prove(tenant, "open", std::nullopt).error().code, Code::not_found);
  EXPECT_EQ(ledger.prove(tenant, "nobody", std::nullopt).error().code, Code::not_found);
  const auto failure = store->failures(tenant, {}).items.front();
  const auto of_failure = ledger.prove(tenant, failure.id, std::nullopt);
  expect_proven(of_failure);
  EXPECT_EQ(of_failure->entry.entry.kind, ledger::Kind::run);
  for (const model::ChangeRecord& change : store->changes(tenant, {}).items) {
    const auto proof = ledger.prove(tenant, change.id, std::nullopt);
    expect_proven(proof);
    EXPECT_EQ(proof->entry.entry.kind, change.policy ? ledger::Kind::policy : ledger::Kind::change);
  }
  for (const model::PolicyRecord& policy : store->policies(tenant, {}).items) expect_proven(ledger.prove(tenant, policy.id, std::nullopt));
  EXPECT_EQ(ledger.prove(new_tenant(*store, "other"), "client-3", std::nullopt).error().code, Code::not_found) << "another tenant's";
}

// Sizes around the subtrees that are kept, in batches of any size.
TEST_F(LedgerTest, ManyEntries_AreProvenInEverySizeThatWasSigned) {
  const auto store = open(path_);
  const model::TenantId tenant = new_tenant(*store);
  std::vector<SignedCheckpoint> signed_ones{store->ledger().checkpoint(tenant)};
  EXPECT_EQ(signed_ones[0].checkpoint.tree.size, 0U);
  EXPECT_EQ(signed_ones[0].checkpoint.tree.root, ledger::root_of_nothing());
  for (const int count : {1, 2, 60, 192, 1, 1, 256, 100}) {
    std::vector<Write> runs;
    for (int i = 0; i < count; ++i) runs.emplace_back(sample_run(tenant, new_key(*store)));
    commit_together(*store, runs);
    signed_ones.push_back(store->ledger().checkpoint(tenant));
  }
  const auto& last = signed_ones.back().checkpoint;
  ASSERT_EQ(last.tree.size, 613U);
  const auto all = entries(*store, tenant);
  ledger::RightEdge naive;
  for (const ledger::EntryLine& one : all) naive.append(ledger::leaf_of(one.entry));
  EXPECT_EQ(naive.root(), last.tree.root);
  for (const SignedCheckpoint& one : signed_ones) {
    const auto path = store->ledger().consistency(tenant, one.checkpoint.tree.size, last.tree.size);
    ASSERT_TRUE(path.ok());
    EXPECT_TRUE(ledger::is_beginning(one.checkpoint.tree, last.tree, *path)) << one.checkpoint.tree.size;
  }
  EXPECT_EQ(store->ledger().consistency(tenant, 5, 4).error().code, Code::bad_request);
  EXPECT_EQ(store->ledger().consistency(tenant, 0, 614).error().code, Code::bad_request);
  for (const model::RunRecord& run : store->runs(tenant, {.range = {.limit = 1000}}).items)
    expect_proven(store->ledger().prove(tenant, run.run_id, std::nullopt));
  EXPECT_EQ(wrong(*store, tenant, signed_ones[4].note), "");
}

TEST_F(LedgerTest, ARunSentAgain_MakesNoEntry) {
  const auto store = open(path_);
  const model::TenantId tenant = new_tenant(*store);
  const RunWrite run = sample_run(tenant, new_key(*store), "r1");
  commit(*store, run);
  commit(*store, run);
  EXPECT_EQ(entries(*store, tenant).size(), 1U);
}

TEST_F(LedgerTest, Expiry_LeavesAReceipt) {
  fill();
  auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  const SignedCheckpoint before = store->ledger().checkpoint(tenant);
  Retention retention;
  retention.runs_before_ms = retention.failures_before_ms = retention.changes_before_ms = retention.policies_before_ms =
      clock_.wall_ms() + 1;
  while (store->expire(retention, 7).more) {
  }
  EXPECT_EQ(wrong(*store, tenant, before.note), "");
  const auto all = entries(*store, tenant);
  const auto receipts = bodies(all, ledger::Kind::expiry);
  ASSERT_FALSE(receipts.empty());
  EXPECT_THAT(receipts[0], HasSubstr(R"("before":")"));
  EXPECT_THAT(bodies(all, ledger::Kind::run),
              ElementsAre(HasSubstr(R"("runId":"client-0","revision":1,)"), HasSubstr(R"("runId":"ended-and-open","revision":1,)")))
      << "what ended of runs that go on stays with them, and all else is gone";
  store.reset();
  expect_good(path_);
  EXPECT_THAT(rows(path_)["ledger_records"], Not(IsEmpty())) << "of the tenant's decisions and policies in force";
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
    // The former revisions of runs that go on, too.
    EXPECT_EQ(kinds(all), (std::map<std::string, int>{{"run", 23}, {"change", 1}, {"policy", 4}, {"triage", 12}}));
    for (const ledger::EntryLine& one : all) EXPECT_THAT(one.told->body, EndsWith(R"("imported":true})"));
  }
  ASSERT_TRUE(import_lines(maintenance(), lines_of(text)).ok());
  const auto store = open(path_);
  EXPECT_EQ(entries(*store, tenant_of(*store)).size(), 40U) << "what was there already makes none";
}

TEST_F(LedgerTest, AStoreFromBefore_BeginsWithWhatWasThere) {
  ledger_ = Ledger::as_it_is;
  fill();
  expect_good(path_);
  ledger_ = Ledger::on;
  {
    const auto store = open(path_);
    const model::TenantId tenant = tenant_of(*store);
    commit(*store, sample_run(tenant, new_key(*store), "after"));
    const auto all = entries(*store, tenant);
    EXPECT_EQ(kinds(all), (std::map<std::string, int>{{"start", 1}, {"run", 1}}));
    EXPECT_THAT(all[0].told->body, HasSubstr(R"("counts":{"changes":5,)"));
    EXPECT_EQ(store->ledger().prove(tenant, "client-3", std::nullopt).error().code, Code::not_found);
    expect_proven(store->ledger().prove(tenant, "after", std::nullopt));
  }
  expect_good(path_);
  EXPECT_EQ(entries(*open(path_), 2).size(), 2U) << "once";
}

TEST_F(LedgerTest, SwitchedOffAndOn_TellsOfTheGap) {
  fill();
  ledger_ = Ledger::off;
  {
    const auto store = open(path_);
    commit(*store, sample_run(tenant_of(*store), new_key(*store), "meanwhile"));
  }
  ledger_ = Ledger::on;
  auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  const auto all = entries(*store, tenant);
  store.reset();
  EXPECT_EQ(kinds(all)["start"], 1);
  EXPECT_EQ(all.back().entry.kind, ledger::Kind::start);
  expect_good(path_);
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
  EXPECT_THAT(all.back().told->body, HasSubstr(R"("previous":{"origin":")" + note.checkpoint.origin + R"(","size":40,"root":")"));
  EXPECT_TRUE(note.is_signed_by(after.public_key)) << "the key is the same";
  EXPECT_EQ(wrong(*store, tenant), "");
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

TEST_F(LedgerTest, OpenedAgain_GoesOn) {
  fill();
  std::string before;
  {
    const auto store = open(path_);
    before = store->ledger().checkpoint(tenant_of(*store)).note;
  }
  const auto store = open(path_);
  EXPECT_EQ(store->ledger().checkpoint(tenant_of(*store)).note, before);
}

TEST_F(LedgerTest, AnotherKey_IsAnEntry_AndBothSignTheNextCheckpoint) {
  fill();
  const auto store = open(path_);
  const model::TenantId tenant = tenant_of(*store);
  LedgerStore& ledger = store->ledger();
  const SignedCheckpoint first = ledger.checkpoint(tenant);
  const std::string fresh = ledger.rotate_key();
  EXPECT_NE(fresh, first.public_key);
  EXPECT_EQ(ledger.public_key(), fresh);
  const auto all = entries(*store, tenant);
  EXPECT_EQ(all.back().told->body, ledger::key_body(fresh, first.public_key));
  for (int again = 0; again < 2; ++again) {
    const auto next = *ledger::read_note(ledger.checkpoint(tenant).note);
    EXPECT_TRUE(next.is_signed_by(fresh));
    EXPECT_TRUE(next.is_signed_by(first.public_key)) << "as long as the tree is that large";
  }
  commit(*store, sample_run(tenant, new_key(*store)));
  const auto later = *ledger::read_note(ledger.checkpoint(tenant).note);
  EXPECT_TRUE(later.is_signed_by(fresh));
  EXPECT_FALSE(later.is_signed_by(first.public_key));
  EXPECT_EQ(wrong(*store, tenant, first.note), "");
}

TEST_F(LedgerTest, ARotationInterruptedBehindItsCommit_IsFinished) {
  fill();
  auto store = open(path_);
  const std::string before = store->ledger().public_key();
  const std::string after = store->ledger().rotate_key();
  store.reset();
  // As it was before the files were renamed.
  std::filesystem::rename(path_ / kLedgerKey, path_ / kNextLedgerKey);
  std::filesystem::rename(path_ / kFormerLedgerKey, path_ / kLedgerKey);
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

TEST_F(LedgerTest, GrownLedgers_AreGivenOnce) {
  const auto store = open(path_);
  const model::TenantId tenant = new_tenant(*store);
  LedgerStore& ledger = store->ledger();
  EXPECT_THAT(ledger.checkpoint_grown(), IsEmpty());
  commit(*store, sample_run(tenant, new_key(*store)));
  ledger.checkpoint(tenant);
  const auto grown = ledger.checkpoint_grown();
  ASSERT_EQ(grown.size(), 1U) << "also where somebody asked for it before";
  EXPECT_EQ(grown[0].checkpoint.tree.size, 1U);
  EXPECT_THAT(ledger.checkpoint_grown(), IsEmpty());
}

TEST_F(LedgerTest, LedgerLast_CutShortByACrash_IsReadUpToThere) {
  const auto folder = folder_.path();
  LedgerLast last(folder);
  const LedgerLast::Noted noted{{7, sha256("r")}, true};
  last.note({{"o", noted}});
  std::ofstream(folder / kLedgerLast, std::ios::app) << "o 9";
  LedgerLast again(folder);
  EXPECT_EQ(again.read().at("o").tree.size, 7U);
  again.note({{"p", {{3, sha256("s")}, false}}});
  LedgerLast third(folder);
  EXPECT_EQ(third.read().at("o").tree.size, 7U);
  EXPECT_TRUE(third.read().at("o").by_both_keys);
  EXPECT_EQ(third.read().at("p").tree.size, 3U);
  EXPECT_EQ(last.read().at("p").tree.size, 3U) << "what another process has noted";
}

TEST_F(LedgerTest, LedgerLast_IsWrittenAnewBeforeItGrowsForEver) {
  LedgerLast last(folder_.path());
  for (std::uint64_t round = 1; round <= 300; ++round) {
    std::map<std::string, LedgerLast::Noted> many;
    for (int i = 0; i < 100; ++i) many["runwarden/tenant/" + std::to_string(i)] = {{round, sha256("r")}, false};
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
    expect_fault(table, "it has no entry in the ledger");
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
  expect_fault("ledger_entries", "its record is not the one that was committed to");
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
  expect_fault("ledger_entries", "the salt of the ledger's entry is not there");
  expect_fault("runs", "it has no entry in the ledger");
  restore("ledger_records");
  drop_first("runs");
  expect_fault("ledger_entries", "the record of the ledger's entry is not there");
  restore("runs");
  drop_first("ledger_entries");
  expect_fault("ledgers", "its first entries are not there");
  restore("ledger_entries");
  drop_first("ledgers");
  expect_fault("ledger_entries", "the ledger has another size than its entries");
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
  expect_fault("ledger_entries", "the ledger's root is not that of its entries");
  change_first([](LedgerRow& row) { row.entries[0].at_ms -= 1; });
  expect_good(path_);
  change_first([](LedgerRow& row) { row.names[0].clear(); });
  expect_fault("ledger_entries", "entry 0 has lost its record, and no receipt tells of it");
  expect_fault("ledger_records", "the entry that it speaks of is not there, or is another's");
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
  expect_fault("ledger_entries", "that it ends is not that of its entries");
  tamper(path_, "ledger_subtrees", [&](WriteTxn& txn, const Table& in) { txn.erase(in.handle, good.begin()->first); });
  expect_fault("ledger_entries", "that it ends is not there");
}

}  // namespace
}  // namespace runwarden::store
