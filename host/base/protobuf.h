// protozero (Protocol Buffers wire format) as this program uses it. Include this, never protozero's headers: its functions are inline,
// and every file has to see them with the same check of wire types.
#pragma once

#include <protozero/exception.hpp>

namespace runwarden {

// A field has another wire type than its reader asked for: a fault of the message, in every build.
struct WireTypeFault : protozero::exception {
  const char* what() const noexcept override { return "a field has another wire type"; }
};

}  // namespace runwarden

#define protozero_assert(holds) ((holds) ? static_cast<void>(0) : throw runwarden::WireTypeFault())
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
