// What REDACTION.md promises, row by row and wherever a text may stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redact/redactor.h"

namespace runwarden::redact {
namespace {

using nlohmann::json;
using By = model::RedactRule::By;

struct Row {
  std::string place;  // line of the file
  std::string section;
  model::RedactRule rule;
  std::string text, becomes;
};

std::string between(std::string text, char mark) {
  const auto begin = text.find(mark);
  const auto end = text.rfind(mark);
  return begin == std::string::npos || end == begin ? text : text.substr(begin + 1, end - begin - 1);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

// ⟨U+00A0⟩, ⟨TAB⟩ and so on as the characters that they stand for.
std::string with_characters(std::string text) {
  replace_all(text, "\u27E8TAB\u27E9", "\t");
  replace_all(text, "\u27E8LF\u27E9", "\n");
  replace_all(text, "\u27E8CRLF\u27E9", "\r\n");
  const std::string open = "\u27E8U+";
  for (auto at = text.find(open); at != std::string::npos; at = text.find(open)) {
    const std::string digits = text.substr(at + open.size(), 4);
    text.replace(at, open.size() + 4 + std::string("\u27E9").size(), json::parse("\"\\u" + digits + "\"").get<std::string>());
  }
  return text;
}

model::RedactRule rule_of(const std::string& cell) {
  const std::string what = between(cell.substr(cell.find(": ") + 2), '"');
  model::RedactRule rule{cell.starts_with("kind") ? By::kind : By::key, what, what};
  rule.name.erase(std::remove(rule.name.begin(), rule.name.end(), '*'), rule.name.end());
  return rule;
}

std::vector<Row> rows() {
  std::vector<Row> all;
  std::ifstream in(RUNWARDEN_TEST_REDACTION_TABLE);
  std::string line, section;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2; at < line.size();) {
      const auto end = std::min(line.find(" | ", at), line.size() - 2);
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    Row row{
        "REDACTION.md:" + std::to_string(number), section, rule_of(between(cells[0], '`')), with_characters(between(cells[1], '`')), {}};
    row.becomes = section == "Caught" ? with_characters(between(cells.at(2), '`')) : row.text;
    all.push_back(std::move(row));
  }
  return all;
}

std::string escaped(const std::string& text) {
  const std::string quoted = json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

// The text as a member's value, as JSON in a string, and in JSON in a string that was cut off, once and twice.
void check_in_document(const Row& row, const Redactor& redactor) {
  const std::string in_json = json{{"note", row.text}}.dump();
  const std::string cut = "sent {\"note\": \"" + escaped(row.text) + "\", \"mo";
  const std::string cut_twice = "sent {\\\"note\\\": \\\"" + escaped(escaped(row.text)) + "\\\", \\\"mo";
  const json run{{"plain", row.text}, {"inJson", in_json}, {"cut", cut}, {"cutTwice", cut_twice}};
  Found found;
  const std::string out = redactor.document(model::DocumentKind::run, run.dump(), found).value_or(run.dump());
  const json after = json::parse(out);
  EXPECT_EQ(after["plain"], row.becomes);
  EXPECT_EQ(after["inJson"], (json{{"note", row.becomes}}.dump()));
  EXPECT_EQ(after["cut"], "sent {\"note\": \"" + escaped(row.becomes) + "\", \"mo");
  EXPECT_EQ(after["cutTwice"], "sent {\\\"note\\\": \\\"" + escaped(escaped(row.becomes)) + "\\\", \\\"mo");
  Found again;
  EXPECT_EQ(redactor.document(model::DocumentKind::run, out, again).value_or(out), out) << "twice";
}

void check_in_verdict(const Row& row, const Redactor& redactor) {
  model::Verdict verdict;
  model::Finding finding;
  finding.summary = "It said \"" + row.text + "\".";
  finding.evidence = {{"/steps/0/outputSummary", row.text}};
  finding.fingerprint_parts = {row.text};
  verdict.findings.push_back(finding);
  redactor.clean(verdict, {});
  EXPECT_EQ(verdict.findings[0].summary, "It said \"" + row.becomes + "\".");
  EXPECT_EQ(verdict.findings[0].evidence[0].value, row.becomes);
  EXPECT_EQ(verdict.findings[0].fingerprint_parts[0], row.becomes);
}

void check_in_error(const Row& row, const Redactor& redactor) {
  Error error{
      Code::validation_failed, "the run has 1 fault, got \"" + row.text + "\"", {}, {{"/x", "wrong_type", "got \"" + row.text + "\""}}};
  redactor.clean(error, {});
  EXPECT_EQ(error.detail, "the run has 1 fault, got \"" + row.becomes + "\"");
  EXPECT_EQ(error.faults[0].detail, "got \"" + row.becomes + "\"");
}

TEST(RedactionTable, EachRowIsAsItSays) {
  const std::vector<Row> all = rows();
  ASSERT_GT(all.size(), 100u);
  for (const char* section : {"Caught", "Left alone", "Not caught"}) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Row& row) { return row.section == section; })) << section;
  }
  for (const Row& row : all) {
    SCOPED_TRACE(row.place + ": " + row.text);
    EXPECT_EQ(row.becomes != row.text, row.section == "Caught");
    const Redactor redactor({model::RedactSettings::DetectorsSee::before, {row.rule}});
    check_in_document(row, redactor);
    check_in_verdict(row, redactor);
    check_in_error(row, redactor);
  }
}

}  // namespace
}  // namespace runwarden::redact
