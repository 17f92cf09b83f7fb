// Reads the section second_opinion. Pure; any thread.
#pragma once

#include "config/section.h"
#include "config/settings.h"

namespace runwarden::config {

void read_second_opinion(const Node* node, Reading& reading, SecondOpinionSection& out);

// What can be said of it only when the detectors are known; leaves of `detectors` those that are enabled, where the file does not name them.
void check_second_opinion(const Node* node, const model::DetectorSettings& detectors, Reading& reading, SecondOpinionSection& out);

}  // namespace runwarden::config
