#include "intake/run_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "intake/shape_reader.h"

namespace runwarden::intake {
namespace {

using model::Outcome;
using model::present;
using model::StepKind;

Result<model::Run> read(std::string_view json, std::string_view id = {}) {
  return read_run(json, RunLimits{}, id);
}

std::string document_of(std::string_view json) {
  auto run = read(json);
  return run.ok() ? run->document : "fault: " + run.error().detail;
}

TEST(RunReader, TheRefundRun_IsReadWhole) {
  auto run = read(R"({"runId":"r1","userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",
    "metadata":{"model":"gpt-4o","costUsd":0.9,"inputTokens":1200},
    "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->id, "r1");
  EXPECT_EQ(run->user_request, "Refund order 8842");
  EXPECT_EQ(run->outcome, "Your refund has been processed.");
  EXPECT_EQ(run->success, model::Flag::yes);
  EXPECT_EQ(run->model, "gpt-4o");
  EXPECT_EQ(run->cost_usd, 0.9);
  EXPECT_EQ(run->input_tokens, 1200);
  ASSERT_EQ(run->steps.size(), 1u);
  const model::Step& step = run->steps[0];
  EXPECT_EQ(step.id, "step_1");
  EXPECT_EQ(step.kind, StepKind::tool);
  EXPECT_EQ(step.outcome, Outcome::failed);
  EXPECT_EQ(step.error_message, "502 Bad Gateway");
  EXPECT_FALSE(present(step.output));
  EXPECT_EQ(step.raw_json,
            R"({"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway","stepId":"step_1"})");
}

TEST(RunReader, WhenJsonSpellsANul_TheDocumentKeepsIt_AndTextsShowAReplacement) {
  auto run = read(R"({"outcomeSummary":"a\u0000b","steps":[{"outputSummary":"\u0000"}]})");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->outcome, "a\uFFFDb");
  EXPECT_EQ(run->steps[0].output, "\uFFFD");
  EXPECT_NE(run->document.find("a\\u0000b"), std::string::npos);
}

TEST(RunReader, MarksOfTheService_AreDroppedFromAClientsMetadataAlone) {
  const std::string_view json = R"({"metadata":{"onlyModelSpan":true,"region":"eu"},"steps":[{"metadata":{"onlyModelSpan":true}}],"onlyModelSpan":true})";
  const std::string client = document_of(json);
  EXPECT_EQ(client.find(R"("metadata":{"region":"eu"})"), 1u) << client;
  auto own = read_run(json, {.marks = ServerMarks::kept}, {});
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->document.find(R"("metadata":{"onlyModelSpan":true,"region":"eu"})"), 1u) << own->document;
}

TEST(RunReader, NothingIsMandatory) {
  auto run = read("{}");
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(present(run->id));
  EXPECT_EQ(run->success, model::Flag::unknown);
  EXPECT_EQ(run->document, "{}");
}

TEST(RunReader, WithoutARunId_TakesTheOneGiven) {
  auto run = read(R"({"success":false})", "run_1");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->id, "run_1");
  EXPECT_EQ(run->document, R"({"success":false,"runId":"run_1"})");
}

struct Normalized {
  const char* in;
  const char* out;
};

class RunReaderNormalizes : public testing::TestWithParam<Normalized> {};

