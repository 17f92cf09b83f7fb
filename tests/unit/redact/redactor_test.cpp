#include "redact/redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace runwarden::redact {
namespace {

using model::DocumentKind;
using By = model::RedactRule::By;

model::RedactSettings rules(std::vector<model::RedactRule> all) {
  return {model::RedactSettings::DetectorsSee::before, std::move(all)};
}

const model::RedactRule kCard{By::kind, "card", "card"};
const model::RedactRule kEmail{By::kind, "email", "email"};
const model::RedactRule kToken{By::kind, "token", "token"};

std::string redacted(const model::RedactSettings& settings, std::string_view json, DocumentKind kind = DocumentKind::run) {
  Redactions found;
  return Redactor(settings).document(kind, json, found).value_or(std::string(json));
}

struct TextCase {
  const char* before;
  const char* after;
};

void check(const model::RedactSettings& settings, const std::vector<TextCase>& cases, DocumentKind kind = DocumentKind::run) {
  for (const TextCase& one : cases) {
    const std::string after = redacted(settings, one.before, kind);
    EXPECT_EQ(after, one.after) << one.before;
    EXPECT_EQ(redacted(settings, after, kind), after) << "twice: " << one.before;
  }
}

TEST(Redactor, FindsKindsWhereverTheyStand) {
  check(rules({kCard, kEmail}), {
                                    {R"({"userRequestText":"Charge 4111 1111 1111 1111 for bob@example.com."})",
                                     R"({"userRequestText":"Charge [redacted:card] for [redacted:email]."})"},
                                    {R"({"x":{"deep":[1,["bob@example.com"]]}})", R"({"x":{"deep":[1,["[redacted:email]"]]}})"},
                                    {R"({"x":4111111111111111,"y":4111111111111112})", R"({"x":"[redacted:card]","y":4111111111111112})"},
                                    {R"({"x":"bob\u0040example.com"})", R"({"x":"[redacted:email]"})"},
                                    {R"({"x":"4111\u00201111\u002d1111\u00201111"})", R"({"x":"[redacted:card]"})"},
                                    {R"({"x":"\u0034111111111111111"})", R"({"x":"[redacted:card]"})"},
                                    {R"({"balances":{"bob@example.com":5}})", R"({"balances":{"[redacted:email]":5}})"},
                                    {R"({"x":"\u00fcber \ud83d\ude00 bob@example.com \u00e9t\u00e9"})",
                                     "{\"x\":\"\u00fcber \U0001F600 [redacted:email] \u00e9t\u00e9\"}"},
                                    {R"({"order":"1234567890123456","n":1.5e3})", R"({"order":"1234567890123456","n":1.5e3})"},
                                });
}

TEST(Redactor, LooksIntoStringsThatHoldJson) {
  check(
      rules({kCard, kEmail, {By::key, "password", "password"}}),
      {
          {R"({"steps":[{"inputSummary":"{\"to\":\"bob@example.com\",\"password\":\"x1\",\"n\":1}"}]})",
           R"({"steps":[{"inputSummary":"{\"to\":\"[redacted:email]\",\"password\":\"[redacted:password]\",\"n\":1}"}]})"},
          {R"({"x":"{\"to\":\"bob\\u0040example.com\"}"})", R"({"x":"{\"to\":\"[redacted:email]\"}"})"},
          {R"({"x":" [4111111111111111] "})", R"({"x":"[\"[redacted:card]\"]"})"},
          {R"({"x":"{\"y\":\"{\\\"password\\\":\\\"x1\\\"}\"}"})", R"({"x":"{\"y\":\"{\\\"password\\\":\\\"[redacted:password]\\\"}\"}"})"},
          {R"({"x":"{\"a\": 1}"})", R"({"x":"{\"a\": 1}"})"},  // as it was written
      });
}

