// Fakes for testing a detector without the host: build a run in code, call the detector through its entry as the host does, and
// inspect the answer. For tests only; works with any test framework, or none.
//
//   #include <runwarden/testing.hpp>
//   using namespace rw::testing;
//
//   FakeRun run;
//   run.user_request("Refund order 7").success(true).outcome("Your refund has been processed.");
//   run.add(tool_step("issue_refund").input("{\"order\":7}").failed("502 Bad Gateway"));
//   Subject subject("pii_leak", "{\"words\": [\"secret\"]}");    // the detector with that key in this program
//   Answer answer = subject.evaluate(run);
//   assert(answer.fired() && answer.findings[0].score == 90);
//
// The fakes take what the host takes, refuse what it refuses, and answer as it does: tests of the project hold the two against each other.
//
// The test program must compile the detector's own source files, because it needs runwarden_entry_v1. Single-threaded.
#ifndef RUNWARDEN_TESTING_HPP
#define RUNWARDEN_TESTING_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runwarden/detector.hpp"

namespace rw::testing {

// ---- The run ---------------------------------------------------------------------------------------------------------

namespace detail {
inline rw_str str(const std::optional<std::string>& text) {
  return text ? rw_str{text->data(), text->size()} : rw_str{nullptr, 0};
}

inline std::string json_string(std::string_view text) {
  static constexpr const char* kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out.append("\\u00").append({kHex[c >> 4], kHex[c & 15]});
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

inline bool is_text(rw_str text);

// The host shows a detector U+FFFD for NUL, which JSON can express.
inline std::string without_nul(std::string text) {
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) text.replace(at, 1, "\xEF\xBF\xBD");
  return text;
}

// Throws std::invalid_argument if the text is not JSON of at most 64 levels, as the host refuses it. `depth`: the levels around it.
inline std::string checked_json(std::string text, int depth) {
  if (!is_text({text.data(), text.size()})) throw std::invalid_argument("raw_json is not UTF-8 text without NUL");
  try {
    rw::detail::JsonReader reader(text, "raw_json is");
    reader.value(depth);
    reader.expect_end();
  } catch (const rw::BadSettings& fault) {
    throw std::invalid_argument(fault.what());
  }
  return text;
}

inline bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

// Takes the first name off a JSON Pointer that is not empty.
inline std::string take_name(std::string_view& pointer) {
  const std::string_view token = pointer.substr(1, pointer.find('/', 1) - 1);
  pointer.remove_prefix(token.size() + 1);
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    name += escape ? (token[++i] == '0' ? '~' : '/') : token[i];
  }
  return name;
}

// The shortest text that reads as the number, in any locale.
inline std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

inline std::string padded(std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(text.size() < digits ? digits - text.size() : 0, '0') + text;
}

// "2025-11-24T16:00:00.000Z", as the host writes a time, of milliseconds since 1970.
inline std::string time_text(std::int64_t ms) {
  const std::int64_t ms_in_second = (ms % 1'000 + 1'000) % 1'000;
  const auto seconds = static_cast<std::time_t>((ms - ms_in_second) / 1'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  const std::string date = padded(utc.tm_year + 1900, 4) + "-" + padded(utc.tm_mon + 1, 2) + "-" + padded(utc.tm_mday, 2);
  return date + "T" + padded(utc.tm_hour, 2) + ":" + padded(utc.tm_min, 2) + ":" + padded(utc.tm_sec, 2) + "." + padded(ms_in_second, 3) +
         "Z";
}

// A JSON object, or the text of a value.
class Json {
 public:
  void put(std::string_view pointer, std::string value) {
    if (pointer.empty()) {
      value_ = std::move(value);
    } else {
      members_[take_name(pointer)].put(pointer, std::move(value));
    }
  }
  void put_text(std::string_view pointer, const std::optional<std::string>& text) {
    if (text) put(pointer, json_string(*text));
  }
  void put_count(std::string_view pointer, std::int64_t value) {
    if (value >= 0) put(pointer, std::to_string(value));
  }
  void put_time(std::string_view pointer, std::int64_t ms) {
    if (ms != RW_NO_TIME) put(pointer, json_string(time_text(ms)));
  }
  std::string dump() const {
    if (!value_.empty()) return value_;
    std::string out = "{";
    for (const auto& [name, value] : members_) out += (out.size() > 1 ? "," : "") + json_string(name) + ":" + value.dump();
    return out + "}";
  }

 private:
  std::string value_;
  std::map<std::string, Json, std::less<>> members_;
};

// The text of the member or item with that name; empty if there is none.
inline std::string_view json_member(std::string_view json, std::string_view name) {
  rw::detail::JsonReader reader(json);
  const bool object = reader.skip('{');
  if (!object && !reader.skip('[')) return {};
  if (reader.skip(object ? '}' : ']')) return {};
  std::size_t index = 0;
  do {
    const std::string at = object ? without_nul(reader.string()) : std::to_string(index++);
    if (object) reader.expect(':');
    const std::string_view value = reader.value();
    if (at == name) return value;
  } while (reader.skip(','));
  return {};
}

// `strings` keeps the characters of a string that is found.
inline rw_value json_value(std::string_view json, std::deque<std::string>& strings) {
  rw_value value{};
  if (json.empty()) return value;
  if (json[0] == '{' || json[0] == '[') {
    value.type = json[0] == '{' ? RW_VALUE_OBJECT : RW_VALUE_ARRAY;
    value.as.str = {json.data(), json.size()};
  } else if (json[0] == '"') {
    strings.push_back(without_nul(rw::detail::JsonReader(json).string()));
    value.type = RW_VALUE_STRING;
    value.as.str = {strings.back().data(), strings.back().size()};
  } else if (json == "null") {
    value.type = RW_VALUE_NULL;
  } else if (json == "true" || json == "false") {
    value.type = RW_VALUE_BOOL;
    value.as.boolean = json == "true" ? 1 : 0;
  } else if (json.find_first_of(".eE") == std::string_view::npos &&
             std::from_chars(json.data(), json.data() + json.size(), value.as.i64).ec == std::errc()) {
    value.type = RW_VALUE_INTEGER;
  } else {
    value.type = RW_VALUE_NUMBER;
    std::from_chars(json.data(), json.data() + json.size(), value.as.f64);
  }
  return value;
}

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::string word(first == std::string_view::npos ? text.substr(0, 0) : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(words.begin(), words.end(), std::string_view(word)) != words.end();
}

inline std::uint32_t outcome_of(std::string_view status) {
  if (is_one_of(status, {"failed", "failure", "error", "errored", "timed_out", "timeout", "blocked", "cancelled", "canceled", "rejected",
                         "denied"}))
    return RW_OUTCOME_FAILED;
  if (is_one_of(status, {"completed", "complete", "success", "succeeded", "successful", "ok", "done", "finished", "passed"}))
    return RW_OUTCOME_OK;
  return RW_OUTCOME_UNKNOWN;
}
}  // namespace detail

// One step; members that are not set are absent. What the host makes of others it makes of them, too: the outcome, the sender's word for
// the kind, and the JSON text, in which find() looks.
class FakeStep {
 public:
  explicit FakeStep(rw_step_kind kind) { raw_.kind = kind; }

