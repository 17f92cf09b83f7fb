// The fakes of runwarden/testing.hpp against the host: one table of cases through both.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <runwarden/testing.hpp>

#include "detect/abi_run_view.h"
#include "detect/call.h"
#include "detect/instance.h"
#include "intake/run_reader.h"
#include "support/fake_clock.h"

namespace {

// What the entry below does in create and evaluate.
std::function<rw_status(const rw_call&, rw_str, void**)> creating;
std::function<rw_status(const rw_call&)> evaluating;

rw_status create(const rw_host*, const rw_call* call, rw_str config, void** out) {
  return creating(*call, config, out);
}
rw_status evaluate(void*, const rw_run*, const rw_call* call) {
  return evaluating(*call);
}
void destroy(void*) {}

const rw_info info = {sizeof(rw_info), 0, 0, 0, RW_STR("puppet"), RW_STR("1"), RW_STR("Puppet"), {nullptr, 0}};
const rw_detector detector = {sizeof(rw_detector), 0, &info, create, evaluate, destroy, nullptr};
const rw_detector* const detectors[] = {&detector};

}  // namespace
RW_ENTRY(detectors);

namespace runwarden::detect {
namespace {

using rw::testing::FakeRun;
using rw::testing::model_step;
using rw::testing::Subject;
using rw::testing::tool_step;
using rw::testing::user_step;

rw_str str(std::string_view text) {
  return {text.data(), text.size()};
}

// What one function of a call answers, and what the call then holds.
using Act = std::function<rw_status(const rw_call&)>;

rw_finding good_finding() {
  rw_finding out{};
  out.struct_size = sizeof out;
  out.title = str("title");
  out.summary = str("summary");
  out.waste_usd = RW_ABSENT;
  out.confidence = RW_ABSENT;
  return out;
}

Act emits(std::function<void(rw_finding&)> change) {
  return [change = std::move(change)](const rw_call& call) {
    rw_finding finding = good_finding();
    change(finding);
    return call.emit(call.ctx, &finding);
  };
}

Act emits_evidence(rw_str pointer, rw_str value) {
  return emits([=](rw_finding& finding) {
    static rw_evidence item;
    static const rw_evidence* const items[] = {&item};
    item = {sizeof item, 0, pointer, value};
    finding.evidence = items;
    finding.evidence_count = 1;
  });
}

Act emits_part(rw_str part) {
  return emits([=](rw_finding& finding) {
    static rw_str kept;
    kept = part;
    finding.fingerprint_parts = &kept;
    finding.fingerprint_part_count = 1;
  });
}

Act explains(std::function<void(rw_explanation&)> change) {
  return [change = std::move(change)](const rw_call& call) {
    rw_explanation item{};
    item.struct_size = sizeof item;
    item.confidence = RW_ABSENT;
    item.subject = str("subject");
    item.label = str("read");
    change(item);
    return call.explain(call.ctx, &item);
  };
}

Act times(int count, const Act& act) {
  return [=](const rw_call& call) {
    rw_status last = RW_OK;
    for (int i = 0; i < count; ++i) last = act(call);
    return last;
  };
}

struct Case {
  const char* name;
  Act act;
};

std::vector<Case> cases() {
  static const std::string kLong(300'000, 'x');
  static const auto longer_than = [](std::size_t limit) { return str(std::string_view(kLong).substr(0, limit + 1)); };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const rw_str nul = {"a\0b", 3};
  std::vector<Case> all = {
      {"a good finding", emits([](rw_finding&) {})},
      {"no finding", [](const rw_call& call) { return call.emit(call.ctx, nullptr); }},
      {"a finding of 1.0", emits([](rw_finding& f) { f.struct_size = 88, f.confidence = 7; })},
      {"a small finding", emits([](rw_finding& f) { f.struct_size = 80; })},
      {"a long title", emits([](rw_finding& f) { f.title = longer_than(RW_MAX_TITLE); })},
      {"a long summary", emits([](rw_finding& f) { f.summary = longer_than(RW_MAX_SUMMARY); })},
      {"an empty title", emits([](rw_finding& f) { f.title = str(""); })},
      {"a blank title", emits([](rw_finding& f) { f.title = str(" \t"); })},
      {"a title of two lines", emits([](rw_finding& f) { f.title = str("a\nb"); })},
      {"a title with a carriage return", emits([](rw_finding& f) { f.title = str("a\r"); })},
      {"a blank summary", emits([](rw_finding& f) { f.summary = str("\n"); })},
      {"a summary of two lines", emits([](rw_finding& f) { f.summary = str("a\nb"); })},
      {"a waste of -0", emits([](rw_finding& f) { f.waste_usd = -0.0; })},
      {"an absent summary", emits([](rw_finding& f) {
         f.summary = {nullptr, 0};
       })},
      {"a title at nowhere", emits([](rw_finding& f) {
         f.title = {nullptr, 5};
       })},
      {"a title with NUL", emits([=](rw_finding& f) { f.title = nul; })},
      {"a title of half a character", emits([](rw_finding& f) { f.title = str("caf\xC3"); })},
      {"a title with a surrogate", emits([](rw_finding& f) { f.title = str("\xED\xA0\x80"); })},
      {"a title with an overlong character", emits([](rw_finding& f) { f.title = str("\xE0\x80\xAF"); })},
      {"a title of all lengths", emits([](rw_finding& f) { f.title = str("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82"); })},
      {"a score of 101", emits([](rw_finding& f) { f.score = 101; })},
      {"a severity of 4", emits([](rw_finding& f) { f.severity = 4; })},
      {"a source of 4", emits([](rw_finding& f) { f.source = 4; })},
      {"a step that is not there", emits([](rw_finding& f) { f.primary_step = 2; })},
      {"a step before the first", emits([](rw_finding& f) { f.primary_step = -2; })},
      {"evidence at nowhere", emits([](rw_finding& f) { f.evidence_count = 1; })},
      {"too much evidence", emits([](rw_finding& f) { f.evidence_count = RW_MAX_EVIDENCE + 1; })},
      {"null evidence", emits([](rw_finding& f) {
         static const rw_evidence* const none[] = {nullptr};
         f.evidence = none, f.evidence_count = 1;
       })},
      {"good evidence", emits_evidence(str("/steps/0"), str("x"))},
      {"evidence without a pointer", emits_evidence(str("steps"), str("x"))},
      {"evidence with an unknown escape", emits_evidence(str("/a~2"), str("x"))},
      {"evidence with half an escape", emits_evidence(str("/a~"), str("x"))},
      {"evidence with escapes", emits_evidence(str("/a~0~1b"), str("x"))},
      {"evidence with NUL", emits_evidence(str("/steps"), nul)},
      {"a pointer with NUL", emits_evidence(nul, str("x"))},
      {"a long pointer", emits_evidence(longer_than(RW_MAX_POINTER), str("x"))},
      {"a long value", emits_evidence(str("/a"), longer_than(RW_MAX_VALUE))},
      {"parts at nowhere", emits([](rw_finding& f) { f.fingerprint_part_count = 1; })},
      {"too many parts", emits([](rw_finding& f) { f.fingerprint_part_count = RW_MAX_FINGERPRINT_PARTS + 1; })},
      {"a good part", emits_part(str("x"))},
      {"a part with NUL", emits_part(nul)},
      {"a long part", emits_part(longer_than(RW_MAX_PART))},
      {"as many findings as there may be", times(RW_MAX_FINDINGS, emits([](rw_finding&) {}))},
      {"one finding more", times(RW_MAX_FINDINGS + 1, emits([](rw_finding&) {}))},
      {"a rule", [](const rw_call& c) { return c.suppress(c.ctx, str("rule"), 0, str("")); }},
      {"no rule", [](const rw_call& c) { return c.suppress(c.ctx, str(""), 0, str("why")); }},
      {"a rule of a step that is not there", [](const rw_call& c) { return c.suppress(c.ctx, str("rule"), 2, str("why")); }},
      {"a long rule", [](const rw_call& c) { return c.suppress(c.ctx, longer_than(RW_MAX_RULE), 0, str("why")); }},
      {"a rule with bad UTF-8", [](const rw_call& c) { return c.suppress(c.ctx, str("\xFF"), 0, str("why")); }},
      {"too many rules", times(RW_MAX_SUPPRESSIONS + 1, [](const rw_call& c) { return c.suppress(c.ctx, str("rule"), 0, str("")); })},
      {"a candidate", [](const rw_call& c) { return c.candidate(c.ctx, str("rule"), 0, str("why"), 0.5); }},
      {"a candidate that is too sure", [](const rw_call& c) { return c.candidate(c.ctx, str("rule"), 0, str("why"), 1.5); }},
      {"an abstention", [](const rw_call& c) { return c.abstain(c.ctx, str("no output")); }},
      {"a long abstention", [](const rw_call& c) { return c.abstain(c.ctx, longer_than(RW_MAX_REASON)); }},
      {"an empty abstention", [](const rw_call& c) { return c.abstain(c.ctx, str("")); }},
      {"a failure", [](const rw_call& c) { return c.fail(c.ctx, str("why")); }},
      {"a long failure", [](const rw_call& c) { return c.fail(c.ctx, longer_than(5000)); }},
      {"a failure with bad bytes",
       [](const rw_call& c) {
         return c.fail(c.ctx, {"bad \xFF\0 ", 7});
       }},
      {"a failure longer than memory",
       [](const rw_call& c) {
         return c.fail(c.ctx, {"x", std::numeric_limits<std::size_t>::max()});
       }},
      {"an explanation", explains([](rw_explanation&) {})},
      {"no explanation", [](const rw_call& c) { return c.explain(c.ctx, nullptr); }},
      {"an explanation of an unknown kind", explains([](rw_explanation& e) { e.kind = 6; })},
      {"an explanation without a pointer", explains([](rw_explanation& e) { e.json_pointer = str("steps"); })},
      {"an explanation with an unknown escape", explains([](rw_explanation& e) { e.json_pointer = str("/a~2"); })},
      {"an explanation in two words", explains([](rw_explanation& e) { e.label = str("two words"); })},
      {"an explanation with a capital", explains([](rw_explanation& e) { e.outcome = str("Failed"); })},
      {"an explanation that is too sure", explains([](rw_explanation& e) { e.confidence = 2; })},
      {"an explanation of nothing", explains([](rw_explanation& e) { e.subject = str(""); })},
      {"a long explanation", explains([](rw_explanation& e) { e.reason = longer_than(RW_MAX_REASON); })},
      {"as many explanations as there may be", times(RW_MAX_EXPLANATIONS, explains([](rw_explanation&) {}))},
      {"one explanation more", times(RW_MAX_EXPLANATIONS + 1, explains([](rw_explanation&) {}))},
      {"more bytes than explanations may have", times(300, explains([](rw_explanation& e) { e.reason = longer_than(RW_MAX_REASON - 1); }))},
  };
  for (const double waste : {0.0, -0.5, -1.0, 1e12, 1e13, nan, infinite})
    all.push_back({"waste", emits([=](rw_finding& f) { f.waste_usd = waste; })});
  for (const double sure : {0.0, 1.0, -1.0, -0.5, 1.5, nan})
    all.push_back({"confidence", emits([=](rw_finding& f) { f.confidence = sure; })});
  return all;
}

TEST(Fakes, EachCall_IsAnsweredAsByTheHost) {
  const test::FakeClock clock;
  model::Run run;
  run.steps.resize(2);
  for (const Case& one : cases()) {
    Call host(clock, run, "puppet", 100);
    host.ask_for_explanation();
    rw::testing::Answer answer;
    rw::testing::detail::FakeCall fake(answer, 2, -1);
    fake.ask_for_explanation();
    EXPECT_EQ(one.act(fake.raw()), one.act(host.raw())) << one.name;
    EXPECT_EQ(answer.findings.size(), host.findings.size()) << one.name;
    EXPECT_EQ(answer.suppressed.size(), host.suppressed.size()) << one.name;
    EXPECT_EQ(answer.explanation.size(), host.explanation.size()) << one.name;
    EXPECT_EQ(answer.abstained.value_or(""), host.abstained) << one.name;
    EXPECT_EQ(answer.failure, host.failure) << one.name;
    fake.end(RW_OK);
    EXPECT_EQ(answer.rejected, answer.findings.empty() && !host.rejection().empty()) << one.name;
  }
}

TEST(Fakes, EachCallInCreate_IsAnsweredAsByTheHost) {
  const test::FakeClock clock;
  for (const Case& one : cases()) {
    const Call host(clock);
    rw::testing::Answer answer;
    const rw::testing::detail::FakeCall fake(answer, 0, -1, rw::testing::detail::During::create);
    if (std::string_view(one.name).find("explanation") != std::string_view::npos) continue;  // there is no such function
    EXPECT_EQ(one.act(fake.raw()), one.act(host.raw())) << one.name;
  }
}

// What becomes of a whole call.
TEST(Fakes, AfterAnError_NothingIsKept) {
  creating = [](const rw_call&, rw_str, void** out) { return *out = out, RW_OK; };
  evaluating = [](const rw_call& call) {
    emits([](rw_finding&) {})(call);
    call.suppress(call.ctx, str("rule"), 0, str(""));
    call.abstain(call.ctx, str("nothing"));
    return rw_status{RW_INTERNAL};
  };
  FakeRun run;
  run.add(tool_step("look"));
  const auto failed = Subject("puppet").evaluate(run);
  EXPECT_TRUE(failed.failed());
  EXPECT_TRUE(failed.findings.empty() && failed.suppressed.empty() && !failed.abstained);
  evaluating = emits([](rw_finding& f) { f.score = 101; });
  const Act refused = evaluating;
  evaluating = [refused](const rw_call& call) { return refused(call), rw_status{RW_OK}; };
  EXPECT_TRUE(Subject("puppet").evaluate(run).failed());
  EXPECT_FALSE(Subject("puppet").evaluate(run).clean());
}

TEST(Fakes, CreateGetsWhatAServiceHandsOver_AndMustMakeAnInstance) {
  std::string got = "nothing";
  creating = [&got](const rw_call&, rw_str config, void** out) {
    got = config.ptr == nullptr ? "absent" : std::string(config.ptr, config.len);
    *out = &got;
    return rw_status{RW_OK};
  };
  { const Subject subject("puppet"); }
  EXPECT_EQ(got, "{}");
  { const Subject subject("puppet", std::nullopt); }
  EXPECT_EQ(got, "absent");
  creating = [](const rw_call&, rw_str, void**) { return rw_status{RW_OK}; };
  EXPECT_THROW(Subject("puppet"), rw::testing::CreateFailed);
}

std::string text_of(rw_str text) {
  return text.ptr == nullptr ? "absent" : "\"" + std::string(text.ptr, text.len) + "\"";
}

std::string text_of(const rw_value& value) {
  switch (value.type) {
    case RW_VALUE_BOOL: return value.as.boolean != 0 ? "true" : "false";
    case RW_VALUE_INTEGER: return std::to_string(value.as.i64);
    case RW_VALUE_NUMBER: return std::to_string(value.as.f64);
    case RW_VALUE_STRING: return text_of(value.as.str);
    case RW_VALUE_OBJECT:
    case RW_VALUE_ARRAY: return std::string(value.as.str.ptr, value.as.str.len);
    default: return "type " + std::to_string(value.type);
  }
}

std::string text_of(const rw_step& step) {
  std::string text = "kind " + std::to_string(step.kind) + " outcome " + std::to_string(step.outcome);
  for (const rw_str part :
       {step.id, step.name, step.kind_text, step.status_text, step.error_code, step.error_message, step.input, step.output, step.model})
    text += " " + text_of(part);
  text += " " + std::to_string(step.started_ms) + " " + std::to_string(step.ended_ms);
  return text + " " + std::to_string(step.retry_count) + " " + std::to_string(step.http_status) + " " + std::to_string(step.input_tokens);
}

std::string found(const rw_run& run, std::int32_t step, const char* pointer) {
  rw_value value{};
  const rw_status status = run.find(run.ctx, step, str(pointer), &value);
  return status == RW_OK ? text_of(value) : "status " + std::to_string(status);
}

// The host reads the JSON text that the fake made of its members, and must see the same run.
TEST(Fakes, ARun_IsWhatTheHostMakesOfIt) {
  FakeRun fake;
  fake.user_request("Refund \"7\"\n").success(true).outcome("Done.").model("gpt-4o").cost_usd(1e-7).input_tokens(7);
  fake.started_ms(1'764'000'000'000).ended_ms(-1);
  fake.member("/metadata/a~1b", "eu").flag("/metadata/beta", true);
  fake.add(tool_step("refund").input("{}").failed("502 Bad Gateway").member("/metadata/region", "eu"));
  fake.add(tool_step("look").ok().output("").retry_count(2).input_tokens(5).started_ms(951'782'400'007).ended_ms(0));
  for (const char* status : {"failed", " Timed_Out ", "completed", "OK", "pending", ""}) fake.add(tool_step("look").status_text(status));
  for (const char* code : {"E1", "0", "none", " ok ", ""}) fake.add(tool_step("look").error_code(code));
  fake.add(tool_step("look").error_message("")).add(tool_step("look").http_status(404)).add(tool_step("look").http_status(200));
  fake.add(model_step("Done.").model("gpt-4o")).add(user_step("Thanks")).add(rw::testing::FakeStep(RW_STEP_OTHER).kind_text("note"));
  const rw_run& faked = fake.view();
  auto read = intake::read_run(std::string(faked.raw_json.ptr, faked.raw_json.len), intake::RunLimits{}, "run_1");
  ASSERT_TRUE(read.ok()) << read.error().detail;
  const AbiRunView view(*read, "test");
  const rw_run& real = view.raw();
  ASSERT_EQ(faked.step_count, real.step_count);
  for (std::uint32_t i = 0; i < faked.step_count; ++i)
    EXPECT_EQ(text_of(*faked.step_at(faked.ctx, i)), text_of(*real.step_at(real.ctx, i)));
  for (const rw_str rw_run::*text : {&rw_run::id, &rw_run::user_request, &rw_run::outcome, &rw_run::model})
    EXPECT_EQ(text_of(faked.*text), text_of(real.*text));
  EXPECT_EQ(faked.success, real.success);
  EXPECT_EQ(faked.cost_usd, real.cost_usd);
  EXPECT_EQ(faked.started_ms, real.started_ms);
  EXPECT_EQ(faked.ended_ms, real.ended_ms);
  for (const std::int32_t step : {-2, -1, 0, 1, 99}) {
    for (const char* pointer : {"/errorMessage", "/steps/0/errorMessage", "/steps/1/outputSummary", "/stepName", "/metadata/region",
                                "/metadata/a~1b", "/metadata/beta", "/success", "/metadata/inputTokens", "/retryCount", "/nothing",
                                "/startedAt", "/endedAt", "/metadata/costUsd", "/steps/99", "/steps/x", "steps", "/a~2", "/a~"}) {
      EXPECT_EQ(found(faked, step, pointer), found(real, step, pointer)) << step << " " << pointer;
    }
  }
  EXPECT_EQ(faked.find(faked.ctx, 0, {nullptr, 0}, nullptr), real.find(real.ctx, 0, {nullptr, 0}, nullptr));
}

TEST(Fakes, JsonTextThatTheHostRefuses_Throws) {
  const std::string deep(63, '[');
  for (const std::string& text :
       {std::string(R"({"a":"x\ud800y"})"), std::string(R"({"a":1)"), std::string("{} {}"), std::string(), std::string(R"({"a":tru})"),
        std::string("{\"a\":\"\xFF\"}"), std::string("{}\0", 3), "{\"a\":[" + deep + std::string(63, ']') + "]}"}) {
    EXPECT_FALSE(intake::read_run(text, intake::RunLimits{}, "run_1").ok()) << text;
    EXPECT_THROW(FakeRun().raw_json(text), std::invalid_argument) << text;
    EXPECT_THROW(tool_step("look").raw_json(text), std::invalid_argument) << text;
  }
  const std::string step = deep.substr(1) + std::string(62, ']');  // within a run it has two levels more
  EXPECT_NO_THROW(tool_step("look").raw_json(step));
  EXPECT_THROW(tool_step("look").raw_json("[" + step + "]"), std::invalid_argument);
  try {
    FakeRun().raw_json(R"({"a":"x\ud800y"})");
  } catch (const std::invalid_argument& fault) {
    EXPECT_STREQ(fault.what(), "raw_json is not JSON at byte 13: half of a surrogate pair");
  }
}

TEST(Fakes, Nul_IsTheReplacementCharacterAsInTheHost) {
  const std::string text = R"({"userRequestText":"a\u0000b","n\u0000":"c\u0000"})";
  FakeRun fake;
  fake.user_request(std::string("a\0b", 3)).raw_json(text);
  const rw_run& faked = fake.view();
  auto read = intake::read_run(text, intake::RunLimits{}, "run_1");
  ASSERT_TRUE(read.ok()) << read.error().detail;
  const AbiRunView view(*read, "test");
  EXPECT_EQ(text_of(faked.user_request), text_of(view.raw().user_request));
  for (const char* pointer : {"/userRequestText", "/n\xEF\xBF\xBD"}) {
    EXPECT_NE(found(faked, -1, pointer), "type 0") << pointer;
    EXPECT_EQ(found(faked, -1, pointer), found(view.raw(), -1, pointer)) << pointer;
  }
}

}  // namespace
}  // namespace runwarden::detect
