/*
 * The detector ABI of runwarden, version 1: what a detector library and the host know of each other.
 *
 * A detector is a shared library (.so) that the host loads. It looks at one agent run at a time and says what is wrong
 * with it. This header is all that the two sides share: plain C11, no library behind it. C++ authors include
 * detector.hpp instead, which stands on this.
 *
 * How it fits together
 *   The library exports one data symbol, runwarden_entry_v1 (struct rw_entry), which points to one or more rw_detector.
 *   The host reads the entry's versions, then each detector's rw_info, checks the settings against the detector's JSON
 *   Schema, calls create once for each instance, evaluate once for each run, and destroy at the end.
 *
 * Rules that hold everywhere
 *   Versions  Host and library must have the same major (it is in the symbol's name). A library built for minor m runs
 *             on every host with minor >= m.
 *   Growth    A struct that begins with struct_size may get members at its end in a later minor. Whoever makes such a
 *             struct sets struct_size to its sizeof; whoever reads a member newer than 1.0 asks RW_HAS first. Such
 *             structs are passed by pointer only. A struct without struct_size is frozen for ever.
 *   Text      rw_str: UTF-8, not terminated. ptr == NULL is *absent*; ptr != NULL with len == 0 is *empty*: not the same.
 *             Text for the host may be absent wherever it may be empty. Texts are free of NUL bytes.
 *   Lifetime  What the host hands to a call is good until that call returns. What a library hands to a callback is
 *             copied before the callback returns. Nothing is freed by the other side.
 *             rw_entry, rw_detector, rw_info and their texts are static: good as long as the process lives.
 *             A library is never unloaded.
 *   Errors    Functions return RW_OK or one of enum rw_status_code. No exception and no longjmp may cross.
 *   Process   The host and all detectors share it. A library leaves alone what belongs to the whole process: locale (uselocale
 *             is for one thread), umask, working folder, handlers of signals, descriptors 0 to 2. A process that it forks
 *             ends with _exit, or by exec.
 *   Reserved  Members named reserved, and bits without a name, are 0 when written and ignored when read.
 *   Times     *_ms: milliseconds since 1970-01-01T00:00:00Z. *_ns: nanoseconds of the host's monotonic clock.
 *
 * Thread tags
 *   [main]    one thread at a time for one instance, never beside a [worker] call of that instance.
 *   [worker]  any thread of the host; never two at once on one instance, unless the detector says RW_CAP_CONCURRENT.
 *   [in-call] only on the thread that is inside create or evaluate, only until it returns, with that call's pointers.
 *   [any]     any thread, also the library's own, from create until destroy returns.
 */
#ifndef RUNWARDEN_DETECTOR_H
#define RUNWARDEN_DETECTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ------------------------------------------------------------------------------------------------------ */

/* The ABI that this header describes. */
#define RW_ABI_MAJOR 1u
#define RW_ABI_MINOR 2u

/* The minor of the run schema that this header describes: which members of rw_run and rw_step the host fills. */
#define RW_SCHEMA_MINOR 0u

/* The minor that the library is written for; members newer than it are not declared. Set it on the compiler's command line
 * (runwarden_add_detector does, from TARGET_MINOR). */
#ifndef RW_TARGET_MINOR
#define RW_TARGET_MINOR 0
#endif
#if RW_TARGET_MINOR > 2
#error "RW_TARGET_MINOR is newer than this SDK: install a newer runwarden-sdk-dev or lower TARGET_MINOR"
#endif

/* The lowest host minor that the library loads in. To use newer members where a host has them, and load without them, set it lower than
 * RW_TARGET_MINOR, on the command line too, and ask RW_HAS before each member that is newer than it. */
#ifndef RW_MIN_HOST_MINOR
#define RW_MIN_HOST_MINOR RW_TARGET_MINOR
#endif

/* The first release of runwarden whose hosts have minor RW_MIN_HOST_MINOR: what an older host tells its operator to install. */
#define RW_HOST_RELEASE "1.0"

/* True when the struct that ptr points to has the member. Needed for members newer than RW_MIN_HOST_MINOR only. */
#define RW_HAS(ptr, type, field) ((size_t)(ptr)->struct_size >= offsetof(type, field) + sizeof(((type *)0)->field))