  FakeStep& id(std::string text) { return set(id_, std::move(text)); }
  FakeStep& name(std::string text) { return set(name_, std::move(text)); }
  FakeStep& kind_text(std::string text) { return set(kind_text_, std::move(text)); }
  FakeStep& status_text(std::string text) { return set(status_text_, std::move(text)); }
  FakeStep& error_code(std::string text) { return set(error_code_, std::move(text)); }
  FakeStep& error_message(std::string text) { return set(error_message_, std::move(text)); }
  FakeStep& input(std::string text) { return set(input_, std::move(text)); }
  FakeStep& output(std::string text) { return set(output_, std::move(text)); }
  FakeStep& model(std::string text) { return set(model_, std::move(text)); }
  // In place of the JSON text that is made of the other members. Throws std::invalid_argument if it is not JSON.
  FakeStep& raw_json(std::string text) { return set(raw_json_, detail::checked_json(std::move(text), 2)); }
  // In place of the one that follows from status, error and HTTP status.
  FakeStep& outcome(rw_outcome value) {
    outcome_ = value;
    return *this;
  }
  FakeStep& retry_count(std::int64_t value) { return raw(raw_.retry_count, value); }
  FakeStep& input_tokens(std::int64_t value) { return raw(raw_.input_tokens, value); }
  FakeStep& http_status(std::int64_t value) { return raw(raw_.http_status, value); }
  FakeStep& started_ms(std::int64_t value) { return raw(raw_.started_ms, value); }
  FakeStep& ended_ms(std::int64_t value) { return raw(raw_.ended_ms, value); }
  // Another member, a string, at a JSON Pointer into the step.
  FakeStep& member(std::string json_pointer, std::string text) {
    more_.emplace_back(std::move(json_pointer), std::move(text));
    return *this;
  }
  // Marks the step as failed with this error message.
  FakeStep& failed(std::string message) { return status_text("failed").error_message(std::move(message)); }
  // Marks the step as successful.
  FakeStep& ok() { return status_text("completed"); }

