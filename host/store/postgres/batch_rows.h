// The rows that a batch writes and deletes, gathered by table and written with one statement per table. Internal to store/postgres. One
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_record.h"
#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/record_key.h"
#include "model/review.h"
#include "model/run_record.h"
#include "store/event_codec.h"
#include "store/postgres/batch_names.h"
#include "store/postgres/connection.h"
#include "store/postgres/open_runs.h"

namespace runwarden::store::postgres {

// A row of a run. The body of an open run is empty.
struct RunRow {
  TenantKey place;
  std::string_view run_id;
  std::uint32_t revision = 1;
  model::RunState state = model::RunState::resolved;
  model::RunSource source = model::RunSource::client;
  int max_score = 0;
  std::vector<std::string> fired;
  model::Digest content{};
  std::string_view body;
};
struct OpenRunRow {
  RunName name;
  model::RecordKey place;
  std::uint32_t revision = 1;
  Buffering buffering;
  std::int64_t token = 0;
  std::int64_t due_ms = 0;
  RunActivity activity;
  std::string_view body;
};
struct PreviousRow {
  TenantKey place;
  std::uint32_t revision = 1;
  std::string body;
};
struct EventRow {
  TenantKey place;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
  std::string body;
};
struct EventIdRow {
  TenantKey place;
  std::string half;
};
struct FailureRow {
  TenantKey place;
  const model::FailureRecord* failure = nullptr;
  std::string_view body;
};
struct VerdictRow {
  TenantKey place;
  model::ReviewVerdict verdict = model::ReviewVerdict::none;
  std::string_view body;
};
struct ReviewRow {
  TenantKey place;
  const model::Review* review = nullptr;
  std::string body;
};
struct OpinionRow {
  TenantKey place;
  const model::Opinion* opinion = nullptr;
  std::string body;
};
struct ChangeRow {
  TenantKey place;
  std::string kind;
  std::int64_t received_ms = 0;
  std::string body;
};
struct PolicyRow {
  TenantKey place;
  model::PolicyRecord policy;
  std::string body;
};
struct AnswerRow {
  Identity identity;
  IdempotentAnswer answered;
  bool replaces = false;  // an answer that is too old, or whose record is gone
};
struct HeadRow {
  RunName name;
  model::RecordKey place;
};

// Views must live until the statements are made.
struct BatchRows {
  std::vector<HeadRow> moved_heads;
  std::vector<RunName> unused_heads;
  std::vector<RunRow> new_runs;
  std::vector<RunRow> changed_runs;
  std::vector<OpenRunRow> opened;
  std::vector<OpenRunRow> changed_open;
  std::vector<RunName> ended;  // open runs
  std::vector<PreviousRow> previous;
  std::vector<EventRow> events;
  std::vector<EventIdRow> event_ids;
  std::vector<EventIdRow> unused_event_ids;  // stored before it was known that their events are not
  std::vector<TenantKey> gone_failures;
  std::vector<FailureRow> failures;
  std::vector<VerdictRow> verdicts;  // of failures, including those of this batch
  std::vector<ReviewRow> reviews;
  std::vector<TenantKey> without_opinions;  // runs whose opinions are deleted
  std::vector<TenantKey> gone_opinions;
  std::vector<OpinionRow> opinions;  // new
  std::vector<OpinionRow> changed_opinions;
  std::vector<ChangeRow> changes;
  std::vector<PolicyRow> policies;
  std::vector<std::pair<PolicyName, std::string>> highest;
  std::string canary;  // sealed; empty: none
};

// Adds the statements in the order in which they must run.
void add_statements(std::vector<Connection::Statement>& to, const BatchRows& rows);
void add_canary(std::vector<Connection::Statement>& to, std::string_view host, std::string_view body, std::int64_t now_ms);
// An answer that loses a race for its identity against another batch fails with 23505.
void add_answers(std::vector<Connection::Statement>& to, std::vector<AnswerRow> rows);
// Notes that the policies of these tenants changed; answers with the number of the note. Every other batch that does the same waits for
// this one.
Connection::Statement policies_note(const std::vector<model::TenantId>& tenants);

}  // namespace runwarden::store::postgres
