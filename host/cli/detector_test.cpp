#include "cli/detector_test.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "base/mutex.h"
#include "cli/child_process.h"
#include "cli/detector_trial.h"
#include "cli/line_counts.h"
#include "cli/problem_line.h"
#include "cli/run_input.h"
#include "cli/stored_run.h"

namespace runwarden::cli {
namespace {

// The protocol between parent and child: numbers in host byte order, texts after their length. The parent sends runs (file, line, text).
// The child sends messages of a kind and a text: a TrialPart, or kDone with the exit code as a digit once loading or a run is done.
constexpr char kDone = 'D';
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

void append_number(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), kNumberBytes);
}

std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), kNumberBytes);
  return number;
}

void append_text(std::string& out, std::string_view text) {
  append_number(out, text.size());
  out += text;
}

// ---- The child -------------------------------------------------------------------------------------------------------

// Any thread.
class MessageWriter {
 public:
  explicit MessageWriter(int socket) : socket_(socket) {}

  void write(char kind, std::string_view text) {
    std::string message(1, kind);
    append_text(message, text);
    const MutexLock lock(mutex_);
    if (!send_all(socket_, message)) ::_exit(kWanting);  // the parent is gone
  }

 private:
  Mutex mutex_;  // a message is written whole
  const int socket_ RW_GUARDED_BY(mutex_);
};

