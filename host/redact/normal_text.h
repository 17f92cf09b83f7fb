// What a text says, however it is written: escapes of JSON and of URLs undone, full-width and other scripts' digits as ASCII, the many
// spaces, dashes and line ends as one of each, invisible characters left out. Shapes and names are looked for in this; what is
// found is taken out of the text as it was written. For the files of redact/ only. Pure; any thread.
//
// Linear in the text's length. Most texts say what they are written as: these cost one look at each byte and no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redact/stretch.h"

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
  // An escape was undone that may have been meant as it stands: `C:\temp`, `100%41`.
  bool ambiguous() const { return ambiguous_; }

  // The bytes of the text as written that say this.
  Stretch written(Stretch said) const;
  // How many bytes the character at `at` is written with: a quote in JSON in a string has more than the one around it.
  std::size_t width(std::size_t at) const;
  bool percent_encoded(std::size_t at) const;

 private:
  // From `at` on, up to the next piece, the text says what is written from `from` on: byte for byte, or (`to` is not 0) one character
  // that is written with the bytes up to `to`.
  struct Piece {
    std::uint32_t at, from, to;
  };
  struct Layer {
    std::string text;
    std::vector<Piece> pieces;

    void copy(std::string_view of, std::size_t from, std::size_t to);
    void put(std::string_view character, std::size_t from, std::size_t to);
    Stretch written(Stretch said) const;
    const Piece& piece_at(std::size_t at) const;
  };
  class UrlReader;
  class EscapeReader;

  std::string_view written_;
  std::string_view text_;
  bool ambiguous_ = false;
  std::vector<Layer> layers_;  // each made of the one before
};

}  // namespace runwarden::redact
