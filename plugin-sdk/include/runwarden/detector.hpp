// The C++17 layer over detector.h: write a class, name it in RW_DETECTORS, and the library is a detector library.
//
//   class PiiLeak : public rw::Detector {
//    public:
//     static rw::Info info() { return {"pii_leak", "1.0.0", "PII leak"}; }
//     void configure(std::string_view settings_json) override;          // [main] called once; may throw; see rw::Settings
//     void evaluate(const rw::Run& run, rw::Call& call) override;       // [worker] called once per run; may throw
//   };
//   RW_DETECTORS(PiiLeak);
//
// Header only; there is nothing to link. Everything here is compiled into your library; only the C structs of
// detector.h cross to the host. The entry points below catch every exception: what() becomes the error text.
//
// Text is std::string_view. An absent text has data() == nullptr, an empty one does not: rw::present distinguishes them.
// Views into a Run are valid until evaluate returns.
#ifndef RUNWARDEN_DETECTOR_HPP
#define RUNWARDEN_DETECTOR_HPP

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runwarden/detector.h"
#include "runwarden/settings.hpp"

namespace rw {

// ---- Text ------------------------------------------------------------------------------------------------------------

inline std::string_view view(rw_str text) noexcept {
  return {text.ptr, text.ptr == nullptr ? 0 : text.len};
}

inline rw_str str(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

// True when the record has the member, even if it is empty.
inline bool present(std::string_view text) noexcept {
  return text.data() != nullptr;
}

// The beginning of a text: at most `bytes`, and never half a character.
inline std::string_view shortened(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// ---- The run ---------------------------------------------------------------------------------------------------------

enum class StepKind : std::uint32_t { tool = RW_STEP_TOOL, model = RW_STEP_MODEL, user = RW_STEP_USER, other = RW_STEP_OTHER };
enum class Outcome : std::uint32_t { unknown = RW_OUTCOME_UNKNOWN, ok = RW_OUTCOME_OK, failed = RW_OUTCOME_FAILED };

// The JSON value that find() returned.
class Value {
 public:
  explicit Value(rw_value raw) noexcept : raw_(raw) {}

  bool exists() const noexcept { return raw_.type != RW_VALUE_NONE; }
  bool is_null() const noexcept { return raw_.type == RW_VALUE_NULL; }
  std::optional<bool> boolean() const noexcept {
    if (raw_.type != RW_VALUE_BOOL) return std::nullopt;
    return raw_.as.boolean != 0;
  }
  std::optional<std::int64_t> integer() const noexcept {
    if (raw_.type != RW_VALUE_INTEGER) return std::nullopt;
    return raw_.as.i64;
  }
  // Any number, integers included.
  std::optional<double> number() const noexcept {
    if (raw_.type == RW_VALUE_INTEGER) return static_cast<double>(raw_.as.i64);
    if (raw_.type != RW_VALUE_NUMBER) return std::nullopt;
    return raw_.as.f64;
  }
  // The characters of a string; absent for any other type.
  std::string_view text() const noexcept { return raw_.type == RW_VALUE_STRING ? view(raw_.as.str) : std::string_view(); }
  // The JSON text of an object or array; absent for any other type.
  std::string_view json() const noexcept {
    return raw_.type == RW_VALUE_OBJECT || raw_.type == RW_VALUE_ARRAY ? view(raw_.as.str) : std::string_view();
  }
  const rw_value& raw() const noexcept { return raw_; }

 private:
  rw_value raw_;
};

namespace detail {
inline std::optional<std::int64_t> count(std::int64_t value) noexcept {
  if (value < 0) return std::nullopt;
  return value;
}
inline std::optional<std::int64_t> time(std::int64_t value) noexcept {
  if (value == RW_NO_TIME) return std::nullopt;
  return value;
}
inline Value find(const rw_run& run, std::int32_t step, std::string_view pointer) {
  rw_value out{};
  if (run.find(run.ctx, step, str(pointer), &out) != RW_OK) {
    throw std::invalid_argument("find: \"" + std::string(pointer) + "\" is not a JSON Pointer");
  }
  return Value(out);
}
}  // namespace detail

// One step. A small value type; copy it freely.
class Step {
 public:
  Step(const rw_run& run, const rw_step& raw, std::uint32_t index) noexcept : run_(&run), raw_(&raw), index_(index) {}

  std::uint32_t index() const noexcept { return index_; }
  StepKind kind() const noexcept { return raw_->kind > RW_STEP_OTHER ? StepKind::other : static_cast<StepKind>(raw_->kind); }
  bool is_tool() const noexcept { return raw_->kind == RW_STEP_TOOL; }
  bool is_model() const noexcept { return raw_->kind == RW_STEP_MODEL; }
  bool is_user() const noexcept { return raw_->kind == RW_STEP_USER; }
  Outcome outcome() const noexcept { return raw_->outcome > RW_OUTCOME_FAILED ? Outcome::unknown : static_cast<Outcome>(raw_->outcome); }

  std::string_view id() const noexcept { return view(raw_->id); }
  std::string_view name() const noexcept { return view(raw_->name); }
  std::string_view kind_text() const noexcept { return view(raw_->kind_text); }
  std::string_view status_text() const noexcept { return view(raw_->status_text); }
  std::string_view error_code() const noexcept { return view(raw_->error_code); }
  std::string_view error_message() const noexcept { return view(raw_->error_message); }
  std::string_view input() const noexcept { return view(raw_->input); }
  std::string_view output() const noexcept { return view(raw_->output); }
  std::string_view model() const noexcept { return view(raw_->model); }
  std::string_view raw_json() const noexcept { return view(raw_->raw_json); }

  std::optional<std::int64_t> retry_count() const noexcept { return detail::count(raw_->retry_count); }
  std::optional<std::int64_t> input_tokens() const noexcept { return detail::count(raw_->input_tokens); }
  std::optional<std::int64_t> http_status() const noexcept { return detail::count(raw_->http_status); }
  std::optional<std::int64_t> started_ms() const noexcept { return detail::time(raw_->started_ms); }
  std::optional<std::int64_t> ended_ms() const noexcept { return detail::time(raw_->ended_ms); }

  // The value at a JSON Pointer into the step: find("/metadata/region"). Throws std::invalid_argument on a bad pointer.
  Value find(std::string_view json_pointer) const { return detail::find(*run_, static_cast<std::int32_t>(index_), json_pointer); }

  const rw_step& raw() const noexcept { return *raw_; }

 private:
  const rw_run* run_;
  const rw_step* raw_;
  std::uint32_t index_;
};

// One run: a range over its steps, and the members of the run as a whole.
class Run {
 public:
  explicit Run(const rw_run& raw) noexcept : raw_(&raw) {}

  std::uint32_t size() const noexcept { return raw_->step_count; }
  bool empty() const noexcept { return raw_->step_count == 0; }
  // index < size()
  Step operator[](std::uint32_t index) const noexcept { return {*raw_, *raw_->step_at(raw_->ctx, index), index}; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Step;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Step;
    Iterator(const Run& run, std::uint32_t index) noexcept : run_(&run), index_(index) {}
    Step operator*() const noexcept { return (*run_)[index_]; }
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    Iterator operator++(int) noexcept { return {*run_, index_++}; }
    bool operator==(const Iterator& other) const noexcept { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const noexcept { return index_ != other.index_; }

   private:
    const Run* run_;
    std::uint32_t index_;
  };
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size()}; }

  std::string_view id() const noexcept { return view(raw_->id); }
  std::string_view tenant() const noexcept { return view(raw_->tenant); }
  std::string_view user_request() const noexcept { return view(raw_->user_request); }
  std::string_view outcome() const noexcept { return view(raw_->outcome); }
  std::string_view model() const noexcept { return view(raw_->model); }
  std::string_view raw_json() const noexcept { return view(raw_->raw_json); }

  // What the sender reports; nullopt when it reports nothing.
  std::optional<bool> success() const noexcept {
    if (raw_->success == RW_FLAG_TRUE) return true;
    if (raw_->success == RW_FLAG_FALSE) return false;
    return std::nullopt;
  }
  std::optional<double> cost_usd() const noexcept {
    if (!(raw_->cost_usd >= 0)) return std::nullopt;
    return raw_->cost_usd;
  }
  std::optional<std::int64_t> input_tokens() const noexcept { return detail::count(raw_->input_tokens); }
  std::optional<std::int64_t> started_ms() const noexcept { return detail::time(raw_->started_ms); }
  std::optional<std::int64_t> ended_ms() const noexcept { return detail::time(raw_->ended_ms); }

  // The value at a JSON Pointer into the run: find("/metadata/region"). Throws std::invalid_argument on a bad pointer.
  Value find(std::string_view json_pointer) const { return detail::find(*raw_, RW_NO_STEP, json_pointer); }

  const rw_run& raw() const noexcept { return *raw_; }

 private:
  const rw_run* raw_;
};

// ---- What a detector reports -----------------------------------------------------------------------------------------

enum class Severity : std::uint32_t {
  low = RW_SEVERITY_LOW,
  medium = RW_SEVERITY_MEDIUM,
  high = RW_SEVERITY_HIGH,
  critical = RW_SEVERITY_CRITICAL
};
enum class Source : std::uint32_t {
  tool = RW_SOURCE_TOOL,
  runtime = RW_SOURCE_RUNTIME,
  context = RW_SOURCE_CONTEXT,
  coordination = RW_SOURCE_COORDINATION
};

// One failure, built member by member:
//   call.emit(rw::Finding("Title").summary("...").score(90).severity(rw::Severity::high).primary_step(step.index()));
// Defaults: score 50, severity medium, source tool, no primary step, no waste.
class Finding {
 public:
  explicit Finding(std::string title) : title_(std::move(title)) {}

  Finding& summary(std::string text) { return set(summary_, std::move(text)); }
  Finding& score(int value) { return set(score_, static_cast<std::int32_t>(value)); }
  Finding& severity(Severity value) { return set(severity_, value); }
  Finding& source(Source value) { return set(source_, value); }
  Finding& primary_step(std::uint32_t index) { return set(primary_step_, static_cast<std::int32_t>(index)); }
  Finding& waste_usd(double value) { return set(waste_usd_, value); }
#if RW_TARGET_MINOR >= 2
  // How well the run supports the finding, 0 to 1, on the scale of Call::candidate. Absent by default.
  Finding& confidence(double value) { return set(confidence_, value); }
#endif
  // A JSON Pointer into the run as a whole ("/steps/0/errorMessage") and the text there.
  Finding& evidence(std::string json_pointer, std::string value) {
    evidence_.emplace_back(std::move(json_pointer), std::move(value));
    return *this;
  }
  // Two failures with equal parts count as alike. Default: the primary step's name and error text.
  Finding& fingerprint(std::vector<std::string> parts) { return set(fingerprint_, std::move(parts)); }

 private:
  friend class Call;

  template <class T>
  Finding& set(T& member, T value) {
    member = std::move(value);
    return *this;
  }

  std::string title_, summary_;
  std::int32_t score_ = 50;
  std::int32_t primary_step_ = RW_NO_STEP;
  Severity severity_ = Severity::medium;
  Source source_ = Source::tool;
  double waste_usd_ = RW_ABSENT;
#if RW_TARGET_MINOR >= 2
  double confidence_ = RW_ABSENT;
#endif
  std::vector<std::pair<std::string, std::string>> evidence_;
  std::vector<std::string> fingerprint_;
};

#if RW_TARGET_MINOR >= 1
enum class ExplanationKind : std::uint32_t {
  action = RW_EXPLAIN_ACTION,
  statement = RW_EXPLAIN_STATEMENT,
  obligation = RW_EXPLAIN_OBLIGATION,
  match = RW_EXPLAIN_MATCH,
  fact = RW_EXPLAIN_FACT,
  rule = RW_EXPLAIN_RULE
};

// One item of an explanation, built like a Finding:
//   call.explain(rw::Explanation(rw::ExplanationKind::rule, "recovery", "no").step(3).reason("no later call succeeded"));
class Explanation {
 public:
  Explanation(ExplanationKind kind, std::string subject, std::string label)
      : kind_(kind), subject_(std::move(subject)), label_(std::move(label)) {}

  Explanation& step(std::uint32_t index) { return set(step_, static_cast<std::int32_t>(index)); }
  Explanation& confidence(double value) { return set(confidence_, value); }
  Explanation& json_pointer(std::string text) { return set(json_pointer_, std::move(text)); }
  Explanation& outcome(std::string text) { return set(outcome_, std::move(text)); }
  Explanation& objects(std::string text) { return set(objects_, std::move(text)); }
  Explanation& reason(std::string text) { return set(reason_, std::move(text)); }

 private:
  friend class Call;

  template <class T>
  Explanation& set(T& member, T value) {
    member = std::move(value);
    return *this;
  }

  ExplanationKind kind_;
  std::int32_t step_ = RW_NO_STEP;
  double confidence_ = RW_ABSENT;
  std::string json_pointer_, subject_, label_, outcome_, objects_, reason_;
};
#endif

// Thrown when the host rejects an argument as invalid: a bug in the detector.
class Refused : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throw it from evaluate to return early after should_stop() returned true.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped at the deadline") {}
};

// How evaluate reports to the host. Valid until evaluate returns, and only on its thread.
class Call {
 public:
  explicit Call(const rw_call& raw) noexcept : raw_(&raw) {}