/* Makes a symbol visible outside a library that is built with hidden visibility. */
#define RW_EXPORT __attribute__((visibility("default")))

/* ---- Values -------------------------------------------------------------------------------------------------------- */

/* A view of text; see "Text" and "Lifetime" above. Frozen. */
typedef struct rw_str {
  const char *ptr; /* NULL: absent */
  size_t len;      /* bytes */
} rw_str;

/* An rw_str of a string literal, usable in static initializers. */
#define RW_STR(literal) {(literal), sizeof(literal) - 1}

/* What functions return: a value of enum rw_status_code. A library treats codes that it does not know as RW_INTERNAL. */
typedef int32_t rw_status;

enum rw_status_code {
  RW_OK = 0,
  RW_INVALID_ARGUMENT = -1, /* bad UTF-8, a number out of range, a null pointer, a struct_size too small */
  RW_UNSUPPORTED = -2,      /* this side does not have it */
  RW_BAD_CONFIG = -3,       /* create: the settings are wrong; say which and why with fail */
  RW_LIMIT = -4,            /* too long, or too many; see "Limits" */
  RW_STOPPED = -5,          /* evaluate: ended early because should_stop said so */
  RW_INTERNAL = -6          /* anything else; say what with fail */
};

/* What an rw_value holds. */
enum rw_value_type {
  RW_VALUE_NONE = 0,    /* there is nothing there */
  RW_VALUE_NULL = 1,    /* JSON null */
  RW_VALUE_BOOL = 2,    /* as.boolean: 0 or 1 */
  RW_VALUE_INTEGER = 3, /* as.i64: a number written without fraction or exponent that fits */
  RW_VALUE_NUMBER = 4,  /* as.f64: any other number */
  RW_VALUE_STRING = 5,  /* as.str: the characters, escapes resolved */
  RW_VALUE_OBJECT = 6,  /* as.str: its JSON text */
  RW_VALUE_ARRAY = 7    /* as.str: its JSON text */
};

/* One JSON value. Frozen: 24 bytes. */
typedef struct rw_value {
  uint32_t type; /* enum rw_value_type */
  uint32_t reserved;
  union rw_value_as {
    int64_t i64;
    double f64;
    uint32_t boolean;
    rw_str str; /* good until the call returns */
  } as;
} rw_value;

/* ---- The run ------------------------------------------------------------------------------------------------------- */

/* Stands for an absent time. */
#define RW_NO_TIME INT64_MIN
/* Stands for an absent count, HTTP status or amount of money (all of them are >= 0 when present). */
#define RW_ABSENT (-1)
/* Stands for "no step" or "the run itself" where a step's index is asked for. */
#define RW_NO_STEP (-1)

enum rw_step_kind {
  RW_STEP_TOOL = 0,  /* the agent called a tool */
  RW_STEP_MODEL = 1, /* the model spoke: its input is a prompt, its output what it said */
  RW_STEP_USER = 2,  /* the user spoke: the text is the output, else the input */
  RW_STEP_OTHER = 3  /* the sender's word for it is unknown, or there is none: kind_text; kinds to come count as this */
};

/* What a step says of itself; soft failures inside a good-looking output are the detector's own business. */
enum rw_outcome {
  RW_OUTCOME_UNKNOWN = 0, /* it says nothing */
  RW_OUTCOME_OK = 1,      /* a status of success, and no sign of failure */
  RW_OUTCOME_FAILED = 2   /* a status of failure, an error code or message, or an HTTP status >= 400 */
};

enum rw_flag {
  RW_FLAG_UNKNOWN = 0,
  RW_FLAG_FALSE = 1,
  RW_FLAG_TRUE = 2
};

