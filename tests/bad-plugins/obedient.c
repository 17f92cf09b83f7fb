/* Does what the run's userRequestText tells it: "wait PATH" does not return before that file is there, "sleep N" before N seconds have
 * passed, "segv", "abort", "trap", "sys", "usr1", "alarm", "exit", "quick_exit", "_exit", "_exit 0", "unhandled" and "overflow" end the process; "log
 * " and "print " before one of these log 30 lines or print one first, "thread " has a thread of its own do it, and "child " a forked
 * process; that of "child return" returns from the call. Any other run gets one finding, "repeats N" after its settings. Its friend zoo_two
 * never obeys, and zoo_many says that it may be called on several threads at once. */
#include <pthread.h>
#include <runwarden/detector.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  const rw_host* host;
  int repeats;
} instance;

static rw_str text(const char* literal) {
  rw_str out = {literal, strlen(literal)};
  return out;
}

static rw_status create(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  instance* self = calloc(1, sizeof *self);
  char copy[256];
  const char* found;
  (void)call;
  if (self == NULL) return RW_INTERNAL;
  self->host = host;
  if (config.ptr != NULL && config.len < sizeof copy) {
    memcpy(copy, config.ptr, config.len);
    copy[config.len] = '\0';
    found = strstr(copy, "\"repeats\":");
    if (found != NULL) self->repeats = atoi(found + 10);
  }
  *out = self;
  return RW_OK;
}

static void destroy(void* self) {
  free(self);
}

static rw_status emit(const instance* self, const rw_call* call) {
  char title[64];
  rw_finding one;
  memset(&one, 0, sizeof one);
  snprintf(title, sizeof title, "repeats %d", self->repeats);
  one.struct_size = sizeof one;
  one.score = 80;
  one.title = text(title);
  one.summary = text("A summary.");
  one.primary_step = RW_NO_STEP;
  one.waste_usd = RW_ABSENT;
  return call->emit(call->ctx, &one);
}

static void wait_for(const char* path) {
  while (access(path, F_OK) != 0) usleep(1000);
}

/* Uses stack without an end that a compiler could see. */
static int overflow(volatile char* above, int depth) {
  volatile char here[4096];
  here[0] = above[0];
  if (depth == 2147483647) return here[0];
  return overflow(here, depth + 1) + here[0];
}

/* Execution goes on after the instruction if a handler returns. */
static void trap(void) {
#ifdef __x86_64__
  __asm__ volatile("int3");
#else
  raise(SIGTRAP);
#endif
}

static void log_lines(const rw_host* host) {
  char line[32];
  int i;
  for (i = 1; i <= 30; ++i) {
    snprintf(line, sizeof line, "line %d", i);
    host->log(host->ctx, i == 30 ? RW_LOG_WARNING : RW_LOG_DEBUG, text(line));
  }
}

/* No handler of the host sees it. */
static void fault_unhandled(void) {
  signal(SIGSEGV, SIG_DFL);
  *(volatile int*)8 = 1;
}

static void obey(const rw_host* host, const char* what);

static void* obey_in_thread(void* what) {
  obey(NULL, what);
  return NULL;
}

static void obey_elsewhere(const char* what) {
  pthread_t thread;
  pid_t child;
  if (strncmp(what, "thread ", 7) == 0 && pthread_create(&thread, NULL, obey_in_thread, (void*)(what + 7)) == 0) pthread_join(thread, NULL);
  if (strncmp(what, "child ", 6) != 0) return;
  child = fork();
  if (child == 0 && strcmp(what, "child return") == 0) return;
  if (child == 0) {
    obey(NULL, what + 6);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void obey(const rw_host* host, const char* what) {
  volatile char first = 0;
  obey_elsewhere(what);
  if (strncmp(what, "log ", 4) == 0) {
    log_lines(host);
    what += 4;
  }
  if (strncmp(what, "print ", 6) == 0) {
    printf("printed\n");
    what += 6;
  }
  if (strncmp(what, "wait ", 5) == 0) wait_for(what + 5);
  if (strncmp(what, "sleep ", 6) == 0) sleep((unsigned)atoi(what + 6));
  if (strcmp(what, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(what, "abort") == 0) abort();
  if (strcmp(what, "trap") == 0) trap();
  if (strcmp(what, "sys") == 0) raise(SIGSYS);
  if (strcmp(what, "usr1") == 0) raise(SIGUSR1);
  if (strcmp(what, "alarm") == 0) raise(SIGALRM);
  if (strcmp(what, "unhandled") == 0) fault_unhandled();
  if (strcmp(what, "_exit") == 0) _exit(3);
  if (strcmp(what, "_exit 0") == 0) _exit(0);
  if (strcmp(what, "exit") == 0) exit(0);
  if (strcmp(what, "quick_exit") == 0) quick_exit(0);
  if (strcmp(what, "overflow") == 0) first = (char)overflow(&first, 0);
}

static rw_status evaluate(void* self, const rw_run* run, const rw_call* call) {
  char what[4096];
  const rw_str request = run->user_request;
  if (request.ptr != NULL && request.len < sizeof what) {
    memcpy(what, request.ptr, request.len);
    what[request.len] = '\0';
    obey(((const instance*)self)->host, what);
  }
  return emit(self, call);
}

static rw_status evaluate_anything(void* self, const rw_run* run, const rw_call* call) {
  (void)run;
  return emit(self, call);
}

#define SCHEMA                                                                                                               \
  RW_STR(                                                                                                                    \
      "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"repeats\":{\"type\":\"integer\",\"minimum\":2," \
      "\"maximum\":1000}}}")

static const rw_info info = {sizeof(rw_info), 0, 0, 0, RW_STR("zoo"), RW_STR("1.0.0"), RW_STR("Obedient"), SCHEMA};
static const rw_info two_info = {sizeof(rw_info), 0, 0, 0, RW_STR("zoo_two"), RW_STR("1.0.0"), RW_STR("Its friend"), SCHEMA};
static const rw_info many_info = {sizeof(rw_info),    0,     0, RW_CAP_CONCURRENT, RW_STR("zoo_many"), RW_STR("1.0.0"),
                                  RW_STR("Obedient"), SCHEMA};
static const rw_detector obedient = {sizeof(rw_detector), 0, &info, create, evaluate, destroy, NULL};
static const rw_detector two = {sizeof(rw_detector), 0, &two_info, create, evaluate_anything, destroy, NULL};
static const rw_detector many = {sizeof(rw_detector), 0, &many_info, create, evaluate, destroy, NULL};
static const rw_detector* const detectors[] = {&obedient, &two, &many};
RW_ENTRY(detectors);