  // Returns false when a limit (RW_MAX_...) is exceeded: the finding is dropped. Throws Refused when the finding is invalid.
  bool emit(const Finding& finding) {
    std::vector<rw_evidence> items;
    std::vector<const rw_evidence*> pointers;
    items.reserve(finding.evidence_.size());
    for (const auto& [pointer, value] : finding.evidence_) {
      items.push_back({sizeof(rw_evidence), 0, str(pointer), str(value)});
      pointers.push_back(&items.back());
    }
    std::vector<rw_str> parts;
    for (const std::string& part : finding.fingerprint_) parts.push_back(str(part));
    rw_finding raw{};
    raw.struct_size = sizeof raw;
    raw.severity = static_cast<std::uint32_t>(finding.severity_);
    raw.source = static_cast<std::uint32_t>(finding.source_);
    raw.score = finding.score_;
    raw.title = str(finding.title_);
    raw.summary = str(finding.summary_);
    raw.primary_step = finding.primary_step_;
    raw.evidence_count = static_cast<std::uint32_t>(pointers.size());
    raw.evidence = pointers.data();
    raw.waste_usd = finding.waste_usd_;
    raw.fingerprint_parts = parts.data();
    raw.fingerprint_part_count = static_cast<std::uint32_t>(parts.size());
#if RW_TARGET_MINOR >= 2
    raw.confidence = finding.confidence_;
#endif
    return taken(raw_->emit(raw_->ctx, &raw), "emit");
  }

