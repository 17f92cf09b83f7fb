#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "cli/context.h"
#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;

struct UsageCase {
  const char* title;
  std::vector<std::string> args;
  const char* err;
};

class Usage : public testing::TestWithParam<UsageCase> {};

TEST_P(Usage, WhenItIsWrong_ExitsWith2AndSaysWhyOnStandardError) {
  const Program program;
  const Ended ended = program.run(GetParam().args);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr(GetParam().err));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Usage,
    testing::Values(
        UsageCase{"nothing", {}, "subcommand is required"}, UsageCase{"unknown_command", {"frobnicate"}, "not expected: frobnicate\n"},
        UsageCase{"misspelt_command", {"sreve"}, "not expected: sreve; the nearest command is serve\n"},
        UsageCase{"help_of_an_unknown_command", {"sreve", "--help"}, "not expected: sreve; the nearest command is serve\n"},
        UsageCase{"help_of_an_unknown_keys_command", {"keys", "frobnicate", "--help"}, "not expected: frobnicate\n"},
        UsageCase{"version_of_an_unknown_command", {"sreve", "--version"}, "not expected: sreve; the nearest command is serve\n"},
        UsageCase{"two_too_many", {"verify", "runs", "get"}, "not expected: runs get\n"},
        UsageCase{"unknown_keys_command", {"keys", "frobnicate"}, "not expected: frobnicate\n"},
        UsageCase{
            "misspelt_keys_command", {"keys", "creat", "--tenant", "a"}, "not expected: creat --tenant a; the nearest command is create\n"},
        UsageCase{"unknown_option_and_a_missing_argument", {"webhooks", "remove", "--bogus"}, "not expected: --bogus\n"},
        UsageCase{"unknown_option_and_a_missing_one", {"keys", "create", "--bogus"}, "not expected: --bogus\n"},
        UsageCase{"unknown_option_and_a_wrong_value", {"keys", "create", "--tenant", "", "--bogus"}, "not expected: --bogus\n"},
        UsageCase{"a_missing_argument_after_the_options", {"keys", "revoke", "--"}, "id is required"},
        UsageCase{"unknown_option", {"serve", "--frob"}, "--frob"}, UsageCase{"keys_alone", {"keys"}, "subcommand is required"},
        UsageCase{"no_tenant", {"keys", "create"}, "--tenant is required"},
        UsageCase{"empty_tenant", {"keys", "create", "--tenant", ""}, "expected 1 to 256 bytes"},
        UsageCase{"control_character", {"keys", "create", "--tenant", "a\nb"}, "control characters are not allowed"},
        UsageCase{"bad_scope", {"keys", "create", "--tenant", "a", "--scopes", "ingest,write"}, "write"},
        UsageCase{"empty_scope",
                  {"keys", "create", "--tenant", "a", "--scopes", "ingest,"},
                  "--scopes: expected one or more of ingest,read,manage, with commas between them, got \"ingest,\""},
        UsageCase{"no_scope", {"keys", "create", "--tenant", "a", "--scopes", ","}, "got \",\""},
        UsageCase{"tenant_in_latin_1", {"keys", "create", "--tenant", "caf\xE9"}, "--tenant: expected UTF-8 text"},
        UsageCase{"key_name_in_latin_1", {"keys", "create", "--tenant", "a", "--name", "caf\xE9"}, "--name: expected UTF-8 text"},
        UsageCase{"bad_expiry", {"keys", "create", "--tenant", "a", "--expires", "90"}, "expected a duration such as 24h or 90d"},
        UsageCase{"no_expiry", {"keys", "create", "--tenant", "a", "--expires", "0s"}, "expected a duration"},
        UsageCase{"bad_overlap", {"keys", "rotate", "key_1", "--overlap", "-1h"}, "expected a duration"},
        UsageCase{"clusters_alone", {"clusters"}, "subcommand is required"},
        UsageCase{
            "bad_until", {"clusters", "ignore", "cl_1", "--tenant", "a", "--until", "soon"}, "expected a time, a duration such as 7d"},
        UsageCase{"until_goes_with_ignore", {"clusters", "resolve", "cl_1", "--tenant", "a", "--until", "7d"}, "--until"},
        UsageCase{"bad_state", {"clusters", "list", "--tenant", "a", "--state", "closed"}, "closed"},
        UsageCase{"no_id", {"keys", "revoke"}, "id is required"}, UsageCase{"bad_score", {"analyze", "--fail-on", "101"}, "--fail-on"},
        UsageCase{"bad_threads", {"analyze", "--threads", "-1"}, "--threads"},
        UsageCase{"bad_format", {"analyze", "--format", "xml"}, "--format"},
        UsageCase{"two_formats", {"analyze", "--format", "text", "--json"}, "--format excludes --json"},
        UsageCase{"bundle_of_nobody", {"bundle", "r1"}, "--tenant is required"},
        UsageCase{"bundle_of_what", {"bundle", "--tenant", "a"}, "run is required"},
        UsageCase{"bad_revision", {"bundle", "r1", "--tenant", "a", "--revision", "0"}, "--revision"},
        UsageCase{"replay_of_nothing", {"replay"}, "A bundle, or --tenant, is required"},
        UsageCase{"replay_of_both", {"replay", "a.json", "--tenant", "a"}, "excludes"},
        UsageCase{"replay_fail_on_what", {"replay", "a.json", "--fail-on", "new,worse"}, "worse"},
        UsageCase{"replay_fail_on_an_empty_kind", {"replay", "a.json", "--fail-on", ",lost"}, "got \",lost\""},
        UsageCase{
            "replay_fail_on_none_and_more", {"replay", "a.json", "--fail-on", "none,new"}, "\"none\" cannot be combined with other values"},
        UsageCase{"replay_since_of_files", {"replay", "a.json", "--since", "1d"}, "--tenant"},
        UsageCase{"score_of_nothing", {"score", "--runs", "x"}, "--labels is required"},
        UsageCase{"bad_floor", {"score", "--runs", "x", "--labels", "y", "--fail-under", "f1=0.9"}, "expected precision=0.9,recall=0.8"},
        UsageCase{"no_library", {"detectors", "inspect"}, "files is required"},
        UsageCase{"no_runs", {"detectors", "test", "x.so"}, "A file with a run, or --tenant and --run, is required"},
        UsageCase{"export_of_nobody", {"export"}, "--tenant is required"},
        UsageCase{"export_since_when", {"export", "--tenant", "t", "--since", "monday"}, "expected a time such as 2026-11-01T00:00:00Z"},
        UsageCase{"two_imports", {"import", "a", "b"}, "not expected: b"}, UsageCase{"backup_nowhere", {"backup"}, "folder is required"},
        UsageCase{"verify_what", {"verify", "runs"}, "not expected: runs"},
        UsageCase{"compact_what", {"compact", "runs"}, "not expected: runs"},
        UsageCase{"purge_of_nobody", {"purge", "--before", "90d"}, "--tenant is required"},
        UsageCase{"purge_before_when", {"purge", "--tenant", "t", "--before", "90"}, "or an age such as 30d, got \"90\""},
        UsageCase{"no_config_value", {"check", "--config"}, "--config"},
        UsageCase{"empty_config", {"check", "--config", ""}, "--config: expected a value, got \"\""},
        UsageCase{"empty_data_dir", {"keys", "list", "--data-dir", ""}, "--data-dir: expected a value, got \"\""},
        UsageCase{"empty_folder", {"backup", ""}, "folder: expected a value, got \"\""},
        UsageCase{"empty_file", {"analyze", "a.json", ""}, "files: expected a value, got \"\""},
        UsageCase{"empty_tenant_of_purge", {"purge", "--tenant", ""}, "--tenant: expected a value, got \"\""}),
    [](const auto& test) { return test.param.title; });

