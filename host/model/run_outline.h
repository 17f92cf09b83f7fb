// Makes RunOutlines: what lists show of a run without its steps. Pure; any thread.
//
// Texts are cut at kOutlineCharacters, ids and references at kOutlineIdCharacters; what does not fit into an outline all the same
// is left out and counted, so that an outline is small whatever a client sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "model/records.h"
#include "model/run.h"

namespace runwarden::model {

constexpr std::size_t kOutlineCharacters = 200;
constexpr std::size_t kOutlineIdCharacters = 1024;

// The members that a view of an outline adds to those of the run.
constexpr std::string_view kStepCount = "stepCount";
constexpr std::string_view kLeftOut = "leftOut";

// Where the outcome of a run comes from: events that follow take the place of what the model said last, not of what was told.
enum class OutcomeFrom : std::uint8_t { last_output, told };

RunOutline outline_of(const Run& run, OutcomeFrom outcome);
// Of a document as text, or of its members, for one that is not at hand as a Run.
RunOutline outline_of(std::string_view document, OutcomeFrom outcome);
RunOutline outline_of(const std::vector<JsonMember>& document, OutcomeFrom outcome);

// Fills in the three arrays.
void set_arrays(RunOutline& outline, const RunRecord& run);

// What an event adds to the outline of its run.
struct EventOutline {
  enum class Kind : std::uint8_t { step, output, user_request, members };
  Kind kind = Kind::step;
  std::string json;            // output: what the model said, a string; user_request, members: an object of members of the run
  std::uint32_t left_out = 0;  // members that did not fit into it
};

// A string, an object or an array with its texts cut.
std::string cut_texts(std::string_view json);
void add_event(RunOutline& outline, const EventOutline& event);

}  // namespace runwarden::model
