// Warnings about a request that was accepted. Values and pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json_text.h"

namespace runwarden {

struct Warning {
  std::string pointer;  // into the request's document (JSON Pointer, RFC 6901)
  std::string detail;   // the problem and the remedy
};

// [{"pointer", "detail"}, ...]
void write_warnings(JsonWriter& out, const std::vector<Warning>& warnings);

// The JSON object with `warnings` as an additional last member. Returns it unchanged if there are no warnings or if it already has that
// member (a client's own, in a record returned as stored).
std::string with_warnings(std::string object, const std::vector<Warning>& warnings);

}  // namespace runwarden
