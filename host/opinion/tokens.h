// Estimates how many tokens a text makes with any model, deliberately too high. Pure; any thread.
//
// ASCII letters and spaces count a third of a token each, every other byte half. Common tokenizers need about a quarter of a token per
// character for English prose, two fifths for JSON with ids and digits, and one to one and a half for Chinese and Japanese (three bytes).
// prose, two fifths for JSON with ids and digits, and one to one and a half a character (three bytes) for Chinese and Japanese.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace runwarden::opinion {

constexpr std::size_t kSixthsOfToken = 6;

// In sixths of a token, so that sums are exact.
constexpr std::size_t sixths(unsigned char byte) {
  return ascii::is_letter(byte) || byte == ' ' ? 2 : 3;
}
std::size_t sixths(std::string_view text);

inline std::size_t estimated_tokens(std::string_view text) {
  return (sixths(text) + kSixthsOfToken - 1) / kSixthsOfToken;
}

}  // namespace runwarden::opinion
