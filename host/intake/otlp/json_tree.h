// JSON text as a tree of values, and back. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

// The value in a text of JSON: an object, an array or a string. Nothing where it is none, is nested deeper than 64 levels, or holds more
// than 100,000 values. Text that was cut off inside (attributes have a length limit) is read as far as it goes.
// It lives in the arena.
std::optional<AnyValue> read_json_tree(std::string_view text, Arena& arena);

// Whether the text may be JSON of an object or array.
bool looks_like_json(std::string_view text);

// Appends the value as compact JSON. Bytes become base64 of theirs, numbers that JSON has no text for null.
void append_json(std::string& out, const AnyValue& value);

// The value as a text: its characters if it is text, else JSON, in the arena; empty for null.
std::string_view text_of(const AnyValue& value, Arena& arena);

}  // namespace runwarden::intake::otlp
