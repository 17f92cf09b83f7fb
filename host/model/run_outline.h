// Makes RunOutlines: what lists show of a run without its steps. Pure; any thread.
//
// Cuts texts at kOutlineCharacters, ids and references at kOutlineIdCharacters. Leaves out and counts what still does not fit, so that an
// outline is small whatever a client sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "model/run.h"
#include "model/run_record.h"

namespace runwarden::model {

constexpr std::size_t kOutlineCharacters = 200;
constexpr std::size_t kOutlineIdCharacters = 1024;

// The members that an outline's view adds to those of the run.
constexpr std::string_view kStepCount = "stepCount";
constexpr std::string_view kLeftOut = "leftOut";

// Where the outcome of a run comes from. Later events replace the model's last output, but not an outcome that was stated.
enum class OutcomeFrom : std::uint8_t { last_output, told };

RunOutline outline_of(const Run& run, OutcomeFrom outcome);
// From a document as compact text, or from its members, if there is no Run.
RunOutline outline_of(std::string_view document, OutcomeFrom outcome);
RunOutline outline_of(const std::vector<JsonMemberView>& document, OutcomeFrom outcome);

// Fills in failures, detectors and policies.
void set_arrays(RunOutline& outline, const RunRecord& run);

// What an event adds to the outline of its run.
struct EventOutline {
  enum class Kind : std::uint8_t { step, output, user_request, members };
  Kind kind = Kind::step;
  std::string json;            // output: the model's output, a string; user_request, members: an object of run members
  std::uint32_t left_out = 0;  // members that did not fit into it
};

// Returns a string, object or array with its texts cut.
std::string cut_texts(std::string_view json);
void add_event(RunOutline& outline, const EventOutline& event);

}  // namespace runwarden::model
