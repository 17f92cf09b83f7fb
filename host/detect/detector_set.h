// The configured detectors: their loaded libraries, one instance of each for each worker, and the settings of tenants.
//
// load(), list() and the destructor: one thread at a time. evaluate(): any number of threads, but no two with the same worker number.
// Immutable after load(). A reload builds a new set; the old one is destroyed with its last shared_ptr. Libraries are never unloaded, and
// a library with the same bytes is loaded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log_function.h"
#include "base/result.h"
#include "base/work_pool.h"
#include "model/detector_settings.h"
#include "model/record_key.h"
#include "model/run.h"
#include "model/verdict.h"

namespace runwarden::detect {

// Called from any thread.
using LogSink = std::function<void(LogLevel level, std::string_view text)>;

// Formats a fault in a detector's settings with its location in the configuration. Takes the tenant (empty: the default settings), the
// detector key, and the fault with its JSON Pointer (RFC 6901) into the settings. config::DetectorLocations::fault has this signature.
using SettingsFault = std::function<std::string(const std::string& tenant, const std::string& key, const FieldFault& fault)>;

// How many of a detector's log lines are kept: the first 20 of each second, for a service with a bounded log, or all.
enum class LogRate : std::uint8_t { bounded, unbounded };

// Where libraries may lie: only on the search path, where nobody but root and the service's user can change them, or, to try one, anywhere.
enum class LibraryPlace : std::uint8_t { guarded, anywhere };

// Whether crashes in earlier processes count toward the quarantine: when a process starts, but not at a reload, which ends a quarantine.
enum class EarlierCrashes : std::uint8_t { ignored, counted };

class AbandonedCalls;
class CrashMarks;

struct LoadContext {
  std::filesystem::path private_folder;  // libraries are copied here before loading; empty: into memory
  std::size_t workers = 1;               // evaluate() is called with worker numbers 0 to workers - 1
  const Clock* clock = nullptr;          // outlives the set
  LogSink log;                           // empty: nothing is logged
  LogRate log_rate = LogRate::bounded;   // of each detector
  LibraryPlace library_place = LibraryPlace::guarded;
  SettingsFault settings_fault;               // empty: the text names the entry's location and the pointer
  const CrashMarks* crash_marks = nullptr;    // outlives the set; null: no crashes are known
  EarlierCrashes earlier_crashes = EarlierCrashes::ignored;
  AbandonedCalls* abandoned_calls = nullptr;  // shared by the sets of a process, outlives them; null: the set keeps its own counts
  std::function<void(std::function<void()>)> destroy_on;  // runs the destruction of the set; empty: who releases it last does
};

struct DetectorInfo {
  std::string key;
  std::string title, version, abi;  // empty if not loaded; abi: the version the library needs, "1.0"
  std::filesystem::path library;    // the file found, or the configured name if none was found
  std::string sha256;               // of the file, lower-case hexadecimal
  std::string settings_json;        // effective for the tenant; empty: no settings
  std::string settings_hash;        // SHA-256 of the settings as canonical JSON; empty if not loaded
  model::DetectorMode mode = model::DetectorMode::live;
  bool enabled = true;  // false: switched off, or disabled by the tenant
  bool optional = false;
  bool loaded = true;  // false: it is switched off, or it is optional and could not be loaded; then `fault` says why
  std::string fault;
  bool quarantined = false;
  std::string quarantine_reason;
  std::uint64_t evaluations = 0, errors = 0, timeouts = 0;
};

// Whether detectors explain their results, which costs time and memory.
enum class Explain : std::uint8_t { no, yes };

// A run to evaluate. Shared, because an abandoned detector call may read it long after the evaluation is complete.
struct EvaluationRequest {
  std::shared_ptr<const model::Run> run;
  std::string tenant;
  model::Digest content{};  // digest of the bytes of a run that was sent whole; zeros: the run was assembled from events
  Explain explain = Explain::no;
  std::string origin = {};  // for messages about a run without an id: its file and line
};

struct EvaluationResult {
  model::Verdict verdict;
  bool run_in_use = false;  // an abandoned call still reads the run: it must not be modified or moved
};

// How an evaluation reports its result.
struct EvaluationCallbacks {
  std::function<void(std::size_t worker, EvaluationResult)> done;  // called once, on a pool thread, with its worker number
  std::function<void()> failed;                                    // `done` or the evaluation threw after it had moved to another thread
};

class DetectorSet : public std::enable_shared_from_this<DetectorSet> {
 public:
  // Returns the set, or validation_failed with all faults, one per line of `detail`. A fault of an optional detector is only logged and
  // reported by list().
  static Result<std::shared_ptr<DetectorSet>> load(const model::DetectorSettings& settings, LoadContext context);

  ~DetectorSet();
  DetectorSet(const DetectorSet&) = delete;
  DetectorSet& operator=(const DetectorSet&) = delete;

  // Evaluates the run with the tenant's detectors and waits for all of them. Never fails: the reports name detectors that failed.
  model::Verdict evaluate(const model::Run& run, std::string_view tenant, std::size_t worker, Explain explain = Explain::no);

  // The same for a service: a call that does not return soon after its deadline is abandoned together with its thread, and the evaluation
  // continues without it on another thread. False: the caller's thread has been abandoned and must return from its task (see
  // WorkPool::run_with_deadline).
  bool evaluate(EvaluationRequest request, std::size_t worker, WorkPool& pool, EvaluationCallbacks callbacks);

  // All configured detectors by key, with the tenant's settings (empty tenant: the default settings).
  std::vector<DetectorInfo> list(std::string_view tenant = {}) const;

  // How many of them are switched on.
  std::size_t enabled_count() const;

  std::size_t workers() const;

 private:
  struct State;
  explicit DetectorSet(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace runwarden::detect
