// Records as bytes and back: the values of the store's databases. For the files of store/ only. Pure; any thread.
//
// Protocol Buffers wire format, own field numbers: a reader skips fields it does not know, so the minor versions of a format
// read each other. Decoders throw BadValue.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/records.h"
#include "store/envelope.h"
#include "store/store.h"

namespace runwarden::store {

// A run as it stands in the store: the record, and where its failures are.
struct StoredRun {
  model::RunRecord run;
  std::vector<model::RecordKey> failures;
};

std::string encode_run(std::string_view key, const StoredRun& stored);
// Without what stands in the body: document and the JSON arrays.
StoredRun decode_run_head(std::string_view key, std::string_view value);
StoredRun decode_run(std::string_view key, std::string_view value);

std::string encode_failure(std::string_view key, const model::FailureRecord& failure);
model::FailureRecord decode_failure_head(std::string_view key, std::string_view value);
model::FailureRecord decode_failure(std::string_view key, std::string_view value);

std::string encode_key(std::string_view key, const model::KeyRecord& record);
model::KeyRecord decode_key(std::string_view key, std::string_view value);

// What an idempotency identity was answered with: which record, not a copy of it.
struct Answered {
  Idempotency idempotency;
  std::int64_t created_ms = 0;
  model::RecordKey record;
  std::uint32_t revision = 1;
};

std::string encode_answered(std::string_view key, const Answered& answered);
Answered decode_answered(std::string_view key, std::string_view value);

// A RecordKey as a value: where the run of a runId stands.
std::string encode_place(std::string_view key, const model::RecordKey& place);
model::RecordKey decode_place(std::string_view key, std::string_view value);

}  // namespace runwarden::store
