#include "redact/kinds.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ascii.h"
#include "redact/card.h"

namespace runwarden::redact {
namespace {

using model::SecretKind;

enum Class : std::uint16_t {
  kDigit = 1,
  kLetter = 2,
  kLocal = 4,
  kToken = 8,
  kB64 = 16,
  kMark = 32,
  kUpper = 64,
  kWord = 128,
  kDotted = 256,
  kNamesToken = 512
};

// Character classes. kLocal: RFC 5322's atext and the dot, UTF-8 beyond ASCII; kToken: base64url; kDotted: that and the dot;
// kB64: b64token (RFC 6750). kNamesToken: kTokenNames begin with it. kMark: a sign that may introduce a secret.
constexpr std::array<std::uint16_t, 256> make_classes() {
  std::array<std::uint16_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = kDigit | kLocal | kToken | kB64 | kWord | kDotted;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = kLetter | kLocal | kToken | kB64 | kWord | kDotted;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = kLetter | kUpper | kLocal | kToken | kB64 | kWord | kDotted;
  for (int c = 0x80; c < 0x100; ++c) table[c] = kLocal;
  for (const char c : {'!', '#', '$', '%', '&', '\'', '*', '+', '/', '=', '?', '^', '_', '`', '{', '|', '}', '~', '-', '.'}) {
    table[static_cast<unsigned char>(c)] |= kLocal;
  }
  for (const char c : {'_', '-'}) table[static_cast<unsigned char>(c)] |= kToken | kDotted;
  for (const char c : {'@', '+', '-'}) table[static_cast<unsigned char>(c)] |= kMark;
  for (const char c : {'-', '.', '_', '~', '+', '/', '='}) table[static_cast<unsigned char>(c)] |= kB64;
  for (const char c : {'a', 'c', 'i', 'r', 's', 'x', 'A', 'C', 'I', 'R', 'S', 'X'}) table[static_cast<unsigned char>(c)] |= kNamesToken;
  table['_'] |= kWord;
  table['.'] |= kDotted;
  return table;
}
constexpr std::array<std::uint16_t, 256> kClasses = make_classes();

bool is(char c, std::uint16_t what) {
  return (kClasses[static_cast<unsigned char>(c)] & what) != 0;
}

bool begins(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         std::equal(lower_word.begin(), lower_word.end(), text.begin(), [](char a, char b) { return a == ascii::to_lower(b); });
}

std::size_t run_end(std::string_view text, std::size_t at, std::uint16_t of) {
  while (at < text.size() && is(text[at], of)) ++at;
  return at;
}

bool has(std::string_view text, std::uint16_t what) {
  return std::any_of(text.begin(), text.end(), [&](char c) { return is(c, what); });
}

// True if no letter or digit precedes: a word begins here.
bool word_begins(std::string_view text, std::size_t at) {
  return at == 0 || !is(text[at - 1], kWord);
}

std::size_t card(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestPhone = 15;
  if (!word_begins(text, at)) return 0;
  const bool decimal = at > 1 && (text[at - 1] == '.' || text[at - 1] == ',') && is(text[at - 2], kDigit);
  if (decimal) return 0;
  const std::size_t end = card_end(text, at);
  if (end == 0 || at == 0 || text[at - 1] != '+') return end;
  const auto digits = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end),
                                    [](char c) { return is(c, kDigit); });
  return static_cast<std::size_t>(digits) > kLongestPhone ? end : 0;
}

// The end of a domain with at least two labels and a last label of letters; 0 if there is none.
std::size_t domain_end(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostBytes = 255;
  const std::size_t limit = std::min(text.size(), at + kMostBytes);
  std::size_t label = at;
  std::size_t end = 0;
  for (std::size_t i = at; i <= limit; ++i) {
    const bool inside = i < limit && (is(text[i], kDigit | kLetter) || text[i] == '-' || static_cast<unsigned char>(text[i]) >= 0x80);
    if (inside) continue;
    const std::string_view name = text.substr(label, i - label);
    if (name.empty() || name.front() == '-') break;
    const bool top = label > at && (name.starts_with("xn--") || (name.size() > 1 && !has(name, kDigit) && name.find('-') == name.npos));
    if (top) end = i;
    if (i == limit || text[i] != '.') break;
    label = i + 1;
  }
  return end;
}

// image@2x.png, actions@v4.x: the part after the @ is a version or a size.
bool is_file_scale(std::string_view domain) {
  const std::string_view first = domain.substr(0, domain.find('.'));
  return first.size() == 2 && is(first[0], kDigit) && first[1] == 'x';
}

