#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/arena.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/json_events.h"
#include "intake/otlp/decode.h"
#include "intake/otlp/mend_json.h"

namespace runwarden::intake::otlp {
namespace {

constexpr int kAnyDepth = std::numeric_limits<int>::max();  // what is too deep is skipped, and costs its own span only
constexpr std::size_t kMostOrigins = 100'000;    // resource values and scopes in a request that has spans before them
constexpr std::size_t kUsualSpanBytes = 16'384;  // attributes and their texts
constexpr std::size_t kUsualResourceBytes = 2048;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kSpanIdDigits = 16;

// The names that have a meaning somewhere in a request, the most frequent first.
enum class Key : std::uint8_t {
  key,
  value,
  string_value,
  int_value,
  spans,
  scope,
  name,
  attributes,
  trace_id,
  span_id,
  parent_span_id,
  start_time_unix_nano,
  end_time_unix_nano,
  status,
  code,
  message,
  flags,
  events,
  bool_value,
  double_value,
  bytes_value,
  array_value,
  kvlist_value,
  values,
  resource,
  scope_spans,
  resource_spans,
  other,
};
constexpr std::array<std::string_view, 27> kKeys{
    "key",      "value",      "stringValue",  "intValue",          "spans",           "scope",      "name",        "attributes",
    "traceId",  "spanId",     "parentSpanId", "startTimeUnixNano", "endTimeUnixNano", "status",     "code",        "message",
    "flags",    "events",     "boolValue",    "doubleValue",       "bytesValue",      "arrayValue", "kvlistValue", "values",
    "resource", "scopeSpans", "resourceSpans"};

Key key_of(std::string_view name) {
  return static_cast<Key>(std::find(kKeys.begin(), kKeys.end(), name) - kKeys.begin());
}

// The id in lower case; empty if it does not have exactly that many hexadecimal digits, or is all zeros.
std::string_view id_of(std::string_view text, std::size_t digits, Arena& arena) {
  if (text.size() != digits || text.find_first_not_of('0') == std::string_view::npos) return {};
  std::string id;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) return {};
    id += "0123456789abcdef"[digit];
  }
  return keep_text(arena, id);
}

// A double as protobuf's JSON mapping writes it: a number, or a string that holds one, "NaN" or "Infinity".
std::optional<double> number_of(const JsonScalar& value) {
  if (value.type == JsonScalar::Type::number) return value.number;
  if (value.type != JsonScalar::Type::string) return std::nullopt;
  if (value.text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value.text == "Infinity") return std::numeric_limits<double>::infinity();
  if (value.text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  const bool good = read.ec == std::errc() && read.ptr == end && !value.text.empty();
  return good ? std::optional(number) : std::nullopt;
}

template <class Integer>
std::optional<Integer> integer_of(const JsonScalar& value) {
  Integer integer = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, integer);
  if (read.ec == std::errc() && read.ptr == end && !value.text.empty()) return integer;
  const auto number = number_of(value);
  const auto most = static_cast<double>(std::numeric_limits<Integer>::max());
  const auto least = static_cast<double>(std::numeric_limits<Integer>::min());
  if (!number || *number != std::floor(*number) || *number < least || *number >= most) return std::nullopt;
  return static_cast<Integer>(*number);
}

std::optional<StatusCode> status_of(const JsonScalar& value) {
  if (value.text == "STATUS_CODE_ERROR") return StatusCode::error;
  if (value.text == "STATUS_CODE_OK") return StatusCode::ok;
  if (value.text == "STATUS_CODE_UNSET") return StatusCode::unset;
  const auto code = integer_of<std::int64_t>(value);
  if (!code) return std::nullopt;
  return *code == 2 ? StatusCode::error : *code == 1 ? StatusCode::ok : StatusCode::unset;
}

struct KnownOrigin {
  Attributes resource;
  std::vector<std::string> scopes;
};

class RequestReader final : public JsonEvents {
 public:
  enum class Pass : std::uint8_t { spans, origins };

  RequestReader(const DecodeLimits& limits, SpanSink& sink, Pass pass, const std::vector<KnownOrigin>* known)
      : limits_(limits), sink_(sink), pass_(pass), known_(known) {}

  bool origin_came_late() const { return origin_came_late_; }
  std::optional<Error>& fault() { return fault_; }
  std::vector<KnownOrigin> take_origins() { return std::move(origins_); }

