#include "cli/scores.h"

#include <charconv>
#include <string_view>

#include "base/decimals.h"

namespace runwarden::cli {
namespace {

std::optional<Interval> share(std::uint64_t part, std::uint64_t of) {
  if (of == 0) return std::nullopt;
  return share_of({part, of});
}

std::optional<double> floor_of(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

void add_shortfall(std::vector<std::string>& shortfalls, const std::string& what, const std::optional<Interval>& reached,
                   const std::optional<double>& floor) {
  if (!reached || !floor || reached->value >= *floor) return;
  shortfalls.push_back(what + " is " + fixed_decimals(reached->value, 3) + ", under " + fixed_decimals(*floor, 3));
}

}  // namespace

std::optional<Interval> DetectorScore::precision() const {
  return share(right, right + false_alarms);
}

std::optional<Interval> DetectorScore::recall() const {
  return share(right, right + missed);
}

Answers answers_of(const model::Verdict& verdict) {
  Answers answers;
  for (const model::DetectorReport& report : verdict.reports) {
    answers.asked.insert(report.key);
    switch (report.status) {
      case model::DetectorStatus::fired: answers.fired.insert(report.key); break;
      case model::DetectorStatus::clean:
      case model::DetectorStatus::not_evaluable: break;
      default: answers.failed.insert(report.key); break;
    }
  }
  return answers;
}

void Scores::add(const std::string& id, const RunLabels& labels, const Answers& answers) {
  for (const auto& [key, label] : labels.labels) {
    if (label == Label::unclear || answers.asked.count(key) == 0) continue;
    DetectorScore& score = detectors[key];
    const bool fired = answers.fired.count(key) > 0;
    const bool present = label == Label::present;
    if (answers.failed.count(key) > 0) ++score.errors;
    if (fired && present) ++score.right;
    if (fired && !present) ++score.false_alarms;
    if (!fired && present) ++score.missed;
    if (fired != present) disagreements.push_back({id, key, label, labels.why_of(key)});
  }
}

std::optional<Floors> floors_of(const std::string& text) {
  Floors floors;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = std::min(one.find('='), one.size());
    const auto value = floor_of(one.substr(std::min(equals + 1, one.size())));
    auto& floor = one.substr(0, equals) == "precision" ? floors.precision : floors.recall;
    const bool known = one.substr(0, equals) == "precision" || one.substr(0, equals) == "recall";
    if (!known || !value || floor) return std::nullopt;
    floor = value;
  }
  if (!floors.precision && !floors.recall) return std::nullopt;
  return floors;
}

std::vector<std::string> shortfalls_of(const Scores& scores, const Floors& floors) {
  std::vector<std::string> shortfalls;
  for (const auto& [key, score] : scores.detectors) {
    add_shortfall(shortfalls, key + ": precision", score.precision(), floors.precision);
    add_shortfall(shortfalls, key + ": recall", score.recall(), floors.recall);
  }
  return shortfalls;
}

}  // namespace runwarden::cli
