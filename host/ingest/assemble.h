// Assembles the buffered events or trace spans of an open run into the JSON of a run. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "intake/event_reader.h"
#include "intake/run_reader.h"
#include "model/run_record.h"

namespace runwarden::ingest {

// `whole`: the document of a run that was sent whole and that the events continue; empty: none.
intake::AssembledRun assemble(model::RunSource source, std::string_view run_id, const std::vector<std::string>& buffered,
                              std::string_view whole = {});

// What read_run does with server marks in the assembled JSON. Events from clients never write them.
intake::ServerMarks marks_of(model::RunSource source);

}  // namespace runwarden::ingest
