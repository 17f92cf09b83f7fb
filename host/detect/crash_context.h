// Names the code of a detector library that this thread is inside. Set around each call into it, read by the signal handlers of CrashNote
// and CrashMessage if the process crashes, and by the watch of a LibraryThread if the call does not return. One per thread. A scope inside
// another has its place until it ends. Costs a few stores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/record_key.h"

namespace runwarden::detect {

enum class DetectorCode : std::uint8_t { evaluate, create, destroy, load };  // load: the constructors of the library

// Views; the text outlives the call.
struct CrashContext {
  std::string_view tenant = {}, run_id = {}, detector_key = {}, library_sha256 = {}, library = {};
  const model::Digest* content = nullptr;
  std::string_view origin = {};  // of a run without an id: its file and line, if there is one
  DetectorCode code = DetectorCode::evaluate;
};

// Of code that belongs to no run: "detector "dh" (/usr/lib/dh.so) has not returned from create".
std::string without_end(const CrashContext& context);

// Learns what code its thread is inside; null: none.
class CodeObserver {
 public:
  virtual ~CodeObserver() = default;
  virtual void inside(const CrashContext* context) = 0;
};
// From then on, for this thread. The observer outlives the thread.
void observe_code(CodeObserver* observer);

struct CallSlot;

class CrashContextScope {
 public:
  explicit CrashContextScope(const CrashContext& context);
  ~CrashContextScope();
  CrashContextScope(const CrashContextScope&) = delete;
  CrashContextScope& operator=(const CrashContextScope&) = delete;

 private:
  const CrashContext* const outer_;
  CallSlot* const slot_;  // in the crash file; may be null
};

}  // namespace runwarden::detect
