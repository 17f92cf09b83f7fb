// One normalized run: what every step of the service after intake reads. Built once by intake, then read only;
// a finished Run may be read from any thread.
//
// Every text is a view into the run's own arena or into `document`. A view whose data() is null is *absent*, which is not the same as empty
// (present()). Moving a Run keeps its views valid; copying is not possible.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_arena.h"

namespace runwarden::model {

using Text = std::string_view;
inline bool present(Text text) {
  return text.data() != nullptr;
}

enum class StepKind : std::uint8_t { tool, model, user, other };
// What the step says about itself: failed if it sets failed, an error code or message, or an HTTP status >= 400; ok if its status is a
// success.
enum class Outcome : std::uint8_t { unknown, ok, failed };
enum class Flag : std::uint8_t { unknown, no, yes };

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

struct Step {
  Text id;  // never absent: step_<n> where the client gave none
  Text name, kind_text, status, error_code, error_message, input, output, model;
  Text raw_json;  // this step's part of Run::document
  StepKind kind = StepKind::other;
  Outcome outcome = Outcome::unknown;
  std::optional<std::int64_t> retry_count, input_tokens, http_status;
  std::optional<double> cost_usd;
  std::int64_t started_ms = kNoTime, ended_ms = kNoTime;  // UTC, since 1970
};

struct Run {
  TextArena arena;
  std::string document;  // the run as normalized: one compact JSON object, unknown members kept, no server-owned ones

  Text id;  // absent until one is given
  Text user_request, outcome, model;
  Flag success = Flag::unknown;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> input_tokens;
  std::int64_t started_ms = kNoTime, ended_ms = kNoTime;
  std::vector<Step> steps;
};

}  // namespace runwarden::model
