// Notes tell other hosts what changed. For the files of store/postgres only.
#pragma once

namespace runwarden::store::postgres {

// In an open transaction, its last statement before COMMIT: $1 what, $2 tenant. Answers with the note's version. All notes of a database take
// turns here, so that their versions are seen in order.
constexpr const char* kWriteNote =
    "WITH next AS (UPDATE runwarden.counter SET value = value + 1 WHERE name = 'note' RETURNING value)"
    " INSERT INTO runwarden.note SELECT $1, $2, value FROM next"
    " ON CONFLICT (what, tenant) DO UPDATE SET version = excluded.version RETURNING version";

constexpr const char* kDurable = "SET LOCAL synchronous_commit = on";

}  // namespace runwarden::store::postgres
