#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace runwarden::plugins {

/// Walks JSON text token by token without building anything. Also accepts the similar output of scripts ('single quotes', True, None).
/// Nesting beyond kMaxDepth, a syntax error or truncated text ends the walk with kBad. One pass, linear; one owner.
class JsonScanner {
 public:
  enum class Token : std::uint8_t { kObject, kObjectEnd, kArray, kArrayEnd, kKey, kString, kNumber, kTrue, kFalse, kNull, kEnd, kBad };
  static constexpr std::size_t kMaxDepth = 128;

  explicit JsonScanner(std::string_view text) : text_(text) {}

  Token next();

  /// Skips the rest of the innermost open container without checking its parts; false when the container does not end.
  bool leave();

  /// For a key or string, the bytes between the quotes, with escapes unchanged; for a number, its digits.
  [[nodiscard]] std::string_view text() const { return value_; }
  [[nodiscard]] bool escaped() const { return escaped_; }

  /// Containers open after the last token.
  [[nodiscard]] std::size_t depth() const { return depth_; }

  /// Offset of the first unread byte.
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

/// What makes no difference between JSON values that are compared. Names are compared without the case of letters.
struct Tolerance {
  std::span<const std::string> ignored;  // members that do not count
  bool outermost_only = false;           // ... except in inner objects
  std::span<const std::string> spaced;   // members in whose texts of one line white space is one blank, and none at the ends
  bool unset = false;                    // null, "", {} and [] are like an absent member, and all texts of one line are spaced
};

/// A hash that is equal for equal JSON values, regardless of key order, white space, and 1 versus 1.0. For text that is not JSON, equal for
/// equal text, ignoring white space at its ends.
[[nodiscard]] std::uint64_t canonical_hash(std::string_view text, const Tolerance& tolerance = {});

/// Decodes the escapes of a JSON string's bytes.
void unescape(std::string_view raw, std::string& out);

}  // namespace runwarden::plugins