// The address around the @ at `at`. It begins at or after `from`.
std::optional<TextRange> email(std::string_view text, std::size_t at, std::size_t from) {
  constexpr std::size_t kMostLocal = 64;
  const std::size_t end = domain_end(text, at + 1);
  if (end == 0 || is_file_scale(text.substr(at + 1, end - at - 1))) return std::nullopt;
  std::size_t begin = at;
  while (begin > from && at - begin < kMostLocal && is(text[begin - 1], kLocal)) --begin;
  while (begin < at && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;  // cut inside a character
  // Punctuation around an address is part of the prose.
  while (begin < at && !is(text[begin], kDigit | kLetter) && static_cast<unsigned char>(text[begin]) < 0x80 && text[begin] != '_') ++begin;
  const std::string_view local = text.substr(begin, at - begin);
  if (local.empty() || local.back() == '.' || local == "git") return std::nullopt;
  // https://host/a?b=name@x.org, mailto=...: begin after the last of these.
  const auto mark = local.find_last_of("/=?&");
  if (mark != std::string_view::npos && mark + 1 < local.size()) begin += mark + 1;
  return TextRange{begin, end};
}

struct Prefix {
  std::string_view text;
  std::size_t least;  // bytes that follow
  std::uint16_t of;   // of which class
  bool needs_digit;   // excludes hyphenated names
};
constexpr Prefix kPrefixes[] = {
    {"AIza", 30, kToken, true},    {"AKIA", 16, kUpper | kDigit, true}, {"ASIA", 16, kUpper | kDigit, true}, {"SG.", 20, kDotted, true},
    {"dop_v1_", 32, kToken, true}, {"github_pat_", 20, kToken, true},   {"ghp_", 20, kToken, true},          {"gho_", 20, kToken, true},
    {"ghu_", 20, kToken, true},    {"ghs_", 20, kToken, true},          {"ghr_", 20, kToken, true},          {"glpat-", 16, kToken, true},
    {"hf_", 20, kToken, true},     {"npm_", 30, kToken, true},          {"pk_live_", 12, kToken, true},      {"pk_test_", 12, kToken, true},
    {"pypi-", 30, kToken, true},   {"rk_live_", 12, kToken, true},      {"rk_test_", 12, kToken, true},      {"rw_", 40, kToken, true},
    {"shpat_", 20, kToken, true},  {"sk-", 20, kToken, true},           {"sk_live_", 12, kToken, true},      {"sk_test_", 12, kToken, true},
    {"whsec_", 16, kToken, true},  {"xapp-", 16, kToken, true},         {"xoxa-", 16, kToken, true},         {"xoxb-", 16, kToken, true},
    {"xoxe-", 16, kToken, true},   {"xoxp-", 16, kToken, true},         {"xoxr-", 16, kToken, true},         {"xoxs-", 16, kToken, true},
    {"ya29.", 20, kDotted, true},
};

// The range of prefixes that begin with a character; they are adjacent.
struct PrefixRange {
  std::uint8_t first = 0, end = 0;
};
constexpr std::array<PrefixRange, 256> make_prefix_ranges() {
  std::array<PrefixRange, 256> table{};
  for (std::size_t i = 0; i < std::size(kPrefixes); ++i) {
    PrefixRange& range = table[static_cast<unsigned char>(kPrefixes[i].text.front())];
    if (range.end == 0) range.first = static_cast<std::uint8_t>(i);
    range.end = static_cast<std::uint8_t>(i + 1);
  }
  return table;
}
constexpr std::array<PrefixRange, 256> kPrefixRanges = make_prefix_ranges();

// JSON Web Token (RFC 7519): base64url of an object that begins {" or {", two dots.
std::size_t json_web_token(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return 0;
  const std::size_t header = run_end(text, at, kToken);
  if (header - at < 12 || header >= text.size() || text[header] != '.') return 0;
  const std::size_t payload = run_end(text, header + 1, kToken);
  if (payload - header < 5) return 0;
  return payload < text.size() && text[payload] == '.' ? run_end(text, payload + 1, kToken) : payload;
}

std::size_t trimmed_end(std::string_view text, std::size_t begin, std::size_t end) {
  while (end > begin && text[end - 1] == '.') --end;  // the full stop of a sentence
  return end;
}

// After `Bearer `, `Basic `: not a word of a sentence.
std::size_t credential_end(std::string_view text, std::size_t begin) {
  const std::size_t end = trimmed_end(text, begin, run_end(text, begin, kB64));
  const std::string_view token = text.substr(begin, end - begin);
  const bool mixed = has(token, kDigit) || token.find_first_of("._~+/=") != token.npos ||
                     (token.size() > 1 && has(token.substr(1), kUpper) && token.find_first_of("abcdefghijklmnopqrstuvwxyz") != token.npos);
  return token.size() >= 32 || (token.size() >= 6 && mixed) ? end : begin;
}

// The position after blanks and quotation marks on the same line and one of the signs; `at` if there is none.
std::size_t value_begin(std::string_view text, std::size_t at, std::string_view signs) {
  constexpr std::size_t kMostBetween = 16;
  const std::size_t limit = std::min(text.size(), at + kMostBetween);
  bool assigned = false;
  for (std::size_t i = at; i < limit; ++i) {
    const bool sign = !assigned && signs.find(text[i]) != std::string_view::npos;
    assigned = assigned || sign;
    if (!sign && text[i] != ' ' && text[i] != '\t' && !ascii::is_quote(text[i])) return i;
  }
  return limit;
}

std::optional<TextRange> scheme(std::string_view text, std::size_t at) {
  struct Scheme {
    std::string_view word, signs;
  };
  for (const Scheme& one : {Scheme{"bearer", ":="}, Scheme{"basic", {}}}) {
    if (!begins(text.substr(at), one.word)) continue;
    const std::size_t begin = value_begin(text, at + one.word.size(), one.signs);
    if (begin == at + one.word.size()) return std::nullopt;
    const std::size_t end = credential_end(text, begin);
    if (end > begin) return TextRange{begin, end};
  }
  return std::nullopt;
}

// Names of access tokens (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3; the usual
// header fields and parameters of API keys). Lower case, without dashes and underscores.
constexpr std::string_view kTokenNames[] = {"accesstoken",  "apikey",    "authtoken", "clientsecret", "idtoken",
                                            "refreshtoken", "secretkey", "xapikey",   "xauthtoken"};

// api_key=..., "access_token": "...", X-Api-Key: ...: the name begins at `at`.
std::optional<TextRange> named_token(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestName = 16;
  constexpr std::size_t kShortestToken = 8;
  if (!is(text[at], kNamesToken)) return std::nullopt;
  std::array<char, kLongestName> name;
  std::size_t length = 0;
  std::size_t end = at;
  for (; end < text.size() && (is(text[end], kLetter) || text[end] == '_' || text[end] == '-'); ++end) {
    if (!is(text[end], kLetter)) continue;
    if (length == kLongestName) return std::nullopt;
    name[length++] = ascii::to_lower(text[end]);
  }
  if (std::find(std::begin(kTokenNames), std::end(kTokenNames), std::string_view(name.data(), length)) == std::end(kTokenNames))
    return std::nullopt;
  const std::size_t begin = value_begin(text, end, ":=");
  const std::string_view between = text.substr(end, begin - end);
  if (between.find_first_of(":=") == std::string_view::npos) return std::nullopt;
  const std::size_t value_end = credential_end(text, begin);
  return value_end >= begin + kShortestToken ? std::optional(TextRange{begin, value_end}) : std::nullopt;
}

std::optional<TextRange> private_key(std::string_view text, std::size_t at) {
  constexpr std::string_view kEnd = "PRIVATE KEY-----";
  constexpr std::size_t kLongestLabel = 40;
  const std::size_t label = text.substr(at, kLongestLabel + kEnd.size()).find(kEnd);
  if (label == std::string_view::npos) return std::nullopt;
  const std::size_t body = at + label + kEnd.size();
  const std::size_t end = text.find(kEnd, body);
  return TextRange{at, end == std::string_view::npos ? text.size() : end + kEnd.size()};
}

// The first two characters of all tokens, case-insensitively, which reject most words. Characters other than letters may pass, which only
// costs a full check.
constexpr std::array<std::uint32_t, 32> make_token_begins() {
  std::array<std::uint32_t, 32> table{};
  const auto add = [&table](std::string_view word) { table[word[0] & 31] |= std::uint32_t{1} << (word[1] & 31); };
  for (const Prefix& one : kPrefixes) add(one.text);
  for (const std::string_view name : kTokenNames) add(name);
  for (const std::string_view name : {"x-", "x_", "bearer", "basic", "eyJ"}) add(name);
  return table;
}
constexpr std::array<std::uint32_t, 32> kTokenBegins = make_token_begins();

bool may_begin_token(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && (kTokenBegins[text[at] & 31] >> (text[at + 1] & 31) & 1) != 0;
}

// The first digits of all cards. Rejects numbers of one or two digits.
bool may_begin_card(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c < '2' || c == '7' || c == '9' || at + 2 >= text.size()) return false;
  return (is(text[at + 1], kDigit) || text[at + 1] == '.') && is(text[at + 2], kDigit);
}

