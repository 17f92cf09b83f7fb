// A normalized copy of a text: JSON and URL escapes decoded; full-width characters and the digits of other scripts as ASCII; one form of
// space, dash and line end; no invisible characters. Shapes and names are searched in the copy, and matches are redacted in the original.
// Internal to redact/. Pure; any thread.
//
// Linear in the text's length. A text that is normalized already, as most are, is read once and not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redact/text_range.h"

namespace runwarden::redact {

class NormalText {
 public:
  enum class Reading : std::uint8_t { decoded, as_written };

  // The text outlives this.
  explicit NormalText(std::string_view written, Reading reading = Reading::decoded);
  NormalText(const NormalText&) = delete;
  NormalText& operator=(const NormalText&) = delete;

  std::string_view text() const { return text_; }
  std::string_view as_written() const { return written_; }
  // True if it decoded an escape that may have been meant literally: `C:\temp`, `100%41`.
  bool ambiguous() const { return ambiguous_; }

  // The range in the original that corresponds to a range of text().
  TextRange written(TextRange range) const;
  // The number of original bytes of the character at `at`. A quotation mark in JSON in a string has more than the one around it.
  std::size_t width(std::size_t at) const;
  bool percent_encoded(std::size_t at) const;

 private:
  // Maps the text from `at` to the next piece: byte for byte to the original from `from` on or, if `to` is not 0, one character to the
  // original bytes from `from` to `to`.
  struct Piece {
    std::uint32_t at, from, to;
  };
  struct Layer {
    std::string text;
    std::vector<Piece> pieces;

    void copy(std::string_view of, std::size_t from, std::size_t to);
    void put(std::string_view character, std::size_t from, std::size_t to);
    TextRange written(TextRange range) const;
    const Piece& piece_at(std::size_t at) const;
  };
  class UrlReader;
  class EscapeReader;

  std::string_view written_;
  std::string_view text_;
  bool ambiguous_ = false;
  std::vector<Layer> layers_;  // each built from the previous one
};

}  // namespace runwarden::redact
