// Selects the verdicts that a model is asked about. Pure; any thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/verdict.h"

namespace runwarden::ingest {

struct OpinionRules {
  bool candidates = false;          // ask about alarms that stayed below the firing line
  bool alarms = false;              // ask about alarms that fired
  std::set<std::string> detectors;  // only for these

  bool any() const { return (candidates || alarms) && !detectors.empty(); }
};

// At most one question per detector: its alarm with the highest score if it fired, otherwise its candidate with the highest confidence.
// `failures` correspond to verdict.findings, in the same order; if empty, alarms get no failureId. The caller fills in keys, place and run.
std::vector<model::Opinion> questions_of(const model::Verdict& verdict, std::span<const model::FailureRecord> failures, const OpinionRules& rules);

}  // namespace runwarden::ingest
