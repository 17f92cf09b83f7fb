#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/explanation_recorder.h"

namespace runwarden::plugins {

enum class Severity : std::uint8_t { kLow, kMedium, kHigh, kCritical };
enum class Source : std::uint8_t { kTool, kRuntime, kContext, kCoordination };

/// Limits per verdict: no host takes more.
inline constexpr std::size_t kMostFindings = 64;
inline constexpr std::size_t kMostSuppressed = 256;

/// A place in the run's JSON and its value.
struct Evidence {
  std::string pointer;
  std::string value;
};

/// One failure in the detector's words. The host adds ids, the time, and the fingerprint made from the parts.
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
  std::optional<double> confidence = {};  // 0 to 1; set when the firing line decided
};

/// An alarm that a precision rule silenced, and the reason.
struct Suppression {
  std::string rule;
  std::size_t step = kNoStep;
  std::string reason;
  std::optional<double> confidence = {};  // 0 to 1, for a candidate, which merely fell below the firing line
  std::size_t note_at = 0;                // for a candidate, where the note on its confidence begins in `reason`
};

/// A confidence as reported: clamped to 0 to 1, because sums of evidence for and against may leave it, and rounded to three decimals.
[[nodiscard]] inline double told_confidence(double sum) {
  constexpr double kSteps = 1000;
  return std::round(std::clamp(sum, 0.0, 1.0) * kSteps) / kSteps;
}

/// What one detector says about one run: findings (fired); else not evaluable when `cannot_tell` is set; else clean.
struct Verdict {
  /// Records how the answer is reached in `told` (RunView::explanation); null when not requested.
  explicit Verdict(ExplanationRecorder* told = nullptr) : explanation(told) {}

  ExplanationRecorder* explanation;
  std::vector<Finding> findings;
  std::vector<Suppression> suppressed;
  std::string cannot_tell;
  bool has_candidate = false;  // one of the suppressed merely fell below the firing line

  [[nodiscard]] bool full() const { return findings.size() >= kMostFindings; }

  /// The candidate with the highest confidence that belongs to a step; null when there is none.
  [[nodiscard]] const Suppression* surest_candidate() const {
    const Suppression* surest = nullptr;
    for (const auto& told : suppressed) {
      const bool surer = told.confidence && told.step != kNoStep && (surest == nullptr || *told.confidence > *surest->confidence);
      if (surer) surest = &told;
    }
    return surest;
  }

  /// Adds a finding whose confidence reached the firing line.
  void fire(Finding found, double confidence) {
    found.confidence = told_confidence(confidence);
    findings.push_back(std::move(found));
  }

  /// Records a candidate, which stayed below the firing line. `note` tells its confidence in words.
  void keep_candidate(std::string_view rule, std::size_t step, std::string_view reason, std::string_view note, double confidence) {
    has_candidate = true;
    const std::size_t before = suppressed.size();
    suppress(rule, step, std::string(reason).append(note));
    if (suppressed.size() == before) return;
    suppressed.back().confidence = told_confidence(confidence);
    suppressed.back().note_at = reason.size();
  }

  /// Turns the faint candidates of these rules into plain suppressions, because of what the rules do not look at.
  void withdraw_candidates(std::span<const std::string_view> rules, std::string_view why) {
    constexpr double kFaint = 0.5;  // from which a rule speaks for itself
    has_candidate = false;
    for (auto& told : suppressed) {
      if (!told.confidence) continue;
      if (*told.confidence >= kFaint || std::find(rules.begin(), rules.end(), told.rule) == rules.end()) {
        has_candidate = true;
        continue;
      }
      told.confidence.reset();
      told.reason.replace(told.note_at, std::string::npos, why);
    }
  }

  void suppress(std::string_view rule, std::size_t step, std::string reason) {
    if (explanation != nullptr) explanation->rule(rule, "silences", step, reason);
    if (suppressed.size() < kMostSuppressed) suppressed.push_back({std::string(rule), step, std::move(reason)});
  }

  /// Records that a rule was evaluated and silenced nothing; free when no explanation is wanted.
  void passed(std::string_view rule, std::size_t step, std::string_view why = {}) const {
    if (explanation != nullptr) explanation->rule(rule, "no", step, why);
  }
};

}  // namespace runwarden::plugins
