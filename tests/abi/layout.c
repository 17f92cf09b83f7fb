/* The layout of ABI 1, number by number: size of every struct, offset and size of every member, value of every constant.
 * A line here never changes, but for RW_ABI_MINOR; a later minor adds lines for what it adds at the end, under its RW_TARGET_MINOR. */
#include <runwarden/detector.h>

#ifdef __cplusplus
#define CHECK(condition, text) static_assert(condition, text)
#else
#define CHECK(condition, text) _Static_assert(condition, text)
#endif
#define SIZE(type, size) CHECK(sizeof(type) == (size), #type)
#define MEMBER(type, name, offset, size) CHECK(offsetof(type, name) == (offset) && sizeof(((type *)0)->name) == (size), #type "." #name)
#define VALUE(name, value) CHECK((name) == (value), #name)

SIZE(rw_str, 16);
MEMBER(rw_str, ptr, 0, 8);
MEMBER(rw_str, len, 8, 8);

SIZE(rw_value, 24);
MEMBER(rw_value, type, 0, 4);
MEMBER(rw_value, reserved, 4, 4);
MEMBER(rw_value, as, 8, 16);

SIZE(rw_step, 216);
MEMBER(rw_step, struct_size, 0, 4);
MEMBER(rw_step, kind, 4, 4);
MEMBER(rw_step, outcome, 8, 4);
MEMBER(rw_step, flags, 12, 4);
MEMBER(rw_step, retry_count, 16, 8);
MEMBER(rw_step, input_tokens, 24, 8);
MEMBER(rw_step, http_status, 32, 8);
MEMBER(rw_step, started_ms, 40, 8);
MEMBER(rw_step, ended_ms, 48, 8);
MEMBER(rw_step, id, 56, 16);
MEMBER(rw_step, name, 72, 16);
MEMBER(rw_step, kind_text, 88, 16);
MEMBER(rw_step, status_text, 104, 16);
MEMBER(rw_step, error_code, 120, 16);
MEMBER(rw_step, error_message, 136, 16);
MEMBER(rw_step, input, 152, 16);
MEMBER(rw_step, output, 168, 16);
MEMBER(rw_step, model, 184, 16);
MEMBER(rw_step, raw_json, 200, 16);

SIZE(rw_run, 168);
MEMBER(rw_run, struct_size, 0, 4);
MEMBER(rw_run, step_count, 4, 4);
MEMBER(rw_run, success, 8, 4);
MEMBER(rw_run, flags, 12, 4);
MEMBER(rw_run, cost_usd, 16, 8);
MEMBER(rw_run, input_tokens, 24, 8);
MEMBER(rw_run, started_ms, 32, 8);
MEMBER(rw_run, ended_ms, 40, 8);
MEMBER(rw_run, id, 48, 16);
MEMBER(rw_run, tenant, 64, 16);
MEMBER(rw_run, user_request, 80, 16);
MEMBER(rw_run, outcome, 96, 16);
MEMBER(rw_run, model, 112, 16);
MEMBER(rw_run, raw_json, 128, 16);
MEMBER(rw_run, ctx, 144, 8);
MEMBER(rw_run, step_at, 152, 8);
MEMBER(rw_run, find, 160, 8);

SIZE(rw_evidence, 40);
MEMBER(rw_evidence, struct_size, 0, 4);
MEMBER(rw_evidence, reserved, 4, 4);
MEMBER(rw_evidence, json_pointer, 8, 16);
MEMBER(rw_evidence, value, 24, 16);

#if RW_TARGET_MINOR >= 2
SIZE(rw_finding, 96);
MEMBER(rw_finding, confidence, 88, 8);
#else
SIZE(rw_finding, 88);
#endif
MEMBER(rw_finding, struct_size, 0, 4);
MEMBER(rw_finding, severity, 4, 4);
MEMBER(rw_finding, source, 8, 4);
MEMBER(rw_finding, score, 12, 4);
MEMBER(rw_finding, title, 16, 16);
MEMBER(rw_finding, summary, 32, 16);
MEMBER(rw_finding, primary_step, 48, 4);
MEMBER(rw_finding, evidence_count, 52, 4);
MEMBER(rw_finding, evidence, 56, 8);
MEMBER(rw_finding, waste_usd, 64, 8);
MEMBER(rw_finding, fingerprint_parts, 72, 8);
MEMBER(rw_finding, fingerprint_part_count, 80, 4);
MEMBER(rw_finding, reserved, 84, 4);

