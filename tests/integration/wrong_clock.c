// Loaded before the C library: a wall clock that is wrong on command.
//
// The file named by WRONG_CLOCK holds by how many seconds the wall time differs, negative or not; without the file it is right. The
// monotonic clocks are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void) {
  const char* path = getenv("WRONG_CLOCK");
  if (path == NULL) return 0;
  const int before = errno;
  char text[32] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  errno = before;
  return got > 0 ? strtol(text, NULL, 10) : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t which, struct timespec* now) {
  const int code = REAL(clock_gettime)(which, now);
  if (code == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += offset_s();
  return code;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  const int code = REAL(gettimeofday)(now, zone);
  if (code == 0) now->tv_sec += offset_s();
  return code;
}

time_t time(time_t* out) {
  const time_t now = REAL(time)(NULL) + offset_s();
  if (out != NULL) *out = now;
  return now;
}
