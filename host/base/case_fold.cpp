#include "base/case_fold.h"

#include <utf8proc.h>

#include "base/ascii.h"
#include "base/utf8.h"

namespace runwarden {
namespace {

// By way of the capital, because some small letters share one: the two sigmas of Greek.
utf8proc_int32_t folded(utf8proc_int32_t character) {
  return utf8proc_tolower(utf8proc_toupper(character));
}

}  // namespace

std::string fold_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length_at(text, at);
    if (length <= 1) {
      out += ascii::to_lower(text[at++]);
      continue;
    }
    utf8proc_int32_t character = 0;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at), static_cast<utf8proc_ssize_t>(length), &character);
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(folded(character), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    at += length;
  }
  return out;
}

}  // namespace runwarden