/* One step of a run. Made by the host; never changes while a call can see it. */
typedef struct rw_step {
  uint32_t struct_size;
  uint32_t kind;         /* enum rw_step_kind */
  uint32_t outcome;      /* enum rw_outcome */
  uint32_t flags;        /* none in 1.0 */
  int64_t retry_count;   /* or RW_ABSENT */
  int64_t input_tokens;  /* or RW_ABSENT */
  int64_t http_status;   /* or RW_ABSENT */
  int64_t started_ms;    /* or RW_NO_TIME */
  int64_t ended_ms;      /* or RW_NO_TIME */
  rw_str id;             /* never absent: step_<n>, n from 1, where the sender gave none */
  rw_str name;           /* of the tool, mostly */
  rw_str kind_text;      /* the sender's own word for the kind */
  rw_str status_text;    /* the sender's own word for the outcome */
  rw_str error_code;     /* a numeric code is its decimal text */
  rw_str error_message;
  rw_str input;          /* text, or compact JSON text where the sender gave JSON */
  rw_str output;         /* likewise */
  rw_str model;          /* of the step; absent: see the run's */
  rw_str raw_json;       /* the whole step as compact JSON, unknown members kept */
} rw_step;

/* One run. Made by the host; never changes while a call can see it. ctx and the two functions may be used in the call that
 * the run was handed to, on its thread. */
typedef struct rw_run {
  uint32_t struct_size;
  uint32_t step_count;
  uint32_t success;     /* enum rw_flag: what the sender says of the run */
  uint32_t flags;       /* none in 1.0 */
  double cost_usd;      /* US dollars, or RW_ABSENT */
  int64_t input_tokens; /* or RW_ABSENT */
  int64_t started_ms;   /* or RW_NO_TIME */
  int64_t ended_ms;     /* or RW_NO_TIME */
  rw_str id;
  rw_str tenant;        /* the name of the tenant whose run it is */
  rw_str user_request;
  rw_str outcome;       /* the sender's summary of how the run ended */
  rw_str model;
  rw_str raw_json;      /* the whole run as compact JSON, unknown members kept */
  void *ctx;            /* the first argument of the two functions */

  /* [in-call] The step at an index from 0, in the order of the run; NULL from step_count on. Costs next to nothing. */
  const rw_step *(*step_at)(void *ctx, uint32_t index);

  /* [in-call] What stands in a step's JSON (step >= 0), or in the run's (RW_NO_STEP), at a JSON Pointer (RFC 6901; ""
   * is the whole). RW_OK: *out is set, to RW_VALUE_NONE where there is nothing. RW_INVALID_ARGUMENT, *out untouched:
   * no such step, or a text that is no JSON Pointer. Reads the JSON text from its start each time: linear in its length. */
  rw_status (*find)(void *ctx, int32_t step, rw_str json_pointer, rw_value *out);
} rw_run;

/* ---- What a detector says ------------------------------------------------------------------------------------------ */

/* How bad it is for whoever depends on the run. */
enum rw_severity {
  RW_SEVERITY_LOW = 0,
  RW_SEVERITY_MEDIUM = 1,
  RW_SEVERITY_HIGH = 2,
  RW_SEVERITY_CRITICAL = 3
};

/* Where the failure began. */
enum rw_source {
  RW_SOURCE_TOOL = 0,        /* a tool failed, or lied */
  RW_SOURCE_RUNTIME = 1,     /* the loop around the model: retries, budget, stopping */
  RW_SOURCE_CONTEXT = 2,     /* what the model was given, or lacked */
  RW_SOURCE_COORDINATION = 3 /* who should have done what */
};

/* Limits of one call. A later host may allow more, never less. Lengths in bytes; beyond them the callback answers
 * RW_LIMIT and takes nothing. */
#define RW_MAX_FINDINGS 64
#define RW_MAX_SUPPRESSIONS 256
#define RW_MAX_TITLE 512
#define RW_MAX_SUMMARY 4096
#define RW_MAX_EVIDENCE 32         /* items of one finding */
#define RW_MAX_POINTER 512         /* the pointer of one item */
#define RW_MAX_VALUE 1024          /* the value of one item */
#define RW_MAX_FINGERPRINT_PARTS 8 /* of one finding */
#define RW_MAX_PART 65536          /* one part of a fingerprint; the host shortens it */
#define RW_MAX_RULE 64
#define RW_MAX_REASON 1024         /* of suppress, abstain and fail; fail cuts a longer text instead */

