// Changes and policy revisions as they are stored. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/record_key.h"

namespace runwarden::model {

// A change that failures are compared with. A policy revision is also a change, of kind `policy`.
struct PolicyRecord {
  std::string id;  // polrev_...; encodes its key
  RecordKey key;   // time from which it is in force
  std::string policy;
  std::string revision;  // in a write: empty to use the next whole number
  std::string author;
  Digest content{};  // of the content's JSON
  std::int64_t received_ms = 0;
  std::string document;  // what the client sent, as normalized
};

// A run's record of a policy revision that was in force when it executed.
struct PolicyInForce {
  std::string policy;
  std::string revision;
  Digest content{};
};

struct ChangeRecord {
  std::string id;  // change_...; encodes its key
  RecordKey key;   // time of the change
  std::string kind;
  std::int64_t received_ms = 0;
  std::string document;                // what the client sent, as normalized; empty if `policy` is set
  std::optional<PolicyRecord> policy;  // set if this change is a policy revision; its id encodes the same key
};

}  // namespace runwarden::model
