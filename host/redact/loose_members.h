// Finds name-value pairs in text that is not valid JSON: `{"password": "x", "no` of a truncated text, JSON after prose, password=x of a
// query, `password: x` and `X-Api-Key: x` of a log or a header, `--password x` of a command line. Internal to redact/. One owner, one
// thread. Linear in the text's length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "redact/normal_text.h"
#include "redact/text_range.h"

namespace runwarden::redact {

class LooseMembers {
 public:
  // The text outlives this.
  explicit LooseMembers(const NormalText& text) : normal_(text), text_(text.text()) {}

  // How the name is written: in quotation marks before a colon, before an equals sign, before a colon, as an option.
  enum class Sign : std::uint8_t { quoted, equals, colon, option };
  struct Member {
    Sign sign = Sign::quoted;
    std::size_t value = 0;  // where it begins
    bool encoded = false;   // the sign is percent-encoded
    // Candidates for the name, the likeliest first: "key", "api key", "the api key" for `the api key: x`.
    std::span<const std::string_view> names;
    std::string_view as_written;  // the name if an escape was literal: "token" in `C:\token=x`
  };
  // The next name that has a value. Its names are valid until the next call.
  std::optional<Member> next();
  // The range of its value, without quotation marks; empty if the text is prose. The search continues after it.
  TextRange take(const Member& member);

  // True for plain words such as "hunter" or "(string)", which are too common to look for elsewhere.
  static bool is_wording(std::string_view value);

 private:
  std::optional<Member> member_at(std::size_t sign);
  std::optional<Member> option_at(std::size_t dash);
  bool quoted_name(std::size_t end);
  bool bare_names(std::size_t end);
  std::string_view with_escape(std::string_view name) const;
  bool closes(std::size_t quote) const;
  std::size_t skip_blanks(std::size_t at) const;
  TextRange quoted(std::size_t begin) const;
  TextRange bare(std::size_t begin, bool encoded) const;
  static bool is_plain_word(std::string_view value);
  bool is_prose(TextRange value) const;
  std::size_t bracket_end(std::size_t begin) const;

  const NormalText& normal_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::array<std::string_view, 3> names_;
  std::size_t name_count_ = 0;
};

}  // namespace runwarden::redact
