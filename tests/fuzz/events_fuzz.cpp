// Streamed events from outside: those that are taken make a run that can be read.
#include "fuzz/fuzz.h"
#include "fuzz/json_seeds.h"
#include "intake/event_reader.h"
#include "intake/run_reader.h"

namespace runwarden::test {

std::vector<std::string> fuzz_seeds() {
  return {
      R"({"runId":"r","events":[{"type":"user_request","text":"Book a table"},{"type":"tool_call","name":"book","status":"failed",)"
      R"("error":"no table","errorCode":409,"input":{"at":"20:00"},"output":null,"retryCount":2,"eventId":"1","at":"2026-01-01T00:00:00Z"},)"
      R"({"type":"model_output","text":"Booked!","metadata":{"model":"gpt-4o"}},{"type":"custom","x":[1,{"y":null}]}],"final":true})",
      R"({"runId":"r2","events":[{"type":"run_started","userRequestText":"Hi","metadata":{"costUsd":1}},{"type":"run_finished",)"
      R"("success":false,"outcomeSummary":"Sorry, that failed."}]})",
      R"({"runId":"r3","events":[]})",
  };
}

std::vector<std::string> fuzz_words() {
  return json_words();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto request = intake::read_events(json, {});
  if (!request.ok()) {
    must(!request.error().detail.empty(), "a refusal says why", json);
    return 0;
  }
  std::vector<std::string> events;
  for (const auto& event : request->events) events.push_back(event.json);
  const std::string document = intake::assemble_run(request->run_id, events).json;
  const auto run = intake::read_run(document, {70, 1'000'000}, {});
  must(run.ok(), "events that were taken make a run", document);
  must(run->id == request->run_id, "the run has the events' runId", document);
  const std::string longer = intake::assemble_run(request->run_id, events, run->document).json;
  must(intake::read_run(longer, {70, 1'000'000}, {}).ok(), "a whole run goes on with events", longer);
  return 0;
}

}  // namespace runwarden::test