std::optional<TextRange> token(std::string_view text, std::size_t at) {
  if (at > 0 && is(text[at - 1], kToken)) return std::nullopt;
  const std::string_view rest = text.substr(at);
  switch (rest.front()) {
    case 'b':
    case 'B': return scheme(text, at);
    case 'e': {
      const std::size_t end = json_web_token(text, at);
      return end == 0 ? std::nullopt : std::optional(TextRange{at, end});
    }
    default: break;
  }
  if (const auto named = named_token(text, at)) return named;
  const PrefixRange range = kPrefixRanges[static_cast<unsigned char>(rest.front())];
  for (std::size_t i = range.first; i < range.end; ++i) {
    const Prefix& one = kPrefixes[i];
    if (!rest.starts_with(one.text)) continue;
    if (at > 0 && is(text[at - 1], one.of)) continue;  // check a run of such bytes only at its beginning
    const std::size_t begin = at + one.text.size();
    const std::size_t end = trimmed_end(text, begin, run_end(text, begin, one.of));
    const bool whole = end >= text.size() || !is(text[end], kWord);
    if (end - begin >= one.least && whole && (!one.needs_digit || has(text.substr(begin, end - begin), kDigit))) return TextRange{at, end};
  }
  return std::nullopt;
}

// The countries of the IBAN registry (ISO 13616) and the lengths of their IBANs.
struct IbanLength {
  std::string_view country;
  std::size_t length;
};
constexpr IbanLength kIbans[] = {
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22}, {"BH", 22}, {"BR", 29},
    {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29},
    {"ES", 24}, {"FI", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27}, {"GT", 28},
    {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20},
    {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22},
    {"MK", 19}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NL", 18}, {"NO", 15}, {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25},
    {"QA", 29}, {"RO", 24}, {"RS", 22}, {"SA", 24}, {"SC", 31}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"ST", 25},
    {"SV", 28}, {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20},
};

