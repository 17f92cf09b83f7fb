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

// The text with blanks for control characters: they would move the terminal's cursor, or make a text look like lines of the program's own.
std::string one_line(std::string_view text);

// "0.75".
std::string two_decimals(double value);

}  // namespace runwarden::cli
