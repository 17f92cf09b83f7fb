// A child of this process, forked to do what may end it, with a socket between the two. [main] only, before any thread was started: a
// fork copies one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::cli {

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // Runs `body` in a child with the child's end of the socket; the child ends when it returns, with nothing flushed or destroyed. The child
  // does not outlive this process.
  static Result<ChildProcess> start(const std::function<void(int socket)>& body);
  // Kills the child if it is still there.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // False: the child is gone.
  bool send(std::string_view bytes);
  // The child reads to the end of what was sent, and no further.
  void end_input();
  enum class Read { more, closed, late };
  // Waits until then for bytes from the child, and appends them.
  Read read(std::string& bytes, Clock::time_point end);

  void kill();
  // Waits for the child's end: empty when it ended by returning, else "crashed: signal 11 (Segmentation fault)" or "ended the process with
  // exit status 3". Once.
  std::string wait();

 private:
  ChildProcess(pid_t child, int socket) : child_(child), socket_(socket) {}

  pid_t child_;
  int socket_;
};

// In the child: sends all of it to the other end. False: the other end is closed.
bool send_all(int socket, std::string_view bytes);

}  // namespace runwarden::cli