 private:
  friend class FakeRun;

  FakeStep& set(std::optional<std::string>& member, std::string text) {
    member = detail::without_nul(std::move(text));
    return *this;
  }
  template <class T>
  FakeStep& raw(T& member, T value) {
    member = value;
    return *this;
  }

  rw_step view(std::size_t index) {
    if (!id_) id_ = "step_" + std::to_string(index + 1);
    if (!kind_text_ && raw_.kind != RW_STEP_OTHER)
      kind_text_ = raw_.kind == RW_STEP_TOOL ? "tool" : raw_.kind == RW_STEP_MODEL ? "model" : "user";
    json_ = raw_json_ ? *raw_json_ : json();
    const bool error = has_error_code() || has_error_message() || raw_.http_status >= 400;
    rw_step view = raw_;
    view.outcome = outcome_ ? *outcome_
                   : error  ? static_cast<std::uint32_t>(RW_OUTCOME_FAILED)
                            : detail::outcome_of(status_text_.value_or(""));
    view.id = detail::str(id_);
    view.name = detail::str(name_);
    view.kind_text = detail::str(kind_text_);
    view.status_text = detail::str(status_text_);
    if (has_error_code()) view.error_code = detail::str(error_code_);
    if (has_error_message()) view.error_message = detail::str(error_message_);
    view.input = detail::str(input_);
    view.output = detail::str(output_);
    view.model = detail::str(model_);
    view.raw_json = {json_.data(), json_.size()};
    return view;
  }

  // A code such as "0" or "none" says that there was no error.
  bool has_error_code() const { return error_code_ && !detail::is_one_of(*error_code_, {"", "0", "ok", "none"}); }
  bool has_error_message() const { return error_message_ && !error_message_->empty(); }

  std::string json() const {
    detail::Json out;
    out.put_text("/stepId", id_);
    out.put_text("/stepKind", kind_text_);
    out.put_text("/stepName", name_);
    out.put_text("/status", status_text_);
    out.put_text("/errorCode", error_code_);
    out.put_text("/errorMessage", error_message_);
    out.put_text("/inputSummary", input_);
    out.put_text("/outputSummary", output_);
    out.put_text("/metadata/model", model_);
    out.put_count("/retryCount", raw_.retry_count);
    out.put_count("/metadata/inputTokens", raw_.input_tokens);
    out.put_count("/metadata/httpStatus", raw_.http_status);
    out.put_time("/startedAt", raw_.started_ms);
    out.put_time("/endedAt", raw_.ended_ms);
    for (const auto& [pointer, text] : more_) out.put_text(pointer, text);
    return out.dump();
  }

  static rw_step blank() {
    rw_step step{};
    step.struct_size = sizeof step;
    step.retry_count = step.input_tokens = step.http_status = RW_ABSENT;
    step.started_ms = step.ended_ms = RW_NO_TIME;
    return step;
  }

  rw_step raw_ = blank();
  std::optional<std::uint32_t> outcome_;
  std::optional<std::string> id_, name_, kind_text_, status_text_, error_code_, error_message_, input_, output_, model_, raw_json_;
  std::vector<std::pair<std::string, std::string>> more_;
  std::string json_;
};

inline FakeStep tool_step(std::string name) {
  return FakeStep(RW_STEP_TOOL).name(std::move(name));
}
inline FakeStep model_step(std::string said) {
  return FakeStep(RW_STEP_MODEL).output(std::move(said));
}
inline FakeStep user_step(std::string said) {
  return FakeStep(RW_STEP_USER).output(std::move(said));
}

// One run; members that are not set are absent. Its JSON text, in which find() looks, is made of them and of the steps.
class FakeRun {
 public:
  FakeRun& id(std::string text) { return set(id_, std::move(text)); }
  FakeRun& tenant(std::string text) { return set(tenant_, std::move(text)); }
  FakeRun& user_request(std::string text) { return set(user_request_, std::move(text)); }
  FakeRun& outcome(std::string text) { return set(outcome_, std::move(text)); }
  FakeRun& model(std::string text) { return set(model_, std::move(text)); }
  // In place of the JSON text that is made of the other members and the steps. Throws std::invalid_argument if it is not JSON.
  FakeRun& raw_json(std::string text) { return set(raw_json_, detail::checked_json(std::move(text), 0)); }
  FakeRun& success(bool value) { return raw(raw_.success, static_cast<std::uint32_t>(value ? RW_FLAG_TRUE : RW_FLAG_FALSE)); }
  FakeRun& cost_usd(double value) { return raw(raw_.cost_usd, value); }
  FakeRun& input_tokens(std::int64_t value) { return raw(raw_.input_tokens, value); }
  FakeRun& started_ms(std::int64_t value) { return raw(raw_.started_ms, value); }
  FakeRun& ended_ms(std::int64_t value) { return raw(raw_.ended_ms, value); }
  // Another member, a string, at a JSON Pointer into the run.
  FakeRun& member(std::string json_pointer, std::string text) {
    more_.emplace_back(std::move(json_pointer), detail::json_string(text));
    return *this;
  }
  // Another member, a boolean.
  FakeRun& flag(std::string json_pointer, bool value) {
    more_.emplace_back(std::move(json_pointer), value ? "true" : "false");
    return *this;
  }
  FakeRun& add(FakeStep step) {
    steps_.push_back(std::move(step));
    return *this;
  }