TEST(Redactor, FindsMembersInTextThatIsNoWholeJson) {
  check(rules({{By::key, "password", "password"}, {By::key, "*token*", "token"}}),
        {
            {R"({"x":"called with {\"password\": \"hunter2\", \"n\": 1}"})",
             R"({"x":"called with {\"password\": \"[redacted:password]\", \"n\": 1}"})"},
            {R"({"x":"{\"n\":1,\"password\":\"hunt"})", R"({"x":"{\"n\":1,\"password\":\"[redacted:password]"})"},
            {R"({"x":"{\"y\":\"{\\\"password\\\":\\\"a\\\"}\", cut"})",
             R"({"x":"{\"y\":\"{\\\"password\\\":\\\"[redacted:password]\\\"}\", cut"})"},
            {R"({"x":"GET /a?access_token=abc&n=1"})", R"({"x":"GET /a?access_token=[redacted:token]&n=1"})"},
            {R"({"x":"--password=abc run"})", R"({"x":"--password=[redacted:password] run"})"},
            {R"({"x":"{'password': 'a b', 'n': 1} ok"})", R"({"x":"{'password': '[redacted:password]', 'n': 1} ok"})"},
            {R"({"x":"see \"password\": {\"old\": 1} ok"})", R"({"x":"see \"password\": [redacted:password] ok"})"},
            {R"({"x":"Password: please enter it"})", R"({"x":"Password: please enter it"})"},
        });
}

TEST(Redactor, HidesMembersByName) {
  check(rules({{By::key, "password", "password"}, {By::key, "*Secret*", "secret"}}),
        {
            {R"({"x":{"Password":"a","PASSWORD":{"b":[1]},"passwords":"c"}})",
             R"({"x":{"Password":"[redacted:password]","PASSWORD":"[redacted:password]","passwords":"c"}})"},
            {R"({"x":{"client_secret_v2":7,"SECRET":true}})",
             R"({"x":{"client_secret_v2":"[redacted:secret]","SECRET":"[redacted:secret]"}})"},
            {R"({"x":{"password":null,"secret":""}})", R"({"x":{"password":null,"secret":""}})"},
        });
}

TEST(Redactor, HidesByPointer) {
  check(rules({{By::pointer, "/steps/*/inputSummary/card", "card"}, {By::pointer, "/**/ssn", "ssn"}, {By::pointer, "/a~1b/0", "first"}}),
        {
            {R"({"steps":[{"inputSummary":"{\"card\":\"x\",\"y\":{\"card\":\"z\"}}"},{"card":"kept"}]})",
             R"({"steps":[{"inputSummary":"{\"card\":\"[redacted:card]\",\"y\":{\"card\":\"z\"}}"},{"card":"kept"}]})"},
            {R"({"ssn":"1","x":[{"y":{"ssn":"2"}}]})", R"({"ssn":"[redacted:ssn]","x":[{"y":{"ssn":"[redacted:ssn]"}}]})"},
            {R"({"a/b":["x","y"]})", R"({"a/b":["[redacted:first]","y"]})"},
        });
}

TEST(Redactor, APointerIntoARunMeansItsEventsToo) {
  const auto all = rules({{By::pointer, "/steps/*/inputSummary/card", "card"},
                          {By::pointer, "/steps/*/errorMessage", "error"},
                          {By::pointer, "/userRequestText", "request"},
                          {By::pointer, "/events/*/extra", "extra"}});
  check(all,
        {
            {R"({"type":"tool_call","input":"{\"card\":\"x\"}","error":"e"})",
             R"({"type":"tool_call","input":"{\"card\":\"[redacted:card]\"}","error":"[redacted:error]"})"},
            {R"({"type":"user_request","text":"hi","extra":1})",
             R"({"type":"user_request","text":"[redacted:request]","extra":"[redacted:extra]"})"},
        },
        DocumentKind::event);
  check(all, {{R"({"steps":[{"extra":1}]})", R"({"steps":[{"extra":"[redacted:extra]"}]})"}});
}

