#include "opinion/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "unit/opinion/runs.h"

namespace runwarden::opinion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string completion(const std::string& content) {
  return json{{"choices", {{{"index", 0}, {"finish_reason", "stop"}, {"message", {{"role", "assistant"}, {"content", content}}}}}},
              {"usage", {{"prompt_tokens", 700}, {"completion_tokens", 50}, {"total_tokens", 750}}}}
      .dump();
}
std::string answer_text(const std::string& verdict, const json& evidence = json::array(), const std::string& reason = "because") {
  return json{{"verdict", verdict}, {"reason", reason}, {"evidence", evidence}}.dump();
}
ParsedAnswer good(const std::string& content) {
  auto answer = read_answer(completion(content));
  EXPECT_TRUE(answer.ok()) << content << ": " << answer.error().detail;
  return answer.ok() ? std::move(*answer) : ParsedAnswer{};
}
std::string fault_of(const std::string& content) {
  const auto answer = read_answer(completion(content));
  EXPECT_FALSE(answer.ok()) << content;
  return answer.ok() ? "" : answer.error().detail;
}

TEST(OpinionAnswer, IsReadWithItsTokens) {
  const ParsedAnswer answer =
      good(answer_text("present", {{{"pointer", "/steps/1/errorMessage"}, {"quote", "502"}}}, "it \u00FCber-failed"));
  EXPECT_EQ(answer.verdict, OpinionVerdict::present);
  EXPECT_EQ(answer.reason, "it \u00FCber-failed");
  ASSERT_THAT(answer.evidence, SizeIs(1));
  EXPECT_EQ(answer.evidence[0].pointer, "/steps/1/errorMessage");
  EXPECT_EQ(answer.evidence[0].text, "502");
  EXPECT_EQ(answer.tokens, 750U);
  EXPECT_EQ(good(answer_text("absent")).verdict, OpinionVerdict::absent);
  EXPECT_EQ(good(answer_text("unclear")).verdict, OpinionVerdict::unclear);
}

TEST(OpinionAnswer, TokensAreThoseThatTheServerTells) {
  const auto tokens = [](const json& usage) {
    json body = json::parse(completion(answer_text("absent")));
    body["usage"] = usage;
    return read_answer(body.dump())->tokens;
  };
  EXPECT_EQ(tokens({{"prompt_tokens", 7}, {"completion_tokens", 5}}), 12U);
  EXPECT_EQ(tokens(nullptr), 0U);
  EXPECT_EQ(tokens({{"total_tokens", -3}, {"prompt_tokens", "x"}}), 0U);
  EXPECT_EQ(tokens({{"total_tokens", 18446744073709551615ULL}}), 1'000'000'000U);
}

TEST(OpinionAnswer, MayHaveTextAroundIt) {
  const std::string plain = answer_text("absent");
  for (const std::string& content :
       {"```json\n" + plain + "\n```", "Here is my answer:\n" + plain + "\nHope {this} helps.", "  " + plain + "  ",
        "<think>{\"verdict\": \"present\"} or not?</think>\n" + plain, "In {short}: " + plain}) {
    EXPECT_EQ(good(content).verdict, OpinionVerdict::absent) << content;
  }
  EXPECT_EQ(good(answer_text("absent", json::array(), "</think> {\"verdict\":\"present\"}")).verdict, OpinionVerdict::absent);
}

TEST(OpinionAnswer, ThatBreaksOff_IsRefusedUnlessOnlyItsLastBracketIsMissing) {
  const std::string whole =
      R"({"verdict":"present","reason":"why {so}","evidence":[{"pointer":"/a","quote":"one \"two\""},{"pointer":"/b","quote":"three"}]})";
  for (std::size_t length = 1; length + 1 < whole.size(); ++length) fault_of(whole.substr(0, length));
  EXPECT_EQ(good(whole).evidence.size(), 2U);
  EXPECT_EQ(good(whole.substr(0, whole.size() - 1)).evidence.size(), 2U);
  EXPECT_EQ(good(whole.substr(0, whole.size() - 1) + "\n").evidence.size(), 2U);
  EXPECT_THAT(fault_of(R"({"verdict":"present","re)"), HasSubstr("complete JSON object"));
  EXPECT_THAT(fault_of(R"({"verdict":"present","reason":"x"})"), HasSubstr("evidence in the model's answer is not an array"));
  EXPECT_THAT(fault_of(R"({"evidence":[],"reason":"x","verdict":"present)"), HasSubstr("complete JSON object"));
}

TEST(OpinionAnswer, Nonsense_IsAFaultWithAText) {
  EXPECT_THAT(fault_of("I think it is fine."),
              AllOf(HasSubstr("did not answer with a complete JSON object"), HasSubstr("I think it is fine.")));
  EXPECT_THAT(fault_of(""), HasSubstr("answer is empty (finish_reason stop)"));
  EXPECT_THAT(fault_of(answer_text("Present")), HasSubstr("verdict"));
  EXPECT_THAT(fault_of(answer_text("maybe")), HasSubstr("verdict"));
  EXPECT_THAT(fault_of(R"({"reason":"x","evidence":[]})"), HasSubstr("verdict"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","evidence":[]})"), HasSubstr("reason"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","reason":"x"})"), HasSubstr("evidence"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","reason":"x","evidence":[],"sure":1})"), HasSubstr("unknown member \"sure\""));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","verdict":"present","reason":"x","evidence":[]})"), HasSubstr("twice"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","reason":"x","evidence":["/steps/0"]})"), HasSubstr("evidence"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","reason":"x","evidence":[{"pointer":"/a"}]})"), HasSubstr("evidence"));
  EXPECT_THAT(fault_of(R"({"verdict":"absent","reason":"x","evidence":[{"pointer":"/a","quote":5}]})"), HasSubstr("evidence"));
  for (const char* body : {"", "<html>", "[]", "{}", R"({"choices":[]})", R"({"choices":[{}]})", R"({"error":{"message":"no"}})",
                           R"({"choices":[{"message":{"content":7}}]})"}) {
    EXPECT_FALSE(read_answer(body).ok()) << body;
  }
  EXPECT_THAT(read_answer(R"({"choices":[{"message":{"content":null,"refusal":"I cannot"}}]})").error().detail,
              HasSubstr("refused: I cannot"));
}

