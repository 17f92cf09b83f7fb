// Prints an explanation for people. Pure; one thread.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "ingest/explanation.h"
#include "model/verdict.h"

namespace runwarden::cli {

// Prints what was understood of the run, then each detector's answer with its rules. The explanation must belong to the verdict. Steps
// are numbered from 1.
void print_explanation(std::ostream& out, const ingest::RunExplanation& explanation, const model::Verdict& verdict);

// "0.75".
std::string two_decimals(double value);

}  // namespace runwarden::cli