TEST(Redactor, APointerIntoARunMeansTheSpansOfATraceToo) {
  const auto all = rules({{By::pointer, "/steps/*/outputSummary", "output"}, {By::pointer, "/outcomeSummary", "outcome"}, {By::pointer, "/userRequestText", "request"},
                          {By::pointer, "/metadata/sessionId", "session"}});
  check(all,
        {
            {R"({"type":"otlp_span","spanId":"4111111111111111","outputSummary":"x","inputSummary":"y"})",
             R"({"type":"otlp_span","spanId":"4111111111111111","outputSummary":"[redacted:output]","inputSummary":"y"})"},
            {R"({"userRequestText":"hi","outcomeSummary":"done","errorMessage":"no","metadata":{"sessionId":"s"},"from":"a=b"})",
             R"({"userRequestText":"[redacted:request]","outcomeSummary":"[redacted:outcome]","errorMessage":"[redacted:outcome]",)"
             R"("metadata":{"sessionId":"[redacted:session]"},"from":"a=b"})"},
        },
        DocumentKind::span);
  check(rules({kCard}), {{R"({"spanName":"chat","scope":"4111 1111 1111 1111"})", R"({"spanName":"chat","scope":"[redacted:card]"})"}}, DocumentKind::span);
  const char* kept = R"({"type":"otlp_span","spanId":"4111111111111111","parentSpanId":"4111111111111111","spanKind":"tool","status":"failed"})";
  check(rules({kCard, {By::key, "*span*", "s"}, {By::key, "status", "s"}}), {{kept, kept}}, DocumentKind::span);
}

TEST(Redactor, LeavesAloneWhatTheServiceGoesBy) {
  const auto all =
      rules({kEmail, kCard, {By::key, "*id", "id"}, {By::key, "steps", "steps"}, {By::key, "*at*", "at"}, {By::key, "*count*", "n"}});
  const char* run = R"({"runId":"bob@example.com","steps":[{"stepId":"4111111111111111","stepKind":"tool","retryCount":3,)"
                    R"("metadata":{"costUsd":1.5,"inputTokens":4111111111111111},"startedAt":"2026-11-20T15:00:00.000Z"}],"metadata":{}})";
  check(all, {{run, run}});
  const char* event = R"({"type":"tool_call","eventId":"bob@example.com","at":"2026-11-20T15:00:00.000Z","retryCount":1})";
  check(all, {{event, event}}, DocumentKind::event);
  const char* change = R"({"kind":"code","at":"2026-11-20T15:00:00.000Z"})";
  check(all, {{change, change}}, DocumentKind::change);
  const char* policy = R"({"policy":"bob@example.com","revision":"1","at":"2026-11-20T15:00:00.000Z"})";
  check(all, {{policy, policy}}, DocumentKind::policy);
}

TEST(Redactor, CountsValuesByRule) {
  const Redactor redactor(rules({kCard, kEmail, {By::key, "password", "password"}}));
  Redactions found;
  redactor.document(DocumentKind::run, R"({"a":"b@c.de, d@e.fg","b":{"password":{"x":1,"y":2}},"c":"{\"password\":\"z\"}"})", found);
  std::map<std::string, std::uint64_t> counts;
  redactor.each_count(found, [&](std::string_view rule, std::uint64_t count) { counts[std::string(rule)] = count; });
  EXPECT_THAT(counts, testing::ElementsAre(testing::Pair("email", 2), testing::Pair("password", 2)));
}

TEST(Redactor, WhatIsTakenOutIsTakenOutWhereverTheDocumentRepeatsIt) {
  const std::string letter = "Dear customer, your claim 17 of last week has been refused for good.";
  const std::string before = R"({"runId":"hunter-2","a":{"password":"Hunter-2"},"b":"no user hunter2, HUNTER-2!","c":"xhunter2x","d":")" +
                             letter + R"(","e":"He wrote: )" + letter + R"( Indeed."})";
  EXPECT_EQ(
      redacted(rules({{By::key, "password", "password"}, {By::key, "d", "letter"}}), before),
      R"({"runId":"hunter-2","a":{"password":"[redacted:password]"},"b":"no user [redacted:password], [redacted:password]!","c":"xhunter2x",)"
      R"("d":"[redacted:letter]","e":"He wrote: [redacted:letter] Indeed."})");
  std::string first = R"({"input":"{\"password\":\"hunter2\"}"})";
  std::string second = R"({"error":"no hunter2","n":1234567})";
  Redactions found;
  Redactor(rules({{By::key, "password", "password"}})).documents(DocumentKind::event, std::vector<std::string*>{&first, &second}, found);
  EXPECT_EQ(second, R"({"error":"no [redacted:password]","n":1234567})");
}

