#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace runwarden::plugins {

/// Sixteen bytes examined at once. Each query returns one bit per byte, the first byte in the lowest bit. Any thread.
class Simd16 {
 public:
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint32_t kAll = (1u << kBytes) - 1;

  /// Reads kBytes bytes.
  explicit Simd16(const char* bytes) { std::memcpy(&bytes_, bytes, kBytes); }

  /// The text from `at` on, padded with zeros.
  Simd16(std::string_view text, std::size_t at) {
    if (at + kBytes <= text.size()) {
      std::memcpy(&bytes_, text.data() + at, kBytes);
    } else {
      char rest[kBytes] = {};
      copy_few(text.data() + at, text.size() - at, rest);
      std::memcpy(&bytes_, rest, kBytes);
    }
  }

  [[nodiscard]] std::uint32_t digits() const { return between('0', '9'); }
  [[nodiscard]] std::uint32_t equal(char byte) const { return between(byte, byte); }
  [[nodiscard]] std::uint32_t letters() const { return lower().between('a', 'z'); }
  /// Bytes beyond ASCII.
  [[nodiscard]] std::uint32_t wide() const;
  /// The block with bit 0x20 set in each byte, which makes letters lowercase.
  [[nodiscard]] Simd16 lower() const;

 private:
  /// Copies fewer than kBytes bytes, in two pieces that may overlap: quicker than a copy of a length that only run time knows.
  static void copy_few(const char* from, std::size_t count, char* to) {
    const auto both = [&]<std::size_t kPiece>() {
      char last[kPiece];
      std::memcpy(last, from + count - kPiece, kPiece);
      std::memcpy(to, from, kPiece);
      std::memcpy(to + count - kPiece, last, kPiece);
    };
    if (count >= 8) return both.template operator()<8>();
    if (count >= 4) return both.template operator()<4>();
    if (count >= 2) return both.template operator()<2>();
    if (count == 1) *to = *from;
  }

#ifdef __SSE2__
  explicit Simd16(__m128i bytes) : bytes_(bytes) {}
  __m128i bytes_;
#else
  Simd16() = default;
  unsigned char bytes_[kBytes];
#endif
  [[nodiscard]] std::uint32_t between(char first, char last) const;
};

#ifdef __SSE2__

inline std::uint32_t Simd16::between(char first, char last) const {
  // Shifted so that the range begins at the lowest signed byte.
  const auto moved = _mm_add_epi8(bytes_, _mm_set1_epi8(static_cast<char>(-128 - first)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(-128 + (last - first + 1))))));
}

inline std::uint32_t Simd16::wide() const {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes_));
}

inline Simd16 Simd16::lower() const {
  return Simd16(_mm_or_si128(bytes_, _mm_set1_epi8(0x20)));
}

#else

inline std::uint32_t Simd16::between(char first, char last) const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kBytes; ++i) bits |= std::uint32_t{bytes_[i] >= first && bytes_[i] <= last} << i;
  return bits;
}

inline std::uint32_t Simd16::wide() const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kBytes; ++i) bits |= std::uint32_t{bytes_[i] >= 0x80} << i;
  return bits;
}

inline Simd16 Simd16::lower() const {
  Simd16 lower;
  for (std::size_t i = 0; i < kBytes; ++i) lower.bytes_[i] = bytes_[i] | 0x20;
  return lower;
}

#endif

/// The offset of the first byte from `at` on whose bit `kind` sets; the text's length when there is none. `kind` also sees the zero padding
/// after the text's end and must not match it.
template <class Kind>
std::size_t find_in_blocks(std::string_view text, std::size_t at, Kind kind) {
  for (; at < text.size(); at += Simd16::kBytes) {
    if (const std::uint32_t bits = kind(Simd16(text, at)); bits != 0) return at + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return text.size();
}

/// The offset of the next ASCII digit, else the text's length.
inline std::size_t find_digit(std::string_view text, std::size_t at) {
  return find_in_blocks(text, at, [](const Simd16& block) { return block.digits(); });
}

}  // namespace runwarden::plugins
