/* Finds tool steps that took longer than they may. Plain C11 against detector.h: no C++ layer, no other library. */
#include <runwarden/detector.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 64 /* bytes of a step's name in a title */

static const char schema[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
    "\"max_seconds\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 86400, \"default\": 30}}}";

/* An instance: the settings. Nothing in it changes after create, so that one serves all threads (RW_CAP_CONCURRENT). */
typedef struct slow_step {
  int64_t max_seconds;
} slow_step;

static rw_str text(const char* literal) {
  rw_str out = {literal, strlen(literal)};
  return out;
}

/* The integer of a setting. The host has checked the settings against the schema: what is there has the right type. */
static int64_t integer_setting(rw_str json, const char* name, int64_t otherwise) {
  char key[64];
  int length = snprintf(key, sizeof key, "\"%s\"", name);
  size_t i;
  for (i = 0; length > 0 && i + (size_t)length < json.len; ++i) {
    if (memcmp(json.ptr + i, key, (size_t)length) != 0) continue;
    for (i += (size_t)length; i < json.len && (json.ptr[i] == ':' || json.ptr[i] == ' '); ++i) {
    }
    char digits[24] = {0};
    size_t count;
    for (count = 0; i < json.len && count + 1 < sizeof digits && json.ptr[i] >= '0' && json.ptr[i] <= '9'; ++i)
      digits[count++] = json.ptr[i];
    return count > 0 ? strtoll(digits, NULL, 10) : otherwise;
  }
  return otherwise;
}

static rw_status create(const rw_host* host, const rw_call* call, rw_str config, void** out) {
  slow_step* self = malloc(sizeof *self);
  (void)host;
  if (self == NULL) {
    call->fail(call->ctx, text("out of memory"));
    return RW_INTERNAL;
  }
  self->max_seconds = integer_setting(config, "max_seconds", 30);
  *out = self;
  return RW_OK;
}

/* How much of a text fits into so many bytes without cutting a character in two. */
static int fitting(rw_str name, size_t limit) {
  size_t length = name.len < limit ? name.len : limit;
  while (length > 0 && length < name.len && ((unsigned char)name.ptr[length] & 0xC0) == 0x80) --length;
  return (int)length;
}

/* The time that the sender expects, in a member unknown to the ABI: metadata.expectedSeconds of the step. */
static int64_t allowed_seconds(const slow_step* self, const rw_run* run, int32_t index) {
  rw_value expected;
  if (run->find(run->ctx, index, text("/metadata/expectedSeconds"), &expected) != RW_OK) return self->max_seconds;
  return expected.type == RW_VALUE_INTEGER && expected.as.i64 > self->max_seconds ? expected.as.i64 : self->max_seconds;
}

/* A title is one line, and the sender's name of a step may be more than that. */
static void make_one_line(char* line) {
  for (; *line != '\0'; ++line) {
    if ((unsigned char)*line < 0x20) *line = ' ';
  }
}

static rw_status report(const rw_call* call, const rw_step* step, int32_t index, int64_t seconds, int64_t allowed) {
  char title[256], summary[256], pointer[64], value[64];
  rw_evidence item;
  const rw_evidence* items[1];
  rw_str part;
  rw_finding finding;
  snprintf(title, sizeof title, "Slow step: \"%.*s\" took %lld s", fitting(step->name, LONGEST_NAME),
           step->name.len > 0 ? step->name.ptr : "", (long long)seconds);
  make_one_line(title);
  snprintf(summary, sizeof summary, "The tool took %lld s; at most %lld s are allowed. Whoever waited for the agent waited for it.",
           (long long)seconds, (long long)allowed);
  snprintf(pointer, sizeof pointer, "/steps/%ld/endedAt", (long)index);
  snprintf(value, sizeof value, "%lld s after startedAt", (long long)seconds);

  memset(&item, 0, sizeof item);
  item.struct_size = sizeof item;
  item.json_pointer = text(pointer);
  item.value = text(value);
  items[0] = &item;
  part = step->name; /* two slow steps of one tool are failures of the same kind */
  part.len = (size_t)fitting(step->name, LONGEST_NAME);

  memset(&finding, 0, sizeof finding);
  finding.struct_size = sizeof finding;
  finding.severity = RW_SEVERITY_LOW;
  finding.source = RW_SOURCE_TOOL;
  finding.score = seconds >= 2 * allowed ? 70 : 55;
  finding.title = text(title);
  finding.summary = text(summary);
  finding.primary_step = index;
  finding.evidence_count = 1;
  finding.evidence = items;
  finding.waste_usd = RW_ABSENT;
  finding.fingerprint_parts = &part;
  finding.fingerprint_part_count = 1;
  return call->emit(call->ctx, &finding);
}

static rw_status evaluate(void* instance, const rw_run* run, const rw_call* call) {
  const slow_step* self = instance;
  uint32_t timed = 0, i;
  for (i = 0; i < run->step_count; ++i) {
    const rw_step* step = run->step_at(run->ctx, i);
    int64_t seconds, allowed;
    if (call->should_stop(call->ctx)) return RW_STOPPED;
    if (step->kind != RW_STEP_TOOL || step->started_ms == RW_NO_TIME || step->ended_ms == RW_NO_TIME) continue;
    ++timed;
    seconds = (step->ended_ms - step->started_ms) / 1000;
    if (seconds <= self->max_seconds) continue;
    allowed = allowed_seconds(self, run, (int32_t)i);
    if (seconds <= allowed) {
      call->suppress(call->ctx, text("expected"), (int32_t)i, text("metadata.expectedSeconds allows it"));
    } else if (report(call, step, (int32_t)i, seconds, allowed) == RW_LIMIT) {
      break; /* the host takes no more of one call: what it has says enough */
    }
  }
  if (timed == 0) call->abstain(call->ctx, text("no startedAt and endedAt on any tool step"));
  return RW_OK;
}

static void destroy(void* instance) {
  free(instance);
}

static const rw_info info = {sizeof(rw_info),
                             RW_SCHEMA_MINOR,
                             0,
                             RW_CAP_CONCURRENT | RW_CAP_DETERMINISTIC,
                             RW_STR("slow_step"),
                             RW_STR("1.0.0"),
                             RW_STR("Slow step"),
                             {schema, sizeof schema - 1}};
static const rw_detector detector = {sizeof(rw_detector), 0, &info, create, evaluate, destroy, NULL};
static const rw_detector* const detectors[] = {&detector};
RW_ENTRY(detectors);
