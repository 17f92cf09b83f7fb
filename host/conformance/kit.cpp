#include "conformance/kit.h"

#include <runwarden/detector.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "conformance/process_state.h"
#include "conformance/runs.h"
#include "detect/abi_run_view.h"
#include "detect/abi_text.h"
#include "detect/call.h"
#include "detect/entry_check.h"
#include "detect/inspect.h"
#include "detect/instance.h"
#include "detect/settings_check.h"
#include "intake/run_reader.h"

// Only defined in a host built with AddressSanitizer.
extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

namespace runwarden::conformance {
namespace {

using Kind = CaseOutcome::Kind;
using Json = nlohmann::json;

constexpr std::int64_t kNsPerMs = 1'000'000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kSlowdown = 10;  // of a host and plugins under a sanitizer
#else
constexpr std::int64_t kSlowdown = 1;
#endif
constexpr std::int64_t kPatienceMs = kSlowdown * 5'000;  // per run: 20 times the default deadline, because build machines are slow
constexpr std::int64_t kStopWithinMs = 1'000;
constexpr int kRepeats = 100;
constexpr int kRepeatsWithRuns = 10;
constexpr int kThreads = 4;
constexpr int kRepeatsAThread = 25;
constexpr const char* kNoSuchSetting = "no_such_setting_of_any_detector";

std::int64_t ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
}

// A detector's answer for a run; equal texts mean equal answers.
struct DetectorAnswer {
  std::string fault;  // why the host would reject it
  std::string text;
  bool explained = false;
  std::string explanation_refused;
};

std::string answer_text(const detect::Call& call, rw_status status) {
  Json answer = {{"status", status}, {"abstained", call.abstained}, {"findings", Json::array()}, {"suppressed", Json::array()}};
  for (const model::Finding& one : call.findings) {
    Json evidence = Json::array();
    for (const model::Evidence& piece : one.evidence) evidence.push_back({piece.pointer, piece.value});
    answer["findings"].push_back({one.suspicion_score, model::name(one.severity), model::name(one.source), one.title, one.summary,
                                  one.primary_step_id, evidence, one.waste_usd.value_or(-1), one.fingerprint, one.confidence.value_or(-1)});
  }
  for (const model::Suppression& one : call.suppressed)
    answer["suppressed"].push_back({one.rule, one.step_id, one.reason, one.confidence.value_or(-1)});
  return answer.dump();
}

// A long run may have more failures than one call can report.
bool may_be_too_many(const model::Run& run) {
  return run.steps.size() > RW_MAX_FINDINGS;
}

std::string fault_of(const detect::Instance::AbiResult& result, const detect::Call& call, bool stopping) {
  if (!result.thrown.empty()) return result.thrown;
  if (result.status == RW_STOPPED) return stopping ? "" : "answered RW_STOPPED though should_stop was 0";
  if (result.status == RW_OK) return call.rejection();
  if (result.status > RW_OK) return "answered status " + std::to_string(result.status) + "; only RW_OK (0) and negative codes exist";
  return "answered status " + std::to_string(result.status) + (call.failure.empty() ? " without a text (fail)" : ": " + call.failure) +
         (call.rejection().empty() ? "" : "; " + call.rejection());
}

std::string excess_of(const detect::Call& call) {
  if (call.dropped > 0) return std::to_string(call.dropped) + " findings exceeded the limit of " + std::to_string(RW_MAX_FINDINGS);
  return {};
}

// A loaded detector under test.
class Subject {
 public:
  Subject(const rw_detector& detector, const Target& from)
      : detector_(detector), settings_json_(from.settings_json.empty() ? "{}" : from.settings_json), host_(from.key, clock_, {}) {}

  const rw_info& info() const { return *detector_.info; }
  const std::string& settings_json() const { return settings_json_; }
  bool offers(std::uint64_t cap) const { return ((info().required_caps | info().optional_caps) & cap) != 0; }

  Result<detect::Instance> create() { return create(settings_json_); }
  Result<detect::Instance> create(const std::string& settings_json) {
    return detect::Instance::create(detector_, host_, clock_, settings_json);
  }

