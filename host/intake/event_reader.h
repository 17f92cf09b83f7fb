// Reads requests of streamed events, and assembles the JSON of a run from its events. Pure; any thread.
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
  std::string json;  // normalized, with unknown members
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

// Returns the request, or malformed_json, or validation_failed with all faults. Appends likely mistakes to `warnings` (may be null) if the
// request is valid.
Result<EventsRequest> read_events(std::string_view json, const EventLimits& limits, std::vector<Warning>* warnings = nullptr);

// The contribution of an event to the outline of its run.
model::EventOutline outline_of(const Event& event);

// Assembles the JSON of a run, as read_run expects it, from its events (Event::json) in the given order. `whole`: the document of a run
// sent whole that the events continue; empty: none.
struct AssembledRun {
  std::string json;
  model::OutcomeFrom outcome = model::OutcomeFrom::last_output;
};
AssembledRun assemble_run(std::string_view run_id, const std::vector<std::string>& events, std::string_view whole = {});
// The steps of that run alone, each as JSON.
std::vector<std::string> steps_of_events(const std::vector<std::string>& events);

}  // namespace runwarden::intake
