// What is kept of a run comes back out of what clients read of it.
#include "ingest/judge_again.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/answers.h"
#include "intake/run_reader.h"

namespace runwarden::ingest {
namespace {

// As clients read it, with the members of the service around it.
std::string read_by_a_client(const std::string& document) {
  model::RunRecord record;
  record.run_id = "r";
  record.document = document;
  record.failures_json = R"([{"detectorKey":"d"}])";
  record.detectors_json = R"([{"key":"d","status":"fired"}])";
  record.policies_json = "[]";
  return run_json(record);
}

TEST(KeptText, ComesBackByteForByte) {
  for (const char* sent :
       {R"({"runId":"r"})", R"({"runId":"r","x":[1.50,-0,1e3,12345678901234567890,null,true,{"":{}}]})",
        R"({"runId":"r","text":"\u00e9 \u0000 \ud83d\ude00 \/ \" \\ \n","steps":[{"stepKind":"tool","output":{"a":[]}},{}]})",
        R"({"userRequestText":"x","metadata":{"usage":{"prompt_tokens":3}},"runId":"r","startedAt":"2026-01-20T15:00:00+02:00"})"}) {
    const auto run = intake::read_run(sent, {}, {});
    ASSERT_TRUE(run.ok()) << sent;
    const std::string shown = read_by_a_client(run->document);
    const auto kept = kept_text_of(shown);
    ASSERT_TRUE(kept.ok()) << shown;
    EXPECT_EQ(kept->document, run->document);
    EXPECT_EQ(kept->run_id, "r");
  }
}

// Clients cannot set it; in what the service keeps it is the service's own.
TEST(KeptText, KeepsTheMarksOfTheService) {
  const std::string document = R"({"metadata":{"onlyModelSpan":true},"runId":"r"})";
  const auto kept = kept_text_of(read_by_a_client(document));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->document, document);
}

TEST(KeptText, SurvivesAnotherLayout) {
  const std::string document = R"({"runId":"r","steps":[{"stepKind":"tool","stepId":"step_1"}],"z":1,"a":"é"})";
  const auto kept = kept_text_of(nlohmann::ordered_json::parse(read_by_a_client(document)).dump(4, '\t', true));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->document, document);
}

TEST(KeptText, OfWhatIsNoRun_IsAnError) {
  for (const char* bad : {"null", "5", "{", R"({"steps":5})"}) EXPECT_FALSE(kept_text_of(bad).ok()) << bad;
}

}  // namespace
}  // namespace runwarden::ingest
