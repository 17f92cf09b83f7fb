// Texts of the plugin ABI.
#pragma once

#include <runwarden/detector.h>

#include <string_view>

namespace runwarden::detect {

/// The bytes of a plugin's text; empty for a null pointer. The plugin owns them.
inline std::string_view view(rw_str text) {
  return {text.ptr, text.ptr == nullptr ? 0 : text.len};
}

}  // namespace runwarden::detect
