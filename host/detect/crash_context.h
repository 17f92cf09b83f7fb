// Names the code of a detector library that this thread is inside. Set around each call into it, read by the signal handlers of CrashNote
// and CrashMessage if the process crashes. One per thread; scopes do not nest. Costs two stores.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::detect {

enum class DetectorCode : std::uint8_t { evaluate, create, load };  // load: the constructors of the library

// Views; the text outlives the call.
struct CrashContext {
  std::string_view tenant = {}, run_id = {}, detector_key = {}, library_sha256 = {}, library = {};
  const model::Digest* content = nullptr;
  std::string_view origin = {};  // of a run without an id: its file and line, if there is one
  DetectorCode code = DetectorCode::evaluate;
};

class CrashContextScope {
 public:
  explicit CrashContextScope(const CrashContext& context);
  ~CrashContextScope();
  CrashContextScope(const CrashContextScope&) = delete;
  CrashContextScope& operator=(const CrashContextScope&) = delete;
};

}  // namespace runwarden::detect
