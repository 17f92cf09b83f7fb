#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// Walks JSON text token by token without building anything; what scripts print of the same shape ('single quotes', True, None) is
/// read alike. Nesting beyond kMaxDepth, a fault or a text cut short ends it with
/// kBad. One pass, linear; one owner.
class JsonCursor {
 public:
  enum class Token : std::uint8_t { kObject, kObjectEnd, kArray, kArrayEnd, kKey, kString, kNumber, kTrue, kFalse, kNull, kEnd, kBad };
  static constexpr std::size_t kMaxDepth = 128;

  explicit JsonCursor(std::string_view text) : text_(text) {}

  Token next();

  /// Skips the rest of the innermost open container without looking at its parts; false when its end is not there.
  bool leave();

  /// Of a key or string: the bytes between the quotes, escapes as they stand; of a number: its digits.
  [[nodiscard]] std::string_view text() const { return value_; }
  [[nodiscard]] bool escaped() const { return escaped_; }

  /// Containers open after the last token.
  [[nodiscard]] std::size_t depth() const { return depth_; }

  /// Offset of the first byte that was not read.
  [[nodiscard]] std::size_t offset() const { return at_; }

 private:
  Token open(bool object);
  Token close(bool object);
  Token string();
  Token word(std::string_view expected, Token token);
  Token number();
  Token scalar_or_container();
  void skip_blank();

  std::string_view text_;
  std::string_view value_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::bitset<kMaxDepth> object_;
  bool escaped_ = false;
  bool expect_key_ = false;
  bool done_ = false;
};

/// True when the text begins like a JSON object or array.
[[nodiscard]] bool looks_like_json(std::string_view text);

/// A number that is equal for equal JSON values (key order, white space, 1 and 1.0 make no difference) and, for text that is
/// no JSON, for equal text except for white space at its ends. Members with a name in `ignored`, in either case, make no difference.
[[nodiscard]] std::uint64_t canonical_hash(std::string_view text, std::span<const std::string> ignored = {});

/// Undoes the escapes of a JSON string's bytes.
void unescape(std::string_view raw, std::string& out);

}  // namespace runwarden::plugins
