#include "common/simd16.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace runwarden::plugins {
namespace {

TEST(Simd16, OfEachByteAtEachPlace_AnswersWhatItIs) {
  for (std::size_t place = 0; place < Simd16::kBytes; ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes(Simd16::kBytes, '\0');
      bytes[place] = static_cast<char>(value);
      const Simd16 block(bytes.data());
      const auto bit = 1u << place;
      const bool ascii = value < 0x80;
      EXPECT_EQ(block.digits(), ascii && std::isdigit(value) ? bit : 0u) << value << " at " << place;
      EXPECT_EQ(block.letters(), ascii && std::isalpha(value) ? bit : 0u) << value << " at " << place;
      EXPECT_EQ(block.wide(), ascii ? 0u : bit) << value << " at " << place;
      EXPECT_EQ(block.lower().equal('k'), value == 'k' || value == 'K' ? bit : 0u) << value << " at " << place;
    }
  }
}

TEST(Simd16, OfTheEndOfAText_HasZerosBehindIt) {
  const std::string text = "0123456789abcdefxyz7";
  EXPECT_EQ(Simd16(text, 16).digits(), 0b1000u);
  EXPECT_EQ(Simd16(text, 16).letters(), 0b0111u);
  EXPECT_EQ(Simd16(text, 0).digits(), 0x3FFu);
  for (std::size_t length = 0; length < Simd16::kBytes; ++length) {
    const std::string few = text.substr(0, length);
    for (std::size_t place = 0; place < length; ++place) EXPECT_EQ(Simd16(few, 0).equal(few[place]), 1u << place) << length;
    EXPECT_EQ(Simd16(few, 0).letters() | Simd16(few, 0).digits(), (1u << length) - 1) << length;
  }
}

TEST(FindDigit, FromEachPlaceOfTextsOfEachLength_FindsTheNext) {
  for (std::size_t length = 0; length <= 50; ++length) {
    for (std::size_t digit = 0; digit <= length; ++digit) {
      std::string text(length, '/');
      if (digit < length) text[digit] = '5';
      for (std::size_t from = 0; from <= length; ++from) {
        EXPECT_EQ(find_digit(text, from), digit >= from ? digit : length) << length << " " << digit << " " << from;
      }
    }
  }
}

}  // namespace
}  // namespace runwarden::plugins
