#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vocabulary.h"
#include "common/words.h"

namespace runwarden::plugins {

enum class FactKind : std::uint8_t { kNumber, kDate, kTime, kId, kName };

/// Something specific that a text states. Equal facts have equal normal forms: numbers compare as numbers, dates as dates, ids without case
/// and signs.
struct Fact {
  FactKind kind = FactKind::kNumber;
  bool money = false;        // has a currency sign or code
  bool strong = true;        // too specific for a count, a list number or a year
  double number = 0;         // kNumber; of kTime the minute of the day
  std::uint64_t normal = 0;  // hash of the normal form; a date without its year
  int year = 0;              // kDate; 0 without a year
  std::string_view text;     // as written
};

/// The words used in facts. Filled once, then read-only: any thread may read.
class FactWords {
 public:
  explicit FactWords(const Vocabulary& vocabulary);

  /// The words of all shipped languages.
  [[nodiscard]] static const FactWords& shipped();

  /// A month and the languages that use the name; number 0 when the word is not a month. "Jan", "sept" and "January" are 1, 9 and 1.
  struct Month {
    int number = 0;
    LanguageSet languages = 0;
  };
  [[nodiscard]] Month month(std::string_view word) const;

  /// True when the text between a day and a month of these languages joins the two: a blank, or " of " and the like.
  [[nodiscard]] bool join(std::string_view between, LanguageSet languages) const;

  /// True for a word allowed between a day and a month.
  [[nodiscard]] bool is_joiner(std::string_view word) const;

  /// True for letters that may follow digits without making them an id: units, ordinals, sizes.
  [[nodiscard]] bool is_unit(std::string_view letters) const;

  [[nodiscard]] std::size_t longest_month() const { return longest_; }

  /// The length in bytes of the currency sign that a text begins with; 0 without one.
  [[nodiscard]] std::size_t money_sign(std::string_view text) const;

  /// The length in bytes of the currency code that a text begins with; 0 without one.
  [[nodiscard]] std::size_t currency_code(std::string_view text) const;

  /// True when a text ends with a currency sign, or with a currency code and a blank.
  [[nodiscard]] bool ends_with_currency(std::string_view text) const;

  /// True when a text begins with a currency, behind a blank or none: " Euro".
  [[nodiscard]] bool begins_with_currency(std::string_view text) const;

  /// True for a text that asks how many there are: "How many days do I have left?" Linear.
  [[nodiscard]] bool asks_how_many(std::string_view text) const;

  /// The letter or digit that a folded word means where a code is read out: '4' for "four", 'b' for "bravo"; 0 for none.
  [[nodiscard]] char spoken(std::string_view word) const;

 private:
  struct Name {
    std::string text;
    int number;
    LanguageSet languages;
  };
  struct Joiner {
    std::string text;
    LanguageSet languages;
  };

  void add_month(std::string_view name, int number, std::size_t language);

  std::vector<Name> months_;
  std::array<std::uint32_t, 32> openings_{};  // by first letter, from a on: one bit per second letter of a month
  std::size_t longest_ = 0;
  std::vector<Joiner> joiners_;
  std::vector<std::string> units_;
  std::vector<std::string> money_signs_;
  std::vector<std::string> currency_codes_;           // "USD"
  std::vector<std::string> how_many_;                 // "how many"
  std::array<bool, 256> money_openings_{};            // by the first byte of a sign
  std::vector<std::pair<std::string, char>> spoken_;  // sorted
};

/// The value of digits with points and commas.
struct Amount {
  double value = 0;
  std::size_t decimals = 0;  // digits after the decimal sign
};

/// Reads "1,250.50", "1.250,50", "7,95" and "1.250.000": the last sign is the decimal sign, unless it parts groups of three digits. A
/// single point before three digits parts them only where a currency follows: "2.500 Euro". None for "1.2.3".
[[nodiscard]] std::optional<Amount> parse_amount(std::string_view digits, bool currency_follows);

/// Collects the facts of a text in reading order; replaces `out`. The views point into `text`. Linear; any thread.
void collect_facts(std::string_view text, std::vector<Fact>& out, const FactWords& words = FactWords::shipped());

/// Collects names (two to four capitalized words in a row, not at the start of a sentence) and quoted titles (three or more words, not a
/// sentence). Replaces both. The views point into `text`; a repeated name or title is listed once. Linear, except for the few found.
void collect_names(std::string_view text, std::vector<std::string_view>& names, std::vector<std::string_view>& titles);

/// Collects the items of a list, one per line: two to five words, the first and last capitalized ("1. Roast Chicken"). Adds to `names`; the
/// views point into `text`. Linear, except for the few found.
void collect_items(std::string_view text, std::vector<std::string_view>& names);

/// Computes the normal form of an id from its letters and digits, one by one.
class IdHash {
 public:
  void add(char letter_or_digit) {
    const auto low = to_lower(letter_or_digit);
    hash_ = (hash_ ^ static_cast<unsigned char>(low)) * 0x100000001b3ull;
  }
  [[nodiscard]] std::uint64_t value() const { return mix(0x1D, hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
};

/// The normal form of an id or word: letters and digits only, ignoring case.
[[nodiscard]] std::uint64_t normal_id(std::string_view text);

/// The normal form of a number.
[[nodiscard]] std::uint64_t normal_number(double value);

/// The normal form of a month and day.
[[nodiscard]] std::uint64_t normal_date(int month, int day);

/// The normal form of a time of day. It omits AM and PM, so 12-hour and 24-hour clocks match.
[[nodiscard]] std::uint64_t normal_time(int hour, int minute);

/// True when the text is long and specific enough to be data: at least 40 characters and one strong fact.
[[nodiscard]] bool is_specific(std::string_view text, const std::vector<Fact>& facts);

}  // namespace runwarden::plugins
