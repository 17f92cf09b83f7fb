// A run as it is stored, with what lists show of it. Values; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/record_key.h"

namespace runwarden::model {

enum class RunState : std::uint8_t { open, resolved };
// How a run arrived: in requests of the service's own formats, or as OpenTelemetry spans.
enum class RunSource : std::uint8_t { client, otlp };
enum class Resolution : std::uint8_t { whole, final, idle, max_age, max_events };

// What is buffered of a run that is streaming in.
struct OpenBuffer {
  std::int64_t first_ms = 0;   // receipt of the first event of this revision
  std::int64_t last_ms = 0;    // and of the last
  std::uint32_t events = 0;    // of this revision; earlier revisions are counted separately
  std::uint32_t previous = 0;  // events of earlier revisions
  bool complete = false;       // the revision is about to be resolved; events that still arrive begin the next one
};

// What a list shows of a run without its steps. Stored beside the record, so that lists read neither events nor body. JSON with truncated
// texts; bounded in size whatever the run contains (run_outline.h).
struct RunOutline {
  std::string members = "{}";  // an object: the run's own members except `steps`, and except `outcomeSummary` if it is in `last_output`
  std::string last_output;     // a string: the model's last output; empty: none
  std::string failures;        // the three arrays of the answer; empty while the run is open
  std::string detectors;
  std::string policies;
  std::uint32_t steps = 0;
  std::uint32_t left_out = 0;  // members and elements that did not fit
  bool operator==(const RunOutline&) const = default;
};

// A metadata member by which runs are compared, with its value as text (dimensions.h).
struct Dimension {
  std::string name;
  std::string value;
  auto operator<=>(const Dimension&) const = default;
};

struct RunRecord {
  RecordKey key;  // time of receipt
  std::string run_id;
  std::uint32_t revision = 1;
  RunState state = RunState::resolved;
  Resolution resolution = Resolution::whole;
  RunSource source = RunSource::client;
  bool root_arrived = false;   // otlp: the spans include the trace's root
  std::uint32_t events = 0;    // of this and earlier revisions, not counting those in its buffer
  std::uint64_t end_mark = 0;  // identifies the content of the run_finished that ended it; 0: it ended otherwise, or more events followed
  std::int64_t resolved_ms = 0;
  Digest content{};           // of the decoded bytes as the client sent them
  std::string document;       // Run::document
  std::string failures_json;  // the three arrays of the answer, exactly as answered
  std::string detectors_json;
  std::string policies_json;
  std::vector<Digest> policy_contents;      // of those revisions, in their order; empty if an older version wrote it
  std::int64_t executed_ms = kNotExecuted;  // when it executed: its startedAt, otherwise its receipt; unknown if an older version wrote it
  int max_score = 0;
  std::vector<std::string> fired;    // keys of the detectors that found something, sorted
  std::vector<RecordKey> confirmed;  // failures confirmed by a second opinion; not in failures_json
  std::vector<Dimension> dimensions;
  bool grouped = false;               // counted for its failures' groups; false while it is open for the first time
  std::optional<OpenBuffer> buffer;   // while it is open
  std::optional<RunOutline> outline;  // nothing: not requested, or written by an older version without one
  std::uint64_t json_bytes = 0;       // of a head: the maximum size of the run's JSON when read whole
};

}  // namespace runwarden::model
