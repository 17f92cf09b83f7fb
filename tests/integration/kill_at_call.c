// Loaded before the C library: a process that dies at a chosen call of the system.
//
// Once the file named by KILL_AT_CALL is there, calls that connect, send, receive, write or flush are counted, in all threads together, and
// the process kills itself with SIGKILL before the one whose number, from 1, the file holds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long left = 0;  // calls until the end; 0: the file has not been there yet

static long number_in(const char* path) {
  char text[32] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  return got > 0 ? strtol(text, NULL, 10) : 0;
}

static void count(void) {
  const int before = errno;
  if (atomic_load(&left) == 0) {
    const char* path = getenv("KILL_AT_CALL");
    const long number = path == NULL ? 0 : number_in(path);
    long none = 0;
    if (number > 0) atomic_compare_exchange_strong(&left, &none, number);
  }
  if (atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1) kill(getpid(), SIGKILL);
  errno = before;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define COUNTED(result, name, parameters, arguments) \
  result name parameters {                           \
    count();                                         \
    return REAL(name) arguments;                     \
  }

COUNTED(int, connect, (int fd, const struct sockaddr* to, socklen_t size), (fd, to, size))
COUNTED(ssize_t, send, (int fd, const void* bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, recv, (int fd, void* bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at))
COUNTED(ssize_t, writev, (int fd, const struct iovec* parts, int number), (fd, parts, number))
COUNTED(int, fsync, (int fd), (fd))
COUNTED(int, fdatasync, (int fd), (fd))
COUNTED(int, msync, (void* start, size_t size, int flags), (start, size, flags))
