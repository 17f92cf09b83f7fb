// The records the service keeps, as every step names them. Values; any thread.
//
// A record's place is its RecordKey: lists go by it, newest first. Times are UTC milliseconds since 1970.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/verdict.h"

namespace runwarden::model {

using TenantId = std::uint32_t;
using Digest = std::array<std::uint8_t, 32>;  // SHA-256 (FIPS 180-4)

constexpr std::int64_t kNever = -1;
constexpr std::int64_t kNotExecuted = std::numeric_limits<std::int64_t>::min();

struct RecordKey {
  std::int64_t time_ms = 0;
  std::uint64_t seq = 0;  // unique in a store; grows with every start and every record
  auto operator<=>(const RecordKey&) const = default;
};

enum class RunState : std::uint8_t { open, resolved };
// What told of a run: requests of the service's own formats, or spans of OpenTelemetry.
enum class RunSource : std::uint8_t { client, otlp };
enum class Resolution : std::uint8_t { whole, final, idle, max_age, max_events };

// What a person's last review says: of a failure right, false_alarm or unsure, of a run that a detector missed something, or that it is clean.
enum class ReviewVerdict : std::uint8_t { none, right, false_alarm, unsure, missed, clean };

struct FailureRecord {
  std::string id;  // fail_...: spells its key, see failure_id()
  RecordKey key;   // time of detection
  RecordKey run;   // of the run it was found in; the store fills it in
  std::string detector_key;
  Severity severity = Severity::medium;
  int score = 0;
  std::string fingerprint;
  std::string json;     // the Failure object, exactly as answered
  bool shadow = false;  // of a detector on trial: in no count and in no list but its own
  std::string title;    // of the JSON, cut at kMostTitleBytes
  std::int64_t waste_micro_usd = 0;
  std::int64_t executed_ms = kNotExecuted;  // when its run ran: its startedAt, else its receipt
  bool grouped = false;                     // it is counted in its group; not where an older version wrote it
  std::uint64_t summary_mark = 0;           // tells summaries apart: see summary_mark(); 0: a version that kept none wrote it
  ReviewVerdict reviewed = ReviewVerdict::none;  // a false alarm stays stored and listed, and is in no count
  std::string review;                            // the JSON of that review, where a store was asked for the failure; empty: none

  bool is_false_alarm() const { return reviewed == ReviewVerdict::false_alarm; }
};
constexpr std::size_t kMostTitleBytes = 300;

// What is buffered of a run that streams in.
struct OpenBuffer {
  std::int64_t first_ms = 0;  // receipt of the first event of this revision
  std::int64_t last_ms = 0;   // and of the last
  std::uint32_t events = 0;   // of this revision; those of former revisions are kept apart
  std::uint32_t former = 0;   // events of former revisions
};

// What a list shows of a run without its steps: kept beside the record, so that neither events nor body are read for it. JSON, texts
// cut; bounded, whatever the run holds (run_outline.h).
struct RunOutline {
  std::string members = "{}";  // an object: the run's own members but `steps`, and but `outcomeSummary` where that is `last_output`
  std::string last_output;     // a string: what the model said last; empty: nothing
  std::string failures;        // the three arrays of the answer; empty while it is open
  std::string detectors;
  std::string policies;
  std::uint32_t steps = 0;
  std::uint32_t left_out = 0;  // members and elements that did not fit
  bool operator==(const RunOutline&) const = default;
};

// A member of a run's metadata that runs are compared by, with its value as text (dimensions.h).
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
  bool root_arrived = false;  // otlp: the trace's root is among its spans
  std::uint32_t events = 0;   // that made it and its former revisions; those in its buffer are not counted
  std::uint64_t end_mark = 0;  // tells by which content a run_finished ended it; 0: it ended otherwise, or events came after that
  std::int64_t resolved_ms = 0;
  Digest content{};           // of the decoded bytes as the client sent them
  std::string document;       // Run::document
  std::string failures_json;  // the three arrays of the answer, exactly as answered
  std::string detectors_json;
  std::string policies_json;
  std::vector<Digest> policy_contents;         // of those revisions, in their order; none where an older version wrote it
  std::int64_t executed_ms = kNotExecuted;     // when it ran: its startedAt, else its receipt; not known where an older version wrote it
  int max_score = 0;
  std::vector<std::string> fired;     // keys of the detectors that found something, sorted
  std::vector<RecordKey> confirmed;   // failures that a second opinion found, which failures_json does not have
  std::vector<Dimension> dimensions;
  bool grouped = false;               // it is counted for its failures' groups; not while it is open for the first time
  std::optional<OpenBuffer> buffer;   // while it is open
  std::optional<RunOutline> outline;  // nothing: not asked for, or written by a version that kept none
  std::uint64_t json_bytes = 0;       // of a head: the most JSON that the run makes when it is read whole
};

// Something that was changed: what failures are lined up with. A policy revision is one, too, of kind `policy`.
struct PolicyRecord {
  std::string id;  // polrev_...: spells its key
  RecordKey key;   // time from which it is in force
  std::string policy;
  std::string revision;  // in a write: empty for the next whole number
  std::string author;
  Digest content{};  // of the content's JSON
  std::int64_t received_ms = 0;
  std::string document;  // what the client sent, as normalized
};

// What a run says of a policy's revision that was in force when it executed.
struct PolicyInForce {
  std::string policy;
  std::string revision;
  Digest content{};
};

struct ChangeRecord {
  std::string id;  // change_...: spells its key
  RecordKey key;   // time of the change
  std::string kind;
  std::int64_t received_ms = 0;
  std::string document;                // what the client sent, as normalized; empty where `policy` is there
  std::optional<PolicyRecord> policy;  // this change is that policy revision; its id spells the same key
};

// That a detector ended the process while it looked at a run: it is not asked about that run again.
struct CrashMark {
  RecordKey key;  // when it was
  TenantId tenant = 0;
  std::string tenant_name;
  std::string run_id;
  Digest content{};  // of the decoded bytes of a run that came whole, else zeros
  std::string detector_key;
  std::string library_sha256;  // lower-case hexadecimal: a mended library is asked again
  std::string library;         // its file
  int signal = 0;              // 0: it called exit
};

struct Tenant {
  TenantId id = 0;
  std::string name;
};

// An API key. The key itself is never kept: only its SHA-256.
struct KeyRecord {
  std::string id;  // key_...; public
  TenantId tenant = 0;
  std::string tenant_name;
  std::string name;
  bool may_ingest = false;
  bool may_read = false;
  bool may_manage = false;
  Digest digest{};
  std::int64_t created_ms = 0;
  std::int64_t expires_ms = kNever;
  std::int64_t revoked_ms = kNever;  // from then on it is refused; in the future while a rotation overlaps
  bool revoked_at_once = false;      // it is refused whatever any clock says
  std::int64_t last_used_ms = kNever;
};

}  // namespace runwarden::model
