// What an Idempotency-Key names. A value; any thread.
#pragma once

#include "model/record_key.h"

namespace runwarden::store {

// SHA-256 over tenant-independent parts (path, key, line number), and over the decoded bytes.
struct Idempotency {
  model::Digest identity{};
  model::Digest content{};
};

}  // namespace runwarden::store
