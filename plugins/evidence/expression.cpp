#include "evidence/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>

#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostResults = 16;
constexpr int kDeepest = 16;

/// Reads one expression with the usual precedence, up to the first character that does not belong to it.
class Expression {
 public:
  /// Adds the intermediate results to `steps`.
  Expression(std::string_view text, std::size_t at, std::vector<double>& steps) : text_(text), at_(at), steps_(steps) {}

  double sum() {
    double value = product();
    for (char sign = next_sign("+-"); sign != 0 && good_; sign = next_sign("+-")) {
      const double other = product();
      value = step(sign == '+' ? value + other : value - other);
    }
    return value;
  }

  /// The offset after the last character read.
  [[nodiscard]] std::size_t end() const { return at_; }
  [[nodiscard]] bool good() const { return good_ && signs_ > 0; }

 private:
  double product() {
    double value = power();
    for (char sign = next_sign("*/%"); sign != 0 && good_; sign = next_sign("*/%")) {
      const double other = power();
      if (sign != '*' && other == 0) good_ = false;
      value = step(sign == '*' ? value * other : sign == '/' ? value / other : std::fmod(value, other));
    }
    return value;
  }

  double power() {
    const double value = operand();
    if (next_sign("^") == 0) return value;
    good_ = good_ && depth_ < kDeepest;
    if (!good_) return value;
    ++depth_;
    const double exponent = power();
    --depth_;
    return std::pow(value, exponent);
  }

  double operand() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '(' && depth_ < kDeepest) {
      ++depth_;
      ++at_;
      const double value = sum();
      skip_blanks();
      good_ = good_ && at_ < text_.size() && text_[at_] == ')';
      at_ += good_ ? 1 : 0;
      --depth_;
      return value;
    }
    double value = 0;
    const auto [end, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, std::chars_format::fixed);
    const bool number = fault == std::errc{} && (is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == '-');
    good_ = good_ && number;
    if (number) at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  /// The next operator, if it is one of `signs` and a number or bracket follows it; "**" is "^", and "35 x 28.50" multiplies.
  char next_sign(std::string_view signs) {
    auto at = at_;
    while (at < text_.size() && text_[at] == ' ') ++at;
    if (at >= text_.size()) return 0;
    const bool twice = text_.substr(at).starts_with("**");
    const bool times = at > at_ && text_.substr(at).starts_with("x ");
    const char sign = twice ? '^' : times ? '*' : text_[at];
    if (signs.find(sign) == std::string_view::npos) return 0;
    const auto behind = at + (twice ? 2 : 1);
    const bool spaced = at > at_ && behind < text_.size() && text_[behind] == ' ';
    // "2026-06-28", "555-0199" and "1/2/3" are not arithmetic; "12*48-30" is.
    if ((sign == '-' || sign == '/') && !spaced && depth_ == 0 && signs_ == 0) return 0;
    auto operand = behind;
    while (operand < text_.size() && text_[operand] == ' ') ++operand;
    if (operand >= text_.size() || !(is_digit(text_[operand]) || text_[operand] == '(' || text_[operand] == '.')) return 0;
    at_ = behind;
    ++signs_;
    return sign;
  }

  double step(double value) {
    if (good_ && std::isfinite(value) && steps_.size() < kMostResults) steps_.push_back(value);
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  std::vector<double>& steps_;
  int depth_ = 0;
  int signs_ = 0;
  bool good_ = true;
};

}  // namespace

void work_out(std::string_view text, std::vector<double>& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size() && out.size() < kMostResults;) {
    const bool begins = (is_digit(text[i]) || text[i] == '(') && (i == 0 || !(is_letter_or_digit(text[i - 1]) || text[i - 1] == '.'));
    if (!begins) {
      ++i;
      continue;
    }
    const auto before = out.size();
    Expression expression(text, i, out);
    const double value = expression.sum();
    if (!expression.good() || !std::isfinite(value)) {
      out.resize(before);
    } else if (out.size() == kMostResults) {
      out.back() = value;
    } else if (out.size() == before || out.back() != value) {
      out.push_back(value);
    }
    i = std::max(i + 1, expression.end());
  }
}

