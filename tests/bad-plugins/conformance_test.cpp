// The conformance kit: it takes good plugins, and finds what is wrong with each animal of the zoo. The real program, as a plugin's CI
// calls it.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using Json = nlohmann::json;

std::string animal_file(const std::string& animal) {
  return std::string(ZOO_FOLDER) + "/" + animal + ".so";
}

struct Verdict {
  int exit_code = -1;
  Json report;

  std::vector<std::string> with_result(const std::string& result) const {
    std::vector<std::string> names;
    for (const Json& one : report["cases"]) {
      if (one["result"] == result) names.push_back(one["case"]);
    }
    return names;
  }
  std::string note(const std::string& name) const {
    for (const Json& one : report["cases"]) {
      if (one["case"] == name) return one.value("note", "");
    }
    return "no such case";
  }
};

Verdict judged(const std::string& file, const std::vector<std::string>& more = {}) {
  const Program program;
  std::vector<std::string> args = {"detectors", "conformance", "--json", file};
  args.insert(args.end(), more.begin(), more.end());
  const Ended ended = program.run(args);
  EXPECT_NE(ended.out, "") << ended.err;
  return {ended.code, Json::parse(ended.out)};
}

Verdict judged_animal(const std::string& animal, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--key", "zoo"});
  return judged(animal_file(animal), more);
}

class GoodPlugin : public testing::TestWithParam<const char*> {};
TEST_P(GoodPlugin, PassesEveryCase) {
  // A hundred instances take ThreadSanitizer a minute where other tests run beside it.
  const Verdict verdict = judged(std::string(DETECTORS) + "/" + GetParam() + ".so", {"--timeout", "10m"});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.report.dump(2);
  EXPECT_EQ(verdict.report["conformant"], true);
  EXPECT_EQ(verdict.report["cases"].size(), 14u);
  EXPECT_THAT(verdict.with_result("failed"), ElementsAre());
}
INSTANTIATE_TEST_SUITE_P(FirstParty, GoodPlugin,
                         testing::Values("false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow"));

TEST(Conformance, AnimalsThatKeepTheRules_Pass) {
  for (const char* animal : {"good", "concurrent", "abstains", "suppresses", "optional_cap"}) {
    const Verdict verdict = judged_animal(animal);
    EXPECT_EQ(verdict.exit_code, 0) << animal << verdict.report.dump(2);
  }
}

TEST(Conformance, WhatDoesNotApply_IsSkippedAndSaysWhy) {
  const Verdict verdict = judged_animal("concurrent", {"--case", "deterministic"});
  EXPECT_THAT(verdict.with_result("skipped"), ElementsAre("deterministic"));
  EXPECT_EQ(verdict.note("deterministic"), "does not offer RW_CAP_DETERMINISTIC");
  EXPECT_EQ(judged_animal("good", {"--case", "explained"}).note("explained"), "gives no explanation");
}

// One case of one animal: what the kit says of it. Under AddressSanitizer a crash ends the process with a status instead of a signal.
struct Wrong {
  const char* animal;
  const char* name;
  const char* note;  // a regular expression
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.animal << " " << wrong.name;
}

class BadAnimal : public testing::TestWithParam<Wrong> {};
TEST_P(BadAnimal, FailsItsCase) {
  const auto& [animal, name, note] = GetParam();
  const Verdict verdict = judged_animal(animal, {"--case", name, "--timeout", std::string(animal) == "never_returns" ? "1" : "60"});
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.with_result("failed"), ElementsAre(name)) << verdict.report.dump(2);
  EXPECT_THAT(verdict.note(name), MatchesRegex(note));
}

#define NO_SETTINGS "; no settings were given; if the detector needs some, pass --settings FILE"
constexpr const char* kCrashed = "(crashed: signal [0-9]+ \\(.*\\)|ended the process with exit status [1-9][0-9]*)";

