// Reads the `second_opinion` section. Pure; any thread.
#pragma once

#include "config/section.h"
#include "config/settings.h"

namespace runwarden::config {

void read_second_opinion(const Node* node, Reading& reading, SecondOpinionSection& out);

// Makes the checks that need the detectors. If the file does not set second_opinion.detectors, removes those that are not enabled.
void check_second_opinion(const Node* node, const model::DetectorSettings& detectors, Reading& reading, SecondOpinionSection& out);

}  // namespace runwarden::config
