// How far the schema of a database is. Values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runwarden::store {

struct SchemaStepStatus {
  int version = 0;
  std::string name;
  bool done = false;
  bool just_now = false;  // by this call
  std::int64_t applied_ms = 0;
  std::string applied_by;  // the database's user
  bool changed = false;    // what was done has another SHA-256 than this program's step of that number
};

struct SchemaStatus {
  int version = 0;                      // of the database; 0: it has none
  int wanted = 0;                       // that this program makes
  std::vector<SchemaStepStatus> steps;  // by version; those that a later program did are last
};

}  // namespace runwarden::store
