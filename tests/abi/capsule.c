/* A detector as it was built against ABI 1.0 the day that was released: the header in abi/v1.0 is frozen, and so is this file. It must go
 * on doing the same in every 1.x host. */
#include "detector.h"

#include <string.h>

static int instance;

static rw_str text(const char* literal) {
  rw_str out = {literal, strlen(literal)};
  return out;
}

static rw_status create(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  (void)call, (void)config;
  host->log(host->ctx, RW_LOG_INFO, text("capsule opened"));
  if (host->monotonic_ns(host->ctx) < 0 || host->get_extension(host->ctx, text("com.example.none/1")) != NULL) return RW_INTERNAL;
  *out = &instance;
  return RW_OK;
}

/* Fires for a failed tool step whose metadata name a region, with every member of the finding used. */
static rw_status evaluate(void* self, const rw_run* run, const rw_call* call) {
  uint32_t i;
  (void)self;
  for (i = 0; i < run->step_count; ++i) {
    const rw_step* step = run->step_at(run->ctx, i);
    rw_value region;
    rw_evidence item;
    const rw_evidence* items[1];
    rw_str parts[2];
    rw_finding finding;
    if (call->should_stop(call->ctx)) return RW_STOPPED;
    if (step->kind != RW_STEP_TOOL || step->outcome != RW_OUTCOME_FAILED) continue;
    if (run->find(run->ctx, (int32_t)i, text("/metadata/region"), &region) != RW_OK) return RW_INTERNAL;
    if (region.type != RW_VALUE_STRING) {
      call->suppress(call->ctx, text("no_region"), (int32_t)i, text("the step names no region"));
      continue;
    }
    memset(&item, 0, sizeof item);
    item.struct_size = sizeof item;
    item.json_pointer = text("/steps/0/metadata/region");
    item.value = region.as.str;
    items[0] = &item;
    parts[0] = step->name;
    parts[1] = step->error_message;
    memset(&finding, 0, sizeof finding);
    finding.struct_size = sizeof finding;
    finding.severity = RW_SEVERITY_CRITICAL;
    finding.source = RW_SOURCE_COORDINATION;
    finding.score = 61;
    finding.title = text("a capsule's title");
    finding.summary = text("A capsule's summary.");
    finding.primary_step = (int32_t)i;
    finding.evidence_count = 1;
    finding.evidence = items;
    finding.waste_usd = 0.25;
    finding.fingerprint_parts = parts;
    finding.fingerprint_part_count = 2;
    if (call->emit(call->ctx, &finding) != RW_OK) return RW_INTERNAL;
  }
  if (run->step_count == 0) call->abstain(call->ctx, text("no steps"));
  return RW_OK;
}

static void destroy(void* self) {
  (void)self;
}

static const rw_info info = {sizeof(rw_info), RW_SCHEMA_MINOR,   0,        RW_CAP_CONCURRENT | RW_CAP_DETERMINISTIC, RW_STR("capsule"),
                             RW_STR("1.0.0"), RW_STR("Capsule"), {NULL, 0}};
static const rw_detector detector = {sizeof(rw_detector), 0, &info, create, evaluate, destroy, NULL};
static const rw_detector* const detectors[] = {&detector};
RW_ENTRY(detectors);
