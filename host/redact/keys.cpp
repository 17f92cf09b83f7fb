#include "redact/keys.h"

#include <algorithm>

#include "base/ascii.h"

namespace runwarden::redact {
namespace {

bool is_joint(char c) {
  return c == '-' || c == '_' || c == ' ' || c == '.';
}
// The forms of a name that are compared. On the stack unless the name is long.
class Forms {
 public:
  explicit Forms(std::string_view name) {
    char* out = usual_;
    if (name.size() > kUsual) {
      longer_.resize(name.size() * 4);
      out = longer_.data();
    }
    char* const begin = out;
    bool one_word = true;
    for (const char c : name) {
      one_word = one_word && !ascii::is_upper(c) && !is_joint(c);
      *out++ = ascii::to_lower(c);
    }
    lower_ = snake_ = joined_ = {begin, name.size()};
    if (one_word) return;
    char* const snake = out;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool word_begins =
          i > 0 && ascii::is_upper(name[i]) &&
          (ascii::is_lower(name[i - 1]) || (i + 1 < name.size() && ascii::is_lower(name[i + 1]) && ascii::is_upper(name[i - 1])));
      if (word_begins) *out++ = '_';
      *out++ = is_joint(name[i]) ? '_' : ascii::to_lower(name[i]);
    }
    snake_ = {snake, static_cast<std::size_t>(out - snake)};
    char* const joined = out;
    for (const char c : name) {
      if (!is_joint(c)) *out++ = ascii::to_lower(c);
    }
    joined_ = {joined, static_cast<std::size_t>(out - joined)};
  }

  std::string_view lower_case() const { return lower_; }
  std::string_view snake_case() const { return snake_; }
  std::string_view joined() const { return joined_.empty() ? lower_ : joined_; }

 private:
  static constexpr std::size_t kUsual = 64;
  char usual_[kUsual * 4];
  std::string longer_;
  std::string_view lower_, snake_, joined_;
};

// One bit for each letter, case-insensitively.
std::uint32_t letters_of(std::string_view text) {
  std::uint32_t letters = 0;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>((static_cast<unsigned char>(c) | 0x20) - 'a');
    letters |= letter < 26 ? std::uint32_t{1} << letter : 0;
  }
  return letters;
}

}  // namespace

void KeyNames::add(std::string_view pattern, std::size_t rule) {
  letters_.push_back(letters_of(pattern));
  const Forms forms(pattern);
  if (pattern.find('*') == std::string_view::npos) {
    exact_.emplace(forms.joined(), rule);
    return;
  }
  const std::string_view lower = forms.lower_case();
  globs_.push_back(glob_of(lower, rule));
  if (forms.snake_case() != lower) globs_.push_back(glob_of(forms.snake_case(), rule));
}

KeyNames::Glob KeyNames::glob_of(std::string_view lower, std::size_t rule) {
  Glob glob{{}, rule};
  for (std::size_t at = 0; at <= lower.size();) {
    const auto end = std::min(lower.find('*', at), lower.size());
    glob.pieces.emplace_back(lower.substr(at, end - at));
    at = end + 1;
  }
  return glob;
}

// Matches each piece at its first occurrence after the previous one; greedy matching suffices.
bool KeyNames::fits(const Glob& glob, std::string_view name) {
  const std::string& first = glob.pieces.front();
  const std::string& last = glob.pieces.back();
  if (name.size() < first.size() + last.size() || !name.starts_with(first) || !name.ends_with(last)) return false;
  std::size_t at = first.size();
  const std::string_view before_last = name.substr(0, name.size() - last.size());
  for (std::size_t i = 1; i + 1 < glob.pieces.size(); ++i) {
    const auto found = before_last.find(glob.pieces[i], at);
    if (found == std::string_view::npos) return false;
    at = found + glob.pieces[i].size();
  }
  return true;
}

bool KeyNames::may_fit(std::string_view name) const {
  const std::uint32_t lacks = ~letters_of(name);
  return std::any_of(letters_.begin(), letters_.end(), [lacks](std::uint32_t letters) { return (letters & lacks) == 0; });
}

std::optional<std::size_t> KeyNames::find_exact(std::string_view name) const {
  if (exact_.empty() || !may_fit(name)) return std::nullopt;
  const auto exact = exact_.find(Forms(name).joined());
  return exact == exact_.end() ? std::nullopt : std::optional(exact->second);
}

std::optional<std::size_t> KeyNames::find(std::string_view name) const {
  if (empty() || !may_fit(name)) return std::nullopt;
  const Forms forms(name);
  const auto exact = exact_.find(forms.joined());
  if (exact != exact_.end()) return exact->second;
  const bool two_forms = forms.snake_case() != forms.lower_case();
  for (const Glob& glob : globs_) {
    if (fits(glob, forms.lower_case()) || (two_forms && fits(glob, forms.snake_case()))) return glob.rule;
  }
  return std::nullopt;
}

}  // namespace runwarden::redact
