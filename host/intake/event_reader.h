// Reads a request of streamed events, and turns the events of a run into the JSON of a run. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warning.h"
#include "model/run_outline.h"

namespace runwarden::intake {

struct Event {
  std::string json;  // normalized: known members of their types, unknown ones kept
  std::string type;
  std::string event_id;   // empty: none
  bool finishes = false;  // run_finished: resolves the run
};

struct EventsRequest {
  std::string run_id;
  std::vector<Event> events;
  bool final = false;
};

struct EventLimits {
  int max_json_depth = 64;
  std::size_t max_events = 100'000;  // in one request
};

// The request, or malformed_json, or validation_failed with every fault.
// `warnings` (may be null) is added to where the request was read and something in it looks like a mistake.
Result<EventsRequest> read_events(std::string_view json, const EventLimits& limits, std::vector<Warning>* warnings = nullptr);

// What an event adds to the outline of its run.
model::EventOutline outline_of(const Event& event);

// The JSON of the run that the events make, in the order given: what read_run takes. `events` are Event::json. `whole`: the
// document of a run that came whole, which the events continue; empty: none.
struct AssembledRun {
  std::string json;
  model::OutcomeFrom outcome = model::OutcomeFrom::last_output;
};
AssembledRun assemble_run(std::string_view run_id, const std::vector<std::string>& events, std::string_view whole = {});
inline std::string run_of_events(std::string_view run_id, const std::vector<std::string>& events, std::string_view whole = {}) {
  return assemble_run(run_id, events, whole).json;
}

}  // namespace runwarden::intake
