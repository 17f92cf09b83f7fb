// Finds what looks like members in text that is no whole JSON: `{"password": "x", "no` of a text that was cut off, JSON after words,
// password=x of a query, `password: x` and `X-Api-Key: x` of a log or a header, `--password x` of a command line.
// For the files of redact/ only. One owner, one thread. Linear in the text's length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "redact/normal_text.h"
#include "redact/stretch.h"

namespace runwarden::redact {

class LooseMembers {
 public:
  // The text outlives this.
  explicit LooseMembers(const NormalText& text) : normal_(text), text_(text.text()) {}

  // What stands before a value: in quotes before a colon, before an equals sign, before a colon, an option.
  enum class Sign : std::uint8_t { quoted, equals, colon, option };
  struct Member {
    Sign sign = Sign::quoted;
    std::size_t value = 0;  // where it begins
    bool encoded = false;   // the sign is percent-encoded
    // What it may be called, the likeliest first: "key", "api key", "the api key" of `the api key: x`.
    std::span<const std::string_view> names;
    std::string_view as_written;  // where an escape may have been none: "token" of `C:\token=x`
  };
  // The next name with a value behind it. Its names are good until the next call.
  std::optional<Member> next();
  // The bytes of its value, without quotes; none where prose goes on. What is found next stands behind it.
  Stretch take(const Member& member);

  // "hunter", "(string)": words by which the value would not be known again elsewhere.
  static bool is_wording(std::string_view value);

 private:
  std::optional<Member> member_at(std::size_t sign);
  std::optional<Member> option_at(std::size_t dash);
  bool quoted_name(std::size_t end);
  bool bare_names(std::size_t end);
  std::string_view with_escape(std::string_view name) const;
  bool closes(std::size_t quote) const;
  std::size_t skip_blanks(std::size_t at) const;
  Stretch quoted(std::size_t begin) const;
  Stretch bare(std::size_t begin, bool encoded) const;
  static bool is_plain_word(std::string_view value);
  bool is_prose(Stretch value) const;
  std::size_t bracket_end(std::size_t begin) const;

  const NormalText& normal_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::array<std::string_view, 3> names_;
  std::size_t name_count_ = 0;
};

}  // namespace runwarden::redact
