/* Every bad plugin of the zoo is this file, with one thing made different on the compiler's command line. */
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <runwarden/detector.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ZOO_ABI_MAJOR
#define ZOO_ABI_MAJOR RW_ABI_MAJOR
#endif
#ifndef ZOO_ABI_MINOR
#define ZOO_ABI_MINOR RW_ABI_MINOR
#endif
#ifndef ZOO_MIN_HOST_MINOR
#define ZOO_MIN_HOST_MINOR 0
#endif
#ifndef ZOO_HOST_RELEASE
#define ZOO_HOST_RELEASE "1.0"
#endif
#ifndef ZOO_SCHEMA_MINOR
#define ZOO_SCHEMA_MINOR 0
#endif
#ifndef ZOO_REQUIRED_CAPS
#define ZOO_REQUIRED_CAPS 0
#endif
#ifndef ZOO_OPTIONAL_CAPS
#define ZOO_OPTIONAL_CAPS RW_CAP_DETERMINISTIC
#endif
#ifndef ZOO_KEY
#define ZOO_KEY "zoo"
#endif
#ifndef ZOO_TITLE
#define ZOO_TITLE "Zoo animal"
#endif
#ifndef ZOO_SECOND_KEY
#define ZOO_SECOND_KEY "zoo_two"
#endif
#ifndef ZOO_SCHEMA
#define ZOO_SCHEMA                                                                                                                         \
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"repeats\":{\"type\":\"integer\",\"minimum\":2,\"maximum\":1000}}" \
  "}"
#endif
#ifndef ZOO_ENTRY_SIZE
#define ZOO_ENTRY_SIZE sizeof(rw_entry)
#endif
#ifndef ZOO_DETECTOR_SIZE
#define ZOO_DETECTOR_SIZE sizeof(rw_detector)
#endif
#ifndef ZOO_INFO_SIZE
#define ZOO_INFO_SIZE sizeof(rw_info)
#endif
#ifndef ZOO_COUNT
#define ZOO_COUNT 2
#endif
#ifndef ZOO_CREATE
#define ZOO_CREATE create_fine
#endif
#ifndef ZOO_DESTROY
#define ZOO_DESTROY destroy_fine
#endif
#ifndef ZOO_EVALUATE
#define ZOO_EVALUATE emit_one
#endif
#ifndef ZOO_ENTRY_NAME
#define ZOO_ENTRY_NAME runwarden_entry_v1
#endif

#define UNUSED __attribute__((unused))

static rw_str text(const char* literal) {
  rw_str out = {literal, strlen(literal)};
  return out;
}

/* ---- create ---- */

static int instance;

UNUSED static rw_status create_fine(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)call, (void)config;
  *out = &instance;
  return RW_OK;
}

UNUSED static rw_status create_fails(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)config, (void)out;
  call->fail(call->ctx, text("no licence for today"));
  return RW_INTERNAL;
}

UNUSED static rw_status create_fails_in_two_lines(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)config, (void)out;
  call->fail(call->ctx, text("no licence\x01\x1b[2J\nconfig: all is well"));
  return RW_INTERNAL;
}

UNUSED static rw_status create_refuses_setting(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)config, (void)out;
  call->fail(call->ctx, text("/repeats: must be even"));
  return RW_BAD_CONFIG;
}

UNUSED static rw_status create_forgets(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)call, (void)config, (void)out;
  return RW_OK;
}

