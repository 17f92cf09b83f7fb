// Finds what looks like members in text that is no whole JSON: `{"password": "x", "no` of a text that was cut off, JSON after words,
// password=x of a query or a command line. For the files of redact/ only. One owner, one thread. Linear in the text's length.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "redact/kinds.h"

namespace runwarden::redact {

class LooseMembers {
 public:
  explicit LooseMembers(std::string_view text) : text_(text) {}

  struct Member {
    std::string_view name;
    std::size_t value = 0;  // where it begins
  };
  // The next name with a value behind it: in quotes before a colon, or before an equals sign.
  std::optional<Member> next();
  // The bytes of the value that begins there, without its quotes. What is found next stands behind it.
  Stretch take(std::size_t value);

 private:
  std::optional<std::string_view> name_before(std::size_t sign) const;
  Stretch quoted(std::size_t begin, std::size_t backslashes) const;
  std::size_t bracket_end(std::size_t begin) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace runwarden::redact
