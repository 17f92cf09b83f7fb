// Names the detector call that this thread is inside. Set around each call, read by the signal handlers of CrashNote if the process
// crashes. One per thread; scopes do not nest. Costs two stores.
#pragma once

#include <string_view>

#include "model/record_key.h"

namespace runwarden::detect {

// Views; the text outlives the call.
struct CrashContext {
  std::string_view tenant, run_id, detector_key, library_sha256, library;
  const model::Digest* content = nullptr;
};

class CrashContextScope {
 public:
  explicit CrashContextScope(const CrashContext& context);
  ~CrashContextScope();
  CrashContextScope(const CrashContextScope&) = delete;
  CrashContextScope& operator=(const CrashContextScope&) = delete;
};

}  // namespace runwarden::detect
