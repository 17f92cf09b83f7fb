#include "cli/conformance.h"

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "base/json_text.h"
#include "cli/child_process.h"
#include "cli/detector_settings.h"
#include "cli/table.h"
#include "conformance/kit.h"

namespace runwarden::cli {
namespace {

using Kind = conformance::CaseOutcome::Kind;
using Clock = std::chrono::steady_clock;

constexpr const char* kCreate = "create";

struct CaseResult {
  std::string detector;
  std::string name;
  conformance::CaseOutcome outcome;
  std::int64_t elapsed_ms = 0;
};

const char* name(Kind kind) {
  switch (kind) {
    case Kind::passed: return "passed";
    case Kind::failed: return "failed";
    case Kind::skipped: return "skipped";
  }
  return "failed";
}

// Runs `body` in a child process; a crash or timeout is an outcome too. The child sends the kind as a byte, then the text.
conformance::CaseOutcome in_child(const std::function<conformance::CaseOutcome()>& body, int timeout_s) {
  auto child = ChildProcess::start([&body](int socket) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    const conformance::CaseOutcome outcome = body();
    send_all(socket, static_cast<char>('0' + static_cast<int>(outcome.kind)) + outcome.text);
  });
  if (!child.ok()) return {Kind::failed, child.error().detail};
  const auto end = ChildProcess::Clock::now() + std::chrono::seconds(timeout_s);
  std::string message;
  ChildProcess::Read read = ChildProcess::Read::more;
  while (read == ChildProcess::Read::more) read = child->read(message, end);
  if (read == ChildProcess::Read::late) return {Kind::failed, "did not end within " + std::to_string(timeout_s) + " s"};
  const std::string how = child->wait();
  if (!how.empty()) return {Kind::failed, how};
  if (message.empty()) return {Kind::failed, "ended the process with exit status 0"};
  return {static_cast<Kind>(message[0] - '0'), message.substr(1)};
}

class Checker {
 public:
  Checker(const Conformance& wanted, std::string settings_json)
      : wanted_(wanted), library_(std::filesystem::absolute(wanted.library).lexically_normal()), settings_json_(std::move(settings_json)) {}

  std::vector<CaseResult> run() {
    // The library is loaded in a child too, because its constructors may crash.
    const auto load = [this]() -> conformance::CaseOutcome {
      const auto keys = conformance::detector_keys(library_);
      if (!keys.ok()) return {Kind::failed, keys.error().detail};
      std::string text;
      for (const std::string& key : *keys) text += key + "\n";
      return {Kind::passed, std::move(text)};
    };
    add("", "load", load);
    conformance::CaseOutcome& loaded = results_.back().outcome;
    if (loaded.kind != Kind::passed) return std::move(results_);
    std::string keys;
    keys.swap(loaded.text);
    for (std::size_t at = 0; at < keys.size();) {
      const std::size_t end = keys.find('\n', at);
      check(keys.substr(at, end - at));
      at = end + 1;
    }
    if (results_.size() == 1) loaded = {Kind::failed, "the library has no detector \"" + wanted_.key + "\""};
    return std::move(results_);
  }

 private:
  void check(const std::string& key) {
    if (!wanted_.key.empty() && key != wanted_.key) return;
    const conformance::Target subject{library_, key, settings_json_};
    bool created = true;  // if create fails, the other cases could only repeat why
    for (const std::string& name : wanted_.cases.empty() ? conformance::case_names() : wanted_.cases) {
      if (!created) {
        results_.push_back({key, name, {Kind::skipped, "create failed"}, 0});
        continue;
      }
      add(key, name, [&] { return conformance::run_case(subject, name); });
      conformance::CaseOutcome& outcome = results_.back().outcome;
      if (name != kCreate || outcome.kind != Kind::failed) continue;
      created = false;
      if (settings_json_.empty()) outcome.text += std::string("; ") + kSettingsHint;
    }
  }

  void add(const std::string& key, const std::string& name, const std::function<conformance::CaseOutcome()>& body) {
    const auto begin = Clock::now();
    conformance::CaseOutcome outcome = in_child(body, wanted_.timeout_s);
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
    results_.push_back({key, name, std::move(outcome), elapsed});
  }

  const Conformance& wanted_;
  const std::filesystem::path library_;
  const std::string settings_json_;
  std::vector<CaseResult> results_;
};

void print_results(std::ostream& out, const std::vector<CaseResult>& results, std::size_t wanting) {
  Table table({"DETECTOR", "CASE", "RESULT", "TIME", "NOTE"});
  for (const CaseResult& one : results) {
    table.add({one.detector.empty() ? "-" : one.detector, one.name, name(one.outcome.kind), std::to_string(one.elapsed_ms) + " ms",
               one.outcome.text});
  }
  table.print(out);
  out << (wanting == 0 ? "conformant" : std::to_string(wanting) + " of " + std::to_string(results.size()) + " cases failed") << "\n";
}

std::string results_json(const std::string& library, const std::vector<CaseResult>& results, std::size_t wanting) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("file").string(library).key("conformant").boolean(wanting == 0).key("cases").begin_array();
  for (const CaseResult& one : results) {
    out.begin_object();
    if (!one.detector.empty()) out.key("detector").string(one.detector);
    out.key("case").string(one.name).key("result").string(name(one.outcome.kind)).key("elapsedMillis").integer(one.elapsed_ms);
    if (!one.outcome.text.empty()) out.key("note").string(one.outcome.text);
    out.end_object();
  }
  out.end_array().end_object();
  return text;
}

}  // namespace

int check_conformance(Context& context, const Conformance& wanted) {
  std::string settings_json;
  if (!wanted.settings.empty()) {
    auto given = detector_settings_json(context, wanted.settings);
    if (!given) return kWanting;
    settings_json = std::move(*given);
  }
  const std::vector<CaseResult> results = Checker(wanted, std::move(settings_json)).run();
  std::size_t wanting = 0;
  for (const CaseResult& one : results) wanting += one.outcome.kind == Kind::failed ? 1 : 0;
  if (wanted.json) {
    context.out << results_json(wanted.library, results, wanting) << "\n";
  } else {
    print_results(context.out, results, wanting);
  }
  const int written = context.finish();
  return wanting == 0 ? written : kWanting;
}

}  // namespace runwarden::cli
