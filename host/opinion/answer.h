// Reads a model's answer. Pure; any thread. Bounded for any input.
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

constexpr std::size_t kMostAnswerBytes = 256 * 1024;  // of the whole body; no more needs to be read
constexpr std::size_t kMostReasonBytes = 2000;        // a longer one is cut
constexpr std::size_t kMostQuotes = 16;               // more of them are a fault
constexpr std::size_t kMostQuoteBytes = 4000;         // likewise
constexpr std::size_t kMostPointerBytes = 256;        // likewise

enum class OpinionVerdict : std::uint8_t { present, absent, unclear };
const char* name(OpinionVerdict verdict);

struct Quote {
  std::string pointer;
  std::string text;
};

struct ParsedAnswer {
  OpinionVerdict verdict = OpinionVerdict::unclear;
  std::string reason;
  std::vector<Quote> evidence;
  std::uint64_t tokens = 0;  // prompt plus answer, as counted by the server; 0: not reported
};

// Reads the answer from the body of a chat completion. The detail of an error is a short text for Opinion::last_error; the attempt has
// failed. The content may be in a ```json fence or have text around it. If it is truncated, only the last bracket may be missing: otherwise
// quotes that would expose a made-up verdict may have been cut off.
Result<ParsedAnswer> read_answer(std::string_view body);

// Returns the answer, or `unclear` with another reason if one of its quotes is not in the run at its pointer. All white space compares
// equal, and an omission mark splits a quote into parts.
ParsedAnswer with_checked_quotes(ParsedAnswer answer, const model::Run& run);

// The stored part of an answer, for model::write_document().
model::ModelAnswer to_model_answer(const ParsedAnswer& answer, std::string prompt_version, std::int64_t elapsed_ms);

}  // namespace runwarden::opinion
