/* A detector as it was built against ABI 1.2 the day that was released: what 1.2 added, used once. The header in abi/v1.2 is frozen, and so
 * is this file. It must go on doing the same in every 1.x host from 1.2 on. */
#include "detector.h"

#include <string.h>

static int instance;

static rw_str text(const char* literal) {
  rw_str out = {literal, strlen(literal)};
  return out;
}

static rw_status create(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)host, (void)config;
  if (call->candidate(call->ctx, text("vague"), RW_NO_STEP, text(""), 0.5) != RW_UNSUPPORTED) return RW_INTERNAL;
  *out = &instance;
  return RW_OK;
}

static rw_status emit(const rw_call* call, const char* title, int32_t score, double confidence) {
  rw_finding out;
  memset(&out, 0, sizeof out);
  out.struct_size = sizeof out;
  out.score = score;
  out.title = text(title);
  out.summary = text("A summary.");
  out.primary_step = RW_NO_STEP;
  out.waste_usd = RW_ABSENT;
  out.confidence = confidence;
  return call->emit(call->ctx, &out);
}

/* One of each: with a confidence, without one, and with one that no host takes. */
static rw_status evaluate(void* self, const rw_run* run, const rw_call* call) {
  (void)self, (void)run;
  if (emit(call, "sure", 90, 0.875) != RW_OK) return RW_INTERNAL;
  if (emit(call, "untold", 80, RW_ABSENT) != RW_OK) return RW_INTERNAL;
  if (emit(call, "too sure", 70, 1.5) != RW_INVALID_ARGUMENT) return RW_INTERNAL;
  if (call->suppress(call->ctx, text("patience"), 0, text("it may come right")) != RW_OK) return RW_INTERNAL;
  if (call->candidate(call->ctx, text("vague"), 0, text("it does not name the order"), 1.5) != RW_INVALID_ARGUMENT) return RW_INTERNAL;
  return call->candidate(call->ctx, text("vague"), 0, text("it does not name the order"), 0.25);
}

static void destroy(void* self) {
  (void)self;
}

static const rw_info info = {sizeof(rw_info), RW_SCHEMA_MINOR,   0,        RW_CAP_CONCURRENT | RW_CAP_DETERMINISTIC, RW_STR("capsule"),
                             RW_STR("1.2.0"), RW_STR("Capsule"), {NULL, 0}};
static const rw_detector detector = {sizeof(rw_detector), 0, &info, create, evaluate, destroy, NULL};
static const rw_detector* const detectors[] = {&detector};
RW_ENTRY(detectors);
