// An export holds everything, and an import gives everything back, or nothing.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "maintenance_store.h"
#include "store/group_codec.h"
#include "store/lmdb/events.h"
#include "store/record_lines.h"

namespace runwarden::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExportImport : public MaintenanceTest {
 protected:
  ExportImport() : target_(folder_.path() / "target") {}

  void make_target() { open(target_); }
  Imported import(const std::string& text) {
    const auto imported = import_lines(maintenance(target_), lines_of(text));
    if (!imported.ok()) throw std::runtime_error(imported.error().detail);
    return *imported;
  }
  std::string refused(const std::string& text) {
    const auto imported = import_lines(maintenance(target_), lines_of(text));
    return imported.ok() ? "it was taken" : imported.error().detail;
  }
  // Of one tenant, that tenant's number left out of the keys: it may be another in another store.
  static Rows rows_of_tenant(const std::filesystem::path& path, model::TenantId tenant) {
    Rows of;
    for (const auto& [table, entries] : rows(path)) {
      if (table == "keys" || table == "tenants" || table == "key_uses") continue;
      const std::size_t at = table == "idempotency" ? 4 : table == "opinion_queue" ? 9 : 0;
      for (const auto& [key, value] : entries) {
        if (read_be(key, at, 4) != tenant) continue;
        const std::string known = table == "clusters" ? without_rising(key, value) : value;
        of[table][key.substr(0, at) + key.substr(at + 4)] = known.empty() ? "" : contents(key, known);
      }
    }
    return of;
  }
  // A group counts as reported once its failures were imported.
  static std::string without_rising(const std::string& key, const std::string& value) {
    if (key.size() == 4) return value;  // the tenant's own row
    ClusterHead head = decode_cluster(key, value);
    head.rising_told_ms = model::kNever;
    return encode_cluster(key, head);
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

TEST_F(ExportImport, Groups_AreAsTheyWere) {
  fill();
  make_target();
  const std::string text = exported();
  EXPECT_THAT(text, HasSubstr(R"("record":"triage")"));
  import(text);
  const auto source = open(path_);
  const auto target = open(target_);
  int groups = 0;
  source->groups().visit_clusters(2, [&](const model::Cluster& cluster) {
    ++groups;
    const std::string id = model::cluster_id(cluster.key);
    const auto there = target->groups().find_cluster(1, id);
    ASSERT_TRUE(there) << cluster.fingerprint;
    EXPECT_EQ(there->triage, cluster.triage) << cluster.fingerprint;
    EXPECT_EQ(there->count, cluster.count);
    EXPECT_EQ(there->title, cluster.title);
    const auto before = source->groups().triage_history(2, cluster.key, {});
    const auto after = target->groups().triage_history(1, cluster.key, {});
    ASSERT_EQ(before.size(), after.size()) << cluster.fingerprint;
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].note, after[i].note);
      EXPECT_EQ(before[i].author, after[i].author);
      EXPECT_EQ(before[i].until, after[i].until);
      EXPECT_EQ(before[i].state, after[i].state);
    }
  });
  EXPECT_EQ(groups, 5);
}

// Neither since when it is known nor what was decided is in any failure that is left.
TEST_F(ExportImport, GroupWhoseFirstFailuresAreGone_IsAsOldAsBefore) {
  fill();
  {
    const auto store = open(path_);
    const auto last = store->groups().find_cluster(2, model::cluster_id(model::cluster_key("f0")))->last_ms;
    Retention retention;
    retention.failures_before_ms = last;  // of f0 the newest stays, of the others none
    while (store->expire(retention, 100).more) continue;
  }
  make_target();
  import(exported());
  EXPECT_EQ(rows_of_tenant(path_, 2), rows_of_tenant(target_, 1));
  const auto f0 = open(target_)->groups().find_cluster(1, model::cluster_id(model::cluster_key("f0")));
  EXPECT_EQ(f0->count, 1u);
  EXPECT_LT(f0->first_ms, f0->last_ms);
  const auto f1 = open(target_)->groups().find_cluster(1, model::cluster_id(model::cluster_key("f1")));
  ASSERT_TRUE(f1) << "what was decided about it is kept";
  EXPECT_EQ(f1->count, 0u);
  expect_good(target_);
}

