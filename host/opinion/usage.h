// How many tokens an endpoint says that it used. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace runwarden::opinion {

struct Usage {
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;
  std::uint64_t all() const { return prompt + completion; }
};

// Of the body of a chat completion, whatever else it holds; zeros where it does not say.
Usage read_usage(std::string_view body);

}  // namespace runwarden::opinion