TEST_P(RunReaderNormalizes, TheDocument) {
  EXPECT_EQ(document_of(GetParam().in), GetParam().out);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RunReaderNormalizes,
    testing::Values(
        Normalized{R"({"userRequestText":null,"steps":null,"metadata":null,"success":null})", "{}"},
        Normalized{R"({"x":null,"y":[1,{"z":"\u0041"}],"n":1.10,"big":12345678901234567890123})",
                   R"({"x":null,"y":[1,{"z":"A"}],"n":1.10,"big":12345678901234567890123})"},
        Normalized{
            R"({"state":"open","resolution":1,"revision":{},"receivedAt":[],"failures":[{"a":[1]}],"detectors":null,"policies":"x","k":1})",
            R"({"k":1})"},
        Normalized{R"({"bufferedEvents":3,"k":1})", R"({"k":1})"},
        Normalized{R"({"stepCount":9,"leftOut":1,"cut":[{"pointer":"/steps/0/outputSummary","bytes":900}],"k":1})", R"({"k":1})"},
        Normalized{R"({"startedAt":"2026-11-20T17:00:00+02:00"})", R"({"startedAt":"2026-11-20T15:00:00.000Z"})"},
        Normalized{R"({"metadata":{"cost_usd":0.5,"usage":{"prompt_tokens":7,"completion_tokens":2}}})",
                   R"({"metadata":{"cost_usd":0.5,"usage":{"prompt_tokens":7,"completion_tokens":2},"costUsd":0.5,"inputTokens":7}})"},
        Normalized{R"({"metadata":{"promptTokens":3,"inputTokens":9}})", R"({"metadata":{"promptTokens":3,"inputTokens":9}})"},
        Normalized{R"({"metadata":{"prompt_tokens":4,"input_tokens":3,"usage":"none"}})",
                   R"({"metadata":{"prompt_tokens":4,"input_tokens":3,"usage":"none","inputTokens":3}})"},
        Normalized{R"({"metadata":{"promptTokens":"many","prompt_tokens":[1]}})",
                   R"({"metadata":{"promptTokens":"many","prompt_tokens":[1]}})"},
        Normalized{
            R"({"steps":[{"retryCount":3.0,"errorCode":502,"inputSummary":{"b": 1, "a":[null]},"outputSummary":null}]})",
            R"({"steps":[{"retryCount":3,"errorCode":"502","inputSummary":"{\"b\":1,\"a\":[null]}","outputSummary":"null","stepId":"step_1"}]})"},
        Normalized{
            R"({"steps":[{"inputSummary":5,"outputSummary":true,"stepId":"a"},{"inputSummary":null,"outputSummary":[],"x":{}}]})",
            R"({"steps":[{"inputSummary":"5","outputSummary":"true","stepId":"a"},{"outputSummary":"[]","x":{},"stepId":"step_2"}]})"},
        Normalized{R"({"steps":[{"metadata":{"status_code":503,"k":{"v":1}}}]})",
                   R"({"steps":[{"metadata":{"status_code":503,"k":{"v":1},"httpStatus":503},"stepId":"step_1"}]})"},
        Normalized{R"({"steps":[{"metadata":{"httpStatus":null,"status_code":502},"stepId":"a"}]})",
                   R"({"steps":[{"metadata":{"status_code":502,"httpStatus":502},"stepId":"a"}]})"},
        Normalized{R"({"steps":[{"metadata":{"status_code":502,"httpStatus":"x"},"stepId":"a"}]})",
                   R"({"steps":[{"metadata":{"status_code":502,"httpStatus":502},"stepId":"a"}]})"},
        Normalized{R"({"steps":[{"metadata":{"httpStatus":[1,{"a":2}],"http_status":404,"k":1},"stepId":"a"}]})",
                   R"({"steps":[{"metadata":{"http_status":404,"k":1,"httpStatus":404},"stepId":"a"}]})"},
        Normalized{
            R"({"steps":[{"metadata":{"httpStatus":{"a":1},"statusCode":true},"stepId":"a"},{"metadata":{"httpStatus":null},"stepId":"b"}]})",
            R"({"steps":[{"metadata":{"statusCode":true,"httpStatus":{"a":1}},"stepId":"a"},{"metadata":{},"stepId":"b"}]})"},
        Normalized{R"({"steps":[{"metadata":{"httpStatus":5.02e2,"k":1},"stepId":"a"}]})",
                   R"({"steps":[{"metadata":{"httpStatus":5.02e2,"k":1},"stepId":"a"}]})"},
        Normalized{R"({"steps":[]})", R"({"steps":[]})"}));

TEST(RunReader, AnHttpStatusStoredTwice_IsReadFromAStoredDocumentAlone) {
  const std::string_view json = R"({"steps":[{"metadata":{"httpStatus":null,"status_code":502,"httpStatus":502},"stepId":"a"}]})";
  EXPECT_THAT(document_of(json), testing::HasSubstr("appears twice"));
  auto stored = read_run(json, kStoredRun, {});
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->steps[0].http_status, 502);
  EXPECT_EQ(stored->document, R"({"steps":[{"metadata":{"status_code":502,"httpStatus":502},"stepId":"a"}]})");
  for (const char* twice : {R"("httpStatus":500,"httpStatus":502)", R"("httpStatus":null,"httpStatus":500,"httpStatus":502)",
                            R"("httpStatus":null,"model":"a","model":"b")"}) {
    EXPECT_FALSE(read_run(R"({"steps":[{"metadata":{)" + std::string(twice) + "}}]}", kStoredRun, {}).ok()) << twice;
  }
}

