#include "base/nearest_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace runwarden {
namespace {

constexpr std::size_t kComparedBytes = 64;  // limits the cost, because clients choose the name
constexpr std::size_t kFewNames = 6;        // up to this many are listed completely
constexpr std::size_t kNearestShown = 3;

// The edit distance and index of each known name, nearest first; ties in the given order.
std::vector<std::pair<std::size_t, std::size_t>> by_edits(std::string_view name, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::size_t>> order;
  order.reserve(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    order.emplace_back(edits_between(name.substr(0, kComparedBytes), std::string_view(known[i]).substr(0, kComparedBytes)), i);
  }
  std::sort(order.begin(), order.end());
  return order;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

// Optimal string alignment: Levenshtein distance in which swapping two neighbors counts once.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j + 1] + 1, row[j] + 1, above[j] + (a[i] == b[j] ? 0 : 1)});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

std::string likely_name(std::string_view name, const std::vector<std::string>& known) {
  const auto order = by_edits(name, known);
  const std::size_t most_edits = std::max<std::size_t>(2, std::min(name.size(), kComparedBytes) / 3);
  return order.empty() || order.front().first > most_edits ? std::string() : known[order.front().second];
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known, std::size_t most) {
  const auto order = by_edits(name, known);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) names.push_back(known[order[i].second]);
  return names;
}

std::string name_hint(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return {};
  if (const std::string likely = likely_name(name, known); !likely.empty()) return "the nearest known one is " + likely;
  if (known.size() <= kFewNames) return "the known ones are " + joined(known);
  return "the nearest known ones are " + joined(nearest_names(name, known, kNearestShown));
}

}  // namespace runwarden
