#include "evidence/derivation.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "common/json_scan.h"
#include "common/words.h"
#include "evidence/expression.h"
#include "evidence/units.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kMostNumbers = 128;
constexpr std::size_t kMostTotals = 64;
constexpr std::size_t kMostDates = 64;
constexpr std::size_t kMostTimes = 16;
constexpr std::size_t kMostColumns = 8;  // per record, multiplied with each other
constexpr double kExact = 1e-6;
constexpr std::size_t kMostForTwoSteps = 16;  // with more figures, two steps reach any value by chance

/// The day of a numeric date with a year, such as 2026-06-28.
bool read_day(const Fact& fact, std::int64_t& day) {
  if (fact.kind != FactKind::kDate || fact.year == 0) return false;
  for (int month = 1; month <= 12; ++month) {
    for (int of_month = 1; of_month <= 31; ++of_month) {
      if (normal_date(month, of_month) != fact.normal) continue;
      const std::chrono::year_month_day date(std::chrono::year(fact.year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(of_month)));
      day = std::chrono::sys_days(date).time_since_epoch().count();
      return true;
    }
  }
  return false;
}

/// The day that is `count` working days, Monday to Friday, after a day.
std::int64_t add_working_days(std::int64_t day, std::int64_t count) {
  while (count > 0) {
    ++day;
    const std::chrono::weekday of_week{std::chrono::sys_days(std::chrono::days(day))};
    if (of_week != std::chrono::Saturday && of_week != std::chrono::Sunday) --count;
  }
  return day;
}

bool to_number(std::string_view digits, double& value) {
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc{} && end == digits.data() + digits.size();
}

}  // namespace

void Derivation::clear() {
  numbers_.clear();
  totals_.clear();
  days_.clear();
  times_.clear();
  dates_known_ = false;
  crowded_ = false;
}

void Derivation::add_number(std::vector<double>& numbers, double value) {
  const auto most = &numbers == &totals_ ? kMostTotals : kMostNumbers;
  if (std::find(numbers.begin(), numbers.end(), value) != numbers.end()) return;
  crowded_ |= numbers.size() == most;
  if (numbers.size() == most) numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(most / 4));
  numbers.push_back(value);
}

void Derivation::add(std::string_view text) {
  dates_known_ = false;
  collect_facts(text, facts_);
  for (const auto& fact : facts_) {
    std::int64_t day = 0;
    if (fact.kind == FactKind::kNumber) {
      add_number(numbers_, std::abs(fact.number));
    } else if (fact.kind == FactKind::kTime) {
      if (times_.size() < kMostTimes && std::find(times_.begin(), times_.end(), fact.number) == times_.end()) times_.push_back(fact.number);
    } else if (days_.size() < kMostDates && read_day(fact, day) && std::find(days_.begin(), days_.end(), day) == days_.end()) {
      days_.push_back(day);
    }
  }
  if (looks_like_json(text)) add_tables(trim(text));
}

/// Adds the totals of figures under the same name, and of their products within each record.
void Derivation::add_tables(std::string_view json) {
  columns_.clear();
  JsonScanner cursor(json);
  std::vector<std::vector<std::pair<std::uint64_t, double>>> open;
  std::uint64_t key = 0;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    double number = 0;
    if (token == Token::kObject) open.emplace_back();
    if (token == Token::kKey) key = hash_bytes(cursor.text());
    if (token == Token::kObjectEnd && !open.empty()) {
      add_record(open.back());
      open.pop_back();
    }
    const bool figure = token == Token::kNumber || token == Token::kString;
    if (figure && !open.empty() && open.back().size() < kMostColumns && to_number(cursor.text(), number))
      open.back().emplace_back(key, number);
  }
  for (const auto& [name, column] : columns_) {
    if (column.count < 2) continue;
    add_number(totals_, column.sum);
    add_number(totals_, column.sum / static_cast<double>(column.count));
    add_number(totals_, static_cast<double>(column.count));
  }
}

void Derivation::add_record(const std::vector<std::pair<std::uint64_t, double>>& record) {
  const auto add_to = [&](std::uint64_t name, double value) {
    auto& column = columns_[name];
    column.sum += value;
    ++column.count;
  };
  for (std::size_t i = 0; i < record.size(); ++i) {
    add_to(record[i].first, record[i].second);
    for (std::size_t j = 0; j < i; ++j) {
      // One of a quantity and a price is a whole number.
      const auto& [first, a] = record[i];
      const auto& [second, b] = record[j];
      if (a == std::floor(a) || b == std::floor(b)) add_to(mix(first ^ second, 2), a * b);
    }
  }
}

namespace {

/// The results of one step of arithmetic on two figures; shares are in percent.
std::array<double, 8> results(double a, double b) {
  const double nothing = std::nan("");
  const bool share = b > 0 && b <= 100;
  return {a + b,
          std::abs(a - b),
          a * b,
          b != 0 ? a / b : nothing,
          b != 0 ? a / b * 100 : nothing,
          share ? a * b / 100 : nothing,
          share ? a * (1 + b / 100) : nothing,
          share ? a * (1 - b / 100) : nothing};
}

}  // namespace

