#include "evidence/stated_values.h"

#include <algorithm>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::string_view kDegree = "\u00B0";
constexpr std::size_t kLongestFigure = 24;
constexpr std::size_t kLongestLabel = 48;
constexpr std::size_t kLongestAnswer = 160;
constexpr std::size_t kMostFigures = 2;
constexpr std::size_t kWordsOfABareAnswer = 3;

/// True for text that may follow a figure without making it something else: "/5", "/100", "+", "%", "km", "°C".
bool ends_figure(std::string_view rest) {
  if (rest.empty() || rest.starts_with(kDegree)) return true;
  if (rest[0] == '/') {
    const auto digits = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    return digits > 1 && digits <= 4 && (digits == rest.size() || (rest[digits] != '/' && !is_letter_or_digit(rest[digits])));
  }
  if (rest[0] == '-') {
    // "30-60 days" is a span; "555-0199" is a telephone number.
    const auto digits = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    return digits <= 4 && (digits == rest.size() || (rest[digits] != '-' && !is_letter_or_digit(rest[digits])));
  }
  if (rest[0] == ':' || rest[0] == '_' || rest[0] == '@' || rest[0] == '.') return rest.size() < 2 || !is_letter_or_digit(rest[1]);
  if (!is_letter_or_digit(rest[0])) return true;
  // A unit has one or two letters, as in "30km" and "12h"; more letters mean the middle of an id.
  const auto letters = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_letter) - rest.begin());
  return letters <= 2 && (letters == rest.size() || !is_letter_or_digit(rest[letters]));
}

bool begins_figure(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char before = text[at - 1];
  if (static_cast<unsigned char>(before) >= 0x80) return true;  // a script without blanks, or a dash
  if (is_letter_or_digit(before)) return false;
  if (at >= 2 && is_letter_or_digit(text[at - 2]) && std::string_view("-/_.,:@").find(before) != std::string_view::npos) return false;
  return std::string_view("#/_=&%@").find(before) == std::string_view::npos;
}

std::string_view without_marks(std::string_view text) {
  constexpr std::string_view kMarks = " \t\r*_`|\"'#>-";
  const auto begin = text.find_first_not_of(kMarks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kMarks) - begin + 1);
}

/// A label is words, without digits and sentence ends.
bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kLongestLabel) return false;
  return std::any_of(label.begin(), label.end(), is_letter) && std::none_of(label.begin(), label.end(), is_digit) &&
         label.find_first_of("?!;,{}[]<>=") == std::string_view::npos;
}

}  // namespace

bool read_figure(std::string_view text, std::size_t at, StatedValue& value, const FactWords& words) {
  const auto begin = at;
  const auto sign = words.money_sign(text.substr(at));
  at += sign;
  if (sign != 0 && at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size() || !is_digit(text[at]) || !begins_figure(text, begin)) return false;
  auto end = at;
  while (end < text.size() && end - at < kLongestFigure &&
         (is_digit(text[end]) || ((text[end] == '.' || text[end] == ',') && end + 1 < text.size() && is_digit(text[end + 1])))) {
    ++end;
  }
  const auto digits = text.substr(at, end - at);
  // "1.2.3" is a version, "28.06.2026" a date.
  const auto points = std::count(digits.begin(), digits.end(), '.');
  if (points > 1 && digits.find(',') == std::string_view::npos && digits.size() - digits.rfind('.') != 4) return false;
  const auto rest = text.substr(end);
  const bool currency_follows = words.begins_with_currency(rest);
  const auto amount = parse_amount(digits, currency_follows);
  if (!ends_figure(rest) || !amount) return false;
  value.number = amount->value;
  value.decimals = amount->decimals;
  value.percent = end < text.size() && text[end] == '%';
  value.degrees = trim(text.substr(end, kDegree.size() + 1)).starts_with(kDegree);
  value.money = sign != 0 || currency_follows;
  value.rounded = begin > 0 && text[begin - 1] == '~';
  value.text = text.substr(begin, end - begin + (value.percent ? 1 : 0));
  return true;
}

