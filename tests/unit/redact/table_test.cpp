// What redaction-table.md promises, row by row and wherever a text may stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redact/redactor.h"
#include "support/redaction_table.h"

namespace runwarden::redact {
namespace {

using nlohmann::json;
using By = model::RedactRule::By;
using Row = test::RedactionRow;

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
  Redactions found;
  const std::string out = redactor.document(model::DocumentKind::run, run.dump(), found).value_or(run.dump());
  const json after = json::parse(out);
  EXPECT_EQ(after["plain"], row.becomes);
  EXPECT_EQ(after["inJson"], (json{{"note", row.becomes}}.dump()));
  EXPECT_EQ(after["cut"], "sent {\"note\": \"" + escaped(row.becomes) + "\", \"mo");
  EXPECT_EQ(after["cutTwice"], "sent {\\\"note\\\": \\\"" + escaped(escaped(row.becomes)) + "\\\", \\\"mo");
  Redactions again;
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
  const std::vector<Row> all = test::redaction_rows(RUNWARDEN_TEST_REDACTION_TABLE);
  ASSERT_GT(all.size(), 100u);
  for (const char* section : {"Caught", "Left alone", "Not caught"}) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Row& row) { return row.section == section; })) << section;
  }
  for (const Row& row : all) {
    SCOPED_TRACE(row.place + ": " + row.text);
    EXPECT_EQ(row.becomes != row.text, row.section == "Caught");
    const Redactor redactor({model::RedactSettings::DetectorsSee::before, {{row.by == "kind" ? By::kind : By::key, row.what, row.name}}});
    check_in_document(row, redactor);
    check_in_verdict(row, redactor);
    check_in_error(row, redactor);
  }
}

}  // namespace
}  // namespace runwarden::redact
