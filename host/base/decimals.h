// Numbers as text with a fixed number of decimals and a point, whatever locale a detector sets for the process. Pure; any thread.
#pragma once

#include <charconv>
#include <string>

namespace runwarden {

// "0.50"; "inf" and "nan" for what is not a number. At most 20 decimals.
inline std::string fixed_decimals(double value, int decimals) {
  char text[340];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr};
}

}  // namespace runwarden
