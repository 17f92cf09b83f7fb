// Loaded before the C library: a process that dies at a chosen call of the system.
//
// Once the file named by KILL_AT_CALL is there, calls that connect, send, receive, write or flush are counted, in all threads together, and
// the process kills itself with SIGKILL before the one whose number, from 1, the file holds. If a name follows the number, as in "1 connect",
// calls of that name alone are counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long left = 0;  // calls until the end; 0: the file has not been there yet
static char only[16];         // written before `left`; empty: all are counted
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long number_in(const char* path, char* name) {
  char text[64] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  long number = 0;
  return got > 0 && sscanf(text, "%ld %15s", &number, name) >= 1 ? number : 0;
}

static void begin(void) {
  const char* path = getenv("KILL_AT_CALL");
  char name[16] = {0};
  const long number = path == NULL ? 0 : number_in(path, name);
  if (number <= 0) return;
  pthread_mutex_lock(&mutex);
  if (atomic_load(&left) == 0) {
    memcpy(only, name, sizeof only);
    atomic_store(&left, number);
  }
  pthread_mutex_unlock(&mutex);
}

static void count(const char* name) {
  const int before = errno;
  if (atomic_load(&left) == 0) begin();
  const int counts = atomic_load(&left) > 0 && (only[0] == '\0' || strcmp(only, name) == 0);
  if (counts && atomic_fetch_sub(&left, 1) == 1) kill(getpid(), SIGKILL);
  errno = before;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define COUNTED(result, name, parameters, arguments) \
  result name parameters {                           \
    count(#name);                                    \
    return REAL(name) arguments;                     \
  }

COUNTED(int, connect, (int fd, const struct sockaddr* to, socklen_t size), (fd, to, size))
COUNTED(ssize_t, send, (int fd, const void* bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags), (fd, message, flags))
COUNTED(ssize_t, recv, (int fd, void* bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at))
COUNTED(ssize_t, writev, (int fd, const struct iovec* parts, int number), (fd, parts, number))
COUNTED(int, fsync, (int fd), (fd))
COUNTED(int, fdatasync, (int fd), (fd))
COUNTED(int, msync, (void* start, size_t size, int flags), (start, size, flags))
