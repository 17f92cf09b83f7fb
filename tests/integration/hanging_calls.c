// Loaded before the C library: calls that hang on command.
//
// While the file named by HANG_SYNC exists, flushing a file does not return; while the one named by HANG_ACCEPT exists, neither
// does accepting a connection.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void hang_while(const char* variable) {
  const char* path = getenv(variable);
  const int before = errno;
  while (path != NULL && access(path, F_OK) == 0) usleep(1000);
  errno = before;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
  hang_while("HANG_SYNC");
  return REAL(fsync)(fd);
}

int fdatasync(int fd) {
  hang_while("HANG_SYNC");
  return REAL(fdatasync)(fd);
}

int msync(void* start, size_t size, int flags) {
  hang_while("HANG_SYNC");
  return REAL(msync)(start, size, flags);
}

int accept4(int fd, struct sockaddr* restrict peer, socklen_t* restrict size, int flags) {
  hang_while("HANG_ACCEPT");
  return REAL(accept4)(fd, peer, size, flags);
}
