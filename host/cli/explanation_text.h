// An explanation as a person reads it. Pure; one thread.
#pragma once

#include <ostream>
#include <string>

#include "model/verdict.h"
#include "ingest/explanation.h"

namespace runwarden::cli {

// What was understood of the run, then each detector's answer with its rules. Of the verdict that the explanation belongs to. Steps are
// numbered from 1.
void print_explanation(std::ostream& out, const ingest::RunExplanation& explanation, const model::Verdict& verdict);

// "0.75".
std::string two_decimals(double value);

}  // namespace runwarden::cli
