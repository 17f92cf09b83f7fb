#include "redact/secret_matcher.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "redact/normal_text.h"

namespace runwarden::redact {
namespace {

constexpr std::size_t kWindow = 12;
constexpr std::size_t kLongestShort = 24;
constexpr std::size_t kShortest = 3;
constexpr std::size_t kShortestInWords = 6;  // shorter ones match only as words
constexpr std::size_t kShortestInText = 12;  // likewise in a document
constexpr std::size_t kShortestCut = 4;      // beginning of a secret at the end of the text
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Folded {
  std::string text;
  std::vector<std::size_t> places;  // index of each character in the original text
};

// The text in lower case without spaces, dashes and line ends.
Folded folded(const NormalText& normal) {
  const std::string_view text = normal.text();
  Folded out;
  out.text.reserve(text.size());
  out.places.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool gap = c == ' ' || c == '-' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
    if (gap) continue;
    out.text += ascii::to_lower(c);
    out.places.push_back(i);
  }
  return out;
}
std::string folded_text(std::string_view text) {
  return folded(NormalText(text)).text;
}

std::size_t hash_of(std::string_view window) {
  return std::hash<std::string_view>()(window);
}

std::size_t shared_length(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
  return static_cast<std::size_t>(end.first - a.begin());
}

bool is_word(char c) {
  return ascii::is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// A truncated quotation ends with the text, a closing mark or an ellipsis.
bool is_cut(std::string_view text, std::size_t after) {
  const std::string_view rest = text.substr(after);
  return rest.empty() || rest[0] == '"' || rest[0] == '\'' || rest.starts_with("...") || rest.starts_with("\xE2\x80\xA6") ||
         rest.starts_with("\xE2\x80\x9D");
}

}  // namespace

SecretMatcher::SecretMatcher(const Rules& rules, const std::vector<Redactions::Secret>& secrets, const std::vector<std::string_view>& texts)
    : rules_(rules) {
  std::unordered_map<std::size_t, std::size_t> wanted;
  const bool some_long = std::any_of(secrets.begin(), secrets.end(), [](const auto& one) { return one.text.size() > kLongestShort; });
  for (const std::string_view text : some_long ? texts : std::vector<std::string_view>()) {
    const std::string all = folded_text(text);
    for (std::size_t i = 0; i + kWindow <= all.size(); ++i) wanted.emplace(hash_of(std::string_view(all).substr(i, kWindow)), kNone);
  }
  for (const Redactions::Secret& secret : secrets) {
    std::string all = folded_text(secret.text);
    if (all.size() <= kLongestShort) {
      if (all.size() >= kShortest) short_.push_back({std::move(all), secret.rule});
      continue;
    }
    for (std::size_t i = 0; i + kWindow <= all.size(); ++i) {
      const auto found = wanted.find(hash_of(std::string_view(all).substr(i, kWindow)));
      if (found != wanted.end()) windows_.emplace(found->first, secret.rule);
    }
  }
  sort_pieces();
}

// Splits long secrets into pieces that match separately: where the whole secret occurs, all pieces do.
SecretMatcher::SecretMatcher(const Rules& rules, const std::vector<Redactions::Secret>& secrets) : rules_(rules), of_document_(true) {
  for (const Redactions::Secret& secret : secrets) {
    if (secret.by == Redactions::Secret::By::shape) continue;
    const std::string all = folded_text(secret.text);
    if (all.size() < kShortestInWords) continue;
    const std::size_t pieces = (all.size() + kLongestShort - 1) / kLongestShort;
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t begin = all.size() * i / pieces;
      short_.push_back({all.substr(begin, all.size() * (i + 1) / pieces - begin), secret.rule});
    }
  }
  sort_pieces();
}

void SecretMatcher::sort_pieces() {
  const auto before = [](const Short& a, const Short& b) { return a.folded < b.folded; };
  std::stable_sort(short_.begin(), short_.end(), before);
  const auto same = [](const Short& a, const Short& b) { return a.folded == b.folded; };
  short_.erase(std::unique(short_.begin(), short_.end(), same), short_.end());
  for (const Short& one : short_) begins_.set(static_cast<unsigned char>(one.folded[0]));
}

// The longest short secret that the text begins with, or else the one with the longest common prefix.
SecretMatcher::Fit SecretMatcher::fit(std::string_view text) const {
  Fit best;
  for (std::string_view like = text.substr(0, kLongestShort); !like.empty();) {
    const auto after =
        std::upper_bound(short_.begin(), short_.end(), like, [](std::string_view a, const Short& b) { return a < b.folded; });
    std::size_t shared = 0;
    for (auto one = after == short_.begin() ? after : after - 1; one != short_.end() && one <= after; ++one) {
      const std::size_t length = shared_length(one->folded, like);
      if (length == one->folded.size()) return {length, one->rule, true};
      if (length > best.length) best = {length, one->rule, false};
      if (one < after) shared = length;
    }
    like = like.substr(0, std::min(shared, like.size() - 1));
  }
  return best;
}

// The rule that redacts each byte of the text, or kNone.
std::vector<std::size_t> SecretMatcher::hidden(std::string_view text, std::string_view all, const std::vector<std::size_t>& places) const {
  std::vector<std::size_t> rules(text.size(), kNone);
  const auto hide = [&](std::size_t from, std::size_t length, std::size_t rule) {
    const auto inside = [&](std::size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    std::size_t begin = places[from];
    std::size_t end = places[from + length - 1] + 1;
    while (begin > 0 && inside(begin)) --begin;  // keep characters whole
    while (inside(end)) ++end;
    std::fill(rules.begin() + static_cast<std::ptrdiff_t>(begin), rules.begin() + static_cast<std::ptrdiff_t>(end), rule);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!windows_.empty() && i + kWindow <= all.size()) {
      const auto found = windows_.find(hash_of(all.substr(i, kWindow)));
      if (found != windows_.end()) hide(i, kWindow, found->second);
    }
    if (!begins_.test(static_cast<unsigned char>(all[i])) || rules[places[i]] != kNone) continue;
    const Fit one = fit(all.substr(i));
    if (one.length == 0) continue;
    const std::size_t after = places[i + one.length - 1] + 1;
    const bool word = (places[i] == 0 || !is_word(text[places[i] - 1])) && (after == text.size() || !is_word(text[after]));
    const bool whole = one.whole && (one.length >= (of_document_ ? kShortestInText : kShortestInWords) || word);
    const bool cut = !of_document_ && !one.whole && one.length >= kShortestCut && is_cut(text, after);
    if (whole || cut) hide(i, one.length, one.rule);
  }
  for (std::size_t i = 0; of_document_ && i + 1 < places.size(); ++i) {  // the gaps between pieces
    if (rules[places[i]] == rules[places[i + 1]]) std::fill(&rules[places[i]], &rules[places[i + 1]], rules[places[i]]);
  }
  return rules;
}

std::string SecretMatcher::without(std::string_view text, Redactions& found) const {
  const NormalText normal(text);
  const Folded all = folded(normal);
  const std::vector<std::size_t> rules = hidden(normal.text(), all.text, all.places);
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < rules.size();) {
    std::size_t end = i + 1;
    while (end < rules.size() && rules[end] == rules[i]) ++end;
    if (rules[i] != kNone) {
      const TextRange at = normal.written({i, end});
      out.append(text.substr(done, at.begin - done)).append(rules_.markers[rules[i]]);
      found.count(rules[i]);
      done = at.end;
    }
    i = end;
  }
  return out.append(text.substr(done));
}

}  // namespace runwarden::redact