  std::size_t size() const { return steps_.size(); }

  // The run as a detector receives it; valid until this object changes.
  const rw_run& view() {
    views_.clear();
    for (std::size_t i = 0; i < steps_.size(); ++i) views_.push_back(steps_[i].view(i));
    raw_.step_count = static_cast<std::uint32_t>(steps_.size());
    raw_.id = detail::str(id_);
    raw_.tenant = detail::str(tenant_);
    raw_.user_request = detail::str(user_request_);
    raw_.outcome = detail::str(outcome_);
    raw_.model = detail::str(model_);
    json_ = raw_json_ ? *raw_json_ : json();
    found_.clear();
    raw_.raw_json = {json_.data(), json_.size()};
    raw_.ctx = this;
    raw_.step_at = [](void* ctx, std::uint32_t index) noexcept -> const rw_step* {
      const auto& views = static_cast<FakeRun*>(ctx)->views_;
      return index < views.size() ? &views[index] : nullptr;
    };
    raw_.find = [](void* ctx, std::int32_t step, rw_str pointer, rw_value* out) noexcept -> rw_status {
      return static_cast<FakeRun*>(ctx)->find(step, pointer, out);
    };
    return raw_;
  }

 private:
  FakeRun& set(std::optional<std::string>& member, std::string text) {
    member = detail::without_nul(std::move(text));
    return *this;
  }
  template <class T>
  FakeRun& raw(T& member, T value) {
    member = value;
    return *this;
  }

  rw_status find(std::int32_t step, rw_str pointer, rw_value* out) {
    const bool here = step >= RW_NO_STEP && step < static_cast<std::int64_t>(views_.size());
    std::string_view where = rw::view(pointer);
    if (out == nullptr || pointer.ptr == nullptr || !here || !detail::is_json_pointer(where)) return RW_INVALID_ARGUMENT;
    std::string_view json = step == RW_NO_STEP ? json_ : rw::view(views_[static_cast<std::size_t>(step)].raw_json);
    while (!where.empty()) json = detail::json_member(json, detail::take_name(where));
    *out = detail::json_value(json, found_);
    return RW_OK;
  }

  std::string json() const {
    detail::Json out;
    out.put_text("/runId", id_);
    out.put_text("/userRequestText", user_request_);
    out.put_text("/outcomeSummary", outcome_);
    out.put_text("/metadata/model", model_);
    out.put_count("/metadata/inputTokens", raw_.input_tokens);
    out.put_time("/startedAt", raw_.started_ms);
    out.put_time("/endedAt", raw_.ended_ms);
    if (raw_.cost_usd >= 0) out.put("/metadata/costUsd", detail::number_text(raw_.cost_usd));
    if (raw_.success != RW_FLAG_UNKNOWN) out.put("/success", raw_.success == RW_FLAG_TRUE ? "true" : "false");
    std::string steps;
    for (const rw_step& step : views_) steps += (steps.empty() ? "" : ",") + std::string(rw::view(step.raw_json));
    out.put("/steps", "[" + steps + "]");
    for (const auto& [pointer, value] : more_) out.put(pointer, value);
    return out.dump();
  }

  static rw_run blank() {
    rw_run run{};
    run.struct_size = sizeof run;
    run.cost_usd = RW_ABSENT;
    run.input_tokens = RW_ABSENT;
    run.started_ms = run.ended_ms = RW_NO_TIME;
    return run;
  }

