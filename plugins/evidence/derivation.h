#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/facts.h"

namespace runwarden::plugins {

/// Answers whether a figure follows from the figures of a run by arithmetic that agents do without a tool: two steps, the total, mean and
/// count of a table, a total of quantities times prices, the days between two dates, the end of a stretch of time. One owner; clear() keeps
/// the memory.
class Derivation {
 public:
  void clear();

  /// Adds the figures and dates of a text. Linear.
  void add(std::string_view text);

  /// Adds the results of the arithmetic in a text, not its figures, which may be the arguments of a call that failed. Linear.
  void add_worked_out(std::string_view text);

  /// True when `value`, stated with `decimals` decimals, is one of the figures or follows from them.
  [[nodiscard]] bool reaches(double value, std::size_t decimals);

  /// True when a time of day, in minutes, is one of the times or a figure of minutes away from one: the arrival of a journey. False with
  /// many figures, which would reach any time.
  [[nodiscard]] bool reaches_time(double minutes) const;

  /// True when a date is as many days from one of the dates, or working days after it, as a figure from 5 to 400 says: "10 business days
  /// from 6 October". False with many figures, which would reach any date. Works out all such dates on the first call after a change.
  [[nodiscard]] bool reaches_date(const Fact& date);

  /// True when there were too many figures to keep: a figure that does not follow may follow from those left out.
  [[nodiscard]] bool crowded() const { return crowded_; }

  /// The number of distinct figures.
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  struct Column {
    double sum = 0;
    std::size_t count = 0;
  };

  struct Date {
    std::uint64_t normal;
    int year;
    auto operator<=>(const Date&) const = default;
  };

  void work_out_dates();
  void add_number(std::vector<double>& numbers, double value);
  void add_tables(std::string_view json);
  void add_record(const std::vector<std::pair<std::uint64_t, double>>& record);
  [[nodiscard]] bool in_one_step(double value, double tolerance) const;
  [[nodiscard]] bool in_two_steps(double value, double tolerance) const;
  [[nodiscard]] bool in_another_unit(double value, std::size_t decimals, double tolerance) const;
  [[nodiscard]] bool between_dates(double value) const;

  std::vector<double> numbers_;
  std::vector<double> totals_;  // of tables
  std::vector<std::int64_t> days_;
  std::vector<Date> reached_dates_;  // sorted; of the figures and days when dates_known_
  bool dates_known_ = false;
  std::vector<double> times_;  // of day, in minutes
  std::unordered_map<std::uint64_t, Column> columns_;
  std::vector<Fact> facts_;
  std::vector<double> results_;
  bool crowded_ = false;
};

}  // namespace runwarden::plugins
