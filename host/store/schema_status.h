// The state of a database's schema. Values; any thread.
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
  bool changed = false;    // the applied step has another SHA-256 than this program's step of that number
};

struct SchemaStatus {
  int version = 0;                      // of the database; 0: it has none
  int wanted = 0;                       // of this program
  int required = 0;                     // what the database's schema requires a program to know; more than `wanted`: a newer program
  std::vector<SchemaStepStatus> steps;  // by version; steps applied by a later program come last
};

}  // namespace runwarden::store