#if RW_TARGET_MINOR >= 2
SIZE(rw_call, 80);
MEMBER(rw_call, candidate, 72, 8);
#elif RW_TARGET_MINOR >= 1
SIZE(rw_call, 72);
#else
SIZE(rw_call, 64);
#endif
#if RW_TARGET_MINOR >= 1
MEMBER(rw_call, explain, 64, 8);
#endif
MEMBER(rw_call, struct_size, 0, 4);
MEMBER(rw_call, reserved, 4, 4);
MEMBER(rw_call, ctx, 8, 8);
MEMBER(rw_call, deadline_ns, 16, 8);
MEMBER(rw_call, emit, 24, 8);
MEMBER(rw_call, suppress, 32, 8);
MEMBER(rw_call, abstain, 40, 8);
MEMBER(rw_call, fail, 48, 8);
MEMBER(rw_call, should_stop, 56, 8);

#if RW_TARGET_MINOR >= 1
SIZE(rw_explanation, 120);
MEMBER(rw_explanation, struct_size, 0, 4);
MEMBER(rw_explanation, kind, 4, 4);
MEMBER(rw_explanation, step, 8, 4);
MEMBER(rw_explanation, reserved, 12, 4);
MEMBER(rw_explanation, confidence, 16, 8);
MEMBER(rw_explanation, json_pointer, 24, 16);
MEMBER(rw_explanation, subject, 40, 16);
MEMBER(rw_explanation, label, 56, 16);
MEMBER(rw_explanation, outcome, 72, 16);
MEMBER(rw_explanation, objects, 88, 16);
MEMBER(rw_explanation, reason, 104, 16);
#endif

SIZE(rw_host, 80);
MEMBER(rw_host, struct_size, 0, 4);
MEMBER(rw_host, abi_minor, 4, 4);
MEMBER(rw_host, schema_minor, 8, 4);
MEMBER(rw_host, reserved, 12, 4);
MEMBER(rw_host, name, 16, 16);
MEMBER(rw_host, version, 32, 16);
MEMBER(rw_host, ctx, 48, 8);
MEMBER(rw_host, log, 56, 8);
MEMBER(rw_host, monotonic_ns, 64, 8);
MEMBER(rw_host, get_extension, 72, 8);

SIZE(rw_info, 88);
MEMBER(rw_info, struct_size, 0, 4);
MEMBER(rw_info, min_schema_minor, 4, 4);
MEMBER(rw_info, required_caps, 8, 8);
MEMBER(rw_info, optional_caps, 16, 8);
MEMBER(rw_info, key, 24, 16);
MEMBER(rw_info, version, 40, 16);
MEMBER(rw_info, title, 56, 16);
MEMBER(rw_info, config_schema_json, 72, 16);

SIZE(rw_detector, 48);
MEMBER(rw_detector, struct_size, 0, 4);
MEMBER(rw_detector, reserved, 4, 4);
MEMBER(rw_detector, info, 8, 8);
MEMBER(rw_detector, create, 16, 8);
MEMBER(rw_detector, evaluate, 24, 8);
MEMBER(rw_detector, destroy, 32, 8);
MEMBER(rw_detector, get_extension, 40, 8);

SIZE(rw_entry, 48);
MEMBER(rw_entry, struct_size, 0, 4);
MEMBER(rw_entry, abi_major, 4, 4);
MEMBER(rw_entry, abi_minor, 8, 4);
MEMBER(rw_entry, min_host_minor, 12, 4);
MEMBER(rw_entry, detector_count, 16, 4);
MEMBER(rw_entry, reserved, 20, 4);
MEMBER(rw_entry, detectors, 24, 8);
MEMBER(rw_entry, host_release, 32, 16);

