// Searches texts for whole words and phrases, ignoring case. Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace runwarden::guardrail {

// The words of a text, folded, with a space around each: "Refund's done." is " refund s done ". " " if there are no words.
std::string words_of(std::string_view text);

// The same for a tool's name: "issueRefund" and "issue_refund" are " issue refund ".
std::string words_of_name(std::string_view tool);

// The number of ASCII digits in the text.
std::int64_t digits_in(std::string_view text);

class Phrases {
 public:
  explicit Phrases(const std::vector<std::string>& words);

  // True if the words, as words_of() returns them, contain one of the phrases. Linear in their length.
  bool stand_in(std::string_view words) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // By first word, including the space after it.
  std::unordered_map<std::string, std::vector<std::string>, Hash, std::equal_to<>> by_first_;
};

}  // namespace runwarden::guardrail