  // Evaluates within `patience_ms`; 0: it must stop at once.
  DetectorAnswer evaluate(detect::Instance& instance, const model::Run& run, std::int64_t patience_ms = kPatienceMs,
                          detect::Explain explain = detect::Explain::no) {
    const detect::AbiRunView view(run, "conformance");
    const auto begin = std::chrono::steady_clock::now();
    detect::Call call(clock_, run, detect::view(info().key), clock_.monotonic_ns() + patience_ms * kNsPerMs);
    if (explain == detect::Explain::yes) call.ask_for_explanation();
    const detect::Instance::AbiResult result = instance.evaluate(view.raw(), call.raw());
    const std::int64_t took_ms = ms_since(begin);
    DetectorAnswer answer{fault_of(result, call, patience_ms == 0), answer_text(call, result.status), !call.explanation.empty(),
                          call.explanation_refused};
    if (answer.fault.empty() && !may_be_too_many(run)) answer.fault = excess_of(call);
    const std::int64_t bound_ms = patience_ms == 0 ? kStopWithinMs : patience_ms;
    if (answer.fault.empty() && took_ms > bound_ms) {
      answer.fault = "took " + std::to_string(took_ms) + " ms, at most " + std::to_string(bound_ms) + " ms are allowed here";
      answer.fault += patience_ms == 0 ? "; ask should_stop in every loop" : "; evaluate must be linear in the run's length";
    }
    return answer;
  }

 private:
  const rw_detector& detector_;
  const std::string settings_json_;
  const SystemClock clock_;
  detect::HostServices host_;
};

CaseOutcome failed(std::string text) {
  return {Kind::failed, std::move(text)};
}
CaseOutcome skipped(std::string text) {
  return {Kind::skipped, std::move(text)};
}

model::Run read(const std::string& json) {
  auto run = intake::read_run(json, intake::RunLimits{}, "conformance");
  return run.ok() ? std::move(*run) : model::Run{};
}

std::vector<model::Run> read_all(const std::vector<std::string>& texts) {
  std::vector<model::Run> runs;
  runs.reserve(texts.size());
  for (const std::string& text : texts) runs.push_back(read(text));
  return runs;
}

std::vector<model::Run> runs_of_all_kinds() {
  std::vector<model::Run> runs = read_all(ordinary_runs());
  for (auto& more : {empty_runs(), null_runs()}) {
    for (const std::string& text : more) runs.push_back(read(text));
  }
  return runs;
}

CaseOutcome shown(Subject& subject, const std::vector<std::string>& texts) {
  auto instance = subject.create();
  if (!instance.ok()) return failed("create: " + instance.error().detail);
  const std::vector<model::Run> runs = read_all(texts);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const DetectorAnswer answer = subject.evaluate(*instance, runs[i]);
    if (!answer.fault.empty()) return failed("run " + std::to_string(i + 1) + " of " + std::to_string(runs.size()) + ": " + answer.fault);
  }
  return {};
}

CaseOutcome settings(Subject& subject) {
  const auto faults = detect::settings_faults(detect::view(subject.info().config_schema_json), subject.settings_json());
  if (!faults.empty()) return failed("the given settings do not match its schema: settings" + faults[0].pointer + ": " + faults[0].detail);
  auto instance = subject.create();
  return instance.ok() ? CaseOutcome{} : failed(instance.error().detail);
}