  // Reports that a rule suppressed a failure. Returns false when a limit is exceeded.
  bool suppress(std::string_view rule, std::int64_t step, std::string_view reason) {
    return taken(raw_->suppress(raw_->ctx, str(rule), static_cast<std::int32_t>(step), str(reason)), "suppress");
  }

#if RW_TARGET_MINOR >= 2
  // Like suppress, for a failure that is only not certain enough to report: a candidate. confidence is from 0 to 1. A host before 1.2
  // (RW_MIN_HOST_MINOR) gets it without.
  bool candidate(std::string_view rule, std::int64_t step, std::string_view reason, double confidence) {
    if (!RW_HAS(raw_, rw_call, candidate)) return suppress(rule, step, reason);
    return taken(raw_->candidate(raw_->ctx, str(rule), static_cast<std::int32_t>(step), str(reason), confidence), "candidate");
  }
#endif

  // Reports which field is missing: the run counts as not evaluable rather than clean. A reason over RW_MAX_REASON bytes is shortened.
  void abstain(std::string_view reason) { taken(raw_->abstain(raw_->ctx, str(shortened(reason, RW_MAX_REASON))), "abstain"); }

#if RW_TARGET_MINOR >= 1
  // True when the caller asked for an explanation. Build one only then.
  bool explains() const noexcept { return RW_HAS(raw_, rw_call, explain) && raw_->explain != nullptr; }