TEST(Redactor, ADeeplyNestedStringOfJsonIsDoneAtOnce) {
  std::string text = "bob@example.com";
  for (int i = 0; i < 14; ++i) {
    std::string outer = "[\"";
    for (const char c : text) outer += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    text = outer + "\"]";
  }
  const std::string after = redacted(rules({kEmail}), "{\"x\":" + text + "}");
  EXPECT_EQ(after.find("bob@"), std::string::npos);
  EXPECT_NE(after.find("[redacted:email]"), std::string::npos);
}

TEST(Redactor, CleansWhatDetectorsSay) {
  const Redactor redactor(rules({kCard, {By::key, "password", "password"}, {By::pointer, "/steps/*/outputSummary", "output"}}));
  Redactions found;
  ASSERT_TRUE(redactor.document(DocumentKind::run,
                                R"({"steps":[{"inputSummary":"{\"password\":\"hunter2\"}","outputSummary":"Your refund to the old account )"
                                R"(is done."}],"userRequestText":"4111111111111111"})",
                                found));
  model::Verdict verdict;
  model::Finding finding;
  finding.title = "Login with Hunter2 failed";
  finding.summary = "It said \"refund to the old account\" and 4111-1111-1111-1111, then \"4111111111\"";
  finding.evidence = {
      {"/steps/0/outputSummary", "old acc"}, {"/steps/0/inputSummary", R"({"password":"hunter2"})"}, {"/steps/0/retryCount", "3"}};
  finding.fingerprint_parts = {"login", "no user hunter2"};
  verdict.findings.push_back(finding);
  verdict.shadow_findings.push_back(finding);
  verdict.reports.push_back({"d", model::DetectorStatus::fired, "hunter2", {{"rule", "step_1", "said hunter2"}}, 0});
  model::ExplanationItem explained;
  explained.subject = "login(hunter2)";
  explained.objects = "4111-1111-1111-1111";
  explained.reason = "no user hunter2";
  verdict.reports[0].explanation.push_back(explained);
  ASSERT_TRUE(redactor.clean(verdict, found));
  const model::Finding& clean = verdict.findings[0];
  EXPECT_EQ(clean.title, "Login with [redacted:password] failed");
  EXPECT_EQ(clean.summary, "It said \"[redacted:output]\" and [redacted:card], then \"[redacted:card]\"");
  EXPECT_EQ(clean.evidence[0].value, "[redacted:output]");
  EXPECT_EQ(clean.evidence[1].value, R"({"password":"[redacted:password]"})");
  EXPECT_EQ(clean.evidence[2].value, "3");
  EXPECT_THAT(clean.fingerprint_parts, testing::ElementsAre("login", "no user [redacted:password]"));
  EXPECT_EQ(verdict.shadow_findings[0].summary, clean.summary);
  EXPECT_EQ(verdict.shadow_findings[0].evidence[0].value, clean.evidence[0].value);
  EXPECT_EQ(verdict.reports[0].reason, "[redacted:password]");
  EXPECT_EQ(verdict.reports[0].suppressed[0].reason, "said [redacted:password]");
  EXPECT_EQ(verdict.reports[0].explanation[0].subject, "login([redacted:password])");
  EXPECT_EQ(verdict.reports[0].explanation[0].objects, "[redacted:card]");
  EXPECT_EQ(verdict.reports[0].explanation[0].reason, "no user [redacted:password]");
}

