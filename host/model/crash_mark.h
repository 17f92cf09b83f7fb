// A record of a crash. A value; any thread.
#pragma once

#include <string>

#include "model/record_key.h"

namespace runwarden::model {

// Records that a detector crashed the process on a run. That detector is not given the run again.
struct CrashMark {
  RecordKey key;  // time of the crash
  TenantId tenant = 0;
  std::string tenant_name;
  std::string run_id;
  Digest content{};  // of the decoded bytes if the run was sent whole, otherwise zeros
  std::string detector_key;
  std::string library_sha256;  // lower-case hexadecimal; a changed library gets the run again
  std::string library;         // its file
  int signal = 0;              // 0: it called exit; -1: not seen (detect/crash_note.h)
};

}  // namespace runwarden::model
