// What was buffered of an open run, as the JSON of a run: events, or the spans of a trace. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "intake/event_reader.h"
#include "intake/run_reader.h"
#include "model/records.h"

namespace runwarden::ingest {

// `whole`: the document of a run that came whole, which its events continue; empty: none.
intake::AssembledRun assemble(model::RunSource source, std::string_view run_id, const std::vector<std::string>& buffered,
                              std::string_view whole = {});

// What read_run is to make of the marks in it: no event of a client's writes them.
intake::ServerMarks marks_of(model::RunSource source);

}  // namespace runwarden::ingest