  bool scalar(const JsonScalar& value) override {
    if (skipping_ > 0) return true;
    if (frames_.empty()) return stop("the body is not a JSON object");
    Frame& at = frames_.back();
    if (is_list(at.in)) {
      ++at.items;
      return refuse_value();
    }
    // As in protobuf's JSON mapping, null means absent. It also takes the place of numbers that JSON cannot express.
    if (value.type == JsonScalar::Type::null && key_ != Key::double_value) return true;
    return take_scalar(at, value) || refuse_value();
  }

  bool open_object() override {
    if (skipping_ > 0) return skip();
    if (frames_.empty()) return push({In::request});
    Frame& at = frames_.back();
    ++at.items;
    switch (at.in) {
      case In::resource_spans_list: return begin_resource();
      case In::resource_spans: return key_ == Key::resource ? begin_origin(In::resource, saw_scopes_) : skip_unknown();
      case In::scope_spans_list: return begin_scope();
      case In::scope_spans: return key_ == Key::scope ? begin_origin(In::scope, saw_spans_) : skip_unknown();
      case In::spans: return begin_span();
      case In::span: return key_ == Key::status ? push({In::status}) : skip_unknown();
      case In::events: return begin_event();
      case In::attributes: return begin_pair(at);
      case In::pair: return key_ == Key::value ? push({In::value, nullptr, &at.pairs->back().value, at.depth}) : skip_unknown();
      case In::value:
        if (key_ == Key::array_value) return begin_container(at, AnyValue::Kind::list);
        if (key_ == Key::kvlist_value) return begin_container(at, AnyValue::Kind::map);
        return skip_unknown();
      case In::items: return begin_item(at);
      default: return skip_unknown();
    }
  }

  bool open_array() override {
    if (skipping_ > 0) return skip();
    if (frames_.empty()) return stop("the body is not a JSON object");
    Frame& at = frames_.back();
    ++at.items;
    const bool attributes = key_ == Key::attributes;
    switch (at.in) {
      case In::request: return key_ == Key::resource_spans ? push({In::resource_spans_list}) : skip_unknown();
      case In::resource_spans:
        if (key_ != Key::scope_spans) return skip_unknown();
        saw_scopes_ = true;
        return push({In::scope_spans_list});
      case In::resource: return attributes ? push({In::attributes, &resource_, nullptr, 0}) : skip_unknown();
      case In::scope_spans:
        if (key_ != Key::spans) return skip_unknown();
        saw_spans_ = true;
        return pass_ == Pass::origins ? skip() : push({In::spans});
      case In::span:
        if (attributes) return push({In::attributes, &span_.attributes, nullptr, 0});
        return key_ == Key::events ? push({In::events}) : skip_unknown();
      case In::event: return attributes ? push({In::attributes, &span_.events.back().attributes, nullptr, 0}) : skip_unknown();
      case In::list: return key_ == Key::values ? push({In::items, nullptr, at.value, at.depth}) : skip_unknown();
      case In::map: return key_ == Key::values ? push({In::attributes, &at.value->members, nullptr, at.depth}) : skip_unknown();
      default: return skip_unknown();
    }
  }

  bool key(std::string_view name) override {
    if (skipping_ == 0) key_ = key_of(name);
    return true;
  }

  bool close() override {
    if (skipping_ > 0) {
      --skipping_;
      return true;
    }
    const In in = frames_.back().in;
    frames_.pop_back();
    if (in == In::span) end_span();
    return in != In::resource || pass_ != Pass::origins || keep_resource();
  }

  void restart() override {
    frames_.clear();
    origins_.clear();
    key_ = Key::other;
    skipping_ = 0;
    resources_ = scopes_ = origin_values_ = 0;
    origin_came_late_ = false;
    resource_arena_.release();
    fault_.reset();
    sink_.restart();
  }

 private:
  enum class In : std::uint8_t {
    request,
    resource_spans_list,
    resource_spans,
    resource,
    scope_spans_list,
    scope_spans,
    scope,
    spans,
    span,
    status,
    events,
    event,
    attributes,  // a list of key-value pairs, into `pairs`
    pair,        // one of them, the last of `pairs`
    value,       // an AnyValue, into `value`
    list,        // {"values": [...]} of a list
    items,
    map,  // {"values": [...]} of a map
  };
  struct Frame {
    In in = In::request;
    Attributes* pairs = nullptr;
    AnyValue* value = nullptr;
    int depth = 0;          // nesting of values
    Key key = Key::other;   // its name in the object around it
    std::size_t items = 0;  // of a list: begun so far
  };

  static bool is_list(In in) {
    return in == In::resource_spans_list || in == In::scope_spans_list || in == In::spans || in == In::events || in == In::attributes ||
           in == In::items;
  }

