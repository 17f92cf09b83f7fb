// A forked child that runs code that may crash, connected to this process by a socket. [main] only, before any other thread starts: a
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

  // Runs `body` in a child with the child's end of the socket. The child exits when `body` returns, without flushing or destroying
  // anything. It does not outlive this process.
  static Result<ChildProcess> start(const std::function<void(int socket)>& body);
  // Kills the child if it is still running.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // False: the child is gone.
  bool send(std::string_view bytes);
  // The child reads the end of its input after what was sent.
  void end_input();
  enum class Read { more, closed, late };
  // Waits until `end` for bytes from the child and appends them.
  Read read(std::string& bytes, Clock::time_point end);

  void kill();
  // Waits for the child to end. Call it once. Empty if `body` returned, else "crashed: signal 11 (Segmentation fault)" or "ended the
  // process with exit status 3".
  std::string wait();

 private:
  ChildProcess(pid_t child, int socket) : child_(child), socket_(socket) {}

  pid_t child_;
  int socket_;
};

// In the child: sends all bytes to the parent. False: the other end is closed.
bool send_all(int socket, std::string_view bytes);

}  // namespace runwarden::cli
