// The commands for a whole store: what they print and how they end. What they do to a store is tested in unit/store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "support/files.h"
#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;
using Args = std::vector<std::string>;

struct MaintenanceCommands : testing::Test {
  Program program;
  std::string config = write_config(program);

  Ended run(Args args, const std::string& input = {}) const {
    args.insert(args.end(), {"--config", config});
    return program.run(args, input);
  }
  void make_store() const { ASSERT_EQ(run({"keys", "create", "--tenant", "acme"}).code, 0); }
  std::string path(const char* name) const { return (program.folder().path() / name).string(); }
};

std::vector<std::string> members(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST_F(MaintenanceCommands, WhereThereIsNoStore_SaySoAndMakeNone) {
  for (const Args& args : {Args{"export", "--tenant", "acme"}, Args{"backup", path("copy")}, Args{"verify"}, Args{"compact"},
                           Args{"purge", "--tenant", "acme", "--yes"}, Args{"store", "accept-clock"}}) {
    const Ended ended = run(args);
    EXPECT_EQ(ended.code, 1) << args[0];
    EXPECT_EQ(ended.out, "") << args[0];
    EXPECT_EQ(ended.err, "runwarden: no store at " + path("data") + " is visible to this user; check --config and --data-dir\n");
    EXPECT_FALSE(std::filesystem::exists(path("data"))) << args[0];
  }
}

TEST_F(MaintenanceCommands, WhereTheStoreIsAnothers_SayWhose) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  make_store();
  ASSERT_EQ(::chmod(program.folder().path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(config.c_str(), 0644), 0);
  for (Args args :
       {Args{"keys", "list"}, Args{"verify"}, Args{"export", "--tenant", "acme"}, Args{"clusters", "list", "--tenant", "acme"}}) {
    args.insert(args.end(), {"--config", config});
    const Ended ended = program.run_as(65534, args);
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("\"" + path("data") + "\" belongs to root")) << args[0];
  }
}

