// Loaded before the C library, or linked into a test: a host name whose addresses change on command.
//
// The name "changing.test" resolves to what the file named by CHANGING_NAME holds, and to nothing without it: comma-separated
// addresses, in that order; of space-separated lists of them, lookups take turns.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_uint lookups = 0;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int text_of(const char* path, char* text, size_t size) {
  const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  return 1;
}

// The list whose turn it is; cuts the text into its lists.
static char* list_in(char* text) {
  char* lists[16];
  unsigned count = 0;
  char* rest = NULL;
  for (char* list = strtok_r(text, " ", &rest); list != NULL && count < 16; list = strtok_r(NULL, " ", &rest)) lists[count++] = list;
  return count == 0 ? NULL : lists[atomic_fetch_add(&lookups, 1) % count];
}

static int resolve(char* list, const char* service, const struct addrinfo* hints, struct addrinfo** out) {
  *out = NULL;
  struct addrinfo** end = out;
  char* rest = NULL;
  for (char* address = strtok_r(list, ",", &rest); address != NULL; address = strtok_r(NULL, ",", &rest)) {
    const int fault = REAL(getaddrinfo)(address, service, hints, end);
    if (fault != 0) {
      if (*out != NULL && end != out) freeaddrinfo(*out);
      return fault;
    }
    while (*end != NULL) end = &(*end)->ai_next;
  }
  return 0;
}

int getaddrinfo(const char* restrict node, const char* restrict service, const struct addrinfo* restrict hints,
                struct addrinfo** restrict out) {
  if (node == NULL || strcmp(node, "changing.test") != 0) return REAL(getaddrinfo)(node, service, hints, out);
  char text[512];
  char* const list = text_of(getenv("CHANGING_NAME"), text, sizeof text) ? list_in(text) : NULL;
  return list == NULL ? EAI_NONAME : resolve(list, service, hints, out);
}
