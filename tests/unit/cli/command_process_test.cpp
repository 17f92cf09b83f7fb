#include "cli/command_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "detect/crash_context.h"
#include "detect/crash_note.h"
#include "support/temp_folder.h"

namespace runwarden::cli {
namespace {

using detect::CrashContext;
using detect::CrashContextScope;
using detect::CrashMessage;
using detect::DetectorCode;

constexpr CallPatience kLong{600'000, 600'000};

// A command in processes of its own.
class CommandProcess : public testing::Test {
 protected:
  // Begins a command that does this in its child; `meanwhile` runs in the test, with the id of its parent.
  void run(const std::function<void()>& body, const CallPatience& patience = kLong, const std::function<void(pid_t)>& meanwhile = {}) {
    const pid_t parent = ::fork();
    if (parent == 0) {
      std::ofstream err(file_);
      ::dup2(::open(file_.c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
      if (go_on_in_child(err, patience).ok() && go_on_in_child(err, patience).ok()) body();
      ::_exit(0);
    }
    if (meanwhile) meanwhile(parent);
    ::waitpid(parent, &status_, 0);
    err_ = text();
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  [[noreturn]] static void stay(const CrashContext& context) {
    const CrashContextScope scope(context);
    for (;;) ::pause();
  }
  int code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }
  int signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

  static CrashContext inside(DetectorCode code) { return {.run_id = "r", .detector_key = "loop", .library = "/l.so", .code = code}; }

  const test::TempFolder folder_;
  const std::string file_ = folder_.path() / "err";
  int status_ = 0;
  std::string err_;
};

TEST_F(CommandProcess, EndsWithTheCodeOfTheCommand) {
  for (const int code : {0, 1, 2}) {
    run([code] {
      CrashMessage::finished(code);
      ::_exit(code);
    });
    EXPECT_EQ(this->code(), code);
    EXPECT_EQ(err_, "");
  }
}

TEST_F(CommandProcess, AnExitAfterTheEnd_ChangesNoFailureToSuccess) {
  run([] { CrashMessage::finished(1); });
  EXPECT_EQ(code(), 1);
  run([] {
    CrashMessage::finished(0);
    ::_exit(23);
  });
  EXPECT_EQ(code(), 23) << "a sanitizer's";
}

TEST_F(CommandProcess, AnExitBeforeTheEnd_IsAFailureThatNamesTheCall) {
  run([] {});
  EXPECT_EQ(code(), 1);
  EXPECT_EQ(err_, "runwarden: a detector ended the process\n");
  for (const auto& [where, text] :
       {std::pair(DetectorCode::evaluate, "while it evaluated the run \"r\""), std::pair(DetectorCode::create, "while it was created"),
        std::pair(DetectorCode::destroy, "while it was destroyed")}) {
    run([context = inside(where)] {
      const CrashContextScope scope(context);
      ::_exit(0);
    });
    EXPECT_EQ(code(), 1);
    EXPECT_EQ(err_, std::string("runwarden: detector \"loop\" (/l.so) ended the process ") + text + "\n");
  }
  run([context = inside(DetectorCode::load)] {
    const CrashContextScope scope(context);
    ::_exit(3);
  });
  EXPECT_EQ(code(), 1);
  EXPECT_EQ(err_, "runwarden: /l.so ended the process while it was loaded\n");
}

TEST_F(CommandProcess, AnExitBesideSeveralCalls_NamesThemAll) {
  run([context = inside(DetectorCode::evaluate)] {
    const CrashContextScope scope(context);
    std::thread([] {
      const CrashContext other{.detector_key = "ghost", .library = "/g.so", .origin = "stdin:2"};
      const CrashContextScope another(other);
      ::_exit(0);
    }).join();
  });
  EXPECT_EQ(code(), 1);
  EXPECT_EQ(err_,
            "runwarden: the process was ended while these were called: detector \"loop\" (/l.so) for the run \"r\";"
            " detector \"ghost\" (/g.so) for the run \"stdin:2\";\n");
}

TEST_F(CommandProcess, AMessageOfTheChild_IsTheOnlyOne) {
  run([context = inside(DetectorCode::create)] {
    const CrashContextScope scope(context);
    std::exit(0);
  });
  EXPECT_EQ(code(), 1);
  EXPECT_EQ(err_, "runwarden: detector \"loop\" (/l.so) ended the process while it was created\n");
}

TEST_F(CommandProcess, ASignalThatEndsTheChild_EndsTheParent) {
  run([] { ::kill(::getpid(), SIGKILL); });
  EXPECT_EQ(signal(), SIGKILL);
  run([] {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  });
  EXPECT_EQ(signal(), SIGSEGV);
  EXPECT_EQ(err_, "");
}

TEST_F(CommandProcess, ASignalToTheParent_ReachesTheChild) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const auto wait_for_signal = [&] {
    EXPECT_EQ(::write(ready[1], "x", 1), 1);
    for (;;) ::pause();
  };
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    run(wait_for_signal, kLong, [&](pid_t parent) {
      char byte = 0;
      EXPECT_EQ(::read(ready[0], &byte, 1), 1);
      ::kill(parent, number);
    });
    EXPECT_EQ(signal(), number);
  }
}

TEST_F(CommandProcess, ACallThatDoesNotReturn_IsNamedAndGivenUp) {
  for (const auto& [where, text] : {std::pair(DetectorCode::create, "detector \"loop\" (/l.so) has not returned from create"),
                                    std::pair(DetectorCode::destroy, "detector \"loop\" (/l.so) has not returned from destroy"),
                                    std::pair(DetectorCode::load, "/l.so has not returned from the constructors of the library")}) {
    run([context = inside(where)] { stay(context); }, {1, 1});
    EXPECT_EQ(code(), 1);
    EXPECT_EQ(err_, std::string("runwarden: ") + text + " for 0 s: it is given up. Correct or disable the detector.\n");
  }
}

TEST_F(CommandProcess, ACallThatTakesLong_IsToldOnce) {
  run([context = inside(DetectorCode::create)] { stay(context); }, {1, 600'000},
      [this](pid_t parent) {
        while (text().empty()) ::sched_yield();
        ::kill(parent, SIGTERM);
      });
  EXPECT_EQ(signal(), SIGTERM);
  EXPECT_EQ(err_, "runwarden: waiting: detector \"loop\" (/l.so) has not returned from create for 0 s\n");
}

}  // namespace
}  // namespace runwarden::cli
