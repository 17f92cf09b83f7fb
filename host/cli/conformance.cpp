#include "cli/conformance.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/json_text.h"
#include "cli/conformance_kit.h"
#include "cli/detector_settings.h"
#include "cli/table.h"

namespace runwarden::cli {
namespace {

using Kind = CaseOutcome::Kind;
using Clock = std::chrono::steady_clock;

struct CaseResult {
  std::string detector;
  std::string name;
  CaseOutcome outcome;
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

// In the child: the first byte tells the kind, the rest is the text.
[[noreturn]] void tell_and_end(int pipe, const CaseOutcome& outcome) {
  std::string message(1, static_cast<char>('0' + static_cast<int>(outcome.kind)));
  message += outcome.text;
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t put = ::write(pipe, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  ::_exit(0);
}

CaseOutcome ended_badly(int status, int timeout_s, bool late) {
  if (late) return {Kind::failed, "did not end within " + std::to_string(timeout_s) + " s"};
  if (WIFSIGNALED(status))
    return {Kind::failed, "crashed: signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")"};
  return {Kind::failed, "ended the process with exit status " + std::to_string(WEXITSTATUS(status))};
}

// Everything that comes through the pipe until its other end closes or the time is up; `late` says which.
std::string read_until(int pipe, Clock::time_point end, bool& late) {
  std::string text;
  char bytes[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wanted{pipe, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&wanted, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    late = ready <= 0;
    if (late) return text;
    const ssize_t got = ::read(pipe, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(got));
  }
}

// Runs it in a child process; whatever that does to itself is the outcome.
CaseOutcome in_child(const std::function<CaseOutcome()>& body, int timeout_s) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {Kind::failed, std::string("cannot be run: ") + std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::close(ends[0]);
    tell_and_end(ends[1], body());
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {Kind::failed, std::string("cannot be run: ") + std::strerror(errno)};
  }
  bool late = false;
  std::string message = read_until(ends[0], Clock::now() + std::chrono::seconds(timeout_s), late);
  ::close(ends[0]);
  if (late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool told = !late && WIFEXITED(status) && WEXITSTATUS(status) == 0 && !message.empty();
  if (!told) return ended_badly(status, timeout_s, late);
  return {static_cast<Kind>(message[0] - '0'), message.substr(1)};
}

class Checker {
 public:
  Checker(const Conformance& wanted, std::string settings_json)
      : wanted_(wanted), library_(std::filesystem::absolute(wanted.library).lexically_normal()), settings_json_(std::move(settings_json)) {}

  std::vector<CaseResult> run() {
    // A child looks into the library, so that its constructors, too, cannot end the kit.
    const auto load = [this]() -> CaseOutcome {
      const auto keys = conformance_keys(library_);
      if (!keys.ok()) return {Kind::failed, keys.error().detail};
      std::string text;
      for (const std::string& key : *keys) text += key + "\n";
      return {Kind::passed, std::move(text)};
    };
    add("", "load", load);
    CaseOutcome& loaded = results_.back().outcome;
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
    const ConformanceSubject subject{library_, key, settings_json_};
    for (const std::string& name : wanted_.cases.empty() ? conformance_cases() : wanted_.cases) {
      add(key, name, [&] { return run_conformance_case(subject, name); });
    }
  }

  void add(const std::string& key, const std::string& name, const std::function<CaseOutcome()>& body) {
    const auto begin = Clock::now();
    CaseOutcome outcome = in_child(body, wanted_.timeout_s);
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
