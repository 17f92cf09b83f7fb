// Encodes and decodes records: the values of the store's databases. Internal to store/. Pure; any thread.
//
// Protocol Buffers wire format with our own field numbers. Readers skip fields that they do not know, so the minor versions of a format
// read each other's values. Decoders throw BadValue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/failure_record.h"
#include "model/key_record.h"
#include "model/record_key.h"
#include "model/run_record.h"
#include "store/envelope.h"
#include "store/queries.h"

namespace runwarden::store {

// How far an open run has come. Events are counted from the run's first, over all revisions.
struct Buffering {
  std::int64_t first_ms = 0;  // receipt of this revision's first event, and of its last
  std::int64_t last_ms = 0;
  std::uint32_t previous = 0;               // events of previous revisions, packed away
  std::uint32_t total = 0;                  // all events so far
  std::uint32_t cut = 0;                    // with `ending`: where this revision ends and the next begins
  std::optional<model::Resolution> ending;  // this revision is complete, and why
  bool tail_final = false;                  // the client said that the run ends with the events beyond the cut
  std::uint64_t bytes = 0;                  // of this revision's events, including those beyond the cut
  std::uint32_t max_events = 0;
  std::uint64_t max_bytes = 0;

  model::OpenBuffer shown() const { return {first_ms, last_ms, total - previous, previous, ending.has_value()}; }
};

// A run as stored: the record, the places of the failures that lists show for it, and, while it is open, its buffering instead of the
// document and the arrays.
struct StoredRun {
  model::RunRecord run;
  std::vector<model::RecordKey> failures;
  std::optional<Buffering> buffering;
};

std::string encode_run(std::string_view key, const StoredRun& stored);
// Without the body: document and JSON arrays. Without the outline unless it is asked for, because filters and event writes read many heads.
StoredRun decode_run_head(std::string_view key, std::string_view value, OutlineToo outline = OutlineToo::no);
StoredRun decode_run(std::string_view key, std::string_view value);

std::string encode_failure(std::string_view key, const model::FailureRecord& failure);
// The same failure with that verdict. Keeps fields that a later version wrote.
std::string with_verdict(std::string_view key, std::string_view value, model::ReviewVerdict verdict);
model::FailureRecord decode_failure_head(std::string_view key, std::string_view value);
model::FailureRecord decode_failure(std::string_view key, std::string_view value);

std::string encode_key(std::string_view key, const model::KeyRecord& record);
model::KeyRecord decode_key(std::string_view key, std::string_view value);

// A RecordKey as a value: the place of the run with a runId.
std::string encode_place(std::string_view key, const model::RecordKey& place);
model::RecordKey decode_place(std::string_view key, std::string_view value);

}  // namespace runwarden::store
