// Reads and writes the fields of a value in Protocol Buffers wire format. Internal to the codecs of store/. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/protobuf.h"
#include "model/record_key.h"
#include "store/envelope.h"

namespace runwarden::store {

using Reader = protozero::pbf_reader;
using Writer = protozero::pbf_writer;

inline void add_digest(Writer& out, int tag, const model::Digest& digest) {
  out.add_bytes(static_cast<protozero::pbf_tag_type>(tag), reinterpret_cast<const char*>(digest.data()), digest.size());
}

inline model::Digest read_digest(Reader& in) {
  const auto bytes = in.get_view();
  model::Digest digest{};
  if (bytes.size() != digest.size()) throw BadValue("a digest has " + std::to_string(bytes.size()) + " bytes");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()), digest.size(), digest.begin());
  return digest;
}

// Enumerations grow: a member that this program does not know is an error, not a guess.
template <class Enum>
Enum read_enum(Reader& in, Enum last) {
  const int number = in.get_enum();
  if (number < 0 || number > static_cast<int>(last)) throw BadValue("an enumeration has the unknown value " + std::to_string(number));
  return static_cast<Enum>(number);
}

// Passes each field to `take`, which reads it and returns true, or returns false to skip it.
template <class Take>
void read_fields(std::string_view bytes, Take take) {
  try {
    Reader in(bytes.data(), bytes.size());
    while (in.next()) {
      if (!take(in)) in.skip();
    }
  } catch (const protozero::exception& fault) {
    throw BadValue(std::string("its fields cannot be read: ") + fault.what());
  }
}

inline void add_view(Writer& out, int tag, std::string_view text) {
  out.add_bytes(static_cast<protozero::pbf_tag_type>(tag), text.data(), text.size());
}

inline std::string_view read_view(Reader& in) {
  const auto view = in.get_view();
  return {view.data(), view.size()};
}

}  // namespace runwarden::store
