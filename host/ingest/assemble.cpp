#include "ingest/assemble.h"

#include "intake/otlp/trace_run.h"

namespace runwarden::ingest {

intake::AssembledRun assemble(model::RunSource source, std::string_view run_id, const std::vector<std::string>& buffered,
                              std::string_view whole) {
  if (source == model::RunSource::otlp) return {intake::otlp::run_of_trace(run_id, buffered), model::OutcomeFrom::told};
  return intake::assemble_run(run_id, buffered, whole);
}

intake::ServerMarks marks_of(model::RunSource source) {
  return source == model::RunSource::otlp ? intake::ServerMarks::kept : intake::ServerMarks::dropped;
}

}  // namespace runwarden::ingest
