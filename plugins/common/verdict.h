#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/explanation.h"

namespace runwarden::plugins {

enum class Severity : std::uint8_t { kLow, kMedium, kHigh, kCritical };
enum class Source : std::uint8_t { kTool, kRuntime, kContext, kCoordination };

/// More than these no host takes, and no reader reads.
inline constexpr std::size_t kMostFindings = 64;
inline constexpr std::size_t kMostSuppressed = 256;

/// A place in the run's JSON and what is there.
struct Evidence {
  std::string pointer;
  std::string value;
};

/// One failure as a detector words it. The host adds ids, time and the fingerprint made of the parts.
struct Finding {
  Severity severity = Severity::kMedium;
  Source source = Source::kTool;
  int score = 0;
  std::string title;
  std::string summary;
  std::size_t primary_step = kNoStep;
  std::vector<Evidence> evidence;
  std::optional<double> waste_usd;
  std::vector<std::string> fingerprint_parts;
  std::optional<double> confidence = {};  // 0 to 1, where the firing line was asked
};

/// An alarm that a precision rule silenced, and why.
struct Suppression {
  std::string rule;
  std::size_t step = kNoStep;
  std::string reason;
  std::optional<double> confidence = {};  // 0 to 1, of a candidate: it stayed below the firing line, and no more
};

/// A confidence as it is told: sums of what speaks for and against may leave 0 to 1, and are no round numbers.
[[nodiscard]] inline double told_confidence(double sum) {
  constexpr double kSteps = 1000;
  return std::round(std::clamp(sum, 0.0, 1.0) * kSteps) / kSteps;
}

/// What one detector says of one run: findings (fired), else not evaluable when `cannot_tell` is set, else clean.
struct Verdict {
  /// Where somebody asked how the answer comes about, it is put down there (RunView::explanation); null: nobody did.
  explicit Verdict(Explanation* told = nullptr) : explanation(told) {}

  Explanation* explanation;
  std::vector<Finding> findings;
  std::vector<Suppression> suppressed;
  std::string cannot_tell;
  bool has_candidate = false;  // one of the suppressed stayed below the firing line, and no more

  [[nodiscard]] bool full() const { return findings.size() >= kMostFindings; }

  /// The candidate of the highest confidence that is of a step; null for none.
  [[nodiscard]] const Suppression* surest_candidate() const {
    const Suppression* surest = nullptr;
    for (const auto& told : suppressed) {
      const bool surer = told.confidence && told.step != kNoStep && (surest == nullptr || *told.confidence > *surest->confidence);
      if (surer) surest = &told;
    }
    return surest;
  }

  /// A finding of a confidence that reached the firing line.
  void fire(Finding found, double confidence) {
    found.confidence = told_confidence(confidence);
    findings.push_back(std::move(found));
  }

  /// Puts down what stayed below the firing line.
  void keep_candidate(std::string_view rule, std::size_t step, std::string reason, double confidence) {
    has_candidate = true;
    const std::size_t before = suppressed.size();
    suppress(rule, step, std::move(reason));
    if (suppressed.size() > before) suppressed.back().confidence = told_confidence(confidence);
  }

  void suppress(std::string_view rule, std::size_t step, std::string reason) {
    if (explanation != nullptr) explanation->rule(rule, "silences", step, reason);
    if (suppressed.size() < kMostSuppressed) suppressed.push_back({std::string(rule), step, std::move(reason)});
  }

  /// Puts down that a rule was asked and silenced nothing; costs nothing where nobody wants to know.
  void passed(std::string_view rule, std::size_t step, std::string_view why = {}) const {
    if (explanation != nullptr) explanation->rule(rule, "no", step, why);
  }
};

}  // namespace runwarden::plugins