VALUE(RW_OK, 0);
VALUE(RW_INVALID_ARGUMENT, -1);
VALUE(RW_UNSUPPORTED, -2);
VALUE(RW_BAD_CONFIG, -3);
VALUE(RW_LIMIT, -4);
VALUE(RW_STOPPED, -5);
VALUE(RW_INTERNAL, -6);
VALUE(RW_VALUE_NONE, 0);
VALUE(RW_VALUE_NULL, 1);
VALUE(RW_VALUE_BOOL, 2);
VALUE(RW_VALUE_INTEGER, 3);
VALUE(RW_VALUE_NUMBER, 4);
VALUE(RW_VALUE_STRING, 5);
VALUE(RW_VALUE_OBJECT, 6);
VALUE(RW_VALUE_ARRAY, 7);
VALUE(RW_STEP_TOOL, 0);
VALUE(RW_STEP_MODEL, 1);
VALUE(RW_STEP_USER, 2);
VALUE(RW_STEP_OTHER, 3);
VALUE(RW_OUTCOME_UNKNOWN, 0);
VALUE(RW_OUTCOME_OK, 1);
VALUE(RW_OUTCOME_FAILED, 2);
VALUE(RW_FLAG_UNKNOWN, 0);
VALUE(RW_FLAG_FALSE, 1);
VALUE(RW_FLAG_TRUE, 2);
VALUE(RW_SEVERITY_LOW, 0);
VALUE(RW_SEVERITY_MEDIUM, 1);
VALUE(RW_SEVERITY_HIGH, 2);
VALUE(RW_SEVERITY_CRITICAL, 3);
VALUE(RW_SOURCE_TOOL, 0);
VALUE(RW_SOURCE_RUNTIME, 1);
VALUE(RW_SOURCE_CONTEXT, 2);
VALUE(RW_SOURCE_COORDINATION, 3);
VALUE(RW_LOG_DEBUG, 0);
VALUE(RW_LOG_INFO, 1);
VALUE(RW_LOG_WARNING, 2);
VALUE(RW_LOG_ERROR, 3);
VALUE(RW_ABI_MAJOR, 1);
VALUE(RW_ABI_MINOR, 2);
VALUE(RW_SCHEMA_MINOR, 0);
VALUE(RW_NO_TIME, INT64_MIN);
VALUE(RW_ABSENT, -1);
VALUE(RW_NO_STEP, -1);
VALUE(RW_MAX_FINDINGS, 64);
VALUE(RW_MAX_SUPPRESSIONS, 256);
VALUE(RW_MAX_TITLE, 512);
VALUE(RW_MAX_SUMMARY, 4096);
VALUE(RW_MAX_EVIDENCE, 32);
VALUE(RW_MAX_POINTER, 512);
VALUE(RW_MAX_VALUE, 1024);
VALUE(RW_MAX_FINGERPRINT_PARTS, 8);
VALUE(RW_MAX_PART, 65536);
VALUE(RW_MAX_RULE, 64);
VALUE(RW_MAX_REASON, 1024);
VALUE(RW_CAP_CONCURRENT, 1);
VALUE(RW_CAP_DETERMINISTIC, 2);
#if RW_TARGET_MINOR >= 1
VALUE(RW_EXPLAIN_ACTION, 0);
VALUE(RW_EXPLAIN_STATEMENT, 1);
VALUE(RW_EXPLAIN_OBLIGATION, 2);
VALUE(RW_EXPLAIN_MATCH, 3);
VALUE(RW_EXPLAIN_FACT, 4);
VALUE(RW_EXPLAIN_RULE, 5);
VALUE(RW_MAX_EXPLANATIONS, 1024);
VALUE(RW_MAX_EXPLANATION_BYTES, 262144);
VALUE(RW_MAX_SUBJECT, 640);
VALUE(RW_MAX_LABEL, 64);
#endif

/* The type of every function. A compiler that sees another one says so. */
void signatures(const rw_run *run, const rw_call *call, const rw_host *host, const rw_detector *detector);
void signatures(const rw_run *run, const rw_call *call, const rw_host *host, const rw_detector *detector) {
  const rw_step *(*step_at)(void *, uint32_t) = run->step_at;
  rw_status (*find)(void *, int32_t, rw_str, rw_value *) = run->find;
  rw_status (*emit)(void *, const rw_finding *) = call->emit;
  rw_status (*suppress)(void *, rw_str, int32_t, rw_str) = call->suppress;
  rw_status (*abstain)(void *, rw_str) = call->abstain;
  rw_status (*fail)(void *, rw_str) = call->fail;
  uint32_t (*should_stop)(void *) = call->should_stop;
  void (*log)(void *, uint32_t, rw_str) = host->log;
  int64_t (*monotonic_ns)(void *) = host->monotonic_ns;
  const void *(*host_extension)(void *, rw_str) = host->get_extension;
  rw_status (*create)(const rw_host *, const rw_call *, rw_str, void **) = detector->create;
  rw_status (*evaluate)(void *, const rw_run *, const rw_call *) = detector->evaluate;
  void (*destroy)(void *) = detector->destroy;
  const void *(*extension)(void *, rw_str) = detector->get_extension;
#if RW_TARGET_MINOR >= 1
  rw_status (*explain)(void *, const rw_explanation *) = call->explain;
  (void)explain;
#endif
#if RW_TARGET_MINOR >= 2
  rw_status (*candidate)(void *, rw_str, int32_t, rw_str, double) = call->candidate;
  (void)candidate;
#endif
  (void)step_at, (void)find, (void)emit, (void)suppress, (void)abstain, (void)fail, (void)should_stop, (void)log, (void)monotonic_ns;
  (void)host_extension, (void)create, (void)evaluate, (void)destroy, (void)extension;
}
