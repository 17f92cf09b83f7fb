// Which verdicts a model is to be asked about. Pure; any thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/opinion.h"
#include "model/verdict.h"

namespace runwarden::ingest {

struct OpinionRules {
  bool candidates = false;          // alarms that stayed below the firing line
  bool alarms = false;              // those that fired
  std::set<std::string> detectors;  // of these only

  bool any() const { return (candidates || alarms) && !detectors.empty(); }
};

// One question at most for each detector: the alarm of the highest score where it fired, else the candidate of the highest confidence.
// `failures`: of verdict.findings, in their order; none: alarms bear no failureId. Keys, place and run are the caller's to fill in.
std::vector<model::Opinion> questions_of(const model::Verdict& verdict, std::span<const model::FailureRecord> failures, const OpinionRules& rules);

}  // namespace runwarden::ingest