// Invalid settings: an unknown one, and each setting in the schema with a value of each wrong type.
std::vector<Json> wrong_settings(std::string_view schema_text) {
  std::vector<Json> all = {{{kNoSuchSetting, 1}}};
  const Json schema = Json::parse(schema_text, nullptr, false);
  if (!schema.is_object() || !schema.contains("properties")) return all;
  for (const auto& [name, unused] : schema["properties"].items()) {
    for (const Json& value : {Json(), Json(true), Json(-1), Json(1e300), Json(std::string(70'000, 'x')), Json::array({Json::array()}),
                              Json{{"a", Json::array()}}}) {
      all.push_back({{name, value}});
    }
  }
  return all;
}

CaseOutcome invalid_settings(Subject& subject) {
  const std::string_view schema = detect::view(subject.info().config_schema_json);
  const std::string unknown = Json{{kNoSuchSetting, 1}}.dump();
  const bool schema_refuses = !detect::settings_faults(schema, unknown).empty();
  for (const Json& wrong : wrong_settings(schema)) {
    auto instance = subject.create(wrong.dump());  // bypasses the schema, on which create must not rely
    if (!instance.ok() && instance.error().detail.rfind("threw an exception", 0) == 0)
      return failed("create with wrong settings " + instance.error().detail);
    if (instance.ok() && wrong.contains(kNoSuchSetting) && !schema_refuses)
      return failed(
          "neither its schema nor create rejects unknown settings, so a misspelled one goes unnoticed. Add \"additionalProperties\": "
          "false to config_schema_json.");
  }
  return {};
}

CaseOutcome deterministic(Subject& subject) {
  if (!subject.offers(RW_CAP_DETERMINISTIC)) return skipped("does not offer RW_CAP_DETERMINISTIC");
  auto instance = subject.create();
  if (!instance.ok()) return failed("create: " + instance.error().detail);
  const std::vector<model::Run> runs = runs_of_all_kinds();
  std::vector<std::string> first;
  first.reserve(runs.size());
  for (const model::Run& run : runs) first.push_back(subject.evaluate(*instance, run).text);
  for (int repeat = 1; repeat < kRepeats; ++repeat) {
    auto other = subject.create();
    if (!other.ok()) return failed("create: " + other.error().detail);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string now = subject.evaluate(repeat % 2 == 0 ? *instance : *other, runs[i]).text;
      if (now != first[i])
        return failed("repeat " + std::to_string(repeat) + " of run " + std::to_string(i + 1) + " gave a different answer: first " +
                      first[i].substr(0, 200) + ", then " + now.substr(0, 200));
    }
  }
  return {};
}

CaseOutcome explained(Subject& subject) {
  auto instance = subject.create();
  if (!instance.ok()) return failed("create: " + instance.error().detail);
  std::vector<model::Run> runs = runs_of_all_kinds();
  for (const std::string& text : unusual_runs()) runs.push_back(read(text));
  runs.push_back(read(long_run()));
  bool any = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const DetectorAnswer with_explanation = subject.evaluate(*instance, runs[i], kPatienceMs, detect::Explain::yes);
    const std::string which = "run " + std::to_string(i + 1) + " of " + std::to_string(runs.size()) + ": ";
    if (!with_explanation.explanation_refused.empty())
      return failed(which + "its explanation was rejected: " + with_explanation.explanation_refused);
    any |= with_explanation.explained;
    if (!any) continue;
    if (!with_explanation.fault.empty()) return failed(which + with_explanation.fault);
    const DetectorAnswer plain = subject.evaluate(*instance, runs[i]);
    if (plain.text != with_explanation.text)
      return failed(which + "gave a different answer when asked to explain it: first " + plain.text.substr(0, 200) + ", then " +
                    with_explanation.text.substr(0, 200));
  }
  return any ? CaseOutcome{} : skipped("gives no explanation");
}

CaseOutcome concurrent(Subject& subject) {
  if (!subject.offers(RW_CAP_CONCURRENT)) return skipped("does not offer RW_CAP_CONCURRENT: one call at a time per instance");
  auto instance = subject.create();
  if (!instance.ok()) return failed("create: " + instance.error().detail);
  const std::vector<model::Run> runs = runs_of_all_kinds();
  std::vector<DetectorAnswer> alone;
  alone.reserve(runs.size());
  for (const model::Run& run : runs) alone.push_back(subject.evaluate(*instance, run));
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < runs.size() * kRepeatsAThread && wrong[static_cast<std::size_t>(t)].empty(); ++i) {
        const std::size_t at = (i + static_cast<std::size_t>(t)) % runs.size();
        const DetectorAnswer answer = subject.evaluate(*instance, runs[at]);
        if (answer.text == alone[at].text && answer.fault == alone[at].fault) continue;
        wrong[static_cast<std::size_t>(t)] = answer.fault.empty() ? answer.text.substr(0, 200) : answer.fault;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) {
    if (!text.empty()) return failed(std::to_string(kThreads) + " concurrent threads gave a different answer than one: " + text);
  }
  return {};
}

CaseOutcome should_stop(Subject& subject) {
  auto instance = subject.create();
  if (!instance.ok()) return failed("create: " + instance.error().detail);
  const DetectorAnswer answer = subject.evaluate(*instance, read(long_run()), 0);
  return answer.fault.empty() ? CaseOutcome{} : failed("with should_stop set from the start: " + answer.fault);
}

std::size_t entries_of(const char* folder) {
  std::error_code ignored;
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder, ignored), {}));
}

// What the process holds beside memory.
struct ProcessResources {
  std::size_t threads = entries_of("/proc/self/task"), descriptors = entries_of("/proc/self/fd");