class Help : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Help, HasAnExample) {
  const Program program;
  auto args = GetParam();
  args.emplace_back("--help");
  const Ended ended = program.run(args);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
  std::string command = "runwarden";
  for (const std::string& part : GetParam()) command += " " + part;
  EXPECT_THAT(ended.out, HasSubstr("Example:\n"));
  EXPECT_THAT(ended.out, HasSubstr(command));
}

using Args = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Commands, Help,
                         testing::Values(Args{}, Args{"serve"}, Args{"check"}, Args{"keys"}, Args{"keys", "create"}, Args{"keys", "list"},
                                         Args{"keys", "revoke"}, Args{"keys", "rotate"}, Args{"clusters"}, Args{"clusters", "list"},
                                         Args{"clusters", "show"}, Args{"clusters", "resolve"}, Args{"clusters", "ignore"},
                                         Args{"clusters", "reopen"}, Args{"detectors"}, Args{"detectors", "list"},
                                         Args{"detectors", "inspect"}, Args{"detectors", "test"}, Args{"analyze"}, Args{"bundle"}, Args{"replay"}, Args{"score"}, Args{"export"},
                                         Args{"import"}, Args{"backup"}, Args{"verify"}, Args{"compact"}, Args{"purge"}));

TEST(Version, IsPrinted) {
  const Program program;
  const Ended ended = program.run({"--version"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, testing::StartsWith("runwarden 1."));
}

TEST(Config, WhenTheNamedFileIsMissing_EveryCommandThatReadsItExitsWith1) {
  const Program program;
  for (const Args& args : {Args{"serve"}, Args{"check"}, Args{"clusters", "list", "--tenant", "t"}, Args{"keys", "list"}, Args{"keys", "create", "--tenant", "t"},
                           Args{"detectors", "list"}, Args{"analyze", "x.json"}, Args{"bundle", "r", "--tenant", "t"}, Args{"replay", "x.json"}, Args{"score", "--runs", "x", "--labels", "y"}, Args{"export", "--tenant", "t"}, Args{"import"},
                           Args{"backup", "x"}, Args{"verify"}, Args{"compact"}, Args{"purge", "--tenant", "t", "--yes"}}) {
    Args with_config = args;
    with_config.insert(with_config.end(), {"--config", "/nowhere/c.yaml"});
    const Ended ended = program.run(with_config);
    EXPECT_EQ(ended.code, 1) << args[0];
    EXPECT_EQ(ended.err, "config: /nowhere/c.yaml: cannot read the file: the folder \"/nowhere\" does not exist; check the path\n");
  }
}

TEST(TextOfAnException, WhenThreadsOrMemoryRunOut_NamesTheRemedy) {
  const std::system_error no_thread(EAGAIN, std::generic_category());
  EXPECT_EQ(
      text_of(no_thread),
      "cannot start a thread: Resource temporarily unavailable; raise TasksMax= (ulimit -u, the pids limit of a container) or `ulimit -v`");
  EXPECT_EQ(text_of(std::bad_alloc()), "out of memory; raise MemoryMax= (the memory limit of a container) or `ulimit -v`");
  EXPECT_EQ(text_of(std::runtime_error("anything else")), "anything else");
}

}  // namespace
}  // namespace runwarden::cli