  // Adds an item that explains the answer; does nothing when no explanation was asked for. Returns false when a limit is exceeded: the
  // item is dropped.
  bool explain(const Explanation& item) {
    if (!explains()) return true;
    rw_explanation raw{};
    raw.struct_size = sizeof raw;
    raw.kind = static_cast<std::uint32_t>(item.kind_);
    raw.step = item.step_;
    raw.confidence = item.confidence_;
    raw.json_pointer = str(item.json_pointer_);
    raw.subject = str(item.subject_);
    raw.label = str(item.label_);
    raw.outcome = str(item.outcome_);
    raw.objects = str(item.objects_);
    raw.reason = str(item.reason_);
    return taken(raw_->explain(raw_->ctx, &raw), "explain");
  }
#endif

  // True once the deadline has passed: return, or throw Stopped.
  bool should_stop() const noexcept { return raw_->should_stop(raw_->ctx) != 0; }

  // Throws Stopped once the deadline has passed. For loops over steps.
  void stop_point() const {
    if (should_stop()) throw Stopped();
  }

  const rw_call& raw() const noexcept { return *raw_; }

 private:
  static bool taken(rw_status status, const char* what) {
    if (status == RW_OK) return true;
    if (status == RW_LIMIT) return false;
    throw Refused(std::string(what) + ": the host answered status " + std::to_string(status));
  }