/* One piece of evidence: a place in the run and what stands there. */
typedef struct rw_evidence {
  uint32_t struct_size;
  uint32_t reserved;
  rw_str json_pointer; /* into the run as a whole: "/steps/0/errorMessage" */
  rw_str value;        /* the text there, shortened as is useful */
} rw_evidence;

/* One failure. Made by the library for the length of one emit. Every member of 1.0 must be there. */
typedef struct rw_finding {
  uint32_t struct_size;
  uint32_t severity;                    /* enum rw_severity */
  uint32_t source;                      /* enum rw_source */
  int32_t score;                        /* how sure, 0 to 100 */
  rw_str title;                         /* one line; not empty */
  rw_str summary;                       /* one or two sentences; not empty */
  int32_t primary_step;                 /* an index, or RW_NO_STEP: the failure is of the whole run */
  uint32_t evidence_count;
  const rw_evidence *const *evidence;   /* evidence_count pointers; may be NULL when that is 0 */
  double waste_usd;                     /* US dollars wasted, or RW_ABSENT */
  const rw_str *fingerprint_parts;      /* what makes two failures alike, e.g. {step name, error text}; the detector's key
                                           is put before, numbers and ids are masked by the host */
  uint32_t fingerprint_part_count;      /* 0: the primary step's name and error text are taken */
  uint32_t reserved;
#if RW_TARGET_MINOR >= 2
  double confidence;                    /* how well the run bears it out, 0 to 1, on the scale of candidates; or RW_ABSENT */
#endif
} rw_finding;

#if RW_TARGET_MINOR >= 1
/* What one item of an explanation is about, and what its texts then hold. label and outcome are single words in lower case:
 * those named here, or better ones of the detector's own. */
enum rw_explanation_kind {
  RW_EXPLAIN_ACTION = 0,     /* a call. subject: tool and arguments, wrappers taken off; label: its effect (read, write, think, ...);
                                outcome: ok, failed, empty, ...; objects: what it was done to */
  RW_EXPLAIN_STATEMENT = 1,  /* a sentence of a message. subject: the sentence; label: what it was read as (claim, admission, ask,
                                plan, goodbye, ...); reason: by which words */
  RW_EXPLAIN_OBLIGATION = 2, /* what was asked for or promised. subject: the words; label: request or promise; outcome: open, kept, ... */
  RW_EXPLAIN_MATCH = 3,      /* an action that a statement or obligation was compared with. step: the action; subject: the words;
                                label: agrees or differs */
  RW_EXPLAIN_FACT = 4,       /* a value that a message states. subject: the value; label: its type; outcome: grounded or ungrounded */
  RW_EXPLAIN_RULE = 5        /* a rule that was asked. subject: its name; label: its answer (fires, silences or no) */
};

/* Limits of one call's explanation. */
#define RW_MAX_EXPLANATIONS 1024        /* items */
#define RW_MAX_EXPLANATION_BYTES 262144 /* of the texts of all items together */
#define RW_MAX_SUBJECT 640              /* subject and objects: 160 characters, whichever they are */
#define RW_MAX_LABEL 64                 /* label and outcome */

/* One item of an explanation: what the detector understood of one place in the run, or how one of its rules answered. Made by the
 * library for the length of one explain. Every member of 1.1 must be there; the texts behind label may be absent. */
typedef struct rw_explanation {
  uint32_t struct_size;
  uint32_t kind;       /* enum rw_explanation_kind */
  int32_t step;        /* an index, or RW_NO_STEP */
  uint32_t reserved;
  double confidence;   /* 0 to 1, or RW_ABSENT */
  rw_str json_pointer; /* where the words stand, into the run as a whole; may be absent */
  rw_str subject;      /* not empty */
  rw_str label;        /* not empty */
  rw_str outcome;
  rw_str objects;
  rw_str reason;       /* a few words for whoever has to understand the answer; at most RW_MAX_REASON bytes */
} rw_explanation;
#endif

/* One call of create or evaluate: how it talks back. Made by the host. Every function takes ctx first.
 * In create only fail and should_stop do anything; the others answer RW_UNSUPPORTED. */