  // What the value must be; null for unknown members, whose values are skipped.
  static const char* expected(In in, Key key) {
    if (is_list(in)) return "an object";
    switch (key) {
      case Key::resource_spans: return in == In::request ? "a list" : nullptr;
      case Key::resource: return in == In::resource_spans ? "an object" : nullptr;
      case Key::scope_spans: return in == In::resource_spans ? "a list" : nullptr;
      case Key::scope: return in == In::scope_spans ? "an object" : nullptr;
      case Key::spans: return in == In::scope_spans ? "a list" : nullptr;
      case Key::attributes: return in == In::resource || in == In::span || in == In::event ? "a list" : nullptr;
      case Key::name: return in == In::scope || in == In::span || in == In::event ? "a string" : nullptr;
      case Key::start_time_unix_nano:
      case Key::end_time_unix_nano: return in == In::span ? "an integer from 0 to 2^64 - 1, as a string or a number" : nullptr;
      case Key::flags: return in == In::span ? "an integer from 0 to 2^32 - 1" : nullptr;
      case Key::status: return in == In::span ? "an object" : nullptr;
      case Key::events: return in == In::span ? "a list" : nullptr;
      case Key::code: return in == In::status ? "a number, or the name of a status code" : nullptr;
      case Key::message: return in == In::status ? "a string" : nullptr;
      case Key::key: return in == In::pair ? "a string" : nullptr;
      case Key::value: return in == In::pair ? "an object" : nullptr;
      case Key::string_value: return in == In::value ? "a string" : nullptr;
      case Key::bool_value: return in == In::value ? "true or false" : nullptr;
      case Key::int_value: return in == In::value ? "a whole number, or a string that holds one from -2^63 to 2^63 - 1" : nullptr;
      case Key::double_value: return in == In::value ? "a number, or a string that holds one" : nullptr;
      case Key::bytes_value: return in == In::value ? "a string in Base64" : nullptr;
      case Key::array_value:
      case Key::kvlist_value: return in == In::value ? "an object" : nullptr;
      case Key::values: return in == In::list || in == In::map ? "a list" : nullptr;
      default: return nullptr;
    }
  }