TEST(Redactor, AMember_IsRedactedAsInItsDocument) {
  const Redactor redactor(rules({kCard,
                                 {By::key, "password", "password"},
                                 {By::key, "reference", "reference"},
                                 {By::pointer, "/summary/password", "inner"},
                                 {By::pointer, "/ref", "ref"}}));
  const auto text_of = [](const nlohmann::json& document, const char* name) { return document.at(name).get<std::string>(); };
  for (const char* name : {"summary", "ref", "reference", "kind"}) {
    for (const char* text : {"", "plain", "card 4111 1111 1111 1111", R"({"password":"hunter22"})", R"({"a":"4111111111111111"})",
                             "password=Zq8-hunter22 was said twice: zq8-HUNTER22", "[redacted:card]", "[redacted:ref] 4111111111111111",
                             "a \"quote\" \\ \u00fc\n\t"}) {
      const nlohmann::json document{{name, text}};
      Redactions of_document, of_member;
      const std::string whole = redactor.document(DocumentKind::change, document.dump(), of_document).value_or(document.dump());
      const std::string member = redactor.member(DocumentKind::change, name, text, of_member).value_or(text);
      EXPECT_EQ(member, text_of(nlohmann::json::parse(whole), name)) << name << ": " << text;
      EXPECT_EQ(of_member.counts, of_document.counts) << name << ": " << text;
    }
  }
}

TEST(Redactor, KnowsAgainWhatADetectorQuotesInEscapes) {
  const Redactor redactor(rules({{By::key, "password", "password"}}));
  Redactions found;
  ASSERT_TRUE(redactor.document(DocumentKind::run, R"({"steps":[{"inputSummary":"{\"password\":\"Zo\u00eb/hunter\"}"}]})", found));
  model::Verdict verdict;
  model::Finding finding;
  finding.summary = R"(no user Zo\u00eb\/hunter, Zo\\\u00eb\\\/hunter, Zo%C3%AB%2Fhunter)";
  finding.evidence = {{"/steps/0/errorMessage", R"(said Zo\u00eb\/hunt…)"}};
  finding.fingerprint_parts = {R"(zo\u00eb\/hunter)", R"(Zo\u00eb\/hun\u00)"};
  verdict.findings.push_back(finding);
  ASSERT_TRUE(redactor.clean(verdict, found));
  EXPECT_EQ(verdict.findings[0].summary, "no user [redacted:password], [redacted:password], [redacted:password]");
  EXPECT_EQ(verdict.findings[0].evidence[0].value, "said [redacted:password]…");
  EXPECT_EQ(verdict.findings[0].fingerprint_parts[0], "[redacted:password]");
  EXPECT_EQ(verdict.findings[0].fingerprint_parts[1], "[redacted:password]\\u00");
}

TEST(Redactor, ACardIsFoundHoweverTheNumberIsWritten) {
  check(rules({kCard}), {
                            {R"({"a":4111111111111111.0,"b":4.111111111111111e15,"c":4111111111111111E0,"d":[4111111111111111.00]})",
                             R"({"a":"[redacted:card]","b":"[redacted:card]","c":"[redacted:card]","d":["[redacted:card]"]})"},
                            {R"({"a":4111111111111111.5,"b":4.2e15,"c":1e400,"d":-4111111111111111,"e":41111111111111111e-1})",
                             R"({"a":4111111111111111.5,"b":4.2e15,"c":1e400,"d":-4111111111111111,"e":41111111111111111e-1})"},
                        });
}

TEST(Redactor, NamesAreTheSameHoweverTheirWordsAreJoined) {
  check(rules({{By::key, "api_key", "key"}, {By::key, "*_id", "id"}}),
        {
            {R"({"x":{"apiKey":"a","API-KEY":"a","api key":"a","apikey":"a","ApiKey":"a","apikeys":"a"}})",
             R"({"x":{"apiKey":"[redacted:key]","API-KEY":"[redacted:key]","api key":"[redacted:key]","apikey":"[redacted:key]",)"
             R"("ApiKey":"[redacted:key]","apikeys":"a"}})"},
            {R"({"x":{"userId":"a","user-id":"a","UserID":"a","paid":"a","grid":"a"}})",
             R"({"x":{"userId":"[redacted:id]","user-id":"[redacted:id]","UserID":"[redacted:id]","paid":"a","grid":"a"}})"},
        });
}

