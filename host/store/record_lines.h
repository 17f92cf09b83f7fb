// Converts rows of the store to lines of JSON and back: the content of an export. Internal to store/. Pure; any thread.
//
// A line says everything that its row says: times in milliseconds, sequence numbers as decimal text, JSON texts verbatim. If it cannot (a
// field that a later minor version wrote), it also holds the row's own bytes in hexadecimal. Readers throw BadValue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/cluster.h"
#include "model/review.h"
#include "model/webhook.h"
#include "store/change_codec.h"
#include "store/event_codec.h"
#include "store/record_codec.h"
#include "store/maintenance_commands.h"

namespace runwarden::store {

constexpr std::string_view kExportFormat = "runwarden-export";
constexpr std::uint32_t kExportVersion = 1;

struct HeaderLine {
  std::string tenant;
  std::int64_t exported_ms = 0;
  std::optional<std::int64_t> since_ms;  // nothing: from the beginning
};

struct EndLine {
  std::uint64_t lines = 0;                   // without header and end
  std::string sha256;                        // of every byte before this line
  std::uint64_t unreadable = 0;              // rows that were left out
  std::vector<StoreFault> first_unreadable;  // the first of these rows
};

struct RunLine {
  StoredRun stored;
  bool previous = false;  // another revision has followed
};

// Events stored under one key. Packed: of previous revisions; otherwise events that came together.
struct EventsLine {
  model::RecordKey run;
  bool packed = false;
  std::uint32_t first = 0;  // index of the first
  std::int64_t received_ms = 0;
  std::vector<std::string> events;  // an empty text (null in the line) is an event lost to damage
};

// What a group's failures do not say: since when it is known, and what was decided about it.
struct GroupLine {
  model::Cluster cluster;  // count and waste are not in the line: they are recounted from the failures
  bool decided = false;    // entries of its history follow
};

// A review as its row has it. What it means for its failure is derived again.
using ReviewLine = model::Review;

// One entry of a group's history.
struct TriageLine {
  std::string fingerprint;
  model::TriageEntry entry;
};

// Half digests of the eventIds a run has seen.
struct EventIdsLine {
  model::RecordKey run;
  std::vector<std::string> halves;
};

// A policy's name, and the highest whole number among all revisions it has ever had.
struct PolicyNameLine {
  std::string policy;
  std::string highest;
};

// A webhook, and what was or is to be sent to it. The lines hold the rows' own bytes, including secrets.
struct WebhookLine {
  model::RecordKey key;
  std::string url;
};
struct DeliveryLine {
  model::RecordKey key;
  model::RecordKey webhook;
};

// A question to a model about a run, and the answer. The line holds the row's own bytes.
struct OpinionLine {
  model::RecordKey key;
  model::RecordKey run;
  std::string id;
};

using RecordLine =
    std::variant<HeaderLine, EndLine, RunLine, EventsLine, EventIdsLine, model::FailureRecord, model::ChangeRecord, model::PolicyRecord,
                 PolicyNameLine, GroupLine, TriageLine, ReviewLine, OpinionLine, WebhookLine, DeliveryLine, IdempotentAnswer>;

// Without a line end.
std::string line_of(const RecordLine& record);

// The sealed value of the row under its key in this store.
std::string value_of(std::string_view key, const RecordLine& record);

// The line of a row with that value. Checks that it reads back as the same value, and adds the value's bytes if it does not.
std::string line_of_row(std::string_view key, std::string_view value, const RecordLine& record);

struct ReadLine {
  RecordLine record;
  // The row's bytes, if the line has them.
  struct Bytes {
    std::string head;
    std::string body;
    bool has_body = false;
  };
  std::optional<Bytes> bytes;

  std::string value(std::string_view key) const;
};
ReadLine read_line(std::string_view line);

// Whether two values under a key mean the same, however they are compressed.
bool same_value(std::string_view key, std::string_view one, std::string_view other);

}  // namespace runwarden::store
