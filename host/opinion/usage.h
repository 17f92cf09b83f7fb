// The token usage that an endpoint reports. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace runwarden::opinion {

struct Usage {
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;
  std::uint64_t all() const { return prompt + completion; }
};

// Reads the body of a chat completion, whatever else it contains; zeros if usage is not reported.
Usage read_usage(std::string_view body);

}  // namespace runwarden::opinion
