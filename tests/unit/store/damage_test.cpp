// A store's file that is missing, empty, cut off or has damaged pages: it is refused, or what can be read is read. Nothing ends the
// process.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "maintenance_store.h"
#include "store/lmdb/damage_note.h"
#include "support/files.h"

namespace runwarden::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;

void overwrite(const fs::path& path, std::size_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file << bytes;
}

class Damage : public MaintenanceTest {
 protected:
  fs::path data() const { return path_ / "data.mdb"; }
  Result<std::unique_ptr<Store>> open_as(LmdbSettings::IfLost if_lost = LmdbSettings::IfLost::refuse) {
    LmdbSettings settings;
    settings.path = path_;
    settings.map_size = kMapBytes;
    settings.if_lost = if_lost;
    settings.listener.on_fatal = [this](const std::string& text) {
      std::ofstream(why_, std::ios::app) << text << "\n";  // of a child, too
      failed_ = true;
    };
    settings.listener.on_damage = [this](const std::string& text) { damage_.push_back(text); };
    settings.listener.on_new_store = [this](const std::string& text) { begun_anew_.push_back(text); };
    return open_lmdb(settings, clock_);
  }
  std::string refusal() {
    const auto opened = open_as();
    return opened.ok() ? "it was opened" : opened.error().detail;
  }

  const fs::path why_ = path_.parent_path() / "why";
  std::vector<std::string> damage_;
  std::vector<std::string> begun_anew_;
};

