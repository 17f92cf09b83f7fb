// Loaded before the C library: a disk that fails on command, for the store's own file and the copies of detectors only.
//
// While the file named by FAILING_DISK_SYNC exists, flushing fails with EIO; while the one named by FAILING_DISK_FULL exists,
// writing fails with ENOSPC, but for the store's two meta pages, which a disk that overwrites in place always has room for; while the one
// named by FAILING_DISK_FULL_FOR_META exists, writing those fails as well, as on a file system that copies what it overwrites; while the
// one named by FAILING_DISK_SLOW exists, a flush takes the milliseconds that it holds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static int commanded(const char* variable) {
  const char* path = getenv(variable);
  const int before = errno;
  const int there = path != NULL && access(path, F_OK) == 0;
  errno = before;
  return there;
}

static int is_store(int fd) {
  static const char kName[] = "/data.mdb";
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  const ssize_t name = (ssize_t)sizeof kName - 1;
  if (length < name) return 0;
  path[length] = '\0';
  return strcmp(path + length - name, kName) == 0 || strstr(path, "/plugins/") != NULL;
}

static int fails(const char* variable, int fd, int code) {
  if (!commanded(variable) || !is_store(fd)) return 0;
  errno = code;
  return 1;
}

static void linger(int fd) {
  const char* path = getenv("FAILING_DISK_SLOW");
  if (!commanded("FAILING_DISK_SLOW") || !is_store(fd)) return;
  FILE* file = fopen(path, "r");
  int ms = 0;
  if (file == NULL) return;
  if (fscanf(file, "%d", &ms) == 1 && ms > 0) poll(NULL, 0, ms);
  fclose(file);
}

static int full(int fd, size_t size, off_t at) {
  const long meta_pages = 2 * sysconf(_SC_PAGESIZE);
  const int is_meta = at >= 0 && at + (off_t)size <= meta_pages;
  return fails(is_meta ? "FAILING_DISK_FULL_FOR_META" : "FAILING_DISK_FULL", fd, ENOSPC);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
  linger(fd);
  return fails("FAILING_DISK_SYNC", fd, EIO) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd) {
  linger(fd);
  return fails("FAILING_DISK_SYNC", fd, EIO) ? -1 : REAL(fdatasync)(fd);
}

int msync(void* start, size_t size, int flags) {
  if (commanded("FAILING_DISK_SYNC")) {
    errno = EIO;
    return -1;
  }
  return REAL(msync)(start, size, flags);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  return fails("FAILING_DISK_FULL", fd, ENOSPC) ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  return fails("FAILING_DISK_FULL", fd, ENOSPC) ? -1 : REAL(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return full(fd, size, at) ? -1 : REAL(pwrite)(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  return full(fd, size, at) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}

ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at) {
  return fails("FAILING_DISK_FULL", fd, ENOSPC) ? -1 : REAL(pwritev)(fd, parts, count, at);
}

ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t at) {
  return fails("FAILING_DISK_FULL", fd, ENOSPC) ? -1 : REAL(pwritev64)(fd, parts, count, at);
}
