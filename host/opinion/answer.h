// Reads what a model answered. Pure; any thread. Bounded against any answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/opinion_prompt.h"
#include "model/review.h"
#include "model/run.h"

namespace runwarden::opinion {

constexpr std::size_t kMostAnswerBytes = 256 * 1024;  // of the whole body; more need not be read
constexpr std::size_t kMostReasonBytes = 2000;        // a longer one is cut
constexpr std::size_t kMostQuotes = 16;               // more of them are a fault
constexpr std::size_t kMostQuoteBytes = 4000;         // likewise
constexpr std::size_t kMostPointerBytes = 256;        // likewise

enum class Said : std::uint8_t { present, absent, unclear };
const char* name(Said said);

struct Quote {
  std::string pointer;
  std::string text;
};

struct Answer {
  Said said = Said::unclear;
  std::string reason;
  std::vector<Quote> evidence;
  std::uint64_t tokens = 0;  // of prompt and answer, as the server counts them; 0: it did not say
};

// The answer in the body of a chat completion. A fault's detail is a short text for Opinion::last_error; the attempt has failed then. The
// content may stand in a fence of ```json or have text around it. Where it breaks off nothing may be missing but the last bracket: the
// quotes that would show a verdict to be made up may be what was cut off.
Result<Answer> read_answer(std::string_view body);

// The answer, `unclear` with another reason where one of its quotes is not in the run at its pointer. White space is equal to any other,
// and a mark of what was cut out parts a quote.
Answer with_checked_quotes(Answer answer, const model::Run& run);

// For model::write_document(): what is kept of it.
model::ModelAnswer to_model_answer(const Answer& answer, std::string prompt_version, std::int64_t elapsed_ms);

}  // namespace runwarden::opinion
