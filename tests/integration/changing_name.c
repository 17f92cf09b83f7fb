// Loaded before the C library: a host name whose address changes on command.
//
// The name "changing.test" resolves to the address that the file named by CHANGING_NAME holds, and to none without it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int address_in(const char* path, char* text, size_t size) {
  const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  return 1;
}

int getaddrinfo(const char* restrict node, const char* restrict service, const struct addrinfo* restrict hints,
                struct addrinfo** restrict out) {
  char address[64];
  if (node != NULL && strcmp(node, "changing.test") == 0) {
    if (!address_in(getenv("CHANGING_NAME"), address, sizeof address)) return EAI_NONAME;
    node = address;
  }
  return ((__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo"))(node, service, hints, out);
}
