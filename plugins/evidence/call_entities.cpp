#include "evidence/call_entities.h"

#include <algorithm>
#include <string>

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kMostEntities = 16;  // per call
constexpr std::size_t kLongestId = 40;
constexpr std::size_t kLongestList = 400;
constexpr std::size_t kDigitsOfAnAccount = 10;
constexpr std::size_t kDigitsOfATelephone = 7;
constexpr std::size_t kShortestCode = 10;
constexpr std::size_t kDecimalsOfAPlace = 4;

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_digit));
}

bool is_mail(std::string_view text) {
  const auto at = text.find('@');
  if (at == 0 || at == std::string_view::npos || text.find('@', at + 1) != std::string_view::npos) return false;
  const auto domain = text.substr(at + 1);
  const auto dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || domain.size() - dot < 3) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || std::string_view("@.-_+").find(c) != std::string_view::npos; });
}

/// True for the domains that RFC 2606 and RFC 6761 reserve for examples.
bool is_reserved(std::string_view mail) {
  const auto domain = mail.substr(mail.find('@') + 1);
  const auto last = domain.substr(domain.rfind('.') + 1);
  if (equal_ignoring_case(last, "test") || equal_ignoring_case(last, "example") || equal_ignoring_case(last, "invalid")) return true;
  const auto before = domain.substr(0, domain.size() - last.size() - 1);
  return equal_ignoring_case(before.substr(before.rfind('.') + 1), "example");
}

bool names_id(std::string_view key, const CallNames& names) {
  std::vector<std::string> words;
  split_tool_name(key, words);
  if (words.empty() || !names.id_names.contains(words.back())) return false;
  return std::none_of(words.begin(), words.end(), [&](const auto& word) { return names.client_id_words.contains(word); });
}

/// One word of letters, digits, "-", "_" and "#", with at least two digits.
bool is_id(std::string_view text) {
  if (text.size() < 4 || text.size() > kLongestId || count_digits(text) < 2) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '#'; }) &&
         std::any_of(text.begin(), text.end(), is_letter);
}

bool is_account(std::string_view text) {
  if (text.size() > kLongestId || count_digits(text) < kDigitsOfAnAccount) return false;
  const auto letters = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_letter));
  return letters <= 6 && std::all_of(text.begin(), text.end(), [](char c) { return is_upper(c) || is_digit(c) || c == ' '; });
}

/// The first run of mixed upper case, lower case and digits that cannot be a word.
std::string_view opaque_code(std::string_view link) {
  for (std::size_t i = 0; i < link.size();) {
    const auto inner = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
    if (!inner(link[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    std::size_t changes = 0;  // between digits, capitals and lowercase letters
    int before = -1;
    for (; i < link.size() && inner(link[i]); ++i) {
      const int kind = is_digit(link[i]) ? 0 : is_upper(link[i]) ? 1 : is_letter(link[i]) ? 2 : 3;
      changes += before >= 0 && kind != before ? 1u : 0u;
      before = kind;
    }
    const auto code = link.substr(begin, i - begin);
    const bool mixed =
        std::any_of(code.begin(), code.end(), is_upper) && count_digits(code) > 0 && std::any_of(code.begin(), code.end(), is_lower);
    if (code.size() >= kShortestCode && mixed && changes * 2 >= code.size()) return code;
  }
  return {};
}

bool names_amount(std::string_view key, const CallNames& names) {
  std::vector<std::string> words;
  split_tool_name(key, words);
  return !words.empty() && names.amount_names.contains(words.back());
}

void collect_number(std::string_view key, std::string_view digits, const CallNames& names, std::vector<CallEntity>& out) {
  if (digits.find_first_not_of("-.0123456789") != std::string_view::npos) return;
  const auto point = digits.find('.');
  if (point != std::string_view::npos && digits.size() - point > kDecimalsOfAPlace) {
    out.push_back({EntityKind::kPlace, digits, digits, false});
  } else if (names_amount(key, names) && digits.find_first_not_of("0.") != std::string_view::npos) {
    out.push_back({EntityKind::kAmount, digits, digits, false});
  }
}

void collect_value(std::string_view key, std::string_view text, const CallNames& names, std::vector<CallEntity>& out) {
  text = trim(text);
  if (text.size() > kLongestList) return;
  if (text.starts_with("http://") || text.starts_with("https://")) {
    const auto code = opaque_code(text);
    if (!code.empty()) out.push_back({EntityKind::kAddress, text, code, false});
    return;
  }
  if (text.find('@') != std::string_view::npos) {
    // A list contains only addresses; an address in running text is part of that text.
    const auto before = out.size();
    for (auto rest = text; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(",;"), rest.size());
      const auto part = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!is_mail(part)) {
        out.resize(before);
        return;
      }
      out.push_back({EntityKind::kMail, part, part, is_reserved(part)});
    }
    return;
  }
  if (std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.' || c == '-'; }) &&
      count_digits(text) < kDigitsOfAnAccount)
    return collect_number(key, text, names, out);
  if (!names_id(key, names)) return;
  if (is_account(text)) {
    out.push_back({EntityKind::kAccount, text, text, false});
  } else if (is_id(text)) {
    out.push_back({EntityKind::kId, text, text, false});
  }
}

}  // namespace