TEST_F(Damage, ItsNote_IsForTheOwnerOnly) {
  fs::create_directory(path_);
  DamageNote::write(path_, "page 7 is damaged");
  EXPECT_EQ(fs::status(path_ / "damage.note").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Damage, FolderThatHeldNoStore_GetsOne) {
  fs::create_directory(path_);
  std::ofstream(path_ / "service.lock");
  EXPECT_TRUE(open_as().ok());
}

TEST_F(Damage, MissingOrEmptyFileBesideWhatAStoreLeaves_IsRefusedWithTheRemedy) {
  for (const char* trace : {"cursor.secret", "plugins", "lock.mdb", "crash.note"}) {
    for (const bool empty : {false, true}) {
      fs::remove_all(path_);
      fs::create_directory(path_);
      std::ofstream(path_ / trace) << "x";
      if (empty) std::ofstream{data()};
      const std::string why = refusal();
      EXPECT_THAT(why, HasSubstr(empty ? "its data.mdb is empty" : "its data.mdb is missing")) << trace;
      EXPECT_THAT(why, HasSubstr("restore a backup, or start an empty store with `runwarden serve --new-store`")) << trace;
      EXPECT_TRUE(!fs::exists(data()) || fs::is_empty(data())) << trace;
      EXPECT_FALSE(verify(maintenance()).ok()) << trace;
    }
  }
}

TEST_F(Damage, LostStoreBegunAnew_IsEmptyAndStaysSo) {
  fill();
  fs::remove(data());
  {
    const auto store = open_as(LmdbSettings::IfLost::create_new);
    ASSERT_TRUE(store.ok()) << store.error().detail;
    EXPECT_TRUE((*store)->runs(2, {}).items.empty());
  }
  ASSERT_EQ(begun_anew_.size(), 1u);
  fill();
  ASSERT_TRUE(open_as(LmdbSettings::IfLost::create_new).ok());
  EXPECT_EQ(begun_anew_.size(), 1u) << "a good store is never set aside";
  EXPECT_EQ(rows(path_).at("runs").size(), 27u);
}

TEST_F(Damage, FileThatIsCutOff_IsRefusedByEveryCommandAndSetAsideWhenBegunAnew) {
  fill();
  ASSERT_TRUE(compact(maintenance()).ok());  // no free pages at its end
  const std::string whole = test::read_file(data());
  for (std::size_t pages = 1; pages * kPage < whole.size(); pages += 3) {
    for (const std::size_t more : {std::size_t{0}, std::size_t{100}}) {
      fs::resize_file(data(), pages * kPage + more);
      const std::string why = refusal();
      EXPECT_THAT(why, HasSubstr("restore a backup")) << pages;
      if (pages > 2) {
        EXPECT_THAT(why, HasSubstr("is truncated: it has " + std::to_string(pages * kPage + more) + " bytes"));
      }
      EXPECT_FALSE(verify(maintenance()).ok()) << pages;
      EXPECT_FALSE(export_tenant(maintenance(), {"acme"}, [](std::string_view) { return true; }).ok()) << pages;
      overwrite(data(), 0, whole);
    }
  }
  expect_good(path_);
  fs::resize_file(data(), 5 * kPage);
  const auto anew = open_as(LmdbSettings::IfLost::create_new);
  ASSERT_TRUE(anew.ok()) << anew.error().detail;
  EXPECT_THAT(begun_anew_, ::testing::ElementsAre(HasSubstr("was set aside as")));
  int aside = 0;
  for (const auto& entry : fs::directory_iterator(path_)) aside += entry.path().string().find("set-aside") != std::string::npos;
  EXPECT_EQ(aside, 1);
}

TEST_F(Damage, FileThatIsDeletedMovedOrReplacedWhileOpen_TakesNoMoreWritesAndIsStillRead) {
  const fs::path aside = path_ / "aside.mdb";
  const std::vector<std::function<void()>> ways{[&] { fs::remove(data()); }, [&] { fs::rename(data(), aside); },
                                                [&] {
                                                  fs::copy_file(data(), aside);
                                                  fs::rename(aside, data());
                                                }};
  for (const auto& take_away : ways) {
    fs::remove_all(path_);
    damage_.clear();
    const auto store = open_as();
    ASSERT_TRUE(store.ok()) << store.error().detail;
    const model::TenantId tenant = fill_with_runs(**store, "acme", 3);
    ASSERT_TRUE((*store)->writable().ok());
    take_away();
    const WriteResult refused = commit(**store, sample_run(tenant, new_key(**store), "lost"));
    EXPECT_EQ(refused.outcome, WriteResult::Outcome::unavailable);
    EXPECT_THAT(refused.detail, AllOf(HasSubstr("data.mdb was deleted, moved or replaced while open"),
                                      HasSubstr("stop the service, then put the file back or restore a backup")));
    EXPECT_THROW((*store)->touch_keys({{{"key", clock_.wall_ms()}}}), StoreError);
    EXPECT_FALSE((*store)->writable().ok());
    EXPECT_THAT(damage_, ::testing::ElementsAre(HasSubstr("data.mdb was deleted")));
    EXPECT_EQ((*store)->runs(tenant, {}).items.size(), 3u);
    EXPECT_FALSE(failed_) << test::read_file(why_);
  }
}

TEST_F(Damage, FileThatIsCutOffWhileOpen_IsTheReasonOfEveryFaultThatFollows) {
  const auto store = open_as();
  ASSERT_TRUE(store.ok()) << store.error().detail;
  const model::TenantId tenant = fill_with_runs(**store, "acme", 100);
  fs::resize_file(data(), 3 * kPage);
  for (int i = 0; i < 3; ++i) {
    try {
      (*store)->keys();
      (*store)->runs(tenant, {});
      ADD_FAILURE() << "it was read";
    } catch (const StoreDamaged& damaged) {
      EXPECT_THAT(damaged.what(), HasSubstr("is damaged: data.mdb was truncated while open"));
    }
  }
  const Status writable = (*store)->writable();
  ASSERT_FALSE(writable.ok());
  EXPECT_EQ(writable.error().retry_after_s, kStoreDamagedRetryS);
}

// LMDB does not write pages that are free again at the end of the transaction that took them.
TEST_F(Damage, FileWhoseLastPagesAreFree_IsNotCutOff) {
  {
    const auto store = open(path_);
    const model::TenantId tenant = fill_with_runs(*store, "acme", 3);
    RunWrite large = sample_run(tenant, new_key(*store), "large");
    std::minstd_rand random(1);
    while (large.run.document.size() < 400'000) large.run.document += std::to_string(random());
    commit(*store, large);
    Retention retention;
    retention.runs_before_ms = clock_.wall_ms() + 1;
    store->expire(retention, 200);
    for (int i = 0; i < 20; ++i) commit(*store, sample_run(tenant, new_key(*store), "", std::to_string(i)));
  }
  const std::size_t bytes = test::read_file(data()).size();
  std::size_t shorter = 0;
  while (bytes > (shorter + 1) * kPage) {
    fs::resize_file(data(), bytes - (shorter + 1) * kPage);
    if (!open_as().ok()) break;
    ++shorter;
    ASSERT_TRUE(verify(maintenance()).ok());
  }
  EXPECT_GT(shorter, 0u) << "no page at the end was free: the test shows nothing";
}

TEST_F(Damage, CountThatCannotBeRead_RefusesTheWritesThatNeedItAndNoOthers) {
  fill();
  spoil_last(path_, "commits");  // of the second tenant: each of its writes goes on from it
  const auto store = open_as();
  ASSERT_TRUE(store.ok()) << store.error().detail;
  const std::vector<Write> batch{sample_run(1, new_key(**store), "before"), sample_run(2, new_key(**store), "refused"),
                                 sample_run(1, new_key(**store), "after")};
  const auto results = commit_together(**store, batch);
  EXPECT_EQ(results[0].outcome, WriteResult::Outcome::stored);
  EXPECT_EQ(results[1].outcome, WriteResult::Outcome::unavailable);
  EXPECT_THAT(results[1].detail, AllOf(HasSubstr("\"commits\""), HasSubstr("runwarden verify")));
  EXPECT_EQ(results[2].outcome, WriteResult::Outcome::stored);
  EXPECT_FALSE(failed_) << test::read_file(why_);
}

struct Kind {
  const char* name;
  std::string (*page)(const std::string& before, unsigned seed);
};

std::string zeros(const std::string& before, unsigned) {
  return std::string(before.size(), '\0');
}
std::string ones(const std::string& before, unsigned) {
  return std::string(before.size(), '\xff');
}
std::string noise(const std::string& before, unsigned seed) {
  std::minstd_rand random(seed);
  std::string page(before.size(), '\0');
  for (char& byte : page) byte = static_cast<char>(random() >> 8);
  return page;
}
// Its header is right, all else is noise.
std::string noise_behind_header(const std::string& before, unsigned seed) {
  return before.substr(0, 16) + noise(before.substr(16), seed);
}
std::string flipped_bit_in_header(const std::string& before, unsigned seed) {
  std::string page = before;
  page[seed % 16] = static_cast<char>(page[seed % 16] ^ (1 << (seed / 16 % 8)));
  return page;
}
// Its entries are said to begin a few bytes before or behind the place where they do.
std::string moved_bound(const std::string& before, unsigned seed) {
  std::string page = before;
  page[14] = static_cast<char>(page[14] ^ (2 << seed % 4));
  return page;
}
// The length of the entry that was put there last is wrong. In a branch page that place holds the number of a page, and one that leads to
// a good page of another table shows only where a transaction takes a page twice.
std::string wrong_length(const std::string& before, unsigned seed) {
  constexpr char kLeaf = 2;
  std::string page = before;
  if (before[10] != kLeaf) return page;
  const auto upper = static_cast<std::size_t>(static_cast<unsigned char>(before[14]) | static_cast<unsigned char>(before[15]) << 8);
  if (upper < page.size()) page[upper] = static_cast<char>(page[upper] ^ (1 << seed % 8));
  return page;
}

class DamagedPage : public Damage, public ::testing::WithParamInterface<Kind> {
 protected:
  // Everything that a service does, in a process of its own; 0: it went on, whatever failed; 3: it ended in order.
  int serve() {
    const pid_t child = ::fork();
    if (child == 0) {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, STDERR_FILENO);
      try {
        const auto store = open_as();
        if (!store.ok()) ::_exit(4);
        use(**store);
        ::_exit(0);
      } catch (const FatalStoreError& fatal) {
        std::ofstream(why_, std::ios::app) << fatal.what() << "\n";
        ::_exit(3);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  template <class Use>
  static void try_to(Use use) {
    try {
      use();
    } catch (const StoreError&) {
    }
  }

  void use(Store& store) {
    for (int round = 0; round < 2; ++round) {
      for (const model::TenantId tenant : {1u, 2u}) {
        try_to([&] { store.runs(tenant, {}); });
        try_to([&] { store.runs(tenant, {.state = model::RunState::open}); });
        try_to([&] { store.failures(tenant, {}); });
        try_to([&] { store.failures(tenant, {.fingerprint = "f1"}); });
        try_to([&] { store.changes(tenant, {}); });
        try_to([&] { store.policies(tenant, {}); });
        try_to([&] { store.fingerprint_stats(tenant, "f1"); });
        try_to([&] { commit(store, sample_run(tenant, new_key(store), "new-" + std::to_string(round))); });
        try_to([&] { post_all(store, tenant); });
      }
      try_to([&] { store.keys(); });
      try_to([&] { store.tenants(); });
      store.space();
      static_cast<void>(store.writable());
      try_to([&] {
        Retention retention;
        retention.runs_before_ms = clock_.wall_ms() - 100;
        retention.failures_before_ms = clock_.wall_ms() - 100;
        store.expire(retention, 20);
      });
    }
  }
  void post_all(Store& store, model::TenantId tenant) {
    std::vector<Write> writes;
    for (int i = 0; i < 8; ++i) {
      RunWrite run = sample_run(tenant, new_key(store), "", "more " + std::to_string(clock_.wall_ms()));
      run.failures.push_back(sample_failure(new_key(store), "false_success", 95, "f1"));
      run.idempotency = idempotency("again" + std::to_string(clock_.wall_ms()), "content");
      writes.emplace_back(std::move(run));
    }
    commit_together(store, writes);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedPage,
                         ::testing::Values(Kind{"zeros", zeros}, Kind{"ones", ones}, Kind{"noise", noise},
                                           Kind{"noise_behind_header", noise_behind_header},
                                           Kind{"flipped_bit_in_header", flipped_bit_in_header}, Kind{"moved_bound", moved_bound},
                                           Kind{"wrong_length", wrong_length}),
                         [](const auto& test) { return test.param.name; });

// One thread does it all, for which ThreadSanitizer takes long.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kStep = 7;
#else
constexpr std::size_t kStep = 1;
#endif

TEST_P(DamagedPage, AnyOfThem_EndsRequestsAndNeverTheProcess) {
  fill();
  const std::string whole = test::read_file(data());
  std::map<int, int> ends;
  for (std::size_t page = 2; page * kPage < whole.size(); page += kStep) {
    overwrite(data(), 0, whole);
    fs::resize_file(data(), whole.size());
    const auto seed = static_cast<unsigned>(page);
    overwrite(data(), page * kPage, GetParam().page(whole.substr(page * kPage, kPage), seed));
    fs::remove(why_);
    const int end = serve();
    ++ends[end];
    EXPECT_THAT(end, ::testing::AnyOf(0, 3, 4)) << "page " << page << "; " << test::read_file(why_);
    if (end == 3) {
      EXPECT_EQ(serve(), 0) << "page " << page << ": the next process only reads; " << test::read_file(why_);
    }
    if (page % 4 != 0) continue;
    const pid_t child = ::fork();
    if (child == 0) {
      const auto verified = verify(maintenance());
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "page " << page << ": verify";
  }
  EXPECT_GT(ends[0], static_cast<int>(20 / kStep)) << "most pages leave the others to be served";
}

// The page of a table's row in the middle.
struct PlaceOfPage {
  std::size_t at = 0;      // in the file
  std::size_t rows = 0;    // in the page
  std::size_t in_all = 0;  // of the table
};

class DamagedExport : public DamagedPage {
 protected:
  PlaceOfPage page_in_middle(const std::string& table) {
    PlaceOfPage found;
    const auto number_at = [](const char* address) {
      std::size_t number = 0;
      std::memcpy(&number, reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(address) / kPage * kPage), sizeof number);
      return number;
    };
    tamper(path_, table, [&](WriteTxn& txn, const Table& in) {
      found.in_all = txn.entries(in.handle);
      std::vector<std::size_t> pages;
      Cursor cursor(txn, in.handle);
      for (bool more = cursor.first(); more; more = cursor.next()) pages.push_back(number_at(cursor.key().data()));
      const std::size_t page = pages.at(pages.size() / 2);
      found.at = page * kPage;
      found.rows = static_cast<std::size_t>(std::count(pages.begin(), pages.end(), page));
    });
    return found;
  }
  void damage(const PlaceOfPage& page) { overwrite(data(), page.at, GetParam().page(test::read_file(data()).substr(page.at, kPage), 7)); }
  Exported export_all(std::string& text) {
    const auto exported = export_tenant(maintenance(), {"acme"}, [&](std::string_view lines) {
      text += lines;
      return true;
    });
    EXPECT_TRUE(exported.ok()) << exported.error().detail;
    return exported.ok() ? *exported : Exported();
  }
  void expect_imported(const std::string& text) {
    const fs::path target = path_.parent_path() / "target";
    open(target);
    const auto imported = import_lines(maintenance(target), lines_of(text));
    ASSERT_TRUE(imported.ok()) << imported.error().detail;
    EXPECT_EQ(imported->conflicts, 0u);
    expect_good(target);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedExport,
                         ::testing::Values(Kind{"zeros", zeros}, Kind{"ones", ones}, Kind{"noise", noise},
                                           Kind{"noise_behind_header", noise_behind_header},
                                           Kind{"flipped_bit_in_header", flipped_bit_in_header}),
                         [](const auto& test) { return test.param.name; });

TEST_P(DamagedExport, OfFailures_HoldsEveryRunAndTheFailuresOfOtherPages) {
  fill_with_runs(*open(path_), "acme", 300);
  const PlaceOfPage page = page_in_middle("failures");
  ASSERT_LT(page.rows, page.in_all / 2);
  damage(page);
  std::string text;
  Exported exported = export_all(text);
  EXPECT_EQ(exported.lines["run"], 300u);
  EXPECT_EQ(exported.lines["opinion"], 284u);
  EXPECT_EQ(exported.lines["answer"], 300u);
  EXPECT_EQ(exported.lines["failure"], page.in_all - page.rows);
  EXPECT_EQ(exported.unreadable, page.rows + 1) << "each as its run names it, and all as a stretch of their table";
  EXPECT_EQ(exported.stretches, 1u);
  for (const StoreFault& one : exported.first_ones) EXPECT_EQ(one.table, "failures") << one.detail;
  expect_imported(text);
}

TEST_P(DamagedExport, OfRuns_HoldsTheRunsOfOtherPages) {
  fill_with_runs(*open(path_), "acme", 300);
  const PlaceOfPage page = page_in_middle("runs");
  ASSERT_LT(page.rows, page.in_all / 2);
  damage(page);
  std::string text;
  Exported exported = export_all(text);
  EXPECT_EQ(exported.lines["run"], page.in_all - page.rows);
  EXPECT_EQ(exported.lines["failure"], 300u);
  EXPECT_EQ(exported.lines["opinion"], 284u - page.rows) << "an import takes none without its run";
  EXPECT_EQ(exported.stretches, 1u);
  expect_imported(text);
}

TEST_P(DamagedExport, OfEvents_HoldsEveryRunWithAsManyEventsAsItSays) {
  {
    const auto store = open(path_);
    const model::TenantId tenant = fill_with_runs(*store, "acme", 1);
    for (int i = 0; i < 60; ++i) end(*store, tenant, post(*store, tenant, "ended-" + std::to_string(i), "e", true));
    for (int i = 0; i < 60; ++i) post(*store, tenant, "open-" + std::to_string(i), "e", false);
  }
  const PlaceOfPage page = page_in_middle("events");
  ASSERT_LT(page.rows, page.in_all / 2);
  damage(page);
  std::string text;
  Exported exported = export_all(text);
  EXPECT_EQ(exported.lines["run"], 121u);
  EXPECT_EQ(exported.lines["events"], 120u);
  EXPECT_GT(exported.unreadable, 0u);
  for (const StoreFault& one : exported.first_ones) EXPECT_EQ(one.table, "events") << one.detail;
  expect_imported(text);
}

TEST_P(DamagedExport, OfAnotherTable_HoldsEveryRecordOfOtherKinds) {
  fill();
  std::string whole;
  const LineCounts all = export_all(whole).lines;
  const std::map<std::string, std::set<std::string>> kinds = {{"former", {"run"}},
                                                              {"shadow_failures", {"shadow_failure"}},
                                                              {"changes", {"change", "answer"}},
                                                              {"policies", {"policy", "answer"}},
                                                              {"policy_index", {"policy_name"}},
                                                              {"clusters", {"group", "triage"}},
                                                              {"triage", {"triage"}},
                                                              {"reviews", {"review"}},
                                                              {"opinions", {"opinion"}},
                                                              {"idempotency", {"answer"}}};
  for (const auto& [table, lost] : kinds) {
    const std::string before = test::read_file(data());
    damage(page_in_middle(table));
    std::string text;
    Exported exported = export_all(text);
    EXPECT_GT(exported.unreadable, 0u) << table;
    for (const auto& [kind, count] : all) {
      if (!lost.contains(kind)) {
        EXPECT_EQ(exported.lines[kind], count) << kind << ", " << table;
      }
    }
    overwrite(data(), 0, before);
  }
}

TEST_F(Damage, LargeValue_IsLeftOutOfTheExportAlone) {
  {
    const auto store = open(path_);
    const model::TenantId tenant = fill_with_runs(*store, "acme", 20);
    commit(*store, sample_run(tenant, new_key(*store), "large", noise(std::string(3 * kPage, ' '), 1)));
    commit(*store, sample_run(tenant, new_key(*store), "behind"));
  }
  const std::string bytes = test::read_file(data());
  std::size_t damaged = 0;
  for (std::size_t at = 2 * kPage; at < bytes.size(); at += kPage) {
    constexpr char kOverflow = 4;
    if (bytes[at + 10] != kOverflow) continue;
    overwrite(data(), at, std::string(16, '\xff'));
    ++damaged;
  }
  ASSERT_GT(damaged, 0u);
  std::string text;
  const auto exported = export_tenant(maintenance(), {"acme"}, [&](std::string_view lines) {
    text += lines;
    return true;
  });
  ASSERT_TRUE(exported.ok()) << exported.error().detail;
  EXPECT_EQ(exported->lines.at("run"), 21u);
  EXPECT_THAT(text, HasSubstr("behind"));
  EXPECT_EQ(exported->unreadable, 1u);
  EXPECT_EQ(exported->stretches, 0u);
}

}  // namespace
}  // namespace runwarden::store
