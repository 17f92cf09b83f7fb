// Reads JSON text (RFC 8259) as a stream of events, so that what is built from it does not depend on the parser below.
// Nothing recurses deeper than max_depth, whatever the input. Any thread; a call keeps nothing. A reader may parse another text
// while it is being told of one.
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
  std::string_view text;  // a string's characters, or a number as it was written; good until the event returns
};

// What a reader of events implements. Returning false stops the parse, which then answers ok: the reader knows why.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual bool scalar(const JsonScalar& value) = 0;
  virtual bool open_object() = 0;
  virtual bool open_array() = 0;
  virtual bool key(std::string_view name) = 0;  // of the object opened last
  virtual bool close() = 0;                     // the object or array opened last
  virtual void restart() = 0;                   // what was told so far counts for nothing: the document begins anew
};

// Answers malformed_json, with byte, line and column, for: bad syntax, invalid UTF-8, NUL, text after the value, a number
// beyond a double's range, and nesting deeper than max_depth (a scalar has depth 0, `{}` depth 1).
Status parse_json(std::string_view text, int max_depth, JsonEvents& events);

class JsonWriter;

// Writes a scalar as it was told: numbers with the text they had.
void write_json_scalar(JsonWriter& out, const JsonScalar& value);

}  // namespace runwarden