  rw_run raw_ = blank();
  std::optional<std::string> id_ = "run_1", tenant_ = "test", user_request_, outcome_, model_, raw_json_;
  std::vector<std::pair<std::string, std::string>> more_;  // pointer and JSON text
  std::vector<FakeStep> steps_;
  std::vector<rw_step> views_;
  std::string json_;
  std::deque<std::string> found_;  // strings that find() returned
};

// ---- The answer ------------------------------------------------------------------------------------------------------

struct FoundEvidence {
  std::string json_pointer, value;
};

struct Found {
  std::string title, summary;
  int score = 0;
  Severity severity = Severity::medium;
  Source source = Source::tool;
  std::int32_t primary_step = RW_NO_STEP;
  std::vector<FoundEvidence> evidence;
  std::optional<double> waste_usd;
  std::vector<std::string> fingerprint_parts;
#if RW_TARGET_MINOR >= 2
  std::optional<double> confidence = {};
#endif
};

struct Suppressed {
  std::string rule;
  std::int32_t step = RW_NO_STEP;
  std::string reason;
#if RW_TARGET_MINOR >= 2
  std::optional<double> confidence = {};  // of a candidate
#endif
};

#if RW_TARGET_MINOR >= 1
struct Explained {
  ExplanationKind kind = ExplanationKind::rule;
  std::int32_t step = RW_NO_STEP;
  std::optional<double> confidence;
  std::string json_pointer, subject, label, outcome, objects, reason;
};
#endif

// The result of one evaluate. After an error, all that was emitted, suppressed and abstained is dropped, as in the host.
struct Answer {
  rw_status status = RW_OK;
  std::vector<Found> findings;
  std::vector<Suppressed> suppressed;
  std::optional<std::string> abstained;  // the reason
  std::string failure;                   // the text passed to fail
  std::vector<rw_status> refusals;       // what emit returned for rejected findings
  bool rejected = false;                 // nothing but what was refused is known: an error in the host, not clean
#if RW_TARGET_MINOR >= 1
  std::vector<Explained> explanation;  // set by Subject::explain
#endif

