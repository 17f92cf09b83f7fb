#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/loading.h"
#include "config/settings.h"
#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct DetectorsTest : testing::Test {
  test::TempFolder folder;
  LoadOptions options;

  Result<Settings> read(const std::string& yaml) {
    options.path = folder.write("runwarden.yaml", yaml);
    options.named = true;
    return load(options);
  }

  std::string without_folder(std::string text) const {
    const std::string prefix = folder.path().string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }

  std::string faults(const std::string& yaml) {
    const auto settings = read(yaml);
    return settings.ok() ? "none" : without_folder(settings.error().detail);
  }
};

std::vector<std::string> shown(const Settings& settings) {
  std::vector<std::string> lines;
  for (const auto& entry : settings.detectors.entries) {
    lines.push_back(entry.key + " " + entry.library + " " + entry.settings_json + (entry.optional ? " optional" : ""));
  }
  return lines;
}

TEST_F(DetectorsTest, WhenListed_EntriesHaveTheirSettingsAsJson) {
  const auto settings = read(R"(
detectors:
  enabled:
    - {key: expensive_loop, library: expensive_loop.so, settings: {repeats: 3, on: yes, names: ["5", x]}}
    - key: com.example-x
      optional: true
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre(R"(expensive_loop expensive_loop.so {"repeats":3,"on":"yes","names":["5","x"]})",
                                            "com.example-x com.example-x.so {} optional"));
  EXPECT_EQ(without_folder(settings->detectors.entries[0].location), "runwarden.yaml:4:7");
  EXPECT_THAT(settings->detector_warnings, ElementsAre());
}