int remainder_97(std::string_view characters) {
  int rest = 0;
  for (const char c : characters) {
    const int value = is(c, kDigit) ? c - '0' : ascii::to_lower(c) - 'a' + 10;
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97;
  }
  return rest;
}

// A separator between groups of four: one sign, or a line end with blanks around it.
std::size_t gap_length(std::string_view text, std::size_t at) {
  constexpr std::size_t kMostIndent = 16;
  std::size_t end = at;
  bool line_end = false;
  for (; end < text.size() && end - at < kMostIndent && ascii::is_space(text[end]); ++end) line_end = line_end || text[end] == '\n';
  if (line_end) return end - at;
  return std::string_view(" -./_+").find(text[at]) != std::string_view::npos ? 1 : 0;
}

std::size_t iban(std::string_view text, std::size_t at) {
  if (!word_begins(text, at) || text.size() - at < 15) return 0;
  if (!is(text[at], kLetter) || !is(text[at + 1], kLetter) || !is(text[at + 2], kDigit) || !is(text[at + 3], kDigit)) return 0;
  const char country[] = {ascii::to_upper(text[at]), ascii::to_upper(text[at + 1])};
  const auto known = std::find_if(std::begin(kIbans), std::end(kIbans),
                                  [&](const IbanLength& one) { return std::string_view(country, 2) == one.country; });
  if (known == std::end(kIbans)) return 0;
  std::array<char, 40> characters;
  std::size_t count = 0;
  std::size_t i = at;
  while (i < text.size() && count < known->length) {
    if (count > 0 && count % 4 == 0) i += gap_length(text, i);
    if (i == text.size() || !is(text[i], kDigit | kLetter)) return 0;
    characters[count++] = text[i++];
  }
  if (count < known->length || (i < text.size() && is(text[i], kWord))) return 0;
  std::rotate(characters.begin(), characters.begin() + 4, characters.begin() + static_cast<std::ptrdiff_t>(count));
  return remainder_97({characters.data(), count}) == 1 ? i : 0;
}