TEST(RunReader, ADocumentReadAgain_IsTheSame) {
  const char* json =
      R"({"runId":"r","steps":[{"outputSummary":null,"errorCode":0,"metadata":{"usage":{"input_tokens":5}},"startedAt":"2026-01-01T00:00:00Z","u":"é\n"}],"z":{"k":[]}})";
  const std::string once = document_of(json);
  EXPECT_EQ(document_of(once), once);
}

TEST(RunReader, FailedSteps) {
  const std::pair<const char*, Outcome> table[] = {
      {R"({"status":"completed"})", Outcome::ok},
      {R"({"status":"Timed_Out"})", Outcome::failed},
      {R"({"status":"completed","errorCode":"E1"})", Outcome::failed},
      {R"({"status":"completed","errorCode":0,"errorMessage":""})", Outcome::ok},
      {R"({"errorMessage":"boom"})", Outcome::failed},
      {R"({"metadata":{"httpStatus":404}})", Outcome::failed},
      {R"({"metadata":{"statusCode":200}})", Outcome::unknown},
      {R"({})", Outcome::unknown},
  };
  for (const auto& [step, outcome] : table) {
    auto run = read(std::string(R"({"steps":[)") + step + "]}");
    ASSERT_TRUE(run.ok()) << step;
    EXPECT_EQ(run->steps[0].outcome, outcome) << step;
  }
}

TEST(RunReader, ANumberAsErrorCode_IsItsDecimalText) {
  const std::string forty = "1" + std::string(39, '0');
  const std::pair<std::string, std::string> table[] = {
      {"502", "502"},
      {"502.0", "502"},
      {"5.02e2", "502"},
      {"1.25e1", "12.5"},
      {"1.250E+1", "12.50"},
      {"12.50", "12.50"},
      {"1e-3", "0.001"},
      {"-2.5e-1", "-0.25"},
      {"-0.5e1", "-5"},
      {"1e20", "100000000000000000000"},
      {"-0", "0"},
      {"0e-5", "0"},
      {"-0.000e99999999999999999999", "0"},
      {"9007199254740993", "9007199254740993"},
      {"12345678901234567890.5", "12345678901234567890.5"},
      {"1e39", forty},
      {"1e40", "1e40"},
      {"1e300", "1e300"},
      {"1e-38", "0." + std::string(37, '0') + "1"},
      {"1e-39", "1e-39"},
      {"-1e-99999999999999999999", "-1e-99999999999999999999"},
      {forty + "0", forty + "0"},
      {forty + ".5e1", forty + ".5e1"},
  };
  for (const auto& [number, text] : table) {
    const std::string document = document_of(R"({"steps":[{"errorCode":)" + number + "}]}");
    EXPECT_EQ(document, R"({"steps":[{"errorCode":")" + text + R"(","stepId":"step_1"}]})");
  }
}

TEST(RunReader, ACount_IsTakenExactly_OrRefused) {
  for (const char* good : {"0", "-0", "3.0", "0.3e1", "1e3", "9007199254740992", "9.007199254740992e15", "0e-99999999999999999999"}) {
    EXPECT_TRUE(read(R"({"metadata":{"inputTokens":)" + std::string(good) + "}}").ok()) << good;
  }
  EXPECT_EQ(read(R"({"metadata":{"inputTokens":0.3e1}})")->input_tokens, 3);
  EXPECT_EQ(read(R"({"metadata":{"inputTokens":1.0000000000000000000000000000000000000000000000000e0}})")->input_tokens, 1);
  for (const char* bad :
       {"9007199254740993", "9007199254740992.5", "9.0071992547409930e15", "1e300", "1.0000000000000000001", "1e-400", "-1e-400", "-1"}) {
    for (const std::string& run :
         {R"({"metadata":{"inputTokens":)" + std::string(bad) + "}}", R"({"steps":[{"retryCount":)" + std::string(bad) + "}]}"}) {
      auto refused = read(run);
      ASSERT_FALSE(refused.ok()) << run;
      EXPECT_EQ(refused.error().faults[0].detail, "must be an integer from 0 to 9007199254740992, got " + std::string(bad));
    }
  }
  EXPECT_EQ(document_of(R"({"metadata":{"promptTokens":9007199254740993}})"), R"({"metadata":{"promptTokens":9007199254740993}})")
      << "a count of an alias that is none is an unknown member";
}

TEST(RunReader, AnUnreadableTime_IsQuotedUpToTheEndOfACharacter) {
  auto run = read("{\"startedAt\":\"" + std::string(63, 'a') + "\u00E9\"}");
  ASSERT_FALSE(run.ok());
  EXPECT_TRUE(run.error().faults[0].detail.ends_with("got \"" + std::string(63, 'a') + "\"")) << run.error().faults[0].detail;
}

