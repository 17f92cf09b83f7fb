// An export holds everything, and an import gives everything back, or nothing.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "store/record_lines.h"
#include "upkeep_store.h"

namespace runwarden::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExportImport : public UpkeepTest {
 protected:
  ExportImport() : target_(folder_.path() / "target") {}

  void make_target() { open(target_); }
  Imported import(const std::string& text) {
    const auto imported = import_lines(upkeep(target_), lines_of(text));
    if (!imported.ok()) throw std::runtime_error(imported.error().detail);
    return *imported;
  }
  std::string refused(const std::string& text) {
    const auto imported = import_lines(upkeep(target_), lines_of(text));
    return imported.ok() ? "it was taken" : imported.error().detail;
  }
  // Of one tenant, that tenant's number left out of the keys: it may be another in another store.
  static Rows rows_of_tenant(const std::filesystem::path& path, model::TenantId tenant) {
    Rows of;
    for (const auto& [table, entries] : rows(path)) {
      if (table == "keys" || table == "tenants" || table == "key_uses") continue;
      const std::size_t at = table == "idempotency" ? 4 : 0;
      for (const auto& [key, value] : entries) {
        if (read_be(key, at, 4) != tenant) continue;
        of[table][key.substr(0, at) + key.substr(at + 4)] = value.empty() ? "" : contents(key, value);
      }
    }
    return of;
  }
  static std::string contents(const std::string& key, const std::string& value) {
    return std::string(open_head(key, value)) + "|" + open_body(key, value);
  }
  static std::string without_last_line(const std::string& text) { return text.substr(0, text.rfind('\n', text.size() - 2) + 1); }

  std::filesystem::path target_;
};

TEST_F(ExportImport, IntoAnEmptyStore_EveryRowIsThereAgain) {
  fill();
  make_target();
  const Imported imported = import(exported());
  EXPECT_EQ(imported.conflicts, 0u);
  EXPECT_THAT(imported.tenants, ::testing::ElementsAre("acme"));
  const Rows before = rows_of_tenant(path_, 2);
  const Rows after = rows_of_tenant(target_, 1);
  for (const auto& [table, entries] : before) EXPECT_EQ(after.count(table) ? after.at(table).size() : 0u, entries.size()) << table;
  EXPECT_EQ(before, after);
  EXPECT_GE(before.size(), 12u) << "the sample has to fill every table";
  expect_good(target_);
}

TEST_F(ExportImport, AllTenantsInOneFile_GiveTheSameStore) {
  fill();
  make_target();
  import(exported("other") + exported("acme"));
  EXPECT_EQ(rows_of_tenant(path_, 1), rows_of_tenant(target_, 1));
  EXPECT_EQ(rows_of_tenant(path_, 2), rows_of_tenant(target_, 2));
}

TEST_F(ExportImport, SameAnswersAfterwards) {
  fill();
  make_target();
  import(exported());
  const auto source = open(path_);
  const auto target = open(target_);
  const auto replay = source->find_replay(2, digest_of("acme3"));
  const auto again = target->find_replay(1, digest_of("acme3"));
  ASSERT_TRUE(replay && again);
  EXPECT_EQ(replay->run.document, again->run.document);
  EXPECT_EQ(source->runs(2, {}).items.size(), target->runs(1, {}).items.size());
  EXPECT_EQ(source->find_run(2, "ended-and-open")->revision, target->find_run(1, "ended-and-open")->revision);
  EXPECT_EQ(source->fingerprint_stats(2, "f1").failures, target->fingerprint_stats(1, "f1").failures);
  EXPECT_EQ(source->policies_at(2, kEndMs / 2).front().revision, target->policies_at(1, kEndMs / 2).front().revision);
  EXPECT_EQ(target->open_runs().count, 3u);
  PolicyWrite next{1, source->policies_at(2, kEndMs / 2).front(), std::nullopt};
  next.policy.key = {clock_.wall_ms(), target->next_seq()};
  next.policy.revision.clear();
  EXPECT_EQ(commit(*target, next).policy->revision, "13") << "revisions are counted on";
}