void collect_call_entities(std::string_view input, const CallNames& names, std::vector<CallEntity>& out) {
  out.clear();
  if (!looks_like_json(input)) {
    if (const auto text = trim(input); is_id(text)) out.push_back({EntityKind::kId, text, text, false});
    return;
  }
  JsonScanner cursor(trim(input));
  std::string_view key;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd && out.size() < kMostEntities; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    if (token == Token::kString && !cursor.escaped()) collect_value(key, cursor.text(), names, out);
    if (token == Token::kNumber) collect_number(key, cursor.text(), names, out);
  }
}

namespace {

/// Where the value ends if the text begins with it, with or without blanks in it ("DE89 3704 0044"); npos if it does not.
std::size_t end_of_spelled(std::string_view text, std::string_view value) {
  std::size_t at = 0;
  for (const char c : value) {
    while (at > 0 && at < text.size() && text[at] == ' ' && c != ' ') ++at;
    if (at >= text.size() || !equal_ignoring_case(text.substr(at, 1), std::string_view(&c, 1))) return std::string_view::npos;
    ++at;
  }
  return at;
}

/// True when `accepts` returns true for the begin and end of a place where the text spells the value, and for an empty value.
template <class Accepts>
bool spelled_anywhere(std::string_view text, std::string_view value, Accepts accepts) {
  if (value.empty()) return true;
  const char low = to_lower(value[0]);
  const char high = is_lower(value[0]) ? static_cast<char>(value[0] - 32) : value[0];
  const auto next = [&](std::size_t from) {
    if (static_cast<signed char>(low) <= 0) return std::min(text.find(low, from), text.size());  // no ASCII
    return find_in_blocks(text, from, [&](const Simd16& block) { return block.equal(low) | block.equal(high); });
  };
  for (auto at = next(0); at + value.size() <= text.size(); at = next(at + 1)) {
    const auto end = end_of_spelled(text.substr(at), value);
    if (end != std::string_view::npos && accepts(at, at + end)) return true;
  }
  return false;
}

}  // namespace

bool may_hold_contact(std::string_view text) {
  const auto sign = find_in_blocks(text, 0, [](const Simd16& block) { return block.equal('@') | block.equal('#'); });
  return sign < text.size() || count_digits(text) >= kDigitsOfATelephone;
}

Contact next_contact(std::string_view text, std::size_t& at) {
  constexpr std::size_t kMostSigns = 2;  // in a telephone number
  const auto inner = [](char c) { return is_letter_or_digit(c) || std::string_view("@.-_+#").find(c) != std::string_view::npos; };
  while (at < text.size()) {
    const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), inner);
    const auto end = std::find_if_not(begin, text.end(), inner);
    at = static_cast<std::size_t>(end - text.begin());
    std::string_view word(begin, end);
    while (word.ends_with('.') || word.ends_with('-')) word.remove_suffix(1);
    if (is_mail(word)) return {Contact::Kind::kMail, word};
    if (word.size() > 2 && word[0] == '#' && is_letter(word[1])) return {Contact::Kind::kChannel, word};
    const auto digits = count_digits(word);
    if (digits >= kDigitsOfATelephone && digits + kMostSigns >= word.size()) return {Contact::Kind::kNumber, word};
  }
  return {};
}

void collect_mails(std::string_view text, std::size_t most, std::vector<std::string_view>& out) {
  out.clear();
  if (text.find('@') == std::string_view::npos) return;
  std::size_t at = 0;
  for (auto contact = next_contact(text, at); !contact.text.empty() && out.size() < most; contact = next_contact(text, at)) {
    if (contact.kind == Contact::Kind::kMail) out.push_back(contact.text);
  }
}

bool names_entity(std::string_view text, std::string_view value) {
  return spelled_anywhere(text, value, [](std::size_t, std::size_t) { return true; });
}

bool names_word(std::string_view text, std::string_view value) {
  return spelled_anywhere(text, value, [&](std::size_t begin, std::size_t end) {
    return (begin == 0 || !is_letter_or_digit(text[begin - 1])) && (end == text.size() || !is_letter_or_digit(text[end]));
  });
}

}  // namespace runwarden::plugins
