#include "cli/command_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "detect/crash_note.h"

namespace runwarden::cli {
namespace {

constexpr timespec kLook{0, 200'000'000};  // between looks at the child
constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kPassedOn) sigaddset(&set, number);
  sigaddset(&set, SIGCHLD);
  return set;
}

// As the child did. Its core is enough.
[[noreturn]] void end_by(int signal) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);  // as process 1 of a container, which no signal of its own ends
}

class Parent {
 public:
  Parent(pid_t child, std::ostream& err, const CallPatience& patience) : child_(child), err_(err), patience_(patience) {}

  [[noreturn]] void wait() {
    const sigset_t awaited = awaited_signals();
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) != child_) {
      const int number = ::sigtimedwait(&awaited, nullptr, &kLook);
      if (number > 0 && number != SIGCHLD) ::kill(child_, number);
      look();
    }
    if (given_up_) ::_exit(EXIT_FAILURE);
    if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
    const auto code = detect::CrashMessage::exit_code();
    if (!code) {
      detect::CrashMessage::write_for_child();
      ::_exit(EXIT_FAILURE);
    }
    ::_exit(WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : *code);  // not 0: what a sanitizer found at the end
  }

 private:
  void look() {
    const auto call = detect::CrashMessage::outside_of_runs();
    if (!call || given_up_ || call->ms < patience_.notice_ms) return;
    const std::string text = call->what + " for " + std::to_string(call->ms / 1000) + " s";
    if (call->ms >= patience_.give_up_ms) {
      err_ << "runwarden: " << text << ": it is given up. Correct or disable the detector." << std::endl;
      ::kill(child_, SIGKILL);
      given_up_ = true;
    } else if (call->since_ns != noticed_ns_) {
      err_ << "runwarden: waiting: " << text << std::endl;
      noticed_ns_ = call->since_ns;
    }
  }

  const pid_t child_;
  std::ostream& err_;
  const CallPatience patience_;
  std::int64_t noticed_ns_ = 0;  // since when the call is made that was told last
  bool given_up_ = false;
};

}  // namespace

Status go_on_in_child(std::ostream& err, const CallPatience& patience) {
  static bool is_child = false;
  if (is_child) return Nothing{};
  if (Status made = detect::CrashMessage::share(); !made.ok()) return made;
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would leave no exit status
  const sigset_t awaited = awaited_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child > 0) Parent(child, err, patience).wait();
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return Error{Code::internal, std::string("cannot start a child process: ") + std::strerror(error), {}, {}};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);
  is_child = true;
  detect::CrashMessage::watch();
  return Nothing{};
}

}  // namespace runwarden::cli
