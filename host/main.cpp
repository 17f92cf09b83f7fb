#include <fcntl.h>
#include <unistd.h>
#include <ext/stdio_filebuf.h>

#include <csignal>
#include <iostream>
#include <ostream>

#include "cli/cli.h"

namespace {

// Occupies the standard descriptors that the caller closed. Otherwise the next file that the program opens, such as one of the store's,
// gets the number, and output overwrites it. Reading and writing a placeholder fails as on a closed descriptor.
void reserve_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/", O_PATH));  // opens as the lowest free number, which this is
  }
}

// Returns a descriptor of standard output for the program's results alone. What detectors print goes to standard error from now on, so that
// it cannot get between the lines of JSON.
int take_standard_output() {
  const int results = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  static_cast<void>(::dup2(STDERR_FILENO, STDOUT_FILENO));
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that disconnected is a failed write and reported as one
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that reached the limit of its size
  std::ios::sync_with_stdio(false);
  __gnu_cxx::stdio_filebuf<char> results(take_standard_output(), std::ios::out);
  std::ostream out(&results);
  return runwarden::cli::run(argc, argv, out, std::cerr);
}