typedef struct rw_call {
  uint32_t struct_size;
  uint32_t reserved;
  void *ctx;
  int64_t deadline_ns; /* when the host stops waiting, by rw_host.monotonic_ns */

  /* [in-call] Reports a failure. RW_INVALID_ARGUMENT (bad UTF-8, a NUL byte, score, severity, source, step, waste or confidence out of
   * range, an empty title or summary, a null pointer) or RW_LIMIT: nothing was taken. */
  rw_status (*emit)(void *ctx, const rw_finding *finding);

  /* [in-call] Says that a rule kept a failure from being reported: rule is a short stable name, step an index or RW_NO_STEP.
   * Does not make the run not evaluable. RW_INVALID_ARGUMENT, RW_LIMIT. */
  rw_status (*suppress)(void *ctx, rw_str rule, int32_t step, rw_str reason);

  /* [in-call] Says that the run does not hold what the detector needs ("no inputTokens on any model step"). The run is then
   * *not evaluable*, not clean, unless something was emitted: findings win. The last reason counts. RW_INVALID_ARGUMENT, RW_LIMIT:
   * it was not taken; a run whose only reasons were not is an error, not clean. */
  rw_status (*abstain)(void *ctx, rw_str reason);

  /* [in-call] Explains the error that the function is about to return. In create, a text that begins with a JSON Pointer into
   * the settings and a colon ("/repeats: must be ...") is told with file, line and column. The last text counts. */
  rw_status (*fail)(void *ctx, rw_str text);

  /* [in-call] 1 once the deadline has passed or the host wants to stop: return RW_STOPPED soon. Cheap: about one read of the
   * clock; ask it in every loop over steps. What was emitted before is dropped. */
  uint32_t (*should_stop)(void *ctx);

#if RW_TARGET_MINOR >= 1
  /* [in-call] Adds an item to the explanation of the answer. NULL unless somebody asked for one: then, and only then, put it together.
   * Must not change what is emitted, suppressed or abstained. RW_INVALID_ARGUMENT, RW_LIMIT: the item was not taken. */
  rw_status (*explain)(void *ctx, const rw_explanation *item);
#endif

#if RW_TARGET_MINOR >= 2
  /* [in-call] Like suppress, for a failure that was kept back only because it is not sure enough: a candidate, which a closer look may
   * confirm. confidence is from 0 to 1. Counts as a suppression (RW_MAX_SUPPRESSIONS). RW_INVALID_ARGUMENT, RW_LIMIT. */
  rw_status (*candidate)(void *ctx, rw_str rule, int32_t step, rw_str reason, double confidence);
#endif
} rw_call;

/* ---- The host ------------------------------------------------------------------------------------------------------ */

enum rw_log_level {
  RW_LOG_DEBUG = 0,
  RW_LOG_INFO = 1,
  RW_LOG_WARNING = 2,
  RW_LOG_ERROR = 3
};

/* The host as a detector sees it. Good from create until destroy returns; keep the pointer. */
typedef struct rw_host {
  uint32_t struct_size;
  uint32_t abi_minor;    /* what the host has, which may be more than the library asked for */
  uint32_t schema_minor;
  uint32_t reserved;
  rw_str name;           /* "runwarden" */
  rw_str version;        /* of the host's release, for messages only: never decide by it */
  void *ctx;             /* the first argument of the functions */

  /* [any] One line for the operator's log. Never write run texts here: they may be private. Lines beyond what the host
   * is willing to log are dropped. */
  void (*log)(void *ctx, uint32_t level, rw_str text);

  /* [any] The clock that deadline_ns is of. Not for deciding about a run: the same run must get the same answer. */
  int64_t (*monotonic_ns)(void *ctx);

  /* [any] An optional part of the host by its id, "runwarden.NAME/REV" (others: "com.example.NAME/REV"), or NULL. What it
   * points to is described by that extension's own header and is static. There is none in 1.0. */
  const void *(*get_extension)(void *ctx, rw_str id);
} rw_host;

/* ---- The detector -------------------------------------------------------------------------------------------------- */

/* Capability bits. A host refuses a detector whose required_caps has a bit that it does not know, and ignores unknown bits
 * of optional_caps. */