  bool failed() const {
    return status != RW_OK || rejected;
  }
  bool fired() const { return !failed() && !findings.empty(); }
  bool not_evaluable() const { return !failed() && findings.empty() && abstained.has_value(); }
  bool clean() const { return !failed() && findings.empty() && !abstained.has_value(); }
};

namespace detail {

// The length of the UTF-8 character that text begins with; 0 if it begins with none.
inline std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) return continues(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && continues(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return continues(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && continues(2) && continues(3) ? 4 : 0;
  return 0;
}

inline bool is_text(rw_str text) {
  if (text.ptr == nullptr) return text.len == 0;
  std::string_view rest = rw::view(text);
  while (!rest.empty()) {
    const std::size_t length = character_length(rest);
    if (length == 0 || rest[0] == '\0') return false;
    rest.remove_prefix(length);
  }
  return true;
}

inline bool is_share(double value) {
  return value >= 0 && value <= 1;
}

// Of fail: shortened, and mended where it is not text.
inline std::string mended(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() < RW_MAX_REASON) {
    const std::size_t length = character_length(text);
    const bool bad = length == 0 || text[0] == '\0';
    out += bad ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

#if RW_TARGET_MINOR >= 1
inline bool is_word(std::string_view text) {
  for (const char c : text) {
    if (c != '_' && (c < 'a' || c > 'z')) return false;
  }
  return !text.empty();
}
#endif

enum class During { create, evaluate };

// The host's side of a call. Checks what the host checks, in its order.
class FakeCall {
 public:
  FakeCall(Answer& answer, std::uint32_t step_count, int stop_after, During during = During::evaluate)
      : answer_(answer), step_count_(step_count), stop_after_(stop_after), during_(during) {
    raw_.struct_size = sizeof raw_;
    raw_.ctx = this;
    raw_.deadline_ns = std::numeric_limits<std::int64_t>::max();
    raw_.emit = &emit;
    raw_.suppress = &suppress;
    raw_.abstain = &abstain;
    raw_.fail = &fail;
    raw_.should_stop = &should_stop;
#if RW_TARGET_MINOR >= 2
    raw_.candidate = &candidate;
#endif
  }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  const rw_call& raw() const { return raw_; }
  // After evaluate: what the host makes of it.
  void end(rw_status status) {
    answer_.status = status;
    answer_.rejected = status == RW_OK && answer_.findings.empty() && (finding_refused_ || (!answer_.abstained && abstention_refused_));
    if (!answer_.failed()) return;
    answer_.findings.clear();
    answer_.suppressed.clear();
    answer_.abstained.reset();
#if RW_TARGET_MINOR >= 1
    answer_.explanation.clear();
#endif
  }
#if RW_TARGET_MINOR >= 1
  void ask_for_explanation() { raw_.explain = &explain; }
#endif

 private:
  static FakeCall& of(void* ctx) { return *static_cast<FakeCall*>(ctx); }

  static rw_status emit(void* ctx, const rw_finding* finding) noexcept {
    FakeCall& self = of(ctx);
    if (self.during_ == During::create) return RW_UNSUPPORTED;
    const bool full = self.answer_.findings.size() >= RW_MAX_FINDINGS;
    const rw_status status = finding != nullptr && full ? static_cast<rw_status>(RW_LIMIT) : self.check(finding);
    if (status == RW_OK) {
      self.take(*finding);
      return RW_OK;
    }
    self.finding_refused_ = self.finding_refused_ || !full;
    self.answer_.refusals.push_back(status);
    return status;
  }

  rw_status check(const rw_finding* f) const {
    constexpr std::size_t kOldest = offsetof(rw_finding, reserved) + sizeof(rw_finding::reserved);
    if (f == nullptr || f->struct_size < kOldest) return RW_INVALID_ARGUMENT;
    if (rw::view(f->title).size() > RW_MAX_TITLE || rw::view(f->summary).size() > RW_MAX_SUMMARY) return RW_LIMIT;
    const bool texts = is_text(f->title) && is_text(f->summary) && !is_blank(f->title) && !is_blank(f->summary) && is_one_line(f->title);
    const bool ranges = f->score >= 0 && f->score <= 100 && f->severity <= RW_SEVERITY_CRITICAL && f->source <= RW_SOURCE_COORDINATION;
    const bool waste = f->waste_usd == RW_ABSENT || (f->waste_usd >= 0 && f->waste_usd <= kMostWasteUsd);
    if (!texts || !ranges || !names_step(f->primary_step) || !waste) return RW_INVALID_ARGUMENT;
    if (const rw_status status = check_evidence(*f); status != RW_OK) return status;
#if RW_TARGET_MINOR >= 2
    if (RW_HAS(f, rw_finding, confidence) && f->confidence != RW_ABSENT && !is_share(f->confidence)) return RW_INVALID_ARGUMENT;
#endif
    return check_fingerprint(*f);
  }

  static bool is_blank(rw_str text) {
    const std::string_view bytes = rw::view(text);
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c <= ' '; });
  }
  static bool is_one_line(rw_str text) {
    return rw::view(text).find_first_of("\n\r") == std::string_view::npos;
  }

  static rw_status check_evidence(const rw_finding& f) {
    if (f.evidence_count > RW_MAX_EVIDENCE) return RW_LIMIT;
    if (f.evidence_count > 0 && f.evidence == nullptr) return RW_INVALID_ARGUMENT;
    for (std::uint32_t i = 0; i < f.evidence_count; ++i) {
      const rw_evidence* item = f.evidence[i];
      if (item == nullptr || item->struct_size < sizeof(rw_evidence)) return RW_INVALID_ARGUMENT;
      const std::string_view pointer = rw::view(item->json_pointer);
      if (pointer.size() > RW_MAX_POINTER || rw::view(item->value).size() > RW_MAX_VALUE) return RW_LIMIT;
      if (!is_text(item->json_pointer) || !is_text(item->value) || !is_json_pointer(pointer)) return RW_INVALID_ARGUMENT;
    }
    return RW_OK;
  }

  static rw_status check_fingerprint(const rw_finding& f) {
    if (f.fingerprint_part_count > RW_MAX_FINGERPRINT_PARTS) return RW_LIMIT;
    if (f.fingerprint_part_count > 0 && f.fingerprint_parts == nullptr) return RW_INVALID_ARGUMENT;
    for (std::uint32_t i = 0; i < f.fingerprint_part_count; ++i) {
      if (rw::view(f.fingerprint_parts[i]).size() > RW_MAX_PART) return RW_LIMIT;
      if (!is_text(f.fingerprint_parts[i])) return RW_INVALID_ARGUMENT;
    }
    return RW_OK;
  }

  void take(const rw_finding& f) {
    Found found;
    found.title = rw::view(f.title);
    found.summary = rw::view(f.summary);
    found.score = f.score;
    found.severity = static_cast<Severity>(f.severity);
    found.source = static_cast<Source>(f.source);
    found.primary_step = f.primary_step;
    if (f.waste_usd >= 0) found.waste_usd = f.waste_usd + 0.0;  // 0 of -0
#if RW_TARGET_MINOR >= 2
    if (RW_HAS(&f, rw_finding, confidence) && f.confidence >= 0) found.confidence = f.confidence;
#endif
    for (std::uint32_t i = 0; i < f.evidence_count; ++i) {
      found.evidence.push_back({std::string(rw::view(f.evidence[i]->json_pointer)), std::string(rw::view(f.evidence[i]->value))});
    }
    for (std::uint32_t i = 0; i < f.fingerprint_part_count; ++i) found.fingerprint_parts.emplace_back(rw::view(f.fingerprint_parts[i]));
    answer_.findings.push_back(std::move(found));
  }

  bool names_step(std::int64_t step) const { return step == RW_NO_STEP || (step >= 0 && step < static_cast<std::int64_t>(step_count_)); }

  static rw_status suppress(void* ctx, rw_str rule, std::int32_t step, rw_str reason) noexcept {
    FakeCall& self = of(ctx);
    if (self.during_ == During::create) return RW_UNSUPPORTED;
    const bool small = rw::view(rule).size() <= RW_MAX_RULE && rw::view(reason).size() <= RW_MAX_REASON;
    if (!small || self.answer_.suppressed.size() >= RW_MAX_SUPPRESSIONS) return RW_LIMIT;
    if (!is_text(rule) || rw::view(rule).empty() || !is_text(reason) || !self.names_step(step)) return RW_INVALID_ARGUMENT;
    Suppressed one;
    one.rule = rw::view(rule);
    one.step = step;
    one.reason = rw::view(reason);
    self.answer_.suppressed.push_back(std::move(one));
    return RW_OK;
  }

#if RW_TARGET_MINOR >= 2
  static rw_status candidate(void* ctx, rw_str rule, std::int32_t step, rw_str reason, double confidence) noexcept {
    if (of(ctx).during_ == During::create) return RW_UNSUPPORTED;
    if (!is_share(confidence)) return RW_INVALID_ARGUMENT;
    const rw_status status = suppress(ctx, rule, step, reason);
    if (status == RW_OK) of(ctx).answer_.suppressed.back().confidence = confidence;
    return status;
  }
#endif

#if RW_TARGET_MINOR >= 1
  static rw_status explain(void* ctx, const rw_explanation* item) noexcept {
    FakeCall& self = of(ctx);
    if (item == nullptr || item->struct_size < sizeof(rw_explanation)) return RW_INVALID_ARGUMENT;
    const std::string_view pointer = rw::view(item->json_pointer), outcome = rw::view(item->outcome);
    std::size_t bytes = 0;
    for (const auto& [text, limit] :
         {std::pair(item->subject, RW_MAX_SUBJECT), std::pair(item->objects, RW_MAX_SUBJECT), std::pair(item->label, RW_MAX_LABEL),
          std::pair(item->outcome, RW_MAX_LABEL), std::pair(item->reason, RW_MAX_REASON), std::pair(item->json_pointer, RW_MAX_POINTER)}) {
      if (rw::view(text).size() > static_cast<std::size_t>(limit)) return RW_LIMIT;
      bytes += rw::view(text).size();
    }
    const bool full = self.answer_.explanation.size() >= RW_MAX_EXPLANATIONS || self.explanation_bytes_ + bytes > RW_MAX_EXPLANATION_BYTES;
    if (full) return RW_LIMIT;
    const bool texts = is_text(item->subject) && is_text(item->label) && is_text(item->outcome) && is_text(item->objects) &&
                       is_text(item->reason) && is_text(item->json_pointer) && !rw::view(item->subject).empty();
    const bool words = is_word(rw::view(item->label)) && (outcome.empty() || is_word(outcome));
    const bool sure = item->confidence == RW_ABSENT || is_share(item->confidence);
    const bool place = self.names_step(item->step) && is_json_pointer(pointer);
    if (!texts || !words || !sure || !place || item->kind > RW_EXPLAIN_RULE) return RW_INVALID_ARGUMENT;
    self.explanation_bytes_ += bytes;
    Explained out;
    out.kind = static_cast<ExplanationKind>(item->kind);
    out.step = item->step;
    if (item->confidence >= 0) out.confidence = item->confidence;
    out.json_pointer = rw::view(item->json_pointer);
    out.subject = rw::view(item->subject);
    out.label = rw::view(item->label);
    out.outcome = rw::view(item->outcome);
    out.objects = rw::view(item->objects);
    out.reason = rw::view(item->reason);
    self.answer_.explanation.push_back(std::move(out));
    return RW_OK;
  }
#endif

  static rw_status abstain(void* ctx, rw_str reason) noexcept {
    FakeCall& self = of(ctx);
    if (self.during_ == During::create) return RW_UNSUPPORTED;
    const bool small = rw::view(reason).size() <= RW_MAX_REASON;
    if (!small || !is_text(reason) || rw::view(reason).empty()) {
      self.abstention_refused_ = true;
      return small ? RW_INVALID_ARGUMENT : RW_LIMIT;
    }
    self.answer_.abstained = std::string(rw::view(reason));
    return RW_OK;
  }

  static rw_status fail(void* ctx, rw_str text) noexcept {
    if (text.len > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) return RW_INVALID_ARGUMENT;
    of(ctx).answer_.failure = mended(rw::view(text));
    return RW_OK;
  }

  static std::uint32_t should_stop(void* ctx) noexcept {
    FakeCall& self = of(ctx);
    return self.stop_after_ >= 0 && self.asked_++ >= self.stop_after_ ? 1 : 0;
  }

  static constexpr double kMostWasteUsd = 1e12;

  Answer& answer_;
  std::uint32_t step_count_;
  int stop_after_;
  During during_;
  int asked_ = 0;
#if RW_TARGET_MINOR >= 1
  std::size_t explanation_bytes_ = 0;
#endif
  bool finding_refused_ = false;
  bool abstention_refused_ = false;
  rw_call raw_{};
};

}  // namespace detail

// ---- The detector ----------------------------------------------------------------------------------------------------

// create refused the settings, or the entry has no such detector.
class CreateFailed : public std::runtime_error {
 public:
  CreateFailed(rw_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  rw_status status() const noexcept { return status_; }

 private:
  rw_status status_;
};

// One instance of a detector, created and destroyed as the host does.
class Subject {
 public:
  // Creates the detector with this key from the program's own entry. "{}" is what a service hands over where the operator gave no settings;
  // std::nullopt, that they are absent, must get the same answers. Throws CreateFailed.
  explicit Subject(std::string_view key, std::optional<std::string> settings_json = "{}")
      : Subject(runwarden_entry_v1, key, std::move(settings_json)) {}

