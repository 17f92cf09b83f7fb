// The accuracy of detectors on labeled runs. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rate.h"
#include "cli/score_input.h"
#include "model/verdict.h"

namespace runwarden::cli {

// One detector's counts over the runs with the label present or absent.
struct DetectorScore {
  std::uint64_t right = 0;  // it fired, and the failure is there
  std::uint64_t false_alarms = 0;
  std::uint64_t missed = 0;
  std::uint64_t errors = 0;  // it could not answer; if the failure is there, it also counts as missed

  std::optional<Interval> precision() const;  // nothing if it never fired
  std::optional<Interval> recall() const;     // nothing if no failure is there
};

struct Disagreement {
  std::string id;  // of the run
  std::string detector_key;
  Label label = Label::absent;  // absent: a false alarm, present: missed
  std::string why;              // the label's reason
};

// The answers of one configuration's detectors about a run.
struct Answers {
  std::set<std::string> asked;  // keys
  std::set<std::string> fired;
  std::set<std::string> failed;  // could not answer
};
Answers answers_of(const model::Verdict& verdict);

struct Scores {
  std::map<std::string, DetectorScore> detectors;  // those that were asked and have labels
  std::vector<Disagreement> disagreements;

  void add(const std::string& id, const RunLabels& labels, const Answers& answers);
};

// The minimum figures of a detector; nothing: no minimum.
struct Floors {
  std::optional<double> precision;
  std::optional<double> recall;
};
// Parses "precision=0.9,recall=0.8"; nothing if the text is invalid.
std::optional<Floors> floors_of(const std::string& text);
// A sentence for each detector and figure that is too low.
std::vector<std::string> shortfalls_of(const Scores& scores, const Floors& floors);

}  // namespace runwarden::cli