#define RW_CAP_CONCURRENT 0x1u    /* evaluate may run on several threads at once on one instance: the host makes one only */
#define RW_CAP_DETERMINISTIC 0x2u /* the same run and settings always get the same answer */

/* What a detector is. Static. */
typedef struct rw_info {
  uint32_t struct_size;
  uint32_t min_schema_minor;  /* the run schema that it relies on */
  uint64_t required_caps;     /* RW_CAP_* that the host must know */
  uint64_t optional_caps;     /* RW_CAP_* that it may use */
  rw_str key;                 /* the name in configuration and answers: [a-z][a-z0-9_]{0,63}; never changes */
  rw_str version;             /* of the detector, for people: "1.4.2" */
  rw_str title;               /* for people: "False success" */
  rw_str config_schema_json;  /* JSON Schema (2020-12) of the settings, or absent: any. The host checks type, properties,
                                 required, additionalProperties, items, minItems, maxItems, minimum, maximum,
                                 exclusiveMinimum, exclusiveMaximum, minLength, maxLength, enum, const, and ignores
                                 title, description, default, examples, $schema, $id, $comment; any other keyword is
                                 refused at load */
} rw_info;

/* One detector: its description and its functions. Static. All functions but get_extension must be there. */
typedef struct rw_detector {
  uint32_t struct_size;
  uint32_t reserved;
  const rw_info *info;

  /* [main] Makes an instance from the settings: one JSON object as text. When the operator gave none it is "{}", or absent: take both
   * alike. The host may make several (one a thread, more with other settings). RW_OK: *out is the instance, not NULL. Otherwise nothing
   * is left behind; say why with fail. Takes up to a second at start; no threads of its own may outlive destroy. */
  rw_status (*create)(const rw_host *host, const rw_call *call, rw_str config, void **out);

  /* [worker] Looks at one run, from the run alone: no state is kept between runs. RW_OK: what was emitted, suppressed and
   * abstained counts. RW_STOPPED: the deadline. Anything else: an error; what was emitted is dropped, the run is stored with the
   * detector's status "error" and the text of fail. Must be linear in the run's length. */
  rw_status (*evaluate)(void *self, const rw_run *run, const rw_call *call);

  /* [main] Ends an instance. Never called twice, never during another call of it. */
  void (*destroy)(void *self);

  /* [any] An optional part of the detector by its id, or NULL; self may be NULL. The member may be NULL: has none. */
  const void *(*get_extension)(void *self, rw_str id);
} rw_detector;

/* What a library exports, static and filled in at link time (no constructor needs to run before it is read). */
typedef struct rw_entry {
  uint32_t struct_size;
  uint32_t abi_major;      /* RW_ABI_MAJOR: must be the host's */
  uint32_t abi_minor;      /* RW_ABI_MINOR: what it was built with; for messages only */
  uint32_t min_host_minor; /* RW_MIN_HOST_MINOR: must be <= the host's */
  uint32_t detector_count; /* at least 1 */
  uint32_t reserved;
  const rw_detector *const *detectors; /* detector_count pointers */
  rw_str host_release;     /* RW_HOST_RELEASE: the first release that can load it; for messages only */
} rw_entry;

/* The one symbol of a detector library. Define it with RW_ENTRY, or by hand:
 *   const rw_entry runwarden_entry_v1 = {sizeof(rw_entry), RW_ABI_MAJOR, ...}; */
#define RW_ENTRY_SYMBOL "runwarden_entry_v1"
extern RW_EXPORT const rw_entry runwarden_entry_v1;

/* Defines the entry from an array of `const rw_detector *` of static storage. */
#define RW_ENTRY(detector_array)                                                                                       \
  const rw_entry runwarden_entry_v1 = {                                                                                \
      sizeof(rw_entry), RW_ABI_MAJOR, RW_ABI_MINOR, RW_MIN_HOST_MINOR,                                                 \
      (uint32_t)(sizeof(detector_array) / sizeof((detector_array)[0])), 0u, (detector_array), RW_STR(RW_HOST_RELEASE)}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNWARDEN_DETECTOR_H */
