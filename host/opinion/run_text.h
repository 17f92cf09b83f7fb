// Writes a run as text that a model can read and cite, with a JSON Pointer in brackets before each text. Limits it to a number of tokens
// around the subject of the question. Pure; any thread. Linear in the run; needs a few bytes per step in addition to the run and the text.
//
// Every line but the first of each text of the run is marked, so that no text can pass for a pointer or another step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/opinion.h"
#include "model/run.h"

namespace runwarden::opinion {

// Reads a stored document (ingest::stored_document) like intake does; an error if it cannot be read as a run.
Result<model::Run> read_document(std::string_view document, std::string_view run_id);

// The parts of the run that the question is about.
struct Focus {
  std::string primary_step_id;
  std::vector<std::string> pointers;  // JSON Pointers into the run, most important first
};
// For a candidate its step; for an alarm also the targets of its failure's evidence (FailureRecord::json; may be empty).
Focus focus_of(const model::Opinion& opinion, std::string_view failure_json);

struct RunText {
  std::string text;
  std::size_t steps_left_out = 0;
  std::size_t texts_cut = 0;
  bool whole() const { return steps_left_out == 0 && texts_cut == 0; }
};

// At most `most_tokens`, by estimated_tokens(). Chooses the request, the last output, the steps of the focus, then failed steps and calls
// of the same tool, then neighbors outward. Marks in place where steps are left out and texts are cut.
RunText write_run(const model::Run& run, const Focus& focus, std::size_t most_tokens);

// The texts that a pointer in such a text names: one field, or all fields of a step. Empty: it names nothing that was shown.
std::vector<std::string> texts_at(const model::Run& run, std::string_view pointer);

}  // namespace runwarden::opinion
