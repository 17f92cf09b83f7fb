// Writes JSON text (RFC 8259). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runwarden {

// Appends the text as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Appends the shortest text that parses to the same double; infinity and NaN become null.
void append_json_number(std::string& out, double value);

// Writes an object or array member by member, with commas.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(&out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // must be valid JSON

  /// An array of texts.
  template <class Texts>
  JsonWriter& strings(const Texts& values) {
    begin_array();
    for (const auto& value : values) string(value);
    return end_array();
  }

 private:
  void separate();
  std::string* out_;
  bool comma_ = false;
};

}  // namespace runwarden