void collect_labelled_values(std::string_view text, std::vector<StatedValue>& out, const FactWords& words) {
  const auto find_sign = [](std::string_view line, std::size_t from) {
    return find_in_blocks(line, from, [](const Simd16& block) { return block.equal(':') | block.equal('|'); });
  };
  out.clear();
  while (!text.empty()) {
    const auto line_end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    for (auto at = find_sign(line, 0); at < line.size(); at = find_sign(line, at + 1)) {
      const auto before = line.substr(0, at);
      const auto apart = before.find_last_of(":|,;([{");
      const auto label = without_marks(apart == std::string_view::npos ? before : before.substr(apart + 1));
      const auto begin = line.find_first_not_of(" \t*_`\"~", at + 1);
      StatedValue value;
      if (begin == std::string_view::npos || !is_label(label) || !read_figure(line, begin, value, words)) continue;
      value.label = label;
      out.push_back(value);
    }
  }
}

PlainAnswer read_plain_answer(std::string_view text, std::vector<StatedValue>& out, const FactWords& words) {
  out.clear();
  text = trim(text);
  if (text.empty() || text.size() > kLongestAnswer || text[0] == '{' || text[0] == '[' || text[0] == '<') return PlainAnswer::kNone;
  if (text.find_first_of("?\n`=") != std::string_view::npos) return PlainAnswer::kNone;
  std::size_t behind = 0;
  for (std::size_t i = 0; i < text.size();) {
    StatedValue value;
    if ((!is_digit(text[i]) && words.money_sign(text.substr(i)) == 0) || !read_figure(text, i, value, words)) {
      ++i;
      continue;
    }
    out.push_back(value);
    i = behind = static_cast<std::size_t>(value.text.data() - text.data()) + value.text.size();
  }
  if (out.empty() || out.size() > kMostFigures) return PlainAnswer::kNone;
  const auto before = text.substr(0, static_cast<std::size_t>(out.front().text.data() - text.data()));
  const auto label = without_marks(before);
  const bool labelled = label.empty() || (label.back() == ':' && is_label(trim(label.substr(0, label.size() - 1))));
  const auto rest = text.substr(behind, text.find_first_of("(.", behind) - behind);
  if (labelled && count_words(label) <= kWordsOfABareAnswer + 1 && count_words(rest) <= kWordsOfABareAnswer) return PlainAnswer::kBare;
  // More than one sentence says more than an answer.
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if ((text[i] == '.' || text[i] == '!' || text[i] == ':' || text[i] == ';') && text[i + 1] == ' ') return PlainAnswer::kNone;
  }
  return PlainAnswer::kSentence;
}

std::string_view announced_answer(std::string_view text, const std::vector<std::string>& labels) {
  constexpr std::size_t kMostWords = 6;
  constexpr std::size_t kLongestOpening = 96;  // bytes
  constexpr std::string_view kMarks = " \t*_#`>\"";
  text = trim(text);
  const auto begin = text.rfind('\n');
  auto line = begin == std::string_view::npos ? text : text.substr(begin + 1);
  line.remove_prefix(std::min(line.find_first_not_of(kMarks), line.size()));
  const bool tag = line.starts_with('<');
  if (tag) line.remove_prefix(1);
  const auto end = line.find(tag ? '>' : ':');
  if (end == std::string_view::npos || end > kLongestOpening) return {};
  std::string label;
  fold(trim(line.substr(0, end)), label);
  if (!among(label, labels)) return {};
  auto answer = line.substr(end + 1);
  if (tag) answer = answer.substr(0, answer.find('<'));
  answer.remove_prefix(std::min(answer.find_first_not_of(kMarks), answer.size()));
  answer = trim(answer.substr(0, answer.find_last_not_of(kMarks) + 1));
  const bool sentence = answer.ends_with('.') || answer.ends_with('!') || answer.ends_with('?');
  return sentence || count_words(answer) > kMostWords ? std::string_view{} : answer;
}

}  // namespace runwarden::plugins