bool Derivation::in_one_step(double value, double tolerance) const {
  const auto near = [&](double result) { return std::abs(result - value) <= tolerance; };
  const auto made = [&](double a, double b) {
    if (a == b) return near(a + b);  // a ratio of a number to itself proves nothing
    const auto made_of = results(a, b);
    return std::any_of(made_of.begin(), made_of.end(), near);
  };
  return std::any_of(numbers_.begin(), numbers_.end(), [&](double a) {
    return std::any_of(numbers_.begin(), numbers_.end(), [&](double b) { return made(a, b); }) ||
           std::any_of(totals_.begin(), totals_.end(),
                       [&](double total) { return made(total, a) || near(total == 0 ? value : a / total * 100); });
  });
}

bool Derivation::in_two_steps(double value, double tolerance) const {
  if (numbers_.size() > kMostForTwoSteps) return false;
  const auto near = [&](double result) { return std::abs(result - value) <= tolerance; };
  for (const double a : numbers_) {
    for (const double b : numbers_) {
      if (a == b) continue;
      for (const double middle : results(a, b)) {
        if (std::isnan(middle)) continue;
        for (const double c : numbers_) {
          const auto ends = results(middle, c);
          if (std::any_of(ends.begin(), ends.end(), near)) return true;
        }
      }
    }
  }
  return false;
}

/// Thousands and millions, minutes and hours, and percentages, rounded as stated; with few figures, also customary units such as pounds and
/// miles.
bool Derivation::in_another_unit(double value, std::size_t decimals, double tolerance) const {
  constexpr double kUnits[] = {1e3, 1e6, 1e9, 60, 3600, 100, 1.609344, 1024};
  const bool few = numbers_.size() <= kMostForTwoSteps;
  if (few && decimals > 0 && is_conversion(1, value, decimals)) return true;  // the factor itself
  return std::any_of(numbers_.begin(), numbers_.end(), [&](double known) {
    if (known < 1 && std::abs(known * 100 - value) <= tolerance) return true;
    if (few && is_conversion(known, value, decimals)) return true;
    return std::any_of(std::begin(kUnits), std::end(kUnits), [&](double unit) { return std::abs(known / unit - value) <= tolerance; });
  });
}

/// Days, with and without the last one, and whole weeks.
bool Derivation::between_dates(double value) const {
  for (const auto a : days_) {
    for (const auto b : days_) {
      const auto days = static_cast<double>(a - b);
      if (days > 0 && (value == days || value == days + 1 || value == days - 1 || value == std::floor(days / 7))) return true;
    }
  }
  return false;
}

void Derivation::work_out_dates() {
  constexpr double kFewest = 5, kMost = 400;  // days
  dates_known_ = true;
  reached_dates_.clear();
  const auto reach = [&](std::int64_t day) {
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
    const auto month = static_cast<unsigned>(date.month()), of_month = static_cast<unsigned>(date.day());
    reached_dates_.push_back({normal_date(static_cast<int>(month), static_cast<int>(of_month)), static_cast<int>(date.year())});
  };
  for (const double figure : numbers_) {
    if (figure < kFewest || figure > kMost || figure != std::floor(figure)) continue;
    const auto apart = static_cast<std::int64_t>(figure);
    for (const auto day : days_) {
      reach(day + apart);
      reach(day - apart);
      reach(add_working_days(day, apart));
    }
  }
  std::sort(reached_dates_.begin(), reached_dates_.end());
}

bool Derivation::reaches_date(const Fact& date) {
  if (numbers_.size() > kMostForTwoSteps) return false;
  if (!dates_known_) work_out_dates();
  const auto at = std::lower_bound(reached_dates_.begin(), reached_dates_.end(), Date{date.normal, date.year});
  if (at == reached_dates_.end() || at->normal != date.normal) return false;
  return date.year == 0 || at->year == date.year;
}

bool Derivation::reaches_time(double minutes) const {
  constexpr double kDay = 24 * 60, kFewest = 5;
  if (numbers_.size() > kMostForTwoSteps) return false;
  return std::any_of(times_.begin(), times_.end(), [&](double known) {
    const double apart = std::fmod(std::abs(minutes - known), kDay);
    return apart == 0 || (apart >= kFewest && std::find(numbers_.begin(), numbers_.end(), apart) != numbers_.end());
  });
}

void Derivation::add_worked_out(std::string_view text) {
  dates_known_ = false;
  work_out(text, results_);
  for (const auto result : results_) add_number(numbers_, result);
}

bool Derivation::reaches(double value, std::size_t decimals) {
  value = std::abs(value);
  // A whole figure may be rounded, but with many figures, rounding would match anything.
  const bool exact = decimals == 0 && numbers_.size() > kMostForTwoSteps;
  const double tolerance = exact ? kExact : 0.51 * std::pow(10.0, -static_cast<double>(decimals));
  const auto near = [&](double known) { return std::abs(known - value) <= tolerance; };
  if (std::any_of(numbers_.begin(), numbers_.end(), near) || std::any_of(totals_.begin(), totals_.end(), near)) return true;
  return between_dates(value) || in_another_unit(value, decimals, tolerance) || in_one_step(value, tolerance) ||
         in_two_steps(value, decimals == 0 ? kExact : tolerance);
}

}  // namespace runwarden::plugins
