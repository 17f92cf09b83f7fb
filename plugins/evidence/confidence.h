#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "common/settings.h"
#include "common/verdict.h"

namespace runwarden::plugins {

/// The confidence from which verdicts fire. A verdict below it is a candidate, reported among the suppressed with its rule and confidence.
class FiringLine {
 public:
  /// The confidence from which each sensitivity fires.
  static constexpr double kStrict = 0.8, kBalanced = 0.6, kWide = 0.4;
  /// The weighed confidence below which a doubt is not even a candidate.
  static constexpr double kCandidate = 0.1;

  /// The setting `sensitivity`: "strict", "balanced" (the default) or "wide".
  explicit FiringLine(std::string_view sensitivity);

  /// The property in a settings schema.
  static constexpr SettingSchema kProperty{"sensitivity", R"({"type":"string","enum":["strict","balanced","wide"]})"};

  /// Why a verdict is in doubt: the rule that would silence it, the step, and the reason in words.
  struct Doubt {
    std::string_view rule;
    std::size_t step = kNoStep;
    std::string_view reason;
  };

  /// True when a verdict with this confidence would fire.
  [[nodiscard]] bool would_fire(double confidence) const { return confidence >= line_; }

  /// True when a verdict with this confidence, 0 to 1, fires. Otherwise adds it to `verdict` as a candidate.
  [[nodiscard]] bool fires(double confidence, const Doubt& doubt, Verdict& verdict) const;

 private:
  std::string_view name_;
  double line_;
};

}  // namespace runwarden::plugins
