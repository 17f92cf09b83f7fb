// Converts JSON text to a tree of values, and back. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

// The object, array or string in a JSON text, in the arena. Empty if the text is none of these, is nested deeper than 64 levels, or holds
// more than 100,000 values. Reads what mended_json() repairs. An object or array that was cut off (attributes have a length limit) is read
// as far as it goes.
std::optional<AnyValue> read_json_tree(std::string_view text, Arena& arena);

// True if the text may be a JSON object or array.
bool looks_like_json(std::string_view text);

// Appends the value as compact JSON. Bytes become base64; numbers that JSON cannot express become null.
void append_json(std::string& out, const AnyValue& value);

// The value as text: a text unchanged, anything else as JSON in the arena; empty for null.
std::string_view text_of(const AnyValue& value, Arena& arena);

}  // namespace runwarden::intake::otlp