bool receive(int socket, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(socket, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::uint64_t> receive_number(int socket) {
  char bytes[kNumberBytes];
  if (!receive(socket, bytes, sizeof bytes)) return std::nullopt;
  return number_at({bytes, sizeof bytes});
}

std::optional<std::string> receive_text(int socket) {
  const auto size = receive_number(socket);
  if (!size) return std::nullopt;
  std::string text(*size, '\0');
  if (!receive(socket, text.data(), text.size())) return std::nullopt;
  return text;
}

// Nothing at the end of the input.
std::optional<InputRun> receive_run(int socket) {
  auto file = receive_text(socket);
  const auto line = file ? receive_number(socket) : std::nullopt;
  auto text = line ? receive_text(socket) : std::nullopt;
  if (!text) return std::nullopt;
  return InputRun{std::move(*file), *line, std::move(*text)};
}

std::string_view digit(int exit_code) {
  return exit_code == kFine ? "0" : "1";
}

// Flushes what a detector printed through either library: the child ends without flushing.
void flush_printed() {
  std::cout.flush();
  std::fflush(nullptr);
}

void serve_trial(int socket, const DetectorTest& test) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // keeps printed lines if it crashes later
  MessageWriter writer(socket);
  const auto trial =
      DetectorTrial::load(test, [&writer](TrialPart part, std::string_view text) { writer.write(static_cast<char>(part), text); });
  writer.write(kDone, digit(trial ? kFine : kWanting));
  if (!trial) return;
  while (const auto run = receive_run(socket)) {
    const int code = trial->judge(*run);
    flush_printed();
    writer.write(kDone, digit(code));
  }
}

// ---- The parent ------------------------------------------------------------------------------------------------------

// Prints a trial's output under a line with the location of the current run.
class Report {
 public:
  Report(Context& context, bool json) : context_(context), json_(json) {}

  void begin(const InputRun& run) {
    run_ = &run;
    shown_ = false;
    lines_.clear();
  }
  void end() { run_ = nullptr; }

  void show(TrialPart part, std::string_view text) {
    switch (part) {
      case TrialPart::log: return show_log(text);
      case TrialPart::out:
        if (!json_) show_place();
        context_.out << text << std::flush;
        return;
      case TrialPart::err: context_.err << text << std::flush; return;
    }
  }

  // For a run that could not be read.
  void show_fault(const InputRun& run, const Error& error) {
    if (json_) context_.out << problem_line(error, run.file, run.line) << "\n" << std::flush;
    context_.err << fault_text(run, error) << std::flush;
  }

  // Takes the place of the answer.
  void show_crash(const std::string& how) {
    if (!json_) {
      show_place();
      context_.out << "  " << how << "\n" << std::flush;
      return;
    }
    std::string text = "{";
    write_place(text, *run_);
    text += ",";
    JsonWriter(text).key("crash").string(how);
    if (!lines_.empty()) text += ",\"log\":" + log_json(lines_);
    context_.out << text << "}\n" << std::flush;
  }

 private:
  void show_place() {
    if (!std::exchange(shown_, true)) context_.out << place_text(*run_) << "\n";
  }

  void show_log(std::string_view line) {
    if (run_ == nullptr) {
      context_.err << "runwarden: " << log_text(line) << "\n" << std::flush;
    } else if (json_) {
      lines_.emplace_back(line);
    } else {
      show_place();
      context_.out << "    " << log_text(line) << "\n" << std::flush;
    }
  }

  Context& context_;
  const bool json_;
  const InputRun* run_ = nullptr;
  bool shown_ = false;              // the location
  std::vector<std::string> lines_;  // logged by the run so far, in case it crashes
};

class Tester {
 public:
  Tester(Context& context, const DetectorTest& test)
      : context_(context),
        test_(test),
        report_(context, test.json),
        input_(static_cast<std::size_t>(config::Settings{}.limits.max_body_bytes),
               test.ndjson ? RunInput::Lines::always : RunInput::Lines::if_export) {}

  int run(std::vector<InputRun> stored) {
    if (start()) judge_all(std::move(stored));
    if (input_.open_runs() > 0) context_.err << "runwarden: skipped " << counted(input_.open_runs(), "open run") << " in exports\n";
    end_child();
    if (crashed_) {
      context_.err << "runwarden: to see where it crashed: gdb --args runwarden detectors test --in-process " << test_.library
                   << " RUN.json\n";
    }
    return std::max(worst_, context_.finish());
  }

 private:
  void judge_all(std::vector<InputRun> stored) {
    for (const InputRun& run : stored) {
      if (!judge(run)) return;
    }
    for (const std::string& file : test_.files) {
      if (!input_.read(file, [this](const InputRun& run) { return judge(run); })) return;
    }
  }

  // False: stop.
  bool judge(const InputRun& run) {
    if (!run.text.ok()) {
      report_.show_fault(run, run.text.error());
      note(kWanting);
      return context_.out.good();
    }
    if (!test_.in_process && !child_ && !start()) return false;
    report_.begin(run);
    if (test_.in_process) {
      note(trial_->judge(run));
    } else {
      judge_in_child(run);
    }
    report_.end();
    return context_.out.good();
  }

  bool start() {
    const auto sink = [this](TrialPart part, std::string_view text) { report_.show(part, text); };
    if (test_.in_process) {
      trial_ = DetectorTrial::load(test_, sink);
      return trial_ != nullptr || (note(kWanting), false);
    }
    context_.out.flush();
    flush_printed();  // or else the child would print it again
    auto child = ChildProcess::start([this](int socket) { serve_trial(socket, test_); });
    if (!child.ok()) return note(context_.refuse(child.error().detail)), false;
    child_.emplace(std::move(*child));
    const auto code = answer_of_child();
    if (code) return note(*code), *code == kFine;
    note(context_.refuse(test_.library + ": " + how_it_ended() + " while loading the library and creating its detectors"));
    return false;
  }

  void judge_in_child(const InputRun& run) {
    std::string request;
    append_text(request, run.file);
    append_number(request, run.line);
    append_text(request, *run.text);
    child_->send(request);
    if (const auto code = answer_of_child()) return note(*code);
    report_.show_crash(how_it_ended());
    note(kWanting);
  }

  // Shows the child's output until it is done, and returns its exit code. Nothing if it has ended or takes too long.
  std::optional<int> answer_of_child() {
    const auto end = ChildProcess::Clock::now() + std::chrono::seconds(test_.timeout_s);
    for (;;) {
      while (const auto message = next_message()) {
        if (message->first == kDone) return message->second == "0" ? kFine : kWanting;
        report_.show(static_cast<TrialPart>(message->first), message->second);
      }
      const auto read = child_->read(received_, end);
      late_ = read == ChildProcess::Read::late;
      if (read != ChildProcess::Read::more) return std::nullopt;
    }
  }

  std::optional<std::pair<char, std::string>> next_message() {
    constexpr std::size_t kHead = 1 + kNumberBytes;
    if (received_.size() < kHead) return std::nullopt;
    const std::uint64_t size = number_at(std::string_view(received_).substr(1));
    if (received_.size() - kHead < size) return std::nullopt;
    std::pair<char, std::string> message{received_[0], received_.substr(kHead, size)};
    received_.erase(0, kHead + size);
    return message;
  }

  // For a child that has stopped answering.
  std::string how_it_ended() {
    crashed_ = crashed_ || !late_;
    if (late_) child_->kill();
    const std::string how = child_->wait();
    child_.reset();
    received_.clear();
    if (late_) return "did not end within " + std::to_string(test_.timeout_s) + " s";
    return how.empty() ? "ended the process with exit status 0" : how;
  }

  // Lets the child destroy its detectors, which may crash too.
  void end_child() {
    if (!child_) return;
    child_->end_input();
    if (answer_of_child()) return;
    if (late_) child_->kill();
    const std::string how = late_ ? "did not end within " + std::to_string(test_.timeout_s) + " s" : child_->wait();
    if (!how.empty()) note(context_.refuse(test_.library + ": " + how + " while destroying its detectors"));
  }

  void note(int code) { worst_ = std::max(worst_, code); }

  Context& context_;
  const DetectorTest& test_;
  Report report_;
  RunInput input_;
  std::unique_ptr<DetectorTrial> trial_;  // if in_process
  std::optional<ChildProcess> child_;
  std::string received_;  // from the child, not yet parsed
  bool late_ = false;
  bool crashed_ = false;
  int worst_ = kFine;
};

}  // namespace

int test_detectors(Context& context, const DetectorTest& test) {
  std::vector<InputRun> stored;
  if (!test.run_ids.empty()) {
    auto found = stored_runs(context, test.tenant, test.run_ids);
    if (!found) return kWanting;
    stored = std::move(*found);
  }
  return Tester(context, test).run(std::move(stored));
}

}  // namespace runwarden::cli