INSTANTIATE_TEST_SUITE_P(
    Zoo, BadAnimal,
    testing::Values(
        Wrong{"create_fails", "create", "no licence for today" NO_SETTINGS},
        Wrong{"create_forgets", "create", "create returned RW_OK without an instance" NO_SETTINGS},
        Wrong{"throws_create", "create", "threw an exception across the ABI: boom in create" NO_SETTINGS},
        Wrong{"crashes", "empty_run", kCrashed}, Wrong{"crashes_on_nothing", "null_fields", kCrashed},
        Wrong{"crashes_on_settings", "invalid_settings", kCrashed},
        Wrong{"ends_the_process", "empty_run", "ended the process with exit status 7"},
        Wrong{"never_returns", "empty_run", "did not end within 1 s"},
        Wrong{"throws_evaluate", "empty_run", "run 1 of 2: threw an exception across the ABI: boom in evaluate"},
        Wrong{"returns_error", "ordinary_runs", "run 1 of 5: answered status -6: the table is missing"},
        Wrong{"fails_silently", "unusual_text", "run 1 of 11: answered status -77 without a text \\(fail\\)"},
        Wrong{"stops_early", "empty_run", "run 1 of 2: answered RW_STOPPED though should_stop was 0"},
        Wrong{"bad_utf8", "empty_run", "run 1 of 2: its finding was rejected: title or summary is not UTF-8 text without NUL"},
        Wrong{"bad_step", "long_run", "run 1 of 1: its finding was rejected: the primary step is 10000, the run has 10000 steps"},
        Wrong{"too_long", "empty_run", "run 1 of 2: its finding was rejected: the title has 513 bytes, the limit is 512"},
        Wrong{"abstains_at_length", "empty_run", "run 1 of 2: its reason to abstain was rejected: it has 1025 bytes, the limit is 1024"},
        Wrong{"too_many", "empty_run", "run 1 of 2: 10 findings exceeded the limit of 64"},
        Wrong{"heeds_no_stop", "should_stop",
              "with should_stop set from the start: took [0-9]+ ms, at most 1000 ms are allowed here; ask should_stop in every loop"},
        Wrong{"moody", "deterministic", "repeat [0-9]+ of run [0-9]+ gave a different answer: first .*, then .*"},
        Wrong{"wavers", "deterministic", "repeat [0-9]+ of run [0-9]+ gave a different answer: first .*0\\.5.*, then .*0\\.25.*"},
        Wrong{"too_sure", "empty_run", "run 1 of 2: its finding was rejected: the confidence is not a number from 0 to 1"},
        Wrong{"explains_otherwise", "explained", "run 1 of [0-9]+: gave a different answer when asked to explain it: first .*, then .*"},
        Wrong{"explains_badly", "explained",
              "run 1 of [0-9]+: its explanation was rejected: the label \"step-2\" is not a word of lower-case letters and underscores"},
        Wrong{"bears_no_company", "concurrent",
              "4 concurrent threads gave a different answer than one: answered status -6: somebody is here already"},
        // ThreadSanitizer has a thread of its own, which it may start meanwhile.
        Wrong{"leaks_thread", "create_destroy", "10[01] more threads after 100 times; destroy must release what create allocated"},
        Wrong{"create_returns_seven", "create", "create returned 7; only RW_OK \\(0\\) and negative codes exist" NO_SETTINGS},
        Wrong{"title_in_two_lines", "empty_run", "run 1 of 2: its finding was rejected: the title is not one line"},
        Wrong{"sets_locale", "create_destroy",
              "the process's locale was \"C\" and is .*; use newlocale and uselocale in place of setlocale"},
        Wrong{"sets_umask", "create_destroy", "the process's umask was changed; use fchmod on the file"},
        Wrong{"changes_folder", "create_destroy", "the process's folder was \".+\" and is \"/\"; use absolute paths"},
        Wrong{"takes_signal", "create_destroy", "the handler of SIGSEGV was replaced; signals are the host's"},
        Wrong{"replaces_input", "create_destroy", "descriptor 0 was closed or replaced; the standard descriptors are the host's"},
        Wrong{"has_child_exit", "create_destroy", "a process that it forked called exit; end it with _exit"},
        Wrong{"leaks_descriptor", "create_destroy", "99 more open descriptors after 100 times; destroy must release what create allocated"},
        Wrong{"leaks_threads_of_runs", "create_destroy",
              "([0-9]+) more threads after ([0-9]+) runs; what evaluate opens, evaluate or destroy must close"},
        Wrong{"leaks_descriptors_of_runs", "create_destroy",
              "([0-9]+) more open descriptors after ([0-9]+) runs; what evaluate opens, evaluate or destroy must close"},
        Wrong{"no_schema", "invalid_settings", "neither its schema nor create rejects unknown settings, so .*"}));