TEST_F(ExportImport, NumbersOfNewRecords_BeginAboveThoseThatCame) {
  for (int start = 0; start < 4; ++start) {
    const auto store = open(path_);
    commit(*store, sample_run(1, new_key(*store)));
  }
  fill();
  make_target();
  import(exported());
  std::uint64_t highest = 0;
  const Rows there = rows(target_);
  for (const auto& [key, value] : there.at("runs")) highest = std::max(highest, record_key_of(key).seq);
  EXPECT_GT(open(target_)->next_seq(), highest);
}

TEST_F(ExportImport, Twice_CountsWhatIsThereAndChangesNothing) {
  fill();
  make_target();
  const std::string text = exported();
  import(text);
  const Rows before = rows(target_);
  const Imported again = import(text);
  EXPECT_TRUE(again.stored.empty());
  EXPECT_EQ(again.already_there + 2, static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')));
  EXPECT_EQ(rows(target_), before);
}

TEST_F(ExportImport, WhereAnotherRecordStands_NamesTheLineAndImportsTheRest) {
  fill();
  {
    const auto target = open(target_);
    model::KeyRecord key;
    key.id = "key_1";
    key.tenant_name = "acme";
    target->put_key(key);
    commit(*target, sample_run(1, {5, target->next_seq()}, "ended", "of the target"));
  }
  const std::string text = exported();
  const Imported imported = import(text);
  ASSERT_EQ(imported.conflicts, 1u);
  EXPECT_THAT(imported.first_ones[0].detail, HasSubstr("the run \"ended\" is there already, received at another time"));
  std::istringstream lines(text);
  std::string line;
  for (std::uint64_t i = 0; i < imported.first_ones[0].line; ++i) std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr(R"("runId":"ended")"));
  {
    const auto target = open(target_);
    EXPECT_EQ(target->find_run(1, "ended")->key.time_ms, 5);
    EXPECT_TRUE(target->find_run(1, "client-3"));
    EXPECT_EQ(target->fingerprint_stats(1, "expensive_loop:ended").failures, 0u) << "its failures are left out with it";
  }
  expect_good(target_);
}

TEST_F(ExportImport, ExportThatWasCutOff_IsRefusedWhole) {
  fill();
  make_target();
  const Rows before = rows(target_);
  const std::string text = exported();
  EXPECT_THAT(refused(without_last_line(text)), HasSubstr("was cut off"));
  EXPECT_THAT(refused(text.substr(0, text.size() / 2)), HasSubstr("nothing was imported"));
  EXPECT_THAT(refused(""), HasSubstr("there is nothing to import"));
  EXPECT_THAT(refused("{}\n"), HasSubstr("line 1"));
  EXPECT_EQ(rows(target_), before);
}

TEST_F(ExportImport, ExportThatWasChanged_IsRefusedWhole) {
  fill();
  make_target();
  std::string text = exported();
  text.replace(text.find("9f3c2d1"), 7, "9f3c2d2");
  EXPECT_THAT(refused(text), HasSubstr("the SHA-256 of the export is another"));
  EXPECT_EQ(count_of(rows(target_)), 0u);
}

TEST_F(ExportImport, NewerExport_IsRefusedWithTheRemedy) {
  make_target();
  EXPECT_THAT(refused(R"({"record":"header","format":"runwarden-export","version":2,"tenant":"acme","exportedMs":1})"),
              HasSubstr("import it with the runwarden that wrote it, or a later one"));
}

