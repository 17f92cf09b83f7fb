// Reads JSON text (RFC 8259) as a stream of events, which hides the parser. Recurses at most 1000 levels, however deep the text is. Any
// thread; keeps no state between calls. A handler may parse another text during an event.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace runwarden {

struct JsonScalar {
  enum class Type : std::uint8_t { null, boolean, number, string };
  Type type = Type::null;
  bool boolean = false;
  double number = 0;
  std::string_view text;  // a decoded string, or a number as written; valid until the event returns
};

// The event handler. Returning false stops the parse, which then returns ok, because the handler knows the reason.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual bool scalar(const JsonScalar& value) = 0;
  virtual bool open_object() = 0;
  virtual bool open_array() = 0;
  virtual bool key(std::string_view name) = 0;  // in the innermost object
  virtual bool close() = 0;                     // the innermost object or array
  virtual void restart() = 0;                   // discard the events so far: the document starts again
};

// Returns malformed_json, with byte, line and column, for: invalid syntax, invalid UTF-8, NUL, text after the value, a number
// beyond a double's range, and nesting deeper than max_depth (a scalar has depth 0, `{}` depth 1).
Status parse_json(std::string_view text, int max_depth, JsonEvents& events);

class JsonWriter;

// Writes the scalar; numbers keep their original text.
void write_json_scalar(JsonWriter& out, const JsonScalar& value);

}  // namespace runwarden
