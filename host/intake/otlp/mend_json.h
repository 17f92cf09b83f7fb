// Repairs JSON text. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::intake::otlp {

// The text without what some encoders write although it is not JSON: U+FFFD replaces lone surrogates and invalid UTF-8, and null the
// numbers that JSON cannot express. Equal to the text if there is none of these.
std::string mended_json(std::string_view text);

}  // namespace runwarden::intake::otlp
