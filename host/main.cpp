#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "cli/cli.h"

namespace {

// Occupies the standard descriptors that the caller closed. Otherwise the next file that the program opens, such as one of the store's,
// gets the number, and output overwrites it. Reading and writing a placeholder fails as on a closed descriptor.
void reserve_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/", O_PATH));  // opens as the lowest free number, which this is
  }
}

}  // namespace

int main(int argc, char** argv) {
  reserve_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that disconnected is a failed write and reported as one
  std::ios::sync_with_stdio(false);
  return runwarden::cli::run(argc, argv, std::cout, std::cerr);
}