void work_out_told(std::string_view text, std::vector<double>& out) {
  constexpr std::size_t kGroup = 3;  // digits behind a comma
  const auto groups = [&](std::size_t comma) {
    const auto behind = text.substr(comma + 1, kGroup + 1);
    const auto digits = std::find_if_not(behind.begin(), behind.end(), is_digit) - behind.begin();
    return comma > 0 && is_digit(text[comma - 1]) && digits == kGroup;
  };
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',' || !groups(i)) plain += text[i];
  }
  work_out(plain, out);
}

bool comes_to(const std::vector<double>& results, double number, std::string_view figure) {
  const auto point = figure.find('.');
  const auto decimals = point == std::string_view::npos ? 0 : figure.size() - point - 1;
  const double tolerance = 0.51 * std::pow(10.0, -static_cast<double>(decimals));
  return std::any_of(results.begin(), results.end(), [&](double result) { return std::abs(result - number) <= tolerance; });
}

namespace {

/// True when a text contains the figure as a whole: "128" in "-128/9", not in "1128".
bool stands_in(std::string_view text, std::string_view figure) {
  for (auto at = text.find(figure); at != std::string_view::npos; at = text.find(figure, at + 1)) {
    const auto end = at + figure.size();
    if ((at == 0 || !is_digit(text[at - 1])) && (end == text.size() || !is_digit(text[end]))) return true;
  }
  return false;
}

/// True when an operator stands between two figures: not the stars of "**Total** - $40".
bool calculates(std::string_view text) {
  // A root, a multiplication sign and a division sign are two or three bytes.
  constexpr std::string_view kRoot = "\xE2\x88\x9A";
  constexpr std::string_view kOperators[] = {"+", "-", "*", "/", "^", "\xC3\x97", "\xC3\xB7"};
  if (text.find(kRoot) != std::string_view::npos) return true;
  return std::any_of(std::begin(kOperators), std::end(kOperators), [&](std::string_view sign) {
    for (auto at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + sign.size())) {
      const auto before = text.find_last_not_of(" *", at == 0 ? at : at - 1);
      const auto behind = text.find_first_not_of(" *$(", at + sign.size());
      const bool figure_before = at > 0 && before != std::string_view::npos && (is_digit(text[before]) || text[before] == ')');
      if (figure_before && behind != std::string_view::npos && is_digit(text[behind])) return true;
    }
    return false;
  });
}

}  // namespace

void RoughWork::clear() {
  workings_.clear();
  upto_ = 0;
  outcome_heard_ = false;
}

void RoughWork::hear(const RunView& run, std::size_t step) {
  const auto end = step < run.steps.size() ? step + 1 : run.steps.size();
  for (; upto_ < end; ++upto_) {
    if (run.steps[upto_].kind != Kind::kModel) continue;
    run.pace(run.steps[upto_].output.size());
    add(run.steps[upto_].output);
  }
  if (!outcome_heard_) add(run.outcome);
  outcome_heard_ = true;
}

void RoughWork::add(std::string_view text) {
  constexpr std::string_view kAbout = "\xE2\x89\x88";
  constexpr std::size_t kMost = 16;
  constexpr std::size_t kReach = 80;   // bytes before the sign that count as the working
  constexpr std::size_t kResult = 24;  // bytes after it that contain the result
  for (auto at = text.find(kAbout); at != std::string_view::npos && workings_.size() < kMost; at = text.find(kAbout, at + kAbout.size())) {
    const auto from = at - std::min(at, kReach);
    const auto line = text.substr(from, at - from).rfind('\n');
    const auto begin = line == std::string_view::npos ? from : from + line + 1;
    const auto working = text.substr(begin, at - begin);
    if (calculates(working)) workings_.push_back(text.substr(begin, at + kAbout.size() + kResult - begin));
  }
}

bool RoughWork::holds(std::string_view figure) const {
  return std::any_of(workings_.begin(), workings_.end(), [&](auto working) { return stands_in(working, figure); });
}

}  // namespace runwarden::plugins