  // What there is more of than before; empty: nothing.
  std::string grown(const ProcessResources& before) const {
    if (threads > before.threads) return std::to_string(threads - before.threads) + " more threads";
    if (descriptors > before.descriptors) return std::to_string(descriptors - before.descriptors) + " more open descriptors";
    return {};
  }
};

// Creates an instance, has it look at the runs, and destroys it.
std::string live_once(Subject& subject, const std::vector<model::Run>& runs) {
  auto instance = subject.create();
  if (!instance.ok()) return "create: " + instance.error().detail;
  for (const model::Run& run : runs) subject.evaluate(*instance, run);
  return {};
}

CaseOutcome create_destroy(Subject& subject) {
  const ProcessState untouched;
  ProcessResources before;
  if (const std::string fault = live_once(subject, {}); !fault.empty()) return failed(fault);
  before.descriptors = ProcessResources().descriptors;  // the first one may open what stays for all
  for (int i = 1; i < kRepeats; ++i) {
    if (const std::string fault = live_once(subject, {}); !fault.empty()) return failed("time " + std::to_string(i + 1) + ": " + fault);
  }
  const std::string times = " after " + std::to_string(kRepeats) + " times; ";
  if (const std::string more = ProcessResources().grown(before); !more.empty())
    return failed(more + times + "destroy must release what create allocated");
  const std::vector<model::Run> runs = runs_of_all_kinds();
  live_once(subject, runs);
  const ProcessResources warm;
  for (int i = 0; i < kRepeatsWithRuns; ++i) live_once(subject, runs);
  const std::string evaluations = " after " + std::to_string(kRepeatsWithRuns * runs.size()) + " runs; ";
  if (const std::string more = ProcessResources().grown(warm); !more.empty())
    return failed(more + evaluations + "what evaluate opens, evaluate or destroy must close");
  const std::string changed = ProcessState().changed_since(untouched);
  return changed.empty() ? CaseOutcome{} : failed(changed);
}

CaseOutcome leaks(Subject& subject) {
  if (__lsan_do_recoverable_leak_check == nullptr) return skipped("this host was not built with AddressSanitizer");
  {
    const std::vector<model::Run> runs = runs_of_all_kinds();
    for (int i = 0; i < 3; ++i) {
      auto instance = subject.create();
      if (!instance.ok()) return failed("create: " + instance.error().detail);
      for (const model::Run& run : runs) subject.evaluate(*instance, run);
    }
  }
  return __lsan_do_recoverable_leak_check() == 0 ? CaseOutcome{} : failed("leaked memory; see LeakSanitizer's report on standard error");
}

struct Case {
  std::string name;
  std::function<CaseOutcome(Subject&)> run;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"create", settings},
      {"empty_run", [](Subject& subject) { return shown(subject, empty_runs()); }},
      {"null_fields", [](Subject& subject) { return shown(subject, null_runs()); }},
      {"ordinary_runs", [](Subject& subject) { return shown(subject, ordinary_runs()); }},
      {"unusual_text", [](Subject& subject) { return shown(subject, unusual_runs()); }},
      {"long_run", [](Subject& subject) { return shown(subject, {long_run()}); }},
      {"should_stop", should_stop},
      {"invalid_settings", invalid_settings},
      {"deterministic", deterministic},
      {"explained", explained},
      {"concurrent", concurrent},
      {"create_destroy", create_destroy},
      {"leaks", leaks},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Case& one : cases()) all.push_back(one.name);
    return all;
  }();
  return names;
}

Result<std::vector<std::string>> detector_keys(const std::filesystem::path& library) {
  const detect::Inspection found = detect::inspect(library, {});
  if (!found.loadable) return Error{Code::validation_failed, found.refusal, {}, {}};
  std::vector<std::string> keys;
  for (const auto& detector : found.detectors) keys.push_back(detector.key);
  return keys;
}

CaseOutcome run_case(const Target& from, std::string_view name) {
  auto file = detect::read_library(from.library);
  if (!file.ok()) return failed(file.error().detail);
  auto entry = detect::take_entry(*file, {});
  if (!entry.ok()) return failed(entry.error().detail);
  const rw_detector* detector = detect::detector_of(**entry, from.key);
  if (detector == nullptr) return failed("the library has no detector \"" + from.key + "\", but " + detect::keys_of(**entry));
  Subject subject(*detector, from);
  for (const Case& one : cases()) {
    if (one.name == name) return one.run(subject);
  }
  return failed("unknown case \"" + std::string(name) + "\"");
}

}  // namespace runwarden::conformance
