// Who is to blame if this thread ends the process now: set around each call of a detector, read by the signal handlers of CrashNote.
// Costs two stores. Each thread has its own; scopes do not stand in each other.
#pragma once

#include <string_view>

#include "model/records.h"

namespace runwarden::detect {

// Views into what lives as long as the call.
struct Suspect {
  std::string_view tenant, run_id, detector_key, library_sha256, library;
  const model::Digest* content = nullptr;
};

class SuspectScope {
 public:
  explicit SuspectScope(const Suspect& suspect);
  ~SuspectScope();
  SuspectScope(const SuspectScope&) = delete;
  SuspectScope& operator=(const SuspectScope&) = delete;
};

}  // namespace runwarden::detect
