#include "config/yaml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runwarden::config {
namespace {

std::string json_of(const std::string& yaml) {
  std::vector<Fault> faults;
  const NodePtr root = parse_yaml(yaml, "f.yaml", faults);
  std::string json;
  if (root) append_json(json, *root, "", faults);
  for (const Fault& fault : faults) json += "|" + fault.text();
  return json;
}

struct JsonCase {
  const char* yaml;
  const char* json;
};

class YamlJson : public testing::TestWithParam<JsonCase> {};
TEST_P(YamlJson, IsCompactAndTyped) {
  EXPECT_EQ(json_of(GetParam().yaml), GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    Table, YamlJson,
    testing::Values(JsonCase{"", "null"}, JsonCase{"# nothing\n", "null"}, JsonCase{"---\n", "null"},
                    JsonCase{"{repeats: 3, on: yes, off: true, empty: , text: \"3\", list: [1, 2.50, ~]}",
                             R"({"repeats":3,"on":"yes","off":true,"empty":null,"text":"3","list":[1,2.5,null]})"},
                    JsonCase{"a: 'it''s'\nb: \"x\\ny\"\nc: |\n  two\n  lines\n", R"({"a":"it's","b":"x\ny","c":"two\nlines\n"})"},
                    JsonCase{"1: x\ntrue: y\n", R"({"1":"x","true":"y"})"},
                    JsonCase{"a: 0x10\nb: 1e3\nc: 007\n", R"({"a":16,"b":1000,"c":7})"},
                    JsonCase{"a: !!str 5\nb: !!float 5\nc: !!int 5\nd: \"null\"\n", R"({"a":"5","b":5,"c":5,"d":"null"})"},
                    JsonCase{"a: &x {k: 1}\nb: *x\n", R"({"a":{"k":1},"b":{"k":1}})"}, JsonCase{"a: ü😀\n", R"({"a":"ü😀"})"},
                    JsonCase{"a: 123456789012345678901234567890\n", R"({"a":123456789012345678901234567890})"}));

class YamlFault : public testing::TestWithParam<JsonCase> {};
TEST_P(YamlFault, IsToldWithItsPlace) {
  EXPECT_THAT(json_of(GetParam().yaml), testing::HasSubstr(GetParam().json));
}

INSTANTIATE_TEST_SUITE_P(
    Table, YamlFault,
    testing::Values(JsonCase{"a: 1\nb: 2\na: 3\n", "config: a (f.yaml:3:1): duplicate key, first defined at f.yaml:1:1; remove one"},
                    JsonCase{"x:\n  - {}\n  - {k: 1, k: 2}\n",
                             "config: x[1].k (f.yaml:3:12): duplicate key, first defined at f.yaml:3:6; remove one"},
                    JsonCase{"1: a\n\"1\": b\n", "config: 1 (f.yaml:2:1): duplicate key"},
                    JsonCase{"a: 1: 2\n", "config: f.yaml:1:5: not YAML: illegal map value"},
                    JsonCase{"a: *nobody\n", "config: f.yaml:1:4: not YAML: the referenced anchor is not defined"},
                    JsonCase{"? [1, 2]\n: 3\n", "config: f.yaml:1:3: a key that is a list or a mapping; keys must be text"},
                    JsonCase{"~: 3\n", "a key without text; keys must be text"},
                    JsonCase{"a: &x [*x]\n", "config: f.yaml:1:8: an alias refers to the node that contains it; write the value out"},
                    JsonCase{"a: 1\n---\nb: 2\n", "a second document; a file holds only one, remove the --- between them"},
                    JsonCase{"a: !!binary abc\n", "has the tag tag:yaml.org,2002:binary; only"},
                    JsonCase{"a: !!int x\n", "on matching values"},
                    JsonCase{"a: .inf\n", "config: .a (f.yaml:1:4): expected a number within a double's range, got .inf"},
                    JsonCase{"a: 1e999\n", "expected a number within a double's range, got 1e999"},
                    JsonCase{"ok: 1\nbad: \xff\n", "config: f.yaml:2:6: a byte that is not UTF-8 text"}));

INSTANTIATE_TEST_SUITE_P(
    Unclosed, YamlFault,
    testing::Values(JsonCase{"a: [1, 2\n",
                             "|config: f.yaml:1:4: not YAML: the \"[\" that opens here is not closed; expected \",\" or \"]\" before 2:1"},
                    JsonCase{"a: {b: 1\nc: 2\n",
                             "|config: f.yaml:1:4: not YAML: the \"{\" that opens here is not closed; expected \",\" or \"}\" before"},
                    JsonCase{"a:\n  b: [x, y\n  c: [z]\n", "|config: f.yaml:2:6: not YAML: the \"[\" that opens here is not closed"},
                    JsonCase{"a:\n  b: [x, y\n  c:\n    - z\n", "|config: f.yaml:2:6: not YAML: the \"[\" that opens here is not closed"},
                    JsonCase{"a:\n  b: [\n  - z\n", "|config: f.yaml:2:6: not YAML: the \"[\" that opens here is not closed"},
                    JsonCase{"a: [{k: x}, {k: y\nb: 1\n", "|config: f.yaml:1:13: not YAML: the \"{\" that opens here is not closed"},
                    JsonCase{"a: [{k: x}, {k: y\n", "|config: f.yaml:1:13: not YAML: the \"{\" that opens here is not closed"},
                    JsonCase{"a: [{k: x}, {k: y}\n", "|config: f.yaml:1:4: not YAML: the \"[\" that opens here is not closed"},
                    JsonCase{"a:\n  - [1, 2\n", "|config: f.yaml:2:5: not YAML: the \"[\" that opens here is not closed"},
                    JsonCase{"a: [1, {k: 2]\n",
                             "|config: f.yaml:1:8: not YAML: the \"{\" that opens here is not closed; expected \",\" or \"}\" before 1:13"},
                    JsonCase{"a:\n  - [1, {k: 2]\n", "|config: f.yaml:2:9: not YAML: the \"{\" that opens here is not closed"},
                    JsonCase{"a: 1]\nb: ]\n", "|config: f.yaml:2:4: not YAML: the \"]\" closes nothing; remove it, or quote the text"},
                    JsonCase{"a: [1]]\n", "|config: f.yaml:1:7: not YAML: the \"]\" closes nothing"},
                    JsonCase{"a: {b: \"]\", c: '[', d: 1\n", "|config: f.yaml:1:4: not YAML: the \"{\" that opens here is not closed"},
                    JsonCase{"a: \"b\nc: 1\n", "|config: f.yaml:1:4: not YAML: the quote that opens here is not closed"},
                    JsonCase{"a: [\"b]\nc: 1\n", "|config: f.yaml:1:5: not YAML: the quote that opens here is not closed"},
                    JsonCase{"a: \"b\\\"\nc: 1\n", "|config: f.yaml:1:4: not YAML: the quote that opens here is not closed"},
                    JsonCase{"a: 'b''\nc: 1\n", "|config: f.yaml:1:4: not YAML: the quote that opens here is not closed"},
                    JsonCase{"'a: 1\n", "|config: f.yaml:1:1: not YAML: the quote that opens here is not closed"}));

INSTANTIATE_TEST_SUITE_P(
    Tabs, YamlFault,
    testing::Values(JsonCase{"a: 1\n\tb: 2\n", "|config: f.yaml:2:1: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\n\tb: 2\n", "|config: f.yaml:2:1: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\n  b: 2\n  \tc: 3\n", "|config: f.yaml:3:3: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\n \t b: 2\n", "|config: f.yaml:2:2: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"\ta:\n  b: 2\n", "|config: f.yaml:1:1: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\n\t- b\n", "|config: f.yaml:2:1: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\n  -\tb: 1\n", "|config: f.yaml:2:4: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a: |\n  x\n\ty: 1\n", "|config: f.yaml:3:1: a tab in the indentation; YAML takes spaces only"},
                    JsonCase{"a:\tb: c\n", "|config: f.yaml:1:5: not YAML: illegal map value"},
                    JsonCase{"a: {\n\tb: 1\n", "|config: f.yaml:1:4: not YAML: the \"{\" that opens here is not closed"}));

// Tabs between tokens, in brackets and in quotes are good YAML.
INSTANTIATE_TEST_SUITE_P(Tabs, YamlJson,
                         testing::Values(JsonCase{"a:\t1\t# one\nb: {\n\tc: 2}\nd: \"x\n\ty\"\n", R"({"a":1,"b":{"c":2},"d":"x y"})"},
                                         JsonCase{"a: 'it''s'\nb: \"\\\"\"\nc: \"x\n  y\"\n\"k\": ''\n",
                                                  R"({"a":"it's","b":"\"","c":"x y","k":""})"}));

TEST(YamlTree, WhenANulByteStandsInIt_IsRefused) {
  std::vector<Fault> faults;
  EXPECT_EQ(parse_yaml(std::string("a: b\0c", 6), "f.yaml", faults), nullptr);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].location.text(), "f.yaml:1:5");
}

TEST(YamlTree, WhenNestedTooDeeply_IsRefusedNotCrashed) {
  for (const char* open : {"[", "{a: ", "- ", "{a: ["}) {
    std::string deep;
    for (int i = 0; i < 200'000; ++i) deep += open;
    std::vector<Fault> faults;
    EXPECT_EQ(parse_yaml(deep, "f.yaml", faults), nullptr) << open;
    EXPECT_EQ(faults.size(), 1u) << open;
  }
}

TEST(YamlTree, WhenAliasesMultiply_IsRefusedWithoutBuildingThem) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
    for (int j = 0; j < 9; ++j) bomb += ", " + below;
    bomb += "]\n";
  }
  std::vector<Fault> faults;
  EXPECT_EQ(parse_yaml(bomb, "f.yaml", faults), nullptr);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].detail, testing::HasSubstr("more than 200000 values"));
}

TEST(YamlTree, WhenTheFileIsTooLong_IsRefused) {
  std::vector<Fault> faults;
  EXPECT_EQ(parse_yaml(std::string(kMaxFileBytes + 1, '#'), "f.yaml", faults), nullptr);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].text(), testing::HasSubstr("at most 4194304 are read"));
}