// "15:00:00 +1100": a UTC offset after a time.
bool is_time_zone(std::string_view text, std::size_t plus) {
  if (plus < 2 || text[plus - 1] != ' ' || !is(text[plus - 2], kDigit)) return false;
  const std::size_t end = run_end(text, plus + 1, kDigit);
  const std::string_view zone = text.substr(plus + 1, end - plus - 1);
  return zone.size() == 4 && zone[0] <= '1' && (zone.ends_with("00") || zone.ends_with("30") || zone.ends_with("45"));
}

// E.164 with its plus: 8 to 15 digits, grouped by single spaces, dashes, dots, slashes, brackets.
std::size_t phone(std::string_view text, std::size_t at) {
  if (at > 0 && is(text[at - 1], kWord | kToken)) return 0;
  std::size_t digits = 0;
  std::size_t end = 0;
  std::size_t gap = 0;
  std::size_t i = at + 1;
  if (i >= text.size() || text[i] < '1' || text[i] > '9' || is_time_zone(text, at)) return 0;
  for (; i < text.size() && gap <= 2; ++i) {
    if (is(text[i], kDigit)) {
      if (++digits > 15) return 0;
      end = i + 1;
      gap = 0;
    } else if (is_separator(text, i) || text[i] == '(' || text[i] == ')' || text[i] == '.' || text[i] == '/') {
      ++gap;
    } else {
      break;
    }
  }
  return digits >= 8 && (end >= text.size() || !is(text[end], kWord)) ? end : 0;
}

std::optional<TextRange> range(std::size_t begin, std::size_t end) {
  return end == 0 ? std::nullopt : std::optional(TextRange{begin, end});
}

class Finder {
 public:
  Finder(std::string_view text, std::size_t from, KindSet kinds) : text_(text), from_(from), kinds_(kinds) {}

  // Decides by two or three characters whether to run the full check.
  bool may_begin(std::size_t i) const {
    const char c = text_[i];
    if (is(c, kDigit)) return may_begin_card(text_, i);
    if (is(c, kLetter)) return may_begin_token(text_, i) || may_begin_iban(i);
    return c != '-' || (i + 1 < text_.size() && text_[i + 1] == '-');
  }

  std::optional<FoundSecret> at(std::size_t i) const {
    const char c = text_[i];
    if (c == '@' && wants(SecretKind::email)) return found(email(text_, i, from_), SecretKind::email);
    if (c == '+' && wants(SecretKind::phone)) return found(range(i, phone(text_, i)), SecretKind::phone);
    if (c == '-' && wants(SecretKind::token) && text_.substr(i).starts_with("-----BEGIN "))
      return found(private_key(text_, i), SecretKind::token);
    if (is(c, kDigit) && wants(SecretKind::card)) return found(range(i, card(text_, i)), SecretKind::card);
    if (!is(c, kLetter)) return std::nullopt;
    if (wants(SecretKind::token)) {
      if (auto one = found(token(text_, i), SecretKind::token)) return one;
    }
    if (wants(SecretKind::iban)) return found(range(i, iban(text_, i)), SecretKind::iban);
    return std::nullopt;
  }

 private:
  bool may_begin_iban(std::size_t i) const { return i + 2 < text_.size() && is(text_[i + 2], kDigit) && wants(SecretKind::iban); }
  bool wants(SecretKind kind) const { return kinds_.test(static_cast<std::size_t>(kind)); }
  static std::optional<FoundSecret> found(const std::optional<TextRange>& at, SecretKind kind) {
    return at ? std::optional(FoundSecret{*at, kind}) : std::nullopt;
  }

  std::string_view text_;
  std::size_t from_;
  KindSet kinds_;
};

}  // namespace

std::optional<FoundSecret> find_secret(std::string_view text, std::size_t from, KindSet kinds) {
  if (kinds.none()) return std::nullopt;
  const Finder finder(text, from, kinds);
  unsigned in_word = from > 0 && is(text[from - 1], kDigit | kLetter) ? 1 : 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    // One branch per byte: most bytes are inside a word or between two.
    const unsigned c = kClasses[static_cast<unsigned char>(text[i])];
    const unsigned word = (c & kDigit) | (c & kLetter) >> 1;
    const unsigned look = (word & ~in_word) | (c & kMark);
    in_word = word;
    if (look == 0 || !finder.may_begin(i)) continue;
    if (auto one = finder.at(i)) return one;
  }
  return std::nullopt;
}

}  // namespace runwarden::redact