TEST(RunReader, EveryFault_IsNamedWithItsPointer) {
  auto run = read(
      R"({"runId":"","success":"yes","steps":[{"retryCount":-1,"stepName":7},5,{"errorCode":[],"startedAt":"soon","metadata":{"costUsd":-0.5,"model":{}}},[]],
                     "metadata":[],"userRequestText":{"a":1}})");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, Code::validation_failed);
  std::string seen;
  for (const FieldFault& fault : run.error().faults) seen += fault.pointer + "=" + fault.code + " ";
  EXPECT_EQ(seen,
            "/runId=out_of_range /success=wrong_type /steps/0/retryCount=wrong_type /steps/0/stepName=wrong_type /steps/1=wrong_type "
            "/steps/2/errorCode=wrong_type /steps/2/startedAt=invalid_time /steps/2/metadata/costUsd=wrong_type "
            "/steps/2/metadata/model=wrong_type "
            "/steps/3=wrong_type /metadata=wrong_type /userRequestText=wrong_type ");
}

TEST(RunReader, ARootThatIsNoObject_IsOneFault) {
  for (const char* json : {"[]", "5", "null", "\"x\"", "[{\"runId\":\"a\"}]"}) {
    auto run = read(json);
    ASSERT_FALSE(run.ok()) << json;
    EXPECT_EQ(run.error().code, Code::validation_failed) << json;
    ASSERT_EQ(run.error().faults.size(), 1u) << json;
    EXPECT_EQ(run.error().faults[0].pointer, "") << json;
  }
}

TEST(RunReader, AKnownMemberTwice_IsMalformed_AnUnknownOneIsKept) {
  for (const char* json :
       {R"({"runId":"a","runId":"a"})", R"({"steps":[{"status":"ok","status":"failed"}]})", R"({"metadata":{"model":"a","model":"b"}})"}) {
    auto run = read(json);
    ASSERT_FALSE(run.ok()) << json;
    EXPECT_EQ(run.error().code, Code::malformed_json) << json;
    EXPECT_NE(run.error().detail.find("twice"), std::string::npos);
  }
  EXPECT_EQ(document_of(R"({"a":1,"a":2})"), R"({"a":1,"a":2})");
}

TEST(RunReader, RunIds) {
  const auto verdict = [](const std::string& id) { return read(R"({"runId":")" + id + "\"}").ok(); };
  EXPECT_TRUE(verdict(std::string(256, 'a')));
  EXPECT_FALSE(verdict(std::string(257, 'a')));
  EXPECT_TRUE(verdict("a/b c?#%é"));
  EXPECT_FALSE(verdict("a\\nb"));
  EXPECT_FALSE(verdict("a\\u007f"));
  EXPECT_FALSE(verdict("a\\u0085"));
  EXPECT_FALSE(verdict("\\u0000"));
}

TEST(RunReader, TooManySteps_AreRefused) {
  RunLimits limits;
  limits.max_steps = 2;
  EXPECT_TRUE(read_run(R"({"steps":[{},{}]})", limits, {}).ok());
  auto run = read_run(R"({"steps":[{},{},{"metadata":{"costUsd":1}},{"stepName":"x"}]})", limits, {});
  ASSERT_FALSE(run.ok());
  ASSERT_EQ(run.error().faults.size(), 1u);
  EXPECT_EQ(run.error().faults[0].pointer, "/steps/2");
}

TEST(RunReader, ManyFaults_AreCountedButNotAllKept) {
  std::string json = R"({"steps":[)";
  for (int i = 0; i < 1500; ++i) json += i ? ",1" : "1";
  auto run = read(json + "]}");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().faults.size(), ShapeReader::kMaxFaults);
  EXPECT_NE(run.error().detail.find("1500 faults"), std::string::npos);
}

TEST(RunReader, MovingARun_KeepsItsViewsGood) {
  auto read_back = read(R"({"runId":"r","steps":[{"stepName":"first"},{"stepName":"second"}]})");
  ASSERT_TRUE(read_back.ok());
  model::Run moved = std::move(*read_back);
  EXPECT_EQ(moved.steps[1].name, "second");
  EXPECT_EQ(moved.steps[1].raw_json, R"({"stepName":"second","stepId":"step_2"})");
}

}  // namespace
}  // namespace runwarden::intake