TEST(AtPointer, FindsThePartOrTheInnermostOneOnTheWay) {
  std::vector<Fault> faults;
  const NodePtr root = parse_yaml("a:\n  - x\n  - b/c: {~t: 5}\n", "f.yaml", faults);
  ASSERT_TRUE(root);
  EXPECT_EQ(at_pointer(*root, "").location.text(), "f.yaml:1:1");
  EXPECT_EQ(at_pointer(*root, "/a/0").location.text(), "f.yaml:2:5");
  EXPECT_EQ(at_pointer(*root, "/a/1/b~1c/~0t").text, "5");
  EXPECT_EQ(at_pointer(*root, "/a/7").location.text(), at_pointer(*root, "/a").location.text());
  EXPECT_EQ(at_pointer(*root, "/a/0/deeper/still").text, "x");
  EXPECT_EQ(at_pointer(*root, "/nothing").location.text(), "f.yaml:1:1");
  EXPECT_EQ(key_at_pointer(*root, "/a/1/b~1c").text(), "f.yaml:3:5");
  EXPECT_EQ(key_at_pointer(*root, "/a/0").text(), "f.yaml:2:5");
  EXPECT_EQ(key_at_pointer(*root, "").text(), "f.yaml:1:1");
}

}  // namespace
}  // namespace runwarden::config