TEST(Conformance, WhatIsWrong_IsFoundWhereItIsAndNowhereElse) {
  EXPECT_THAT(judged_animal("moody").with_result("failed"), ElementsAre("deterministic"));
  EXPECT_THAT(judged_animal("heeds_no_stop").with_result("failed"), ElementsAre("should_stop"));
  EXPECT_THAT(judged_animal("bears_no_company").with_result("failed"), ElementsAre("concurrent"));
  EXPECT_THAT(judged_animal("crashes_on_settings").with_result("failed"), ElementsAre("invalid_settings"));
  EXPECT_THAT(judged_animal("leaks_descriptor").with_result("failed"), ElementsAre("create_destroy"));
}

TEST(Conformance, MemoryLeftBehind_IsFoundWhereTheHostCanSee) {
  const Verdict verdict = judged_animal("leaks_memory");
  const bool sees = verdict.note("leaks") != "this host was not built with AddressSanitizer";
  EXPECT_THAT(verdict.with_result("failed"), sees ? std::vector<std::string>{"leaks"} : std::vector<std::string>{});
}

TEST(Conformance, ALibraryThatIsRefused_IsNotLookedAtFurther) {
  const Verdict verdict = judged_animal("host_too_old");
  EXPECT_EQ(verdict.exit_code, 1);
  ASSERT_EQ(verdict.report["cases"].size(), 1u);
  EXPECT_EQ(
      verdict.note("load"),
      "host_too_old.so: refused: needs host ABI 1.3, this host has 1.2 (built with SDK 1.4). Install runwarden >= 2.2 or rebuild with "
      "RW_TARGET_MINOR=2.");
  EXPECT_THAT(judged(animal_file("good"), {"--key", "lion"}).note("load"), "the library has no detector \"lion\"");
  EXPECT_THAT(judged("/nowhere.so").note("load"), HasSubstr("nowhere.so: refused: "));
}

TEST(Conformance, SettingsThatAreNotWanted_AreFound) {
  const Verdict verdict = judged_animal("good", {"--settings", R"({"repeats": "ten"})"});
  EXPECT_THAT(verdict.with_result("failed"), testing::Contains("create"));
  EXPECT_THAT(verdict.note("create"), HasSubstr("settings/repeats: expected an integer from 2 to 1000, got \"ten\""));
  EXPECT_EQ(judged_animal("good", {"--settings", R"({"repeats": 5})"}).exit_code, 0);
}

TEST(Conformance, WhereCreateFails_NothingElseIsTried) {
  const Verdict verdict = judged_animal("create_fails", {"--settings", "{}"});
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.with_result("failed"), ElementsAre("create"));
  EXPECT_EQ(verdict.note("create"), "no licence for today") << "settings were given: no hint";
  EXPECT_EQ(verdict.with_result("skipped").size(), verdict.report["cases"].size() - 2);
  EXPECT_EQ(verdict.note("long_run"), "create failed");
}

TEST(Conformance, TheTable_ShowsEveryCaseAndTheSum) {
  const Program program;
  const Ended good = program.run({"detectors", "conformance", "--key", "zoo", animal_file("good")});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("zoo       create_destroy    passed"));
  EXPECT_THAT(good.out, testing::EndsWith("\nconformant\n"));
  const Ended bad = program.run({"detectors", "conformance", "--key", "zoo", "--case", "empty_run", animal_file("crashes")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, testing::EndsWith("\n1 of 2 cases failed\n"));
  EXPECT_EQ(program.run({"detectors", "conformance", "--case", "no_such", animal_file("good")}).code, 2);
}

}  // namespace
}  // namespace runwarden::cli