TEST_F(ExportImport, RowsOfALaterMinorVersion_KeepTheirUnknownFields) {
  fill();
  tamper(path_, "failures", [](WriteTxn& txn, const Table& table) {
    Cursor cursor(txn, table.handle);
    cursor.last();
    const std::string key(cursor.key());
    const std::string head = std::string(open_head(key, cursor.value())) + "\xA2\x06\x03new";  // field 100
    txn.put(table.handle, key, seal(key, head, open_body(key, cursor.value())));
  });
  make_target();
  const std::string text = exported();
  EXPECT_THAT(text, HasSubstr(R"("bytes":{"head":")"));
  import(text);
  EXPECT_EQ(rows_of_tenant(path_, 2), rows_of_tenant(target_, 1));
}

TEST_F(ExportImport, TextsThatAreNoJsonOfOneLine_ComeBackAsTheyWere) {
  const std::string odd[] = {"{\n}", "no json", R"({"text":"t"})", "", " {}", R"({"a":"\u00e9"})"};
  {
    const auto store = open(path_);
    model::KeyRecord key;
    key.id = "key_1";
    key.tenant_name = "acme";
    store->put_key(key);
    for (const std::string& text : odd) {
      RunWrite run = sample_run(1, new_key(*store));
      run.run.document = text;
      commit(*store, run);
    }
  }
  make_target();
  import(exported());
  EXPECT_EQ(rows_of_tenant(path_, 1), rows_of_tenant(target_, 1));
}

TEST_F(ExportImport, Since_LeavesOutWhatIsOlder) {
  fill();
  const std::int64_t since = clock_.wall_ms();
  std::string first_run;
  {
    const auto store = open(path_);
    RunWrite run = sample_run(2, new_key(*store), "after");
    commit(*store, run);
  }
  const std::string text = exported("acme", since + 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr(R"("runId":"after")"));
  EXPECT_THAT(text, Not(HasSubstr("client-3")));
}

TEST_F(ExportImport, UnknownTenant_IsRefused) {
  fill();
  const auto counts = export_tenant(upkeep(), {"nobody"}, [](std::string_view) { return true; });
  ASSERT_FALSE(counts.ok());
  EXPECT_THAT(counts.error().detail, HasSubstr("there is no tenant \"nobody\""));
}

TEST_F(ExportImport, UnreadableRecord_IsNamed) {
  fill();
  tamper(path_, "runs", [](WriteTxn& txn, const Table& table) {
    Cursor cursor(txn, table.handle);
    cursor.last();
    const std::string key(cursor.key());
    std::string value(cursor.value());
    value.back() ^= 1;
    txn.put(table.handle, key, value);
  });
  const auto counts = export_tenant(upkeep(), {"acme"}, [](std::string_view) { return true; });
  ASSERT_FALSE(counts.ok());
  EXPECT_THAT(counts.error().detail, HasSubstr("database \"runs\", key 0x00000002"));
}

TEST_F(ExportImport, StoreThatIsTooSmall_TakesNothing) {
  fill();
  const std::string text = exported();
  {
    LmdbSettings settings;
    settings.path = target_;
    settings.map_size = std::uint64_t{4} << 20;
    ASSERT_TRUE(open_lmdb(settings, clock_).ok());
  }
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += R"({"record":"change","timeMs":)" + std::to_string(i) +
            R"(,"seq":"1","changeId":"c","kind":"code","receivedMs":1,"document":")" + std::string(50'000, 'x') + "\"}\n";
  const auto imported = import_lines({target_, clock_, {}, 0}, lines_of(text + text.substr(0, text.find('\n') + 1) + many));
  ASSERT_FALSE(imported.ok());
  EXPECT_EQ(count_of(rows(target_)), 0u);
}

// A process that is killed while it takes the line of that number in.
void import_and_die(const Upkeep& upkeep, const LineSource& next, int at_line) {
  const pid_t child = ::fork();
  if (child == 0) {
    int line = 0;
    const auto imported = import_lines(upkeep, [&]() -> Result<std::optional<std::string>> {
      if (++line == at_line) ::kill(::getpid(), SIGKILL);
      return next();
    });
    ::_exit(imported.ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(ExportImport, KilledAtAnyLine_HasStoredNothingAndGoesThroughNextTime) {
  fill();
  const std::string text = exported();
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  make_target();
  for (const int at : {1, 2, lines / 3, lines / 2, lines, lines + 1}) {
    import_and_die(upkeep(target_), lines_of(text), at);
    EXPECT_EQ(count_of(rows(target_)), 0u) << at;
  }
  import(text);
  EXPECT_EQ(rows_of_tenant(path_, 2), rows_of_tenant(target_, 1));
}

TEST_F(ExportImport, StoreThatAnotherCommandHasOpen_IsLeftAlone) {
  make_target();
  const StoreUse other = StoreUse::take(target_, StoreUse::Kind::shared);
  EXPECT_THAT(refused(""), HasSubstr("another command of runwarden has it open"));
}

}  // namespace
}  // namespace runwarden::store