  // A JSON Pointer (RFC 6901) to the value that is being read.
  std::string place() const {
    std::string pointer;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const Key key = i + 1 < frames_.size() ? frames_[i + 1].key : key_;
      pointer +=
          is_list(frames_[i].in) ? "/" + std::to_string(frames_[i].items - 1) : "/" + std::string(kKeys[static_cast<std::size_t>(key)]);
    }
    return pointer;
  }

  bool refuse_value() { return stop(place() + " must be " + expected(frames_.back().in, key_)); }

  bool skip_unknown() {
    if (frames_.back().in == In::span && key_ == Key::parent_span_id) bad_parent_ = true;
    return expected(frames_.back().in, key_) == nullptr ? skip() : refuse_value();
  }

  bool push(Frame frame) {
    frame.key = key_;
    frames_.push_back(frame);
    key_ = Key::other;
    return true;
  }

  bool skip() {
    ++skipping_;
    return true;
  }

  bool stop(std::string why) {
    fault_ = Error{Code::bad_request, std::move(why) + "; send an ExportTraceServiceRequest in OTLP's JSON encoding", {}, {}};
    return false;
  }

  bool begin_resource() {
    saw_scopes_ = false;
    resource_ = {};
    if (pass_ != Pass::origins) resource_arena_.release();
    budget_ = limits_.max_resource_values;
    value_fault_.clear();
    scopes_ = 0;
    if (pass_ == Pass::origins) origins_.emplace_back();
    if (known_ != nullptr && resources_ < known_->size()) resource_ = (*known_)[resources_].resource;
    ++resources_;
    return push({In::resource_spans});
  }

  bool begin_scope() {
    saw_spans_ = false;
    scope_.clear();
    if (pass_ == Pass::origins) {
      if (++origin_values_ > kMostOrigins) return stop("too many scopes follow their spans");
      origins_.back().scopes.emplace_back();
    }
    const bool is_known = known_ != nullptr && resources_ <= known_->size() && scopes_ < (*known_)[resources_ - 1].scopes.size();
    if (is_known) scope_ = (*known_)[resources_ - 1].scopes[scopes_];
    ++scopes_;
    return push({In::scope_spans});
  }

  // The resource or scope of spans. If it comes after its spans, the request is read in two passes.
  bool begin_origin(In in, bool late) {
    if (known_ != nullptr) return skip();
    if (late && pass_ == Pass::spans) {
      origin_came_late_ = true;
      return false;
    }
    arena_ = &resource_arena_.get();
    return push({in});
  }

  bool keep_resource() {
    origin_values_ += resource_.size();
    if (origin_values_ > kMostOrigins) return stop("too many resources follow their spans");
    origins_.back().resource = resource_;
    resource_ = {};
    return true;
  }

  bool begin_span() {
    span_ = {};
    span_arena_.release();
    arena_ = &span_arena_.get();
    budget_ = limits_.max_values;
    value_fault_.clear();
    bad_parent_ = false;
    return push({In::span});
  }

  bool begin_event() {
    if (!take_value()) return skip();
    span_.events.append(*arena_);
    return push({In::event});
  }

  bool begin_pair(const Frame& at) {
    if (!take_value()) return skip();
    at.pairs->append(*arena_);
    return push({In::pair, at.pairs, nullptr, at.depth});
  }

  bool begin_item(const Frame& at) {
    if (!take_value()) return skip();
    return push({In::value, nullptr, &at.value->items.append(*arena_), at.depth});
  }

  bool begin_container(const Frame& at, AnyValue::Kind kind) {
    if (at.depth >= limits_.max_value_depth) {
      note("has an attribute nested deeper than limits.max_json_depth (" + std::to_string(limits_.max_value_depth) + ")");
      return skip();
    }
    *at.value = {};
    at.value->kind = kind;
    return push({kind == AnyValue::Kind::list ? In::list : In::map, nullptr, at.value, at.depth + 1});
  }

  bool take_value() {
    if (budget_ > 0) return budget_-- > 0;
    note(too_many_values(limits_.max_values));
    return false;
  }

  void note(std::string fault) {
    if (value_fault_.empty()) value_fault_ = std::move(fault);
  }

  // False if the value is not what its member must be.
  bool take_scalar(const Frame& at, const JsonScalar& value) {
    switch (at.in) {
      case In::scope:
        if (key_ != Key::name) return true;
        if (value.type != JsonScalar::Type::string) return false;
        scope_ = value.text;
        if (pass_ == Pass::origins) origins_.back().scopes.back() = scope_;
        return true;
      case In::span: return take_of_span(value);
      case In::status:
        if (key_ == Key::code) return take(status_of(value), span_.status);
        return key_ != Key::message || take_text(value, span_.status_message);
      case In::event: return key_ == Key::name ? take_text(value, span_.events.back().name) : expected(at.in, key_) == nullptr;
      case In::pair: return key_ == Key::key ? take_text(value, at.pairs->back().key) : expected(at.in, key_) == nullptr;
      case In::value: return take_value(*at.value, value);
      default: return expected(at.in, key_) == nullptr;
    }
  }

  template <class Value>
  static bool take(const std::optional<Value>& value, Value& into) {
    if (value) into = *value;
    return value.has_value();
  }

  bool take_text(const JsonScalar& value, std::string_view& into) {
    if (value.type != JsonScalar::Type::string) return false;
    into = keep_text(*arena_, value.text);
    return true;
  }

  // A bad id costs its own span only (end_span).
  bool take_id(const JsonScalar& value, std::size_t digits, std::string_view& into) {
    if (value.type == JsonScalar::Type::string) into = id_of(value.text, digits, *arena_);
    return true;
  }

  // Some exporters write a root span's parent as all zeros.
  bool take_parent(const JsonScalar& value) {
    take_id(value, kSpanIdDigits, span_.parent_span_id);
    const bool is_zero = value.text.find_first_not_of('0') == std::string::npos;
    const bool no_parent =
        value.type == JsonScalar::Type::string && (value.text.empty() || (value.text.size() == kSpanIdDigits && is_zero));
    bad_parent_ = span_.parent_span_id.empty() && !no_parent;
    return true;
  }

  bool take_of_span(const JsonScalar& value) {
    switch (key_) {
      case Key::trace_id: return take_id(value, kTraceIdDigits, span_.trace_id);
      case Key::span_id: return take_id(value, kSpanIdDigits, span_.span_id);
      case Key::parent_span_id: return take_parent(value);
      case Key::name: return take_text(value, span_.name);
      case Key::start_time_unix_nano: return take(integer_of<std::uint64_t>(value), span_.start_ns);
      case Key::end_time_unix_nano: return take(integer_of<std::uint64_t>(value), span_.end_ns);
      case Key::flags: return take(integer_of<std::uint32_t>(value), span_.flags);
      default: return expected(In::span, key_) == nullptr;
    }
  }

  static void become(AnyValue& into, AnyValue::Kind kind) {
    if (into.kind != AnyValue::Kind::null) into = {};
    into.kind = kind;
  }

  bool take_value(AnyValue& into, const JsonScalar& value) {
    switch (key_) {
      case Key::string_value: become(into, AnyValue::Kind::text); return take_text(value, into.text);
      case Key::bool_value:
        become(into, AnyValue::Kind::boolean);
        into.boolean = value.boolean;
        return value.type == JsonScalar::Type::boolean;
      case Key::int_value: return take_integer(into, value) || take_large_integer(into, value);
      case Key::double_value: return take_number(into, value);
      case Key::bytes_value:
        become(into, AnyValue::Kind::bytes);
        return take_bytes(into, value);
      default: return expected(In::value, key_) == nullptr;
    }
  }

  static bool take_integer(AnyValue& into, const JsonScalar& value) {
    const auto integer = integer_of<std::int64_t>(value);
    if (!integer) return false;
    become(into, AnyValue::Kind::integer);
    into.integer = *integer;
    return true;
  }

  // JavaScript has whole numbers beyond 64 bits.
  static bool take_large_integer(AnyValue& into, const JsonScalar& value) {
    return value.type == JsonScalar::Type::number && value.number == std::floor(value.number) && take_number(into, value);
  }

  bool take_bytes(AnyValue& into, const JsonScalar& value) {
    if (value.type != JsonScalar::Type::string) return false;
    const FromBase64 decoded = bytes_from_base64(value.text);
    const std::string_view behind = std::string_view(value.text).substr(decoded.read);
    into.text = keep_text(*arena_, decoded.bytes);
    return behind.empty() || behind == "=" || behind == "==";
  }

  static bool take_number(AnyValue& into, const JsonScalar& value) {
    const auto number = value.type == JsonScalar::Type::null ? std::numeric_limits<double>::quiet_NaN() : number_of(value);
    if (!number) return false;
    become(into, AnyValue::Kind::number);
    into.number = *number;
    return true;
  }

  void end_span() {
    if (span_.trace_id.empty()) {
      span_.fault = "has a traceId that is not 32 hexadecimal digits, not all zero";
    } else if (span_.span_id.empty()) {
      span_.fault = "has a spanId that is not 16 hexadecimal digits, not all zero";
    } else if (bad_parent_) {
      span_.fault = "has a parentSpanId that is not 16 hexadecimal digits; leave it empty in a root span";
    } else {
      span_.fault = std::move(value_fault_);
    }
    value_fault_.clear();
    sink_.take(span_, {resource_, scope_});
  }

  const DecodeLimits& limits_;
  SpanSink& sink_;
  const Pass pass_;
  const std::vector<KnownOrigin>* known_;
  std::vector<Frame> frames_;
  Key key_ = Key::other;  // of the next value, in the innermost open object
  int skipping_ = 0;
  Attributes resource_;
  std::string scope_;
  Span span_;
  LocalArena<kUsualResourceBytes> resource_arena_;  // Pass::origins: of all resources; otherwise of one
  LocalArena<kUsualSpanBytes> span_arena_;
  Arena* arena_ = nullptr;  // receives the values: one of these two
  std::size_t budget_ = 0;
  std::string value_fault_;
  bool bad_parent_ = false;
  bool saw_scopes_ = false;
  bool saw_spans_ = false;
  std::size_t resources_ = 0;
  std::size_t scopes_ = 0;
  std::size_t origin_values_ = 0;
  std::vector<KnownOrigin> origins_;
  bool origin_came_late_ = false;
  std::optional<Error> fault_;
};

Status read_in(std::string_view body, RequestReader& reader) {
  Status read = parse_json(body, kAnyDepth, reader);
  if (reader.fault()) return std::move(*reader.fault());
  return read;
}

Status read_request(std::string_view body, const DecodeLimits& limits, SpanSink& sink) {
  RequestReader reader(limits, sink, RequestReader::Pass::spans, nullptr);
  Status read = read_in(body, reader);
  if (!read.ok() || !reader.origin_came_late()) return read;
  sink.restart();
  RequestReader origins(limits, sink, RequestReader::Pass::origins, nullptr);
  if (Status found = read_in(body, origins); !found.ok()) return found;
  const auto known = origins.take_origins();
  RequestReader again(limits, sink, RequestReader::Pass::spans, &known);
  return read_in(body, again);
}

}  // namespace

Status decode_json(std::string_view body, const DecodeLimits& limits, SpanSink& sink) {
  if (body.empty()) return Nothing{};
  Status read = read_request(body, limits, sink);
  if (read.ok() || read.error().code != Code::malformed_json) return read;
  const std::string text = mended_json(body);
  if (text == body) return read;
  sink.restart();
  return read_request(text, limits, sink);
}

}  // namespace runwarden::intake::otlp
