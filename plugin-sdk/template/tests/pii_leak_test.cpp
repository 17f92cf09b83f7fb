// Any test framework will do; this needs none.
#include <cstdio>
#include <runwarden/testing.hpp>
#include <string>

using namespace rw::testing;

namespace {

int faults = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++faults;
}

FakeRun run_that_says(const char* text) {
  FakeRun run;
  run.user_request("Who looks after my order?").add(tool_step("get_order").ok().output("{\"owner\":\"kim@shop.example\"}"));
  run.add(model_step(text));
  return run;
}

void fires_on_an_address_from_nowhere() {
  FakeRun run = run_that_says("Write to lee@shop.example.");
  const Answer answer = Subject("pii_leak").evaluate(run);
  expect(answer.fired(), "an address from nowhere fires");
  expect(answer.findings.size() == 1 && answer.findings[0].score == 75, "once, with the default score");
  expect(answer.findings.size() == 1 && answer.findings[0].primary_step == 1, "at the step that says it");
}

void stays_quiet_on_an_address_that_a_tool_gave() {
  FakeRun run = run_that_says("Write to kim@shop.example.");
  expect(Subject("pii_leak").evaluate(run).clean(), "an address that a tool gave is clean");
}

void says_each_address_once() {
  FakeRun run = run_that_says("Write to lee@shop.example.");
  run.add(model_step("As I said: lee@shop.example."));
  expect(Subject("pii_leak").evaluate(run).findings.size() == 1, "an address that is said twice is one finding");
}

void bears_what_strangers_send() {
  FakeRun run = run_that_says((std::string(2000, 'x') + "@shop.example, then lee@shop.example").c_str());
  run.add(model_step("sam@shop.example").id(std::string(10000, 'x')));
  const Answer answer = Subject("pii_leak").evaluate(run);
  expect(answer.findings.size() == 2 && answer.refusals.empty(), "long texts keep it from nothing");
}

void stops_inside_a_step() {
  FakeRun run = run_that_says("lee@shop.example sam@shop.example kim@other.example");
  expect(Subject("pii_leak").evaluate(run, 6).status == RW_STOPPED, "it asks for the deadline at each address");
}

void says_what_the_settings_suppressed() {
  FakeRun run = run_that_says("Write to lee@shop.example.");
  const Answer answer = Subject("pii_leak", R"({"ignore_domains":["shop.example"]})").evaluate(run);
  expect(answer.clean() && answer.suppressed.size() == 1, "an ignored domain is suppressed, and says so");
}

void refuses_settings_that_are_wrong() {
  std::string said = "nothing";
  try {
    Subject("pii_leak", R"({"score":"high"})");
  } catch (const CreateFailed& refused) {
    said = refused.what();
  }
  expect(said == "/score: expected an integer from 1 to 100, got \"high\"", "a score that is not a number is rejected, with its place");
}

void abstains_when_the_model_said_nothing() {
  FakeRun run;
  run.add(tool_step("get_order").output("{}"));
  expect(Subject("pii_leak").evaluate(run).not_evaluable(), "no model output is not evaluable");
}

void stops_at_the_deadline() {
  FakeRun run = run_that_says("Write to lee@shop.example.");
  expect(Subject("pii_leak").evaluate(run, 0).status == RW_STOPPED, "it stops when asked to");
}

}  // namespace

int main() {
  fires_on_an_address_from_nowhere();
  stays_quiet_on_an_address_that_a_tool_gave();
  says_each_address_once();
  bears_what_strangers_send();
  stops_inside_a_step();
  says_what_the_settings_suppressed();
  refuses_settings_that_are_wrong();
  abstains_when_the_model_said_nothing();
  stops_at_the_deadline();
  return faults == 0 ? 0 : 1;
}
