#include "ingest/crash_recorder.h"

#include <string>
#include <utility>

#include "base/time_text.h"
#include "detect/crash_note.h"

namespace runwarden::ingest {
namespace {

std::string named(const model::CrashMark& mark) {
  return "detector \"" + mark.detector_key + "\" (" + mark.library + ", SHA-256 " + mark.library_sha256 + ")";
}

// No tenant has an empty name.
std::string run_of(const model::CrashMark& mark) {
  if (mark.tenant_name.empty()) return "the test run of /readyz";
  return "run \"" + mark.run_id + "\" of tenant \"" + mark.tenant_name + "\"";
}

}  // namespace

void CrashRecorder::record_previous(const std::filesystem::path& note_file) {
  detect::PreviousEnd end = detect::CrashNote::read(note_file);
  refresh();
  for (model::CrashMark& crash : end.crashes) {
    if (crash.signal == detect::kUnseenSignal) crash.key.time_ms = clock_.wall_ms();
    log_(LogLevel::error, "detector_crash",
         named(crash) + " crashed the process (" + detect::signal_name(crash.signal) + ") at " + format_time(crash.key.time_ms) +
             " while evaluating " + run_of(crash) + "; that run is judged without it until its library changes. Fix or disable it.");
    record(std::move(crash));
  }
  for (const model::CrashMark& suspect : end.suspects) {
    log_(LogLevel::warn, "unfinished_call",
         "the previous process ended without stopping while " + named(suspect) + " was evaluating " + run_of(suspect) +
             "; if the next one ends so during the same call, it counts as a crash of that detector");
  }
  if (Status watched = detect::CrashNote::watch(note_file); !watched.ok()) {
    log_(LogLevel::warn, "crash_note", watched.error().detail + "; a run that crashes the process will not be recognized");
  }
}

void CrashRecorder::record(model::CrashMark mark) {
  try {
    for (const model::Tenant& tenant : store_.tenants()) {
      if (tenant.name == mark.tenant_name) mark.tenant = tenant.id;
    }
    marks_.add(mark);
    if (mark.tenant != 0) store_.put_crash_mark(std::move(mark));
  } catch (const store::StoreError& full) {
    all_stored_ = false;
    log_(LogLevel::warn, "crash_note", std::string("the crash mark of that run is lost at the next restart: ") + full.what());
  }
}

void CrashRecorder::refresh() {
  if (!all_stored_) return;
  try {
    marks_.put(store_.crash_marks());
  } catch (const store::StoreError& fault) {
    log_(LogLevel::error, "store_fault", fault.what());
  }
}

}  // namespace runwarden::ingest
