// A line of a group's history as JSON: what the API shows, and what a ledger commits to. Pure; any thread.
#pragma once

#include <string>

#include "model/cluster.h"

namespace runwarden::model {

std::string triage_entry_json(const TriageEntry& entry);

}  // namespace runwarden::model