UNUSED static rw_status create_crashes_on_settings(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  if (config.len > 2) *(volatile int*)0 = 1;
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_prints(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  puts("created");
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_opens_a_file(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  if (open("/dev/null", O_RDONLY) < 0) return RW_INTERNAL;
  return create_fine(host, call, config, out);
}

/* With settings: has the process asked to end, and never returns. */
UNUSED static rw_status create_hangs_on_settings(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  if (config.len <= 2) return create_fine(host, call, config, out);
  kill(getpid(), SIGTERM);
  for (;;) pause();
}

/* With settings: has the process asked to end. */
UNUSED static rw_status create_stops_on_settings(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  if (config.len > 2) kill(getpid(), SIGTERM);
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_ends_the_process(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)call, (void)config, (void)out;
  _exit(0);
}

UNUSED static rw_status create_returns_seven(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)call, (void)config, (void)out;
  return 7;
}

/* What belongs to the process, and so to all detectors in it. */
UNUSED static rw_status create_sets_locale(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  setlocale(LC_ALL, "C.UTF-8");
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_sets_umask(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  umask(0);
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_changes_folder(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  if (chdir("/") != 0) return RW_INTERNAL;
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_takes_signal(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  signal(SIGSEGV, SIG_IGN);
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_replaces_input(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  const int other = open("/dev/zero", O_RDONLY);
  if (other < 0 || dup2(other, STDIN_FILENO) < 0 || close(other) != 0) return RW_INTERNAL;
  return create_fine(host, call, config, out);
}

UNUSED static rw_status create_has_child_exit(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
  return create_fine(host, call, config, out);
}

UNUSED static void* wait_for_ever(void* nothing) {
  for (;;) pause();
  return nothing;
}

UNUSED static rw_status create_leaks_thread(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) return RW_INTERNAL;
  pthread_detach(thread);
  return create_fine(host, call, config, out);
}

/* ---- evaluate ---- */

static rw_finding finding(void) {
  rw_finding out;
  memset(&out, 0, sizeof out);
  out.struct_size = sizeof out;
  out.score = 80;
  out.title = text("a title");
  out.summary = text("A summary.");
  out.primary_step = RW_NO_STEP;
  out.waste_usd = RW_ABSENT;
#if RW_TARGET_MINOR >= 2
  out.confidence = RW_ABSENT;
#endif
  return out;
}

UNUSED static rw_status emit_one(void* self, const rw_run* run, const rw_call* call) {
  const rw_finding one = finding();
  (void)self, (void)run;
  return call->emit(call->ctx, &one);
}

#if RW_TARGET_MINOR >= 1
UNUSED static rw_status explain_as(const rw_call* call, const char* label) {
  rw_explanation item;
  memset(&item, 0, sizeof item);
  item.struct_size = sizeof item;
  item.kind = RW_EXPLAIN_RULE;
  item.step = RW_NO_STEP;
  item.confidence = RW_ABSENT;
  item.subject = text("mood");
  item.label = text(label);
  return call->explain(call->ctx, &item);
}

/* Who asks for an explanation gets nothing else. */
UNUSED static rw_status explain_instead(void* self, const rw_run* run, const rw_call* call) {
  return call->explain == NULL ? emit_one(self, run, call) : explain_as(call, "silences");
}

UNUSED static rw_status explain_badly(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run;
  if (call->explain != NULL) explain_as(call, "step-2");
  return RW_OK;
}
#endif

#if RW_TARGET_MINOR >= 2
UNUSED static rw_status waver(void* self, const rw_run* run, const rw_call* call) {
  static int times;
  (void)self, (void)run;
  return call->candidate(call->ctx, text("vague"), RW_NO_STEP, text("it names nothing"), ++times % 2 == 0 ? 0.25 : 0.5);
}

UNUSED static rw_status emit_surer_than_sure(void* self, const rw_run* run, const rw_call* call) {
  rw_finding one = finding();
  (void)self, (void)run;
  one.confidence = 100;
  call->emit(call->ctx, &one);
  return RW_OK;
}
#endif

UNUSED static rw_status fail_after_emit(void* self, const rw_run* run, const rw_call* call) {
  emit_one(self, run, call);
  call->fail(call->ctx, text("the table is missing"));
  return RW_INTERNAL;
}

UNUSED static rw_status fail_silently(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  return -77;
}

UNUSED static rw_status work_until_stopped(void* self, const rw_run* run, const rw_call* call) {
  emit_one(self, run, call);
  while (!call->should_stop(call->ctx)) {
  }
  return RW_STOPPED;
}

UNUSED static rw_status ignore_the_deadline(void* self, const rw_run* run, const rw_call* call) {
  while (!call->should_stop(call->ctx)) {
  }
  return emit_one(self, run, call);
}

UNUSED static rw_status never_return(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  for (;;) pause();
}

UNUSED static rw_status work_on_for_two_seconds(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run;
  if (call->should_stop(call->ctx)) sleep(2);
  return RW_OK;
}

UNUSED static rw_status crash(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  *(volatile int*)0 = 1;
  return RW_OK;
}

UNUSED static rw_status crash_without_an_id(void* self, const rw_run* run, const rw_call* call) {
  if (run->step_count > 0 && run->step_at(run->ctx, 0)->name.ptr == NULL) return crash(self, run, call);
  return RW_OK;
}

UNUSED static rw_status end_the_process(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  _exit(7);
}

UNUSED static rw_status emit_every_other_time(void* self, const rw_run* run, const rw_call* call) {
  static int times;
  return ++times % 2 == 0 ? RW_OK : emit_one(self, run, call);
}

/* Fails when two threads are inside at once. */
UNUSED static rw_status bear_no_company(void* self, const rw_run* run, const rw_call* call) {
  static int inside;
  int others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  (void)self, (void)run;
  usleep(200);
  __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
  if (others == 0) return RW_OK;
  call->fail(call->ctx, text("somebody is here already"));
  return RW_INTERNAL;
}

UNUSED static rw_status leak_memory(void* self, const rw_run* run, const rw_call* call) {
  static void* volatile last; /* the one before it is lost */
  (void)self, (void)run, (void)call;
  last = malloc(1000);
  return last == NULL ? RW_INTERNAL : RW_OK;
}

UNUSED static rw_status open_a_file(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  return open("/dev/null", O_RDONLY) < 0 ? RW_INTERNAL : RW_OK;
}

UNUSED static rw_status leave_a_thread(void* self, const rw_run* run, const rw_call* call) {
  pthread_t thread;
  (void)self, (void)run, (void)call;
  if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) return RW_INTERNAL;
  pthread_detach(thread);
  return RW_OK;
}

UNUSED static rw_status stop_early(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  return RW_STOPPED;
}

UNUSED static rw_status emit_bad_utf8(void* self, const rw_run* run, const rw_call* call) {
  rw_finding one = finding();
  (void)self, (void)run;
  one.title = text("caf\xE9");
  call->emit(call->ctx, &one);
  return RW_OK;
}

UNUSED static rw_status emit_bad_step(void* self, const rw_run* run, const rw_call* call) {
  rw_finding one = finding();
  (void)self;
  one.primary_step = (int32_t)run->step_count;
  call->emit(call->ctx, &one);
  return RW_OK;
}

UNUSED static rw_status emit_too_long(void* self, const rw_run* run, const rw_call* call) {
  static char long_title[RW_MAX_TITLE + 1];
  rw_finding one = finding();
  (void)self, (void)run;
  memset(long_title, 'x', sizeof long_title);
  one.title.ptr = long_title;
  one.title.len = sizeof long_title;
  call->emit(call->ctx, &one);
  return RW_OK;
}

UNUSED static rw_status emit_in_two_lines(void* self, const rw_run* run, const rw_call* call) {
  rw_finding one = finding();
  (void)self, (void)run;
  one.title = text("a title\t  lion  clean  1 us\x1b[2J\xC2\x9B");
  return call->emit(call->ctx, &one);
}

UNUSED static rw_status emit_title_of_two_lines(void* self, const rw_run* run, const rw_call* call) {
  rw_finding one = finding();
  (void)self, (void)run;
  one.title = text("a title\nand more");
  call->emit(call->ctx, &one);
  return RW_OK;
}

UNUSED static rw_status emit_too_many(void* self, const rw_run* run, const rw_call* call) {
  int i;
  for (i = 0; i < RW_MAX_FINDINGS + 10; ++i) emit_one(self, run, call);
  return RW_OK;
}

UNUSED static rw_status abstain(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run;
  return call->abstain(call->ctx, text("no output on any tool step"));
}

UNUSED static rw_status abstain_at_length(void* self, const rw_run* run, const rw_call* call) {
  static char long_reason[RW_MAX_REASON + 1];
  rw_str reason = {long_reason, sizeof long_reason};
  (void)self, (void)run;
  memset(long_reason, 'x', sizeof long_reason);
  call->abstain(call->ctx, reason);
  return RW_OK;
}

UNUSED static rw_status abstain_and_emit(void* self, const rw_run* run, const rw_call* call) {
  emit_one(self, run, call);
  return abstain(self, run, call);
}

UNUSED static rw_status suppress_one(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run;
  return call->suppress(call->ctx, text("recovered"), RW_NO_STEP, text("the retry went well"));
}

#ifdef ZOO_CRASH_ON_LOAD
__attribute__((constructor)) static void crash_on_load(void) {
  abort();
}
#endif

#ifdef ZOO_UNRESOLVED
extern int nobody_has_this_function(void);
UNUSED static rw_status call_nobody(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run, (void)call;
  return nobody_has_this_function();
}
#endif

UNUSED static void destroy_fine(void* self) {
  (void)self;
}

UNUSED static void destroy_crashes(void* self) {
  (void)self;
  abort();
}

UNUSED static void destroy_ends_the_process(void* self) {
  (void)self;
  _exit(0);
}

UNUSED static void destroy_hangs(void* self) {
  (void)self;
  for (;;) pause();
}

/* ---- what it says of itself ---- */

static const rw_info info = {ZOO_INFO_SIZE,   ZOO_SCHEMA_MINOR, ZOO_REQUIRED_CAPS, ZOO_OPTIONAL_CAPS,
                             RW_STR(ZOO_KEY), RW_STR("1.0.0"),  RW_STR(ZOO_TITLE), RW_STR(ZOO_SCHEMA)};
static const rw_info second_info = {sizeof(rw_info), 0, 0, 0, RW_STR(ZOO_SECOND_KEY), RW_STR("1.0.0"), RW_STR("Its friend"), {NULL, 0}};
static const rw_detector detector = {ZOO_DETECTOR_SIZE, 0, &info, ZOO_CREATE, ZOO_EVALUATE, ZOO_DESTROY, NULL};
static const rw_detector second = {sizeof(rw_detector), 0, &second_info, create_fine, emit_one, destroy_fine, NULL};
static const rw_detector* const detectors[] = {&detector, &second};

#ifndef ZOO_NO_ENTRY
RW_EXPORT extern const rw_entry ZOO_ENTRY_NAME;
const rw_entry ZOO_ENTRY_NAME = {ZOO_ENTRY_SIZE, ZOO_ABI_MAJOR,           ZOO_ABI_MINOR, ZOO_MIN_HOST_MINOR, ZOO_COUNT, 0,
                                 detectors,      RW_STR(ZOO_HOST_RELEASE)};
#else
RW_EXPORT const rw_detector* const* not_an_entry(void);
RW_EXPORT const rw_detector* const* not_an_entry(void) {
  return detectors;
}
#endif
