// What a batch knows of a run, an answer or a failure: first from the database, then as the batch changed it. Internal to batch*.cpp. One
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_record.h"
#include "model/record_key.h"
#include "model/review.h"
#include "model/run_record.h"
#include "store/postgres/batch_names.h"
#include "store/postgres/batch_state.h"
#include "store/write_result.h"

namespace runwarden::store::postgres {

struct KnownRun {
  RunName name;
  model::RecordKey place;
  std::optional<model::RecordKey> head;  // its place according to its head
  bool new_head = false;                 // inserted by this batch
  std::string unreadable;                // why it cannot be read; empty: it can
  bool has_row = false;
  bool has_open_row = false;

  std::string_view value;           // sealed, of a resolved run
  std::optional<StoredRun> stored;  // of an open run; of a resolved one once it is asked for
  std::int64_t token = 0;
  std::int64_t due_ms = 0;
  RunActivity activity;
  std::vector<EventRowBeyond> added;  // events of this batch
  std::set<std::string> added_ids;    // half digests

  bool run_changed = false;
  bool open_changed = false;
  const model::RunRecord* written = nullptr;  // the record that resolved it
  std::string open_body;

  bool exists() const { return stored || !value.empty(); }
  bool is_open() const { return stored && stored->buffering; }
};

struct KnownAnswer {
  IdempotentAnswer answered;
  bool in_database = false;
  std::optional<std::string> record;  // sealed, as in the database
  std::optional<model::ChangeRecord> change;
  std::optional<model::PolicyRecord> policy;
};

// A reviewed failure.
struct KnownFailure {
  bool shadow = false;
  std::string body;  // sealed
  bool changed = false;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;  // if it was changed
};

}  // namespace runwarden::store::postgres