TEST(OpinionAnswer, IsBounded) {
  const json quote = {{"pointer", "/a"}, {"quote", "b"}};
  EXPECT_EQ(good(answer_text("absent", json(kMostQuotes, quote))).evidence.size(), kMostQuotes);
  EXPECT_THAT(fault_of(answer_text("absent", json(kMostQuotes + 1, quote))), HasSubstr("16"));
  EXPECT_THAT(fault_of(answer_text("absent", {{{"pointer", "/a"}, {"quote", std::string(kMostQuoteBytes + 1, 'x')}}})),
              HasSubstr("longer"));
  EXPECT_THAT(fault_of(answer_text("absent", {{{"pointer", std::string(kMostPointerBytes + 1, '/')}, {"quote", "x"}}})),
              HasSubstr("longer"));
  std::string umlauts;
  for (int i = 0; i < 3000; ++i) umlauts += "\u00FC";
  const ParsedAnswer cut = good(answer_text("absent", json::array(), umlauts));
  EXPECT_LE(cut.reason.size(), kMostReasonBytes + 3);
  EXPECT_NO_THROW((void)json(cut.reason).dump());
  EXPECT_FALSE(read_answer(completion(std::string(kMostAnswerBytes, ' '))).ok());
  const auto began = std::chrono::steady_clock::now();
  for (const char* part : {"{", "[", "{\"a\":", "{\"a\":[", "{}", "\\\"", "\"{,", "{[,", "}{"}) {
    std::string content = "{\"verdict\":\"absent\",\"x\":[";
    while (content.size() < 120'000) content += part;
    EXPECT_FALSE(read_answer(completion(content)).ok()) << part;
    EXPECT_FALSE(read_answer(content).ok()) << part;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

ParsedAnswer checked(const model::Run& run, const std::string& pointer, const std::string& quote) {
  ParsedAnswer answer;
  answer.verdict = OpinionVerdict::present;
  answer.reason = "it failed";
  answer.evidence = {{pointer, quote}};
  return with_checked_quotes(answer, run);
}
bool stands(const model::Run& run, const std::string& pointer, const std::string& quote) {
  return checked(run, pointer, quote).verdict == OpinionVerdict::present;
}

TEST(OpinionQuotes, ThatStandInTheRun_AreKept) {
  json run = refund();
  run["steps"][0]["outputSummary"] = "First  line\u00A0here\n\n| a | table |\r\nlast\tline";
  run["steps"].push_back(step("tool", "look_up", ""));
  const model::Run of = run_of(run);
  EXPECT_TRUE(stands(of, "/steps/1/errorMessage", "502 Bad Gateway"));
  EXPECT_TRUE(stands(of, "/steps/1", "502 Bad")) << "a step's pointer names all of its texts";
  EXPECT_TRUE(stands(of, "/steps/1", "tool \"issue_refund\"; status \"failed\"")) << "and what was shown of it";
  EXPECT_TRUE(stands(of, "/steps/1/inputSummary", "{\"order\":\"4711\"}"));
  EXPECT_TRUE(stands(of, "/steps/0/outputSummary", " First line here | a | table | last\nline ")) << "white space is equal";
  EXPECT_TRUE(stands(of, "/steps/0/outputSummary", "line here\n| | a | table |\n| last line")) << "copied with the marks of lines";
  EXPECT_TRUE(stands(of, "/steps/0/outputSummary", "First ... table"));
  EXPECT_TRUE(stands(of, "/steps/0/outputSummary", "First line [\u202612 characters left out\u2026] last line"));
  EXPECT_TRUE(stands(of, "/steps/0/outputSummary", "\u2026here [...] last [\u2026]"));
  EXPECT_TRUE(stands(of, "/steps/3/outputSummary", ""));
  EXPECT_TRUE(stands(of, "/steps/3/outputSummary", "(empty text)"));
  EXPECT_THAT(checked(of, "/steps/1/errorMessage", "502").evidence, SizeIs(1));
}

TEST(OpinionQuotes, ThatDoNotStandThere_MakeTheAnswerUnclear) {
  const model::Run run = run_of(refund());
  for (const auto& [pointer, quote] :
       std::initializer_list<std::pair<const char*, const char*>>{{"/steps/1/errorMessage", "503 Bad Gateway"},
                                                                  {"/steps/1/errorMessage", "502 bad gateway"},
                                                                  {"/steps/0/outputSummary", "502 Bad Gateway"},
                                                                  {"/steps/1/errorMessage", "Gateway ... 502"},
                                                                  {"/steps/1/errorMessage", ""},
                                                                  {"/steps/1/errorMessage", "..."},
                                                                  {"/steps/7/errorMessage", "502"},
                                                                  {"/steps/1/outputSummary", ""},
                                                                  {"", "502"},
                                                                  {"/steps", "502"},
                                                                  {"nonsense", "502"}}) {
    const ParsedAnswer answer = checked(run, pointer, quote);
    EXPECT_EQ(answer.verdict, OpinionVerdict::unclear) << pointer << ": " << quote;
    EXPECT_THAT(answer.reason,
                AllOf(HasSubstr("said present"), HasSubstr("the run does not contain at " + std::string(pointer)), HasSubstr("it failed")));
    EXPECT_THAT(answer.evidence, IsEmpty());
  }
}

TEST(OpinionQuotes, NoneAtAll_AreAccepted) {
  ParsedAnswer answer;
  answer.verdict = OpinionVerdict::absent;
  EXPECT_EQ(with_checked_quotes(answer, run_of(refund())).verdict, OpinionVerdict::absent);
}

TEST(OpinionQuotes, ForgedPointersInTexts_NameNothing) {
  json run = refund();
  run["steps"][0]["outputSummary"] = "[/steps/8/errorMessage] it all failed";
  EXPECT_FALSE(stands(run_of(run), "/steps/8/errorMessage", "it all failed"));
  EXPECT_TRUE(stands(run_of(run), "/steps/0/outputSummary", "it all failed"));
}

TEST(OpinionQuotes, OfAnyRun_TakeLinearTime) {
  ParsedAnswer answer;
  answer.verdict = OpinionVerdict::present;
  answer.evidence = {{"/userRequestText", std::string(2000, 'a') + "b" + std::string(1900, 'a')}};
  const auto time = [&](std::size_t bytes) {
    const model::Run run = run_of({{"userRequestText", std::string(bytes, 'a')}, {"steps", json::array()}});
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      EXPECT_EQ(with_checked_quotes(answer, run).verdict, OpinionVerdict::unclear);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    return best;
  };
  const double small = time(std::size_t{128} << 10);
  EXPECT_LT(time(std::size_t{1024} << 10), small * 8 * 4 + 0.05);
}

TEST(OpinionAnswer, IsKeptAsAModelsAnswer) {
  ParsedAnswer answer{OpinionVerdict::absent, "why", {{"/steps/0", "a \"b\""}}, 12};
  const model::ModelAnswer kept = to_model_answer(answer, "x/1 frame/1", 345);
  EXPECT_EQ(kept.opinion, "absent");
  EXPECT_EQ(kept.reason, "why");
  EXPECT_EQ(kept.evidence_json, R"([{"pointer":"/steps/0","quote":"a \"b\""}])");
  EXPECT_EQ(kept.prompt_version, "x/1 frame/1");
  EXPECT_EQ(kept.tokens, 12U);
  EXPECT_EQ(kept.elapsed_ms, 345);
}

}  // namespace
}  // namespace runwarden::opinion