TEST_F(ExportImport, GroupWhoseFirstFailuresAreFalseAlarms_IsAsOldAsBefore) {
  fill_with_false_alarms_first();
  make_target();
  const std::string text = exported();
  for (int times = 1; times <= 2; ++times) {
    import(text);
    expect_good(target_);
    const auto source = open(path_);
    const auto target = open(target_);
    int groups = 0;
    source->groups().visit_clusters(1, [&](const model::Cluster& cluster) {
      ++groups;
      const auto there = target->groups().find_cluster(1, model::cluster_id(cluster.key));
      ASSERT_TRUE(there) << cluster.fingerprint;
      EXPECT_EQ(there->first_ms, cluster.first_ms) << cluster.fingerprint;
      EXPECT_EQ(there->count, cluster.count) << cluster.fingerprint;
    });
    EXPECT_EQ(groups, 4);
  }
}

TEST_F(ExportImport, SinceATime_GroupComesWithItsLatestDecision) {
  fill();
  make_target();
  import(exported("acme", clock_.wall_ms() - 8));
  const auto target = open(target_);
  const auto latest = target->groups().find_cluster(1, model::cluster_id(model::cluster_key("expensive_loop:ended")));
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->triage.until.failures, 7u);
  EXPECT_FALSE(target->groups().find_cluster(1, model::cluster_id(model::cluster_key("f0")))) << "decided before, no failure since";
}

TEST_F(ExportImport, LaterDecisionInTheTarget_Holds) {
  fill();
  make_target();
  const std::string text = exported();
  import(text);
  {
    const auto target = open(target_);
    TriageWrite write{1, model::cluster_key("f1"), {}, std::nullopt};
    write.entry.key = new_key(*target);
    write.entry.action = model::TriageAction::resolve;
    write.entry.author = "ben";
    commit(*target, write);
  }
  const Imported again = import(text);
  EXPECT_EQ(again.conflicts, 0u);
  const auto f1 = open(target_)->groups().find_cluster(1, model::cluster_id(model::cluster_key("f1")));
  EXPECT_EQ(f1->triage.kind, model::Triage::Kind::resolved);
  expect_good(target_);
}

TEST_F(ExportImport, HistoryWithoutItsGroup_IsRefused) {
  fill();
  make_target();
  std::istringstream lines(exported());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(R"("record":"group")") == std::string::npos && line.find(R"("record":"failure")") == std::string::npos) text += line + "\n";
  }
  EXPECT_THAT(refused(text), HasSubstr("history of a group that no earlier line contains"));
}

TEST_F(ExportImport, GroupsThatRiseByImportedFailures_AreNotReported) {
  fill();
  make_target();
  import(exported());
  const auto store = open(target_);
  const model::TenantId tenant = store->tenants().front().id;
  EXPECT_FALSE(store->webhooks().queue_rising(tenant, model::cluster_key("f1")));
  clock_.advance_ms(86'400'000);
  EXPECT_TRUE(store->webhooks().queue_rising(tenant, model::cluster_key("f1")));
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
  EXPECT_THAT(imported.first_ones[0].detail, HasSubstr("the run \"ended\" already exists with a different receive time"));
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
  EXPECT_THAT(refused(without_last_line(text)), HasSubstr("was truncated"));
  EXPECT_THAT(refused(text.substr(0, text.size() / 2)), HasSubstr("nothing was imported"));
  EXPECT_THAT(refused(""), HasSubstr("nothing to import"));
  EXPECT_THAT(refused("{}\n"), HasSubstr("line 1"));
  EXPECT_EQ(rows(target_), before);
}

TEST_F(ExportImport, ExportThatWasChanged_IsRefusedWhole) {
  fill();
  make_target();
  std::string text = exported();
  text.replace(text.find("9f3c2d1"), 7, "9f3c2d2");
  EXPECT_THAT(refused(text), HasSubstr("the export's SHA-256 does not match"));
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
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << "header, webhook, run, end";
  EXPECT_THAT(text, HasSubstr(R"("runId":"after")"));
  EXPECT_THAT(text, Not(HasSubstr("client-3")));
}

