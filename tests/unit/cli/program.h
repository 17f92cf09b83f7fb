// Runs the built program as a shell would, and says what came of it. One thread.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace runwarden::cli {

struct Ended {
  int code = -1;  // -1: by a signal
  std::string out;
  std::string err;
};

class Program {
 public:
  const test::TempFolder& folder() const { return folder_; }

  // With these environment variables more, and none of ours but them.
  Ended run(const std::vector<std::string>& args, const std::string& input = {}, const std::vector<std::string>& environment = {}) const {
    const std::string in = folder_.write("stdin", input);
    const int out = ::open(name("stdout").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const int code = spawn(args, in, out, environment);
    ::close(out);
    return {code, text_of("stdout"), text_of("stderr")};
  }

  // With standard input and standard error at a terminal, where that is typed.
  Ended run_at_terminal(const std::vector<std::string>& args, const std::string& typed) const {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return {};
    const std::string side = ::ptsname(terminal);
    const int open_side = ::open(side.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // else what was said is gone with the program
    termios raw{};
    ::tcgetattr(open_side, &raw);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    raw.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(open_side, TCSANOW, &raw);
    if (::write(terminal, typed.data(), typed.size()) != static_cast<ssize_t>(typed.size())) return {};
    const int out = ::open(name("stdout").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const int code = spawn(args, side, out, {}, side);
    ::close(out);
    // A terminal passes on piece by piece: all has come when this has.
    constexpr char kEnd = '\x1c';
    std::string said;
    if (::write(open_side, &kEnd, 1) != 1) return {};
    for (char c = 0; ::read(terminal, &c, 1) == 1 && c != kEnd;) said += c;
    ::close(open_side);
    ::close(terminal);
    return {code, text_of("stdout"), said};
  }

  // Without these standard descriptors, as `>&-` in a shell. The text of those left open is returned.
  Ended run_without(const std::vector<int>& closed, const std::vector<std::string>& args) const {
    const std::string in = folder_.write("stdin", "");
    const int out = ::open(name("stdout").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const int code = spawn(args, in, out, {}, {}, [&closed] {
      for (const int one : closed) ::close(one);
    });
    ::close(out);
    return {code, text_of("stdout"), text_of("stderr")};
  }

  // As another user, which only root can do.
  Ended run_as(uid_t user, const std::vector<std::string>& args) const {
    const std::string in = folder_.write("stdin", "");
    const int out = ::open(name("stdout").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const int code = spawn(args, in, out, {}, {}, [user] {
      if (::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(126);
    });
    ::close(out);
    return {code, text_of("stdout"), text_of("stderr")};
  }

  // With a standard output that nobody reads.
  Ended run_unread(const std::vector<std::string>& args, const std::string& input) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    ::close(ends[0]);
    const int code = spawn(args, folder_.write("stdin", input), ends[1], {});
    ::close(ends[1]);
    return {code, "", text_of("stderr")};
  }

 private:
  std::string name(const char* file) const { return (folder_.path() / file).string(); }

  std::string text_of(const char* file) const {
    std::ifstream in(name(file), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  int spawn(const std::vector<std::string>& args, const std::string& in, int out, const std::vector<std::string>& environment,
            std::string err = {}, const std::function<void()>& before_exec = {}) const {
    std::vector<char*> argv = {const_cast<char*>(PROGRAM)};
    for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
    argv.push_back(nullptr);
    std::vector<char*> variables = {const_cast<char*>("PATH=/usr/bin:/bin")};
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    if (err.empty()) err = name("stderr");
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open(in.c_str(), O_RDONLY | O_NOCTTY), STDIN_FILENO);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(::open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_NOCTTY, 0600), STDERR_FILENO);
      if (before_exec) before_exec();
      ::execve(PROGRAM, argv.data(), variables.data());
      ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  test::TempFolder folder_;
};

// A configuration with a store in the program's folder and the built detectors.
inline std::string write_config(const Program& program, const std::string& more = {}) {
  return program.folder().write("runwarden.yaml",
                                "store: {path: data, map_size: 4MiB}\n"
                                "detectors:\n"
                                "  search_path: [" DETECTORS
                                "]\n"
                                "  include: [" DROP_INS "/*.yaml]\n" +
                                    more);
}

}  // namespace runwarden::cli
