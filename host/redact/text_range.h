// A range of bytes in a text. A value; any thread.
#pragma once

#include <cstddef>

namespace runwarden::redact {

// The bytes from begin to end.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

}  // namespace runwarden::redact