TEST_F(ExportImport, UnknownTenant_IsRefused) {
  fill();
  const auto counts = export_tenant(maintenance(), {"nobody"}, [](std::string_view) { return true; });
  ASSERT_FALSE(counts.ok());
  EXPECT_THAT(counts.error().detail, HasSubstr("no tenant \"nobody\""));
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
void import_and_die(const MaintenanceContext& maintenance, const LineSource& next, int at_line) {
  const pid_t child = ::fork();
  if (child == 0) {
    int line = 0;
    const auto imported = import_lines(maintenance, [&]() -> Result<std::optional<std::string>> {
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
    import_and_die(maintenance(target_), lines_of(text), at);
    EXPECT_EQ(count_of(rows(target_)), 0u) << at;
  }
  import(text);
  EXPECT_EQ(rows_of_tenant(path_, 2), rows_of_tenant(target_, 1));
}

TEST_F(ExportImport, StoreThatAnotherCommandHasOpen_IsLeftAlone) {
  make_target();
  const StoreUse other = StoreUse::take(target_, StoreUse::Kind::shared);
  EXPECT_THAT(refused(""), HasSubstr("another runwarden command has it open"));
}

// Turns a bit of a row's value.
void spoil(const std::filesystem::path& path, const std::string& name, const std::string& key, std::size_t at) {
  OpenStore store(path, 0, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
  WriteTxn txn = store.env.write();
  store.tables.each([&](const Table& table) {
    if (name != table.name) return;
    std::string value(*txn.get(table.handle, key));
    value.at(at) = static_cast<char>(value.at(at) ^ 1);
    txn.put(table.handle, key, value);
  });
  txn.commit();
}

constexpr std::size_t kInHeadChecksum = 4;
constexpr std::size_t kInBodyChecksum = 16;

class DamagedEvents : public ExportImport, public ::testing::WithParamInterface<std::size_t> {
 protected:
  // A run that streams in, in four requests of two events each; the second cannot be read.
  void make(std::uint32_t max_events = 100) {
    const auto store = open(path_);
    model::KeyRecord key;
    key.id = "key_1";
    key.tenant_name = "acme";
    store->put_key(key);
    for (int i = 0; i < 4; ++i) {
      EventsWrite write;
      write.tenant = 1;
      write.key = new_key(*store);
      write.run_id = "streamed";
      for (const char* half : {"a", "b"}) write.events.push_back({"", R"({"type":"note","text":")" + std::to_string(i) + half + R"("})"});
      write.max_events = max_events;
      run_ = commit(*store, write).buffered->run;
    }
    post(*store, 1, "other", "e1", false);
    clock_.advance_ms(10);
  }
  void damage() { spoil(path_, "events", std::string(events_key({1, run_}, false, 2).view()), GetParam()); }
  std::unique_ptr<Store> open_telling() {
    LmdbSettings settings;
    settings.path = path_;
    settings.map_size = kMapBytes;
    settings.listener.on_unreadable = [this](const std::string& text) { told_.push_back(text); };
    auto store = open_lmdb(settings, clock_);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  static std::vector<std::string> notes(const std::vector<std::string>& events) {
    std::vector<std::string> notes;
    for (const std::string& event : events) notes.push_back(event.substr(event.size() - 4, 2));
    return notes;
  }
  void resolve(Store& store) {
    const auto claim = store.claim_run(1, run_, model::Resolution::final, 1000);
    ASSERT_TRUE(claim);
    store.fetch(*claim);
    RunWrite write = sample_run(1, run_, claim->run_id);
    write.run.revision = claim->revision;
    write.run.resolution = claim->resolution;
    write.claim = claim;
    ASSERT_EQ(commit(store, write).outcome, WriteResult::Outcome::stored);
  }

  model::RecordKey run_;
  std::vector<std::string> told_;
};

INSTANTIATE_TEST_SUITE_P(HeadAndBody, DamagedEvents, ::testing::Values(kInHeadChecksum, kInBodyChecksum));

TEST_P(DamagedEvents, AreLeftOutAndReported_AndTheRunIsListed) {
  make();
  damage();
  const auto store = open_telling();
  EXPECT_THAT(notes(store->events(1, run_)), ::testing::ElementsAre("0a", "0b", "2a", "2b", "3a", "3b"));
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_THAT(told_[0], HasSubstr("database \"events\", key 0x00000001"));
  EXPECT_EQ(store->runs(1, {}).items.size(), 2u);
}

TEST_P(DamagedEvents, DoNotKeepTheRunFromEnding) {
  make();
  damage();
  {
    const auto store = open_telling();
    resolve(*store);
    EXPECT_EQ(told_.size(), 1u) << "each is reported once";
    EXPECT_EQ(store->find_run(1, "streamed")->state, model::RunState::resolved);
    EXPECT_EQ(store->open_runs().count, 1u);
    EXPECT_THAT(notes(store->events(1, run_)), ::testing::ElementsAre("0a", "0b", "2a", "2b", "3a", "3b"));
  }
  expect_good(path_);
}

TEST_P(DamagedEvents, AcrossTheEndOfARevision_LeaveTheRestInPlace) {
  make(3);  // the revision ends inside the damaged request
  damage();
  {
    const auto store = open_telling();
    resolve(*store);
    EXPECT_THAT(notes(store->events(1, run_)), ::testing::ElementsAre("0a", "0b", "2a", "2b", "3a", "3b"));
    resolve(*store);
    EXPECT_EQ(store->find_run(1, "streamed")->revision, 3u);
  }
  expect_good(path_);
}

TEST_P(DamagedEvents, AreNamedAtTheEndOfTheExport_WhichImportsIntoAGoodStore) {
  make();
  damage();
  std::string text;
  const auto exported = export_tenant(maintenance(), {"acme"}, [&](std::string_view lines) {
    text += lines;
    return true;
  });
  ASSERT_TRUE(exported.ok()) << exported.error().detail;
  EXPECT_EQ(exported->unreadable, 1u);
  ASSERT_EQ(exported->first_ones.size(), 1u);
  EXPECT_STREQ(exported->first_ones[0].table.c_str(), "events");
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_THAT(last, HasSubstr(R"("unreadableRecords":1,"unreadable":[{"table":"events","key":"00000001)"));
  EXPECT_THAT(last, HasSubstr("checksum"));
  make_target();
  EXPECT_EQ(import(text).conflicts, 0u);
  const auto target = open(target_);
  EXPECT_THAT(notes(target->events(1, run_)), ::testing::ElementsAre("0a", "0b", "2a", "2b", "3a", "3b"));
  EXPECT_EQ(target->open_runs().count, 2u);
}

TEST_F(ExportImport, EveryKindOfRowThatCannotBeRead_IsLeftOutAndNamed) {
  fill();
  const std::string whole = exported();
  for (const char* table : {"runs", "former", "failures", "shadow_failures", "changes", "policies"}) spoil_last(path_, table);
  std::string text;
  const auto exported = export_tenant(maintenance(), {"acme"}, [&](std::string_view lines) {
    text += lines;
    return true;
  });
  ASSERT_TRUE(exported.ok()) << exported.error().detail;
  EXPECT_EQ(exported->unreadable, 6u);
  EXPECT_GT(std::count(text.begin(), text.end(), '\n') + 15, std::count(whole.begin(), whole.end(), '\n'));
  make_target();
  import(text);
  expect_good(target_);
}

TEST_F(ExportImport, OpenRunWhoseEntryCannotBeRead_DoesNotKeepTheStoreFromOpening) {
  fill();
  spoil_last(path_, "open_runs");
  std::vector<std::string> told;
  LmdbSettings settings;
  settings.path = path_;
  settings.map_size = kMapBytes;
  settings.listener.on_unreadable = [&](const std::string& text) { told.push_back(text); };
  const auto store = open_lmdb(settings, clock_);
  ASSERT_TRUE(store.ok()) << store.error().detail;
  EXPECT_EQ((*store)->open_runs().count, 3u) << "the run itself tells the same";
  EXPECT_EQ(told.size(), 1u);
}

}  // namespace
}  // namespace runwarden::store
