// Keeps in the store which runs crashed the process inside a detector, so that no later process gives such a run to that detector again.
//
// record_previous() before anything else judges runs; refresh() from one thread.
#pragma once

#include <filesystem>
#include <utility>

#include "base/log_function.h"
#include "detect/crash_marks.h"
#include "model/records.h"
#include "store/store.h"

namespace runwarden::ingest {

class CrashRecorder {
 public:
  // The store and the marks outlive it.
  CrashRecorder(store::Store& store, detect::CrashMarks& marks, LogFunction log) : store_(store), marks_(marks), log_(std::move(log)) {}

  // Stores the crash note of the previous process, if `note_file` holds one, and has this process write its own there.
  void record_previous(const std::filesystem::path& note_file);
  // Reads the marks again: a purge or retention may have deleted some.
  void refresh();

 private:
  void keep(model::CrashMark mark);

  store::Store& store_;
  detect::CrashMarks& marks_;
  LogFunction log_;
  bool all_stored_ = true;  // false: the store was full, and a mark is only in marks_
};

}  // namespace runwarden::ingest
