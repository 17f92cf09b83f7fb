// Writes a run as text that a model can read and cite: a JSON Pointer in brackets before each text. Cuts it to a number of tokens around
// what the question is about. Pure; any thread. Linear in the run; beside the run it holds a few bytes a step and the text that it makes.
//
// Each line of the run's own texts but the first is marked, so that no text can pass for a pointer or for another step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/opinion.h"
#include "model/run.h"

namespace runwarden::opinion {

// The run of a stored document (ingest::stored_document), as intake read it; an error where it cannot be read as a run.
Result<model::Run> read_document(std::string_view document, std::string_view run_id);

// Where in the run the question is about something.
struct Focus {
  std::string primary_step_id;
  std::vector<std::string> pointers;  // JSON Pointers into the run; what they name first comes first
};
// Of a candidate its step; of an alarm also what the evidence of its failure (FailureRecord::json; may be empty) points at.
Focus focus_of(const model::Opinion& opinion, std::string_view failure_json);

struct RunText {
  std::string text;
  std::size_t steps_left_out = 0;
  std::size_t texts_cut = 0;
  bool whole() const { return steps_left_out == 0 && texts_cut == 0; }
};

// At most `most_tokens` of it, by estimated_tokens(): the request, what was said last, the steps of the focus, then what failed and what
// called the same tools, then neighbors outward. Steps that are left out, and texts cut in the middle, are said in place.
RunText write_run(const model::Run& run, const Focus& focus, std::size_t most_tokens);

// The texts that a pointer of such a text names: a field's own, a step's all. Empty: it names nothing that was shown.
std::vector<std::string> texts_at(const model::Run& run, std::string_view pointer);

}  // namespace runwarden::opinion