TEST_F(DetectorsTest, WhenIncluded_DropInsComeInTheOrderOfTheirNamesAndTheFileGoesOverThem) {
  folder.write("detectors.d/b.yaml", "key: b\nlibrary: b.so\nsettings: {one: 1, two: {x: 1, y: 2}}\n");
  folder.write("detectors.d/a.yaml", "- {key: a, settings: {deep: [1]}}\n- {key: c, off: true}\n");
  folder.write("detectors.d/d.yaml", "enabled:\n  - {key: d}\n");
  folder.write("detectors.d/e.yaml.dpkg-new", "no yaml: [");
  folder.write("detectors.d/f.yaml", "# all of it commented out\n");
  const auto settings = read(R"(
detectors:
  include: [detectors.d/*.yaml]
  enabled:
    - {key: b, settings: {two: {z: 3}, three: 3}}
    - {key: d, off: true}
    - {key: c, off: false, library: /abs/c.so}
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre(R"(a a.so {"deep":[1]})", "c /abs/c.so {}", R"(b b.so {"two":{"z":3},"three":3,"one":1})"));
  ASSERT_EQ(settings->detectors.switched_off.size(), 1u);
  EXPECT_EQ(settings->detectors.switched_off[0].key, "d");
}

TEST_F(DetectorsTest, WithoutIncludeButWithEntries_TakesDetectorsDBesideTheFile) {
  folder.write("detectors.d/a.yaml", "key: a\n");
  const auto settings = read("detectors: {enabled: [{key: b}]}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre("a a.so {}", "b b.so {}"));
}

TEST_F(DetectorsTest, WhenNothingIsSaid_TheInstalledDetectorsRun) {
  options.binary_dir = folder.path() / "prefix/bin";
  folder.write("prefix/share/runwarden/config/detectors.d/x.yaml", "key: x\nsettings: {k: 1}\n");
  folder.write("prefix/lib/runwarden/detectors/x.so", "");
  const auto settings = read("log: {level: warn}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre(R"(x x.so {"k":1})"));
  EXPECT_EQ(settings->detectors.search_path.back(), (folder.path() / "prefix/lib/runwarden/detectors").string());
}

TEST_F(DetectorsTest, WhenNothingIsSaidAndThereAreNoDropIns_TheShippedLibrariesThatAreThereRun) {
  options.binary_dir = folder.path() / "prefix/bin";
  folder.write("prefix/lib/runwarden/detectors/schema_ghost.so", "");
  folder.write("prefix/lib/runwarden/detectors/false_success.so", "");
  folder.write("prefix/lib/runwarden/detectors/unknown.so", "");
  options.path.clear();
  const auto settings = load(options);
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre("false_success false_success.so {}", "schema_ghost schema_ghost.so {}"));
}

TEST_F(DetectorsTest, WhenNoneIsEnabled_WarnsAndGoesOn) {
  options.binary_dir = folder.path() / "prefix/bin";
  folder.write("prefix/share/runwarden/config/detectors.d/x.yaml", "key: x\n");
  const auto settings = read("detectors: {enabled: []}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre());
  EXPECT_THAT(settings->detector_warnings, ElementsAre(HasSubstr("no detector is enabled")));
}

TEST_F(DetectorsTest, WhenATenantDiffers_ItsSettingsStandOverTheCommonOnes) {
  const auto settings = read(R"(
detectors:
  enabled:
    - {key: loop, settings: {repeats: 3, names: [a]}}
    - {key: ghost}
    - {key: gone, off: true}
  tenants:
    acme: {disabled: [ghost], settings: {loop: {repeats: 5}, ghost: {k: 1}}}
    "": {}
    empty:
)");
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(without_folder(settings.error().detail),
              "config: detectors.tenants. (runwarden.yaml:9:5): expected the name of a tenant, got \"\"");
  const auto good = read(R"(
detectors:
  enabled:
    - {key: loop, settings: {repeats: 3, names: [a]}}
    - {key: ghost}
  tenants:
    acme: {disabled: [ghost], settings: {loop: {repeats: 5}, ghost: {k: 1}}}
    empty:
)");
  ASSERT_TRUE(good.ok()) << good.error().detail;
  const model::TenantChange& acme = good->detectors.tenants.at("acme");
  EXPECT_THAT(acme.disabled, ElementsAre("ghost"));
  EXPECT_EQ(acme.settings_json.at("loop"), R"({"repeats":5,"names":["a"]})");
  EXPECT_EQ(acme.settings_json.at("ghost"), R"({"k":1})");
  EXPECT_TRUE(good->detectors.tenants.at("empty").settings_json.empty());
}

TEST_F(DetectorsTest, WhenADetectorIsOnTrial_ItsModeIsShadow) {
  folder.write("detectors.d/ghost.yaml", "key: ghost\nmode: shadow\n");
  const auto settings = read(R"(
detectors:
  include: [detectors.d/*.yaml]
  enabled: [{key: loop}, {key: late, mode: shadow}, {key: ghost, mode: live}]
  tenants:
    acme: {mode: {loop: shadow, late: live, ghost: }}
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  using Mode = model::DetectorMode;
  std::map<std::string, Mode> modes;
  for (const auto& entry : settings->detectors.entries) modes[entry.key] = entry.mode;
  EXPECT_EQ(modes, (std::map<std::string, Mode>{{"ghost", Mode::live}, {"loop", Mode::live}, {"late", Mode::shadow}}));
  EXPECT_EQ(settings->detectors.tenants.at("acme").modes, (std::map<std::string, Mode>{{"loop", Mode::shadow}, {"late", Mode::live}}));
}

TEST_F(DetectorsTest, WhenADetectorFindsAFaultInItsSettings_ItsPlaceIsTold) {
  folder.write("detectors.d/loop.yaml", "key: loop\nsettings:\n  repeats: ten\n  tables:\n    - {name: a/b}\n");
  const auto settings = read(R"(
detectors:
  include: [detectors.d/*.yaml]
  enabled: [{key: loop, settings: {over: {deep: 1}}}, {key: bare}]
  tenants:
    acme: {settings: {loop: {repeats: 5}}}
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  const auto where = [&](const std::string& tenant, const std::string& key, const std::string& pointer) {
    return without_folder(settings->locations.where(tenant, key, pointer));
  };
  EXPECT_EQ(where("", "loop", "/repeats"), "detectors.d/loop.yaml:3:12");
  EXPECT_EQ(where("", "loop", "/tables/0/name"), "detectors.d/loop.yaml:5:14");
  EXPECT_EQ(where("", "loop", "/tables/9"), "detectors.d/loop.yaml:5:5");
  EXPECT_EQ(where("", "loop", "/over/deep"), "runwarden.yaml:4:49");
  EXPECT_EQ(where("acme", "loop", "/repeats"), "runwarden.yaml:6:39");
  EXPECT_EQ(where("acme", "loop", "/tables"), "detectors.d/loop.yaml:5:5");
  EXPECT_EQ(where("other", "loop", "/repeats"), "detectors.d/loop.yaml:3:12");
  EXPECT_EQ(where("", "bare", "/anything"), "runwarden.yaml:4:55");
  EXPECT_EQ(where("", "unknown", ""), "");
  EXPECT_EQ(without_folder(settings->locations.fault("", "loop", {"/tables/0/name", "invalid_setting", "expected a name"})),
            "config: detectors.loop.settings.tables[0].name (detectors.d/loop.yaml:5:14): expected a name");
  EXPECT_EQ(without_folder(settings->locations.fault("acme", "loop", {"/repeats", "invalid_setting", "too few"})),
            "config: detectors.tenants.acme.settings.loop.repeats (runwarden.yaml:6:39): too few");
  EXPECT_EQ(without_folder(settings->locations.fault("acme", "loop", {"/repeats", kUnknownSetting, "unknown"})),
            "config: detectors.tenants.acme.settings.loop.repeats (runwarden.yaml:6:30): unknown");
}

struct DetectorFaultCase {
  const char* yaml;
  const char* text;
};

class DetectorsFault : public DetectorsTest, public testing::WithParamInterface<DetectorFaultCase> {};
TEST_P(DetectorsFault, SaysWhatAndWhere) {
  EXPECT_EQ(faults(GetParam().yaml), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DetectorsFault,
    testing::Values(
        DetectorFaultCase{"detectors: {enabled: {key: a}}\n",
                          "config: detectors.enabled (runwarden.yaml:1:22): expected a list of detectors, got a mapping"},
        DetectorFaultCase{
            "detectors: {enabled: [a]}\n",
            "config: detectors.enabled[0] (runwarden.yaml:1:23): expected a mapping with key, library, settings, mode, optional, "
            "off; got \"a\""},
        DetectorFaultCase{
            "detectors: {enabled: [{library: a.so}]}\n",
            "config: detectors.enabled[0].key (runwarden.yaml:1:23): missing; name the detector, such as key: expensive_loop"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: Loop}]}\n",
            "config: detectors.enabled[0].key (runwarden.yaml:1:29): expected 1 to 64 lower-case letters, digits, '_', '.' or '-', a "
            "letter first, got \"Loop\""},
        DetectorFaultCase{
            "detectors: {enabled: [{key: 5}]}\n",
            "config: detectors.enabled[0].key (runwarden.yaml:1:29): expected text (in quotes if it looks like a number), got 5"},
        DetectorFaultCase{"detectors: {enabled: [{key: a, mode: quiet}]}\n",
                          "config: detectors.enabled[0].mode (runwarden.yaml:1:38): expected live or shadow, got \"quiet\""},
        DetectorFaultCase{"detectors: {enabled: [{key: a}], tenants: {t: {mode: {a: 1}}}}\n",
                          "config: detectors.tenants.t.mode.a (runwarden.yaml:1:58): expected live or shadow, got 1"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: a}], tenants: {t: {mode: {b: live}}}}\n",
            "config: detectors.tenants.t.mode.b (runwarden.yaml:1:55): no detector \"b\" is configured, the nearest one is a; add it "
            "to detectors.enabled, or remove this"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: a}], tenants: {t: {mode: shadow}}}\n",
            "config: detectors.tenants.t.mode (runwarden.yaml:1:54): expected a mapping from detector keys to live or shadow, got "
            "\"shadow\""},
        DetectorFaultCase{"detectors: {enabled: [{key: a, libary: a.so}]}\n",
                          "config: detectors.enabled[0].libary (runwarden.yaml:1:32): unknown key; the nearest known one is library"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: a, library: ''}]}\n",
            "config: detectors.enabled[0].library (runwarden.yaml:1:41): expected a file name, such as expensive_loop.so, got \"\""},
        DetectorFaultCase{"detectors: {enabled: [{key: a, settings: [1]}]}\n",
                          "config: detectors.enabled[0].settings (runwarden.yaml:1:42): expected a mapping, got a list"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: a, settings: {x: [.inf]}}]}\n",
            "config: detectors.enabled[0].settings.x[0] (runwarden.yaml:1:47): expected a number within a double's range, got .inf; "
            "write a smaller one, or quote it"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: a}, {key: a}]}\n",
            "config: detectors.enabled[1].key (runwarden.yaml:1:39): detector a is listed twice, first at runwarden.yaml:1:29; "
            "remove one"},
        DetectorFaultCase{
            "detectors: {enabled: [{key: loop}], tenants: {t: {disabled: [lop]}}}\n",
            "config: detectors.tenants.t.disabled[0] (runwarden.yaml:1:62): no detector \"lop\" is configured, the nearest one is loop; "
            "add it "
            "to detectors.enabled, or remove this"},
        DetectorFaultCase{"detectors: {enabled: [{key: loop}], tenants: {t: {settings: {zzz: {a: 1}}}}}\n",
                          "config: detectors.tenants.t.settings.zzz (runwarden.yaml:1:62): no detector \"zzz\" is configured; add it to "
                          "detectors.enabled, or remove this"},
        DetectorFaultCase{
            "detectors:\n  enabled:\n    - {key: loop, off: true}\n  tenants:\n    t:\n      disabled:\n        - loop\n      mode:\n"
            "        loop: shadow\n      settings:\n        loop: {a: 1}\n",
            "config: detectors.tenants.t.disabled[0] (runwarden.yaml:7:11): detector \"loop\" is off (runwarden.yaml:3:7); enable it "
            "there, or remove this\n"
            "config: detectors.tenants.t.mode.loop (runwarden.yaml:9:9): detector \"loop\" is off (runwarden.yaml:3:7); enable it there, "
            "or remove this\n"
            "config: detectors.tenants.t.settings.loop (runwarden.yaml:11:9): detector \"loop\" is off (runwarden.yaml:3:7); enable it "
            "there, or remove this"},
        DetectorFaultCase{"detectors: {enabled: [{key: loop}], tenants: {t: {setings: {}}}}\n",
                          "config: detectors.tenants.t.setings (runwarden.yaml:1:51): unknown key; the nearest known one is settings"},
        DetectorFaultCase{"detectors: {enabled: [], tenants: [t]}\n",
                          "config: detectors.tenants (runwarden.yaml:1:35): expected a mapping, got a list"},
        DetectorFaultCase{"detectors: {include: [7]}\n",
                          "config: detectors.include[0] (runwarden.yaml:1:23): expected a file name or a glob, got 7"},
        DetectorFaultCase{
            "detectors: {deadline: 0ms}\n",
            "config: detectors.deadline (runwarden.yaml:1:23): expected a duration from 1ms to 1h (such as 250ms, 10s, 5m, 24h, 90d), got "
            "\"0ms\""}));

TEST_F(DetectorsTest, WhenAnIncludedFileIsMissing_OnlyAPlainNameIsAFault) {
  EXPECT_EQ(faults("detectors: {include: [none.d/*.yaml]}\n"), "none");
  EXPECT_EQ(faults("detectors: {include: [none.yaml]}\n"),
            "config: detectors.include[0] (runwarden.yaml:1:23): no such file: none.yaml; remove the line, or install the package that "
            "contains it");
}

TEST_F(DetectorsTest, WhenAFolderCannotBeRead_ItIsAFaultAndNotAFolderWithoutFiles) {
  std::filesystem::create_directory_symlink("detectors.d",
                                            folder.path() / "detectors.d");  // leads to itself, so root cannot read it either
  for (const char* yaml : {"detectors: {include: [detectors.d/*.yaml]}\n", "detectors: {enabled: [{key: a}]}\n", "log: {level: warn}\n"}) {
    EXPECT_THAT(faults(yaml), StartsWith("config: detectors.d: cannot look for files of detectors: ")) << yaml;
  }
}

TEST_F(DetectorsTest, WhenTheFoldersNameLooksLikeAPattern_IsTakenAsItIs) {
  folder.write("a[b]*/detectors.d/x.yaml", "key: x\n");
  folder.write("ab/detectors.d/y.yaml", "key: y\n");
  options.path = folder.write("a[b]*/runwarden.yaml", "detectors: {include: [detectors.d/*.yaml]}\n");
  options.named = true;
  const auto settings = load(options);
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre("x x.so {}"));
}

TEST_F(DetectorsTest, WhenIncludedByAnAbsoluteName_IsRead) {
  const std::string file = folder.write("elsewhere/x.yaml", "key: x\n");
  const auto settings = read("detectors: {include: [" + file + "]}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(shown(*settings), ElementsAre("x x.so {}"));
}

TEST_F(DetectorsTest, WhenADropInIsWrong_ItsOwnPlaceIsTold) {
  folder.write("detectors.d/a.yaml", "key: a\nlibary: a.so\n");
  folder.write("detectors.d/b.yaml", "key: [\n");
  EXPECT_EQ(faults("detectors: {include: [detectors.d/*.yaml]}\nlog: {level: loud}\n"),
            "config: libary (detectors.d/a.yaml:2:1): unknown key; the nearest known one is library\n"
            "config: detectors.d/b.yaml:1:6: not YAML: the \"[\" that opens here is not closed; expected \",\" or \"]\" before 2:1\n"
            "config: log.level (runwarden.yaml:2:14): expected one of debug, info, warn, error, got \"loud\"");
}

}  // namespace
}  // namespace runwarden::config
