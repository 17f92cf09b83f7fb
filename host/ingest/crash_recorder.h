// Records in the store which runs crashed the process inside a detector, so that later processes never give such a run to that detector
// again.
//
// Call record_previous() before any run is judged; refresh() from one thread.
#pragma once

#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/log_function.h"
#include "detect/crash_marks.h"
#include "model/crash_mark.h"
#include "store/store.h"

namespace runwarden::ingest {

class CrashRecorder {
 public:
  // The store, the marks and the clock must outlive this object.
  CrashRecorder(store::Store& store, detect::CrashMarks& marks, const Clock& clock, LogFunction log)
      : store_(store), marks_(marks), clock_(clock), log_(std::move(log)) {}

  // Stores the crashes that `note_file` tells of, and makes this process write its own there.
  void record_previous(const std::filesystem::path& note_file);
  // Reads the marks again, because a purge or retention may have deleted some.
  void refresh();

 private:
  void record(model::CrashMark mark);

  store::Store& store_;
  detect::CrashMarks& marks_;
  const Clock& clock_;
  LogFunction log_;
  bool all_stored_ = true;  // false: the store was full, so a mark exists only in marks_
};

}  // namespace runwarden::ingest
