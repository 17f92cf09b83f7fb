#include "opinion/tokens.h"

namespace runwarden::opinion {

std::size_t sixths(std::string_view text) {
  std::size_t sum = 0;
  for (const char c : text) sum += sixths(static_cast<unsigned char>(c));
  return sum;
}

}  // namespace runwarden::opinion