  const rw_call* raw_;
};

// The host: its log and its clock. Copy it freely; valid until the detector is destroyed. Any thread.
class Host {
 public:
  Host() = default;
  explicit Host(const rw_host* raw) noexcept : raw_(raw) {}

  void log(rw_log_level level, std::string_view text) const noexcept { raw_->log(raw_->ctx, level, str(text)); }
  std::int64_t monotonic_ns() const noexcept { return raw_->monotonic_ns(raw_->ctx); }
  std::string_view version() const noexcept { return view(raw_->version); }
  // The extension with this id, or nullptr.
  const void* extension(std::string_view id) const noexcept { return raw_->get_extension(raw_->ctx, str(id)); }

  // A member of rw_host newer than 1.0 may be read only after RW_HAS(&host.raw(), rw_host, member).
  const rw_host& raw() const noexcept { return *raw_; }

 private:
  const rw_host* raw_ = nullptr;
};

// ---- The detector ----------------------------------------------------------------------------------------------------

// Describes a detector. The texts must live as long as the process: literals or statics.
struct Info {
  std::string_view key;
  std::string_view version;
  std::string_view title;
  std::string_view config_schema_json = {};  // absent: any settings
  std::uint64_t optional_caps = RW_CAP_DETERMINISTIC;
  std::uint64_t required_caps = 0;
  std::uint32_t min_schema_minor = 0;  // of the run schema that it relies on (RW_SCHEMA_MINOR)
};

// The base class of every detector. A derived class also needs `static rw::Info info()` and a default constructor.
class Detector {
 public:
  Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;
  virtual ~Detector() = default;