TEST(Redactor, APlainWordBehindANameIsNotLookedForElsewhere) {
  check(rules({{By::key, "password", "password"}}),
        {{R"({"x":"login failed, password: incorrect","y":"the incorrect one","z":"no user hunter-2","w":"password: hunter-2"})",
          R"({"x":"login failed, password: [redacted:password]","y":"the incorrect one","z":"no user [redacted:password]",)"
          R"("w":"password: [redacted:password]"})"},
         {R"({"x":"inputs:\n  password: '(string) '\n  title: '(string) '"})",
          R"({"x":"inputs:\n  password: '[redacted:password]'\n  title: '(string) '"})"}});
}

TEST(Redactor, CleansWhatAnErrorQuotesOfARequest) {
  const Redactor redactor(rules({kCard, kEmail, {By::key, "password", "password"}}));
  const std::string request = R"({"password":"hunter2","startedAt":"4111 1111 1111 1111 and more","bob@example.com":{"at":"no hunter2"}})";
  Error error{Code::validation_failed,
              "the run has 2 faults",
              "user bob@example.com",
              {{"/startedAt", "wrong_type", "must be a time, got \"4111 1111 1111 1\""},
               {"/bob@example.com/at", "wrong_type", "must be a time, got \"no hunter2\""}}};
  redactor.clean(error, request);
  EXPECT_EQ(error.detail, "the run has 2 faults");
  EXPECT_EQ(error.log, "user [redacted:email]");
  EXPECT_EQ(error.faults[0].pointer, "/startedAt");
  EXPECT_EQ(error.faults[0].code, "wrong_type");
  EXPECT_EQ(error.faults[0].detail, "must be a time, got \"[redacted:card]\"") << "though the quotation is cut";
  EXPECT_EQ(error.faults[1].pointer, "/[redacted:email]/at");
  EXPECT_EQ(error.faults[1].detail, "must be a time, got \"no [redacted:password]\"");
}

// What could make a search look back or ahead without bound, in each way that a text may come in.
TEST(Redactor, HostileTextsTakeLinearTime) {
  std::vector<model::RedactRule> all{kCard, kEmail, kToken, {By::kind, "iban", "iban"}, {By::kind, "phone", "phone"}};
  for (const char* key : {"password", "api_key", "*token*"}) all.push_back({By::key, key, "key"});
  const Redactor redactor(rules(all));
  for (const std::string unit : {"password",
                                 "password:",
                                 "password=\"",
                                 "\\\"password\\\":\\\"",
                                 "--password ",
                                 "a b c:",
                                 "-",
                                 "api_key=",
                                 "api_key:",
                                 "bearer\t\"",
                                 "%70assword%3D",
                                 "4111\n",
                                 "4111.",
                                 "4111\\u0020",
                                 "[\"password\":",
                                 "{\"password\":{",
                                 "\\",
                                 "%25",
                                 "password: a\\\"",
                                 "de89 3704 ",
                                 "+1/2/",
                                 "token=[",
                                 "x@y.",
                                 "\u200B4"}) {
    const auto time = [&](std::size_t bytes) {
      std::string text;
      while (text.size() < bytes) text += unit;
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_FALSE(redactor.text(text).empty());
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
      }
      return best;
    };
    const double small = time(std::size_t{20} << 10);
    EXPECT_LT(time(std::size_t{160} << 10), small * 8 * 4 + 0.05) << unit;
  }
}

TEST(Redactor, ATextOfItsOwnIsCleanedByShape) {
  EXPECT_EQ(Redactor(rules({kToken})).text("sent Bearer abc123.def-456 off"), "sent Bearer [redacted:token] off");
  EXPECT_EQ(Redactor(rules({kToken})).text("nothing here"), "nothing here");
}

}  // namespace
}  // namespace runwarden::redact
