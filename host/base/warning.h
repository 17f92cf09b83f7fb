// What the service noticed in a request that it took in all the same. Values and pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json_text.h"

namespace runwarden {

struct Warning {
  std::string pointer;  // into the request's document (JSON Pointer, RFC 6901)
  std::string detail;   // what was noticed, and the remedy
};

// [{"pointer", "detail"}, ...]
void write_warnings(JsonWriter& out, const std::vector<Warning>& warnings);

// The JSON object with a last member `warnings`. Without warnings, or if the object has such a member already (a client's own, in
// a record that is answered as it is stored), the object as it is.
std::string with_warnings(std::string object, const std::vector<Warning>& warnings);

}  // namespace runwarden