  // [main] Takes the settings as JSON text: an object that the host has checked against the schema. When the operator gave none it is "{}",
  // or absent; rw::Settings reads both alike. Throw BadSettings, or anything else, to reject them.
  virtual void configure(std::string_view settings_json) { (void)settings_json; }

  // [worker] Evaluates one run. Must not keep state between runs. With RW_CAP_CONCURRENT the host calls it on several threads at once.
  virtual void evaluate(const Run& run, Call& call) = 0;

  // Valid from configure on.
  const Host& host() const noexcept { return host_; }

 private:
  template <class T>
  friend struct Entry;
  Host host_;
};

// The C functions of one detector class. They let no exception escape; they return a status.
template <class T>
struct Entry {
  static rw_status create(const rw_host* host, const rw_call* call, rw_str config, void** out) noexcept {
    return guarded(*call, RW_BAD_CONFIG, [&] {
      Detector* made = new T();
      try {
        made->host_ = Host(host);
        made->configure(view(config));
      } catch (...) {
        delete made;
        throw;
      }
      *out = made;
    });
  }

  static rw_status evaluate(void* self, const rw_run* run, const rw_call* call) noexcept {
    return guarded(*call, RW_INTERNAL, [&] {
      Call back(*call);
      static_cast<Detector*>(self)->evaluate(Run(*run), back);
    });
  }

  static void destroy(void* self) noexcept { delete static_cast<Detector*>(self); }

  static constexpr const rw_detector* detector() noexcept { return &kDetector; }

  static rw_info make_info() {
    const Info info = T::info();
    return {sizeof(rw_info), info.min_schema_minor, info.required_caps, info.optional_caps,
            str(info.key),   str(info.version),     str(info.title),    str(info.config_schema_json)};
  }

 private:
  template <class F>
  static rw_status guarded(const rw_call& call, rw_status otherwise, F&& body) noexcept {
    try {
      body();
      return RW_OK;
    } catch (const Stopped&) {
      return RW_STOPPED;
    } catch (const BadSettings& fault) {
      return told(call, fault.what(), RW_BAD_CONFIG);
    } catch (const std::bad_alloc&) {
      return told(call, "out of memory", RW_INTERNAL);
    } catch (const std::exception& fault) {
      return told(call, fault.what(), otherwise);
    } catch (...) {
      return told(call, "threw something other than a std::exception", RW_INTERNAL);
    }
  }

  static rw_status told(const rw_call& call, std::string_view text, rw_status status) noexcept {
    call.fail(call.ctx, str(text));
    return status;
  }

  inline static const rw_info kInfo = make_info();
  static constexpr rw_detector kDetector = {sizeof(rw_detector), 0, &kInfo, &create, &evaluate, &destroy, nullptr};
};

// The detectors of a library.
template <class... T>
struct Library {
  inline static constexpr const rw_detector* kDetectors[] = {Entry<T>::detector()...};
};

}  // namespace rw

// Exports the named classes as detectors. Use it once per library, outside any namespace.
#define RW_DETECTORS(...)                                                                                      \
  extern "C" RW_EXPORT const rw_entry runwarden_entry_v1 = {                                                   \
      sizeof(rw_entry),                                                                                        \
      RW_ABI_MAJOR,                                                                                            \
      RW_ABI_MINOR,                                                                                            \
      RW_MIN_HOST_MINOR,                                                                                       \
      static_cast<std::uint32_t>(sizeof(::rw::Library<__VA_ARGS__>::kDetectors) / sizeof(const rw_detector*)), \
      0u,                                                                                                      \
      ::rw::Library<__VA_ARGS__>::kDetectors,                                                                  \
      RW_STR(RW_HOST_RELEASE)}

#endif  // RUNWARDEN_DETECTOR_HPP
