// A draft with its source and its results on stored runs, as text. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrail/draft.h"

namespace runwarden::guardrail {

// The runs that were checked, and how many of them the draft catches.
struct Trial {
  struct Runs {
    std::int64_t runs = 0;
    std::int64_t caught = 0;
  };
  Runs cluster;
  Runs others;
  bool complete = true;  // false: time or memory ran out before all intended runs were checked
};

struct Report {
  Draft draft;
  std::string failure_id;
  std::string cluster_id;  // empty: the failure is in no group
  std::string detector_key;
  std::vector<std::string> run_ids;  // the runs that the draft was made from
  Trial trial;
};

enum class Format : std::uint8_t { json, yaml, python };
constexpr std::string_view kFormats = "json, yaml or python";
std::optional<Format> format_named(std::string_view name);
const char* media_type(Format format);

std::string to_text(const Report& report, Format format);

}  // namespace runwarden::guardrail