  Subject(const rw_entry& entry, std::string_view key, std::optional<std::string> settings_json) : detector_(find(entry, key)) {
    host_ = {sizeof host_, RW_ABI_MINOR, RW_SCHEMA_MINOR, 0, RW_STR("fake"), RW_STR("0"), this, &log, &monotonic_ns, &get_extension};
    Answer answer;
    const detail::FakeCall call(answer, 0, -1, detail::During::create);
    const rw_status status = detector_->create(&host_, &call.raw(), detail::str(settings_json), &self_);
    if (status != RW_OK) throw CreateFailed(status, answer.failure);
    if (self_ == nullptr) throw CreateFailed(RW_INTERNAL, "create returned RW_OK without an instance");
  }

  ~Subject() { detector_->destroy(self_); }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const rw_info& info() const { return *detector_->info; }

  // stop_after: should_stop returns true from this call on, counted from 0; -1 means never.
  Answer evaluate(FakeRun& run, int stop_after = -1) {
    Answer answer;
    const rw_run& view = run.view();
    detail::FakeCall call(answer, view.step_count, stop_after);
    call.end(detector_->evaluate(self_, &view, &call.raw()));
    return answer;
  }

#if RW_TARGET_MINOR >= 1
  // Like evaluate, with a host that asks for an explanation.
  Answer explain(FakeRun& run) {
    Answer answer;
    const rw_run& view = run.view();
    detail::FakeCall call(answer, view.step_count, -1);
    call.ask_for_explanation();
    call.end(detector_->evaluate(self_, &view, &call.raw()));
    return answer;
  }
#endif

  // The lines that the detector logged.
  std::vector<std::string> log_lines;
  // The clock that the detector sees.
  std::int64_t now_ns = 0;

 private:
  static const rw_detector* find(const rw_entry& entry, std::string_view key) {
    for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
      if (rw::view(entry.detectors[i]->info->key) == key) return entry.detectors[i];
    }
    throw CreateFailed(RW_INVALID_ARGUMENT, "the entry has no detector \"" + std::string(key) + "\"");
  }

  static void log(void* ctx, std::uint32_t, rw_str text) noexcept { static_cast<Subject*>(ctx)->log_lines.emplace_back(rw::view(text)); }
  static std::int64_t monotonic_ns(void* ctx) noexcept { return static_cast<Subject*>(ctx)->now_ns; }
  static const void* get_extension(void*, rw_str) noexcept { return nullptr; }

  const rw_detector* detector_;
  rw_host host_{};
  void* self_ = nullptr;
};

}  // namespace rw::testing

#endif  // RUNWARDEN_TESTING_HPP