TEST_F(MaintenanceCommands, ExportToAPipeOrALink_LeavesItThere) {
  make_store();
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] { return test::read_file(pipe); });
  EXPECT_EQ(run({"export", "--tenant", "acme", "--output", pipe}).code, 0);
  EXPECT_THAT(reader.get(), StartsWith(R"({"record":"header")"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::filesystem::create_symlink("target", path("link"));
  EXPECT_EQ(run({"export", "--tenant", "acme", "--output", path("link")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_GT(std::filesystem::file_size(path("target")), 0u);
}

struct JsonCase {
  const char* title;
  Args args;  // "DIR": a folder that is not there yet
  std::vector<std::string> members;
};

class MaintenanceJson : public MaintenanceCommands, public testing::WithParamInterface<JsonCase> {};

TEST_P(MaintenanceJson, Json_IsOneObjectOfTheseMembers) {
  make_store();
  Args args = GetParam().args;
  for (std::string& arg : args) arg = arg == "DIR" ? path("new") : arg;
  args.emplace_back("--json");
  const Ended ended = run(args);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 1);
  EXPECT_THAT(members(Json::parse(ended.out)), testing::UnorderedElementsAreArray(GetParam().members));
}

INSTANTIATE_TEST_SUITE_P(Commands, MaintenanceJson,
                         testing::Values(JsonCase{"export_to_a_file", {"export", "--tenant", "acme", "--output", "DIR"}, {}},
                                         JsonCase{"backup", {"backup", "DIR"}, {"folder", "bytes", "entries"}},
                                         JsonCase{"verify", {"verify"}, {"ok", "entries", "faultCount", "faults"}},
                                         JsonCase{"compact", {"compact"}, {"bytesBefore", "bytesAfter"}},
                                         JsonCase{"purge",
                                                  {"purge", "--tenant", "acme", "--before", "2026-01-01T00:00:00Z"},
                                                  {"tenant", "before", "purgedAt", "deleted", "compacted", "remains"}},
                                         JsonCase{"purge_compact",
                                                  {"purge", "--tenant", "acme", "--yes", "--compact"},
                                                  {"tenant", "before", "purgedAt", "deleted", "compacted", "remains"}},
                                         JsonCase{"purge_dry_run",
                                                  {"purge", "--tenant", "acme", "--dry-run"},
                                                  {"tenant", "before", "dryRun", "countedAt", "wouldDelete"}}),
                         [](const auto& test) { return test.param.title; });

TEST_F(MaintenanceCommands, Export_WritesTheRecordsToStandardOutputAndTheCountsToStandardError) {
  make_store();
  const Ended ended = run({"export", "--tenant", "acme", "--json"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "{}\n");
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 2) << "the header and the last line: " << ended.out;
  const Ended nobody_reads = program.run_unread({"export", "--tenant", "acme", "--config", config}, "");
  EXPECT_EQ(nobody_reads.code, 1);
}

TEST_F(MaintenanceCommands, Export_OfATenantThatIsNotThere_LeavesNoFile) {
  make_store();
  const Ended ended = run({"export", "--tenant", "globex", "--output", path("file")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no tenant \"globex\""));
  EXPECT_FALSE(std::filesystem::exists(path("file")));
  EXPECT_FALSE(std::filesystem::exists(path("file.partial")));
}

TEST_F(MaintenanceCommands, ImportThatIsRefused_LeavesNoStore) {
  make_store();
  const std::string exported = run({"export", "--tenant", "acme"}).out;
  const std::string cut_off = exported.substr(0, exported.find('\n') + 1);
  const std::string elsewhere = path("elsewhere");
  for (const std::string& input : {std::string("no export\n"), std::string(), cut_off}) {
    const Ended refused = run({"import", "--data-dir", elsewhere}, input);
    EXPECT_EQ(refused.code, 1) << input;
    EXPECT_FALSE(std::filesystem::exists(elsewhere)) << input;
    std::filesystem::create_directory(elsewhere);
    EXPECT_EQ(run({"import", "--data-dir", elsewhere}, input).code, 1);
    EXPECT_FALSE(std::filesystem::exists(elsewhere + "/data.mdb")) << "the folder was there; " << input;
    EXPECT_EQ(run({"verify", "--data-dir", elsewhere}).code, 1) << "there is no store";
    std::filesystem::remove_all(elsewhere);
  }
  EXPECT_EQ(run({"import"}, cut_off).code, 1);
  EXPECT_EQ(run({"export", "--tenant", "acme"}).code, 0) << "a store that was there stays";
  EXPECT_EQ(run({"import", "--data-dir", elsewhere}, exported).code, 0);
  EXPECT_EQ(run({"import", "--data-dir", elsewhere}, cut_off).code, 1);
  EXPECT_EQ(run({"export", "--tenant", "acme", "--data-dir", elsewhere}).code, 0);
}

TEST_F(MaintenanceCommands, Export_ToWhereNoFileCanBe_SaysWhy) {
  make_store();
  const Ended nowhere = run({"export", "--tenant", "acme", "--output", path("a/file")});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_EQ(nowhere.err, "runwarden: \"" + path("a/file") + "\" cannot be written: the folder \"" + path("a") +
                             "\" does not exist; create it, or check the path\n");
  const Ended folder = run({"import", path("data")});
  EXPECT_EQ(folder.code, 1);
  EXPECT_EQ(folder.err, "runwarden: cannot open \"" + path("data") + "\": it is a folder, not a file; name a file\n");
}

TEST_F(MaintenanceCommands, WhereTheStoreIsAFile_KeysSaySo) {
  program.folder().write("data", "mine");
  const Ended ended = run({"keys", "create", "--tenant", "acme"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("\"" + path("data") + "\" is a file, not a folder; name a folder, or move the file away\n"));
}

TEST_F(MaintenanceCommands, Import_TakesAnExportFromStandardInputAndMakesTheStore) {
  make_store();
  const std::string lines = run({"export", "--tenant", "acme"}).out;
  const Ended ended = run({"import", "--json", "--data-dir", path("fresh")}, lines);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(
      Json::parse(ended.out),
      (Json{{"tenants", {"acme"}}, {"stored", Json::object()}, {"alreadyThere", 0}, {"conflicts", 0}, {"conflictLines", Json::array()}}));
  EXPECT_TRUE(std::filesystem::exists(path("fresh") + "/data.mdb"));
}

TEST_F(MaintenanceCommands, Import_OfWhatIsNoExport_IsRefused) {
  for (const char* input : {"", "{}\n", "no json\n"}) {
    const Ended ended = run({"import"}, input);
    EXPECT_EQ(ended.code, 1) << input;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, StartsWith("runwarden: import: line ")) << input;
  }
  const Ended missing = run({"import", "nowhere.ndjson"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.ndjson"));
}

TEST_F(MaintenanceCommands, Backup_WhereSomethingStands_IsRefused) {
  make_store();
  program.folder().write("taken", "mine");
  const Ended ended = run({"backup", path("taken")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr(path("taken")));
}

TEST_F(MaintenanceCommands, Purge_SaysSinceWhenAndOfWhom) {
  make_store();
  const Ended ended = run({"purge", "--tenant", "acme", "--before", "2026-01-01T00:00:00Z"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("tenant \"acme\", records before 2026-01-01T00:00:00.000Z\n"));
  EXPECT_THAT(ended.out, HasSubstr("runs               0\n"));
  const Json ago = Json::parse(run({"purge", "--tenant", "acme", "--before", "2h", "--json"}).out);
  const auto time = [&](const char* name) { return parse_time(ago.at(name).get<std::string>()).value_or(0); };
  EXPECT_EQ(time("purgedAt") - time("before"), 2 * 3'600'000);
  EXPECT_THAT(members(ago.at("deleted")),
              testing::UnorderedElementsAre("runs", "failures", "events", "changes", "policies", "idempotentAnswers", "crashMarks",
                                            "groupDecisions", "reviews", "webhookDeliveries", "indexEntries"));
  EXPECT_EQ(run({"purge", "--tenant", "globex", "--yes"}).code, 1) << "a tenant that is not there";
}

TEST_F(MaintenanceCommands, PurgeOfEverything_WhereNobodyCanBeAsked_WantsYes) {
  make_store();
  const Ended unsure = run({"purge", "--tenant", "acme"}, "y\n");
  EXPECT_EQ(unsure.code, 2);
  EXPECT_EQ(unsure.out, "");
  EXPECT_EQ(unsure.err,
            "runwarden: purge: without --before, this deletes every record of tenant \"acme\"; pass --yes to confirm, or count them first "
            "with --dry-run\n");
  for (const char* before : {"2999-01-01T00:00:00Z", "0s"}) {
    const Ended spares_none = run({"purge", "--tenant", "acme", "--before", before}, "y\n");
    EXPECT_EQ(spares_none.code, 2) << before;
    EXPECT_THAT(spares_none.err, HasSubstr("as --before " + std::string(before) + " is not in the past, this deletes every record"));
  }
  EXPECT_EQ(run({"purge", "--tenant", "acme", "--before", "1s"}).code, 0) << "that spares what came since";
  const Ended sure = run({"purge", "--tenant", "acme", "--yes"});
  EXPECT_EQ(sure.code, 0) << sure.err;
  EXPECT_THAT(sure.out, HasSubstr("tenant \"acme\", every record\n"));
}

TEST_F(MaintenanceCommands, PurgeOfEverything_OnATerminal_Asks) {
  make_store();
  const Args purge{"purge", "--tenant", "acme", "--config", config};
  const std::string question = "Delete every record of tenant \"acme\"? [y/N] ";
  for (const char* typed : {"n\n", "\n", "yesterday\n", "\x04"}) {
    const Ended ended = program.run_at_terminal(purge, typed);
    EXPECT_EQ(ended.code, 1) << typed;
    EXPECT_EQ(ended.out, "") << typed;
    EXPECT_THAT(ended.err, StartsWith(question)) << typed;
    EXPECT_THAT(ended.err, HasSubstr("nothing was deleted")) << typed;
  }
  for (const char* typed : {"y\n", "YES\n"}) {
    const Ended ended = program.run_at_terminal(purge, typed);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, StartsWith(question)) << typed;
    EXPECT_THAT(ended.out, StartsWith("purged at ")) << typed;
  }
  const Ended told = program.run_at_terminal({"purge", "--tenant", "acme", "--before", "90d", "--config", config}, "");
  EXPECT_EQ(told.code, 0);
  EXPECT_THAT(told.err, Not(HasSubstr("Delete"))) << "only what deletes everything is asked about";
}

TEST_F(MaintenanceCommands, PurgeDryRun_SaysThatNothingWasDeleted) {
  make_store();
  const Ended ended = run({"purge", "--tenant", "acme", "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("dry run, nothing was deleted; a purge at "));
  EXPECT_THAT(ended.out, HasSubstr("WOULD DELETE"));
  EXPECT_EQ(run({"purge", "--tenant", "globex", "--dry-run"}).code, 1) << "a tenant that is not there";
}

// In a mount namespace of its own, in which the store's file system is read-only.
TEST_F(MaintenanceCommands, OnAReadOnlyFileSystem_VerifyAndExportWork) {
  make_store();
  const std::string mount = "mount --bind '" + path("data") + "' '" + path("data") + "' && mount -o remount,ro,bind '" + path("data") + "'";
  const auto read_only = [&](const std::string& command) {
    const std::string script = mount + " && exec '" PROGRAM "' " + command + " --config '" + config + "'";
    return std::system(("unshare -m sh -c \"" + script + "\" >'" + path("out") + "' 2>'" + path("err") + "'").c_str());
  };
  if (std::system(("unshare -m sh -c \"" + mount + " && ! touch '" + path("data") + "/x'\" 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "nothing can be mounted here";
  }
  const auto said = [&](const char* name) { return test::read_file(path(name)); };
  EXPECT_EQ(read_only("verify"), 0) << said("err");
  EXPECT_THAT(said("out"), HasSubstr("no fault found\n"));
  EXPECT_EQ(read_only("export --tenant acme"), 0) << said("err");
  EXPECT_THAT(said("out"), HasSubstr("\"record\":\"end\""));
  EXPECT_NE(read_only("purge --tenant acme --yes"), 0);
  EXPECT_THAT(said("err"), HasSubstr("it is on a read-only file system; make that writable, or choose another location"));
  EXPECT_NE(read_only("check"), 0);
  EXPECT_THAT(said("err"), HasSubstr("config: store.path (" + path("runwarden.yaml") + ":"));
  EXPECT_THAT(said("err"), HasSubstr("serve could not open \"" + path("data") + "\": it is on a read-only file system"));
}

TEST_F(MaintenanceCommands, Verify_SaysWhatItLookedAt) {
  make_store();
  const Ended ended = run({"verify"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, StartsWith("TABLE"));
  EXPECT_THAT(ended.out, HasSubstr("no fault found\n"));
}

TEST_F(MaintenanceCommands, AcceptClock_TellsBothTimes) {
  make_store();
  const Ended first = run({"store", "accept-clock"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, testing::MatchesRegex("20.*Z is accepted as the time\n")) << "nothing was stored there so far";
  const Ended second = run({"store", "accept-clock", "--json"});
  EXPECT_EQ(second.code, 0) << second.err;
  const Json told = Json::parse(second.out);
  EXPECT_EQ(members(told), (std::vector<std::string>{"lastUse", "machineTime"}));
  EXPECT_LE(parse_time(told["lastUse"].get<std::string>()), parse_time(told["machineTime"].get<std::string>()));
  EXPECT_EQ(run({"store", "accept-time"}).code, 2);
  EXPECT_EQ(run({"store"}).code, 2);
}

}  // namespace
}  // namespace runwarden::cli
