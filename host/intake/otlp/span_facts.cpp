#include "intake/otlp/span_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>
#include <utility>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "intake/otlp/json_tree.h"
#include "intake/otlp/messages.h"

namespace runwarden::intake::otlp {
namespace {

using model::SpanField;
using model::SpanKind;
using model::SpanMapping;
using model::SpanRead;
using FieldRow = SpanMapping::FieldRow;

constexpr std::uint32_t kParentIsRemote = 0x300;  // SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK and _IS_REMOTE_MASK
constexpr double kMostCount = 9'007'199'254'740'992;  // 2^53
constexpr int kMostWrappers = 4;
constexpr std::size_t kUsualArenaBytes = 4096;
constexpr std::size_t kUsualFactsBytes = 1024;

using Scratch = LocalArena<kUsualArenaBytes>;  // released for each row, because a tree is many times the size of its text

// Attributes by length and name. Tables look up many absent names, and most of those have a length that no attribute has.
class AttributeIndex {
 public:
  AttributeIndex(const Attributes& attributes, Arena& arena) : entries_(&arena) {
    entries_.reserve(attributes.size());
    for (const KeyValue& one : attributes) entries_.push_back({one.key, &one.value, entries_.size()});
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.key == b.key ? a.position < b.position : is_before(a.key, b.key);
    });
  }

  // The first with that key; null if there is none or it has no value.
  const AnyValue* find(std::string_view key) const {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), key, [](const Entry& a, std::string_view b) { return is_before(a.key, b); });
    if (found == entries_.end() || found->key != key || found->value->kind == AnyValue::Kind::null) return nullptr;
    return found->value;
  }

  bool has_prefix(std::string_view prefix) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.key.starts_with(prefix); });
  }

 private:
  struct Entry {
    std::string_view key;
    const AnyValue* value = nullptr;
    std::size_t position = 0;
  };

  static bool is_before(std::string_view a, std::string_view b) { return a.size() == b.size() ? a < b : a.size() < b.size(); }

  std::pmr::vector<Entry> entries_;
};

// The texts that these functions return point into the value or the arena.
std::string_view unquoted(std::string_view text, Arena& arena) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  const auto tree = read_json_tree(text, arena);
  return tree && tree->is_text() ? tree->text : text;
}

// The value that a tool returned, without its wrappers: LangChain's {"output":{"lc":1,"kwargs":{"content":...}}}, a lone {"outputs":...}.
std::string_view result_of(const AnyValue& value, Arena& arena) {
  const bool plain = value.is_text() && !value.text.starts_with('"') && value.text.find("\"lc\"") == std::string_view::npos &&
                     value.text.find("\"output") == std::string_view::npos;
  if (plain) return value.text;
  std::optional<AnyValue> held;
  if (value.is_text() && (looks_like_json(value.text) || value.text.starts_with('"'))) held = read_json_tree(value.text, arena);
  const AnyValue* at = held ? &*held : &value;
  const AnyValue* const whole = at;
  for (int i = 0; i < kMostWrappers && at->kind == AnyValue::Kind::map; ++i) {
    const AnyValue* const kwargs = at->member("lc") != nullptr ? at->member("kwargs") : nullptr;
    const AnyValue* const content = kwargs != nullptr ? kwargs->member("content") : nullptr;
    const AnyValue* output = at->member("output");
    if (output != nullptr && output->member("lc") == nullptr) output = nullptr;
    const bool lone = at->members.size() == 1 && (at->members.front().key == "outputs" || at->members.front().key == "output");
    const AnyValue* const inner = content != nullptr ? content : output != nullptr ? output : lone ? &at->members.front().value : nullptr;
    if (inner == nullptr) break;
    at = inner;
  }
  if (at == whole && value.is_text() && !at->is_text()) return value.text;  // no wrapper: the text as written
  return at->kind == AnyValue::Kind::null ? "null" : text_of(*at, arena);
}

// "GatewayTimeout" of "GatewayTimeout: payment gateway timed out": the name of a class, except "Error" and "Exception".
std::string_view error_head(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos || colon > 100) return {};
  const std::string_view head = text.substr(0, colon);
  if (head == "Error" || head == "Exception") return {};
  const bool word = std::all_of(head.begin(), head.end(), [](char c) { return ascii::is_alphanumeric(c) || c == '_' || c == '.'; });
  const auto capitals = std::count_if(head.begin(), head.end(), ascii::is_upper);
  const bool lower = std::any_of(head.begin(), head.end(), ascii::is_lower);
  const auto dot = head.rfind('.');
  const char first = head[dot == std::string_view::npos ? 0 : std::min(dot + 1, head.size() - 1)];
  const bool camel = ascii::is_upper(first) && capitals >= 2 && lower;
  return word && camel ? head : std::string_view();
}

std::string_view first_paragraph(std::string_view text) {
  return text.substr(0, std::min(text.find("\n\n"), text.size()));
}

// The message in the JSON object of an error, which may follow other text: "Error running tool: {"error":"..."}".
std::string_view error_message(const AnyValue& value, Arena& arena) {
  if (value.kind == AnyValue::Kind::map) {
    for (const std::string_view name : {"error", "message"}) {
      const AnyValue* const inner = value.member(name);
      if (inner != nullptr && inner->kind != AnyValue::Kind::null)
        return inner->kind == AnyValue::Kind::map ? error_message(*inner, arena) : text_of(*inner, arena);
    }
    return text_of(value, arena);
  }
  const std::string_view text = first_paragraph(text_of(value, arena));
  const auto brace = text.find('{');
  if (brace == std::string_view::npos || text.back() != '}') return text;
  const auto tree = read_json_tree(text.substr(brace), arena);
  const bool says = tree && (tree->member("error") != nullptr || tree->member("message") != nullptr);
  return says ? error_message(*tree, arena) : text;
}

std::optional<double> number_of(const AnyValue& value) {
  switch (value.kind) {
    case AnyValue::Kind::integer: return static_cast<double>(value.integer);
    case AnyValue::Kind::number: return std::isfinite(value.number) ? std::optional(value.number) : std::nullopt;
    case AnyValue::Kind::text: {
      double number = 0;
      const char* const end = value.text.data() + value.text.size();
      const auto read = std::from_chars(value.text.data(), end, number);
      const bool good = read.ec == std::errc() && read.ptr == end && !value.text.empty() && std::isfinite(number);
      return good ? std::optional(number) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

class Extraction {
 public:
  Extraction(const Span& span, const Origin& origin, const SpanMapping& mapping)
      : span_(span), origin_(origin), mapping_(mapping), attributes_(span.attributes, arena_.get()) {
    name_.kind = message_.kind = AnyValue::Kind::text;
    name_.text = span.name;
    message_.text = span.status_message;
  }

  std::optional<SpanFacts> run() {
    kind_ = kind();
    if (kind_ == SpanKind::dropped) return std::nullopt;
    SpanFacts facts;
    facts.trace_id = span_.trace_id;
    facts.span_id = span_.span_id;
    facts.has_ended = span_.end_ns != 0;
    facts.is_root = is_root(span_);
    facts.json.reserve(kUsualFactsBytes);
    write(facts.json, facts.is_root);
    facts.version.append(span_.span_id).append(":").append(to_hex(sha256(facts.json)));
    return facts;
  }

 private:
  // A text and the row that it came from.
  struct Found {
    std::string_view text;
    const FieldRow* from = nullptr;
  };

  bool is_step() const { return kind_ == SpanKind::model || kind_ == SpanKind::tool; }

  SpanKind kind() const {
    SpanKind weak = SpanKind::none;
    for (const auto& row : mapping_.kinds) {
      const auto* const value = kind_by(row);
      if (value == nullptr) continue;
      if (!value->weak) return value->kind;
      if (weak == SpanKind::none) weak = value->kind;
    }
    return weak;
  }

  const SpanMapping::KindRow::Value* kind_by(const SpanMapping::KindRow& row) const {
    if (!row.scope.empty() && row.scope != origin_.scope) return nullptr;
    const AnyValue* const found = row.attribute == "span.name" ? &name_ : attributes_.find(row.attribute);
    if (found == nullptr) return nullptr;
    const bool has_one =
        std::any_of(row.with.begin(), row.with.end(), [&](const std::string& one) { return attributes_.find(one) != nullptr; });
    if (!row.with.empty() && !has_one) return nullptr;
    Scratch scratch;
    std::string_view text = text_of(*found, scratch.get());
    if (row.read == SpanRead::json) text = unquoted(text, scratch.get());
    if (row.read == SpanRead::word) text = text.substr(0, text.find(' '));
    if (!row.except.empty() && text.find(row.except) != std::string_view::npos) return nullptr;
    const auto fits = [&](const auto& value) { return value.prefix ? text.starts_with(value.text) : text == value.text; };
    const auto value = std::find_if(row.values.begin(), row.values.end(), fits);
    return value == row.values.end() ? nullptr : &*value;
  }

  const SpanEvent* last_event(std::string_view name) const {
    const SpanEvent* last = nullptr;
    for (const SpanEvent& one : span_.events) {
      if (one.name == name) last = &one;
    }
    return last;
  }

  // The value that a row names; null if there is none. A value made for the row is `held`, in the arena.
  const AnyValue* value_of(const FieldRow& row, AnyValue& held, Arena& arena) const {
    const AnyValue* value = nullptr;
    if (row.of_resource) {
      value = find(origin_.resource, row.attribute);
    } else if (!row.event.empty()) {
      const SpanEvent* const event = last_event(row.event);
      if (event != nullptr) value = find(event->attributes, row.attribute);
    } else if (row.numbered) {
      if (!attributes_.has_prefix(row.attribute)) return nullptr;
      held = numbered_list(span_.attributes, row.attribute, arena);
      value = &held;
    } else if (row.attribute == "span.name") {
      value = &name_;
    } else if (row.attribute == "span.status_message") {
      value = &message_;
    } else {
      value = attributes_.find(row.attribute);
    }
    if (value == nullptr || row.member.empty()) return value;
    if (value->is_text()) {
      const auto tree = read_json_tree(value->text, arena);
      if (!tree) return nullptr;
      held = *tree;
      value = &held;
    }
    for (const std::string& name : row.member) {
      value = value->member(name);
      if (value == nullptr || value->kind == AnyValue::Kind::null) return nullptr;
    }
    return value;
  }

  // The text points into the value or the arena.
  std::string_view read(const FieldRow& row, const AnyValue& value, Arena& arena) const {
    switch (row.read) {
      case SpanRead::json: return unquoted(text_of(value, arena), arena);
      case SpanRead::result: return result_of(value, arena);
      case SpanRead::last_part: {
        const std::string_view text = unquoted(text_of(value, arena), arena);
        return text.substr(text.rfind('.') + 1);
      }
      case SpanRead::name: return bare_name(text_of(value, arena));
      case SpanRead::message: return error_message(value, arena);
      case SpanRead::error_head: return error_head(text_of(value, arena));
      case SpanRead::stack_head: {
        const std::string_view text = text_of(value, arena);
        const auto blank = text.find("\n\n");
        return blank == std::string_view::npos ? std::string_view() : error_head(text.substr(blank + 2));
      }
      case SpanRead::http_error: {
        const auto status = number_of(value);
        if (!status || *status < 400 || *status >= 1000) return {};
        return keep_text(arena, std::to_string(static_cast<int>(*status)));
      }
      default: return text_of(value, arena);
    }
  }

  std::string_view bare_name(std::string_view name) const {
    for (const std::string& prefix : mapping_.name_prefixes) {
      if (name.starts_with(prefix) && name.size() > prefix.size()) name.remove_prefix(prefix.size());
    }
    for (const std::string& suffix : mapping_.name_suffixes) {
      if (name.ends_with(suffix) && name.size() > suffix.size()) name.remove_suffix(suffix.size());
    }
    return name;
  }

  std::optional<Found> text(SpanField field) {
    Scratch scratch;
    AnyValue held;
    for (const FieldRow& row : mapping_.rows(field)) {
      scratch.release();
      const AnyValue* const value = value_of(row, held, scratch.get());
      if (value == nullptr) continue;
      const std::string_view text = read(row, *value, scratch.get());
      if (std::find(row.except.begin(), row.except.end(), text) != row.except.end()) continue;
      if (!text.empty() || field == SpanField::tool_output) return Found{keep_text(arena_.get(), text), &row};
    }
    return std::nullopt;
  }

  // Neither negative nor a part of a token.
  static bool makes_sense(SpanField field, double number) {
    return number >= 0 && (field == SpanField::cost_usd || number == std::trunc(number));
  }

  struct Number {
    double value = 0;
    const FieldRow* from = nullptr;
  };
  std::optional<Number> number(SpanField field) const {
    Scratch scratch;
    AnyValue held;
    for (const FieldRow& row : mapping_.rows(field)) {
      scratch.release();
      const AnyValue* const value = value_of(row, held, scratch.get());
      auto number = value == nullptr ? std::nullopt : number_of(*value);
      if (!number || !makes_sense(field, *number)) continue;
      const AnyValue* const plus = row.plus.empty() ? nullptr : attributes_.find(row.plus);
      const auto more = plus == nullptr ? std::nullopt : number_of(*plus);
      if (more && makes_sense(field, *more)) *number += *more;
      return Number{*number, &row};
    }
    return std::nullopt;
  }

  enum class Which : std::uint8_t { last_of_user, last, last_of_assistant, calls };

  // The text that a field takes from a list of messages; null if there is none.
  static const std::string* choose(MessageList& messages, Which which) {
    const std::string* chosen = nullptr;
    const auto is_role = [&](std::string_view role) {
      return which == Which::last || role == (which == Which::last_of_user ? "user" : "assistant");
    };
    const auto is_wanted = [&](const Message& message) {
      chosen = which == Which::calls ? &message.tool_calls : &message.text;
      if (chosen->empty() && which == Which::last) chosen = &message.tool_answer;
      return !chosen->empty();
    };
    return messages.last(is_role, is_wanted) != nullptr ? chosen : nullptr;
  }

  // The list of messages that a row names. Kept for other fields that have the same row.
  struct ReadValue {
    const FieldRow* row = nullptr;
    Arena arena;
    AnyValue held;
    const AnyValue* value = nullptr;
    std::optional<MessageList> messages;
  };

  ReadValue* value_of_messages(const FieldRow& row, std::string_view role) {
    if (row.event.empty() && !row.numbered && attributes_.find(row.attribute) == nullptr) return nullptr;
    for (ReadValue& one : read_before_) {
      if (one.row->is_like(row)) return &one;
    }
    ReadValue& fresh = read_before_.emplace_back();
    fresh.value = value_of(row, fresh.held, fresh.arena);
    if (fresh.value == nullptr) {
      read_before_.pop_back();
      return nullptr;
    }
    fresh.row = &row;
    fresh.messages.emplace(*fresh.value, role);
    return &fresh;
  }

  std::optional<Found> message(SpanField field, Which which) {
    const std::string_view role = field == SpanField::user_request ? "user" : "assistant";
    Scratch scratch;
    for (const FieldRow& row : mapping_.rows(field)) {
      if (row.read != SpanRead::messages) {
        scratch.release();
        AnyValue held;
        const AnyValue* const value = value_of(row, held, scratch.get());
        const std::string_view text = value == nullptr ? std::string_view() : read(row, *value, scratch.get());
        if (!text.empty()) return Found{keep_text(arena_.get(), text), &row};
        continue;
      }
      ReadValue* const read = value_of_messages(row, role);
      if (read == nullptr) continue;
      if (const std::string* const text = choose(*read->messages, which)) return Found{keep_text(arena_.get(), *text), read->row};
      // Report an answer without any message, such as a plain object, in full.
      if (which != Which::last_of_assistant || !read->messages->empty()) continue;
      const std::string_view whole = text_of(*read->value, arena_.get());
      if (!whole.empty() && whole != "null") return Found{whole, read->row};
    }
    return std::nullopt;
  }

  const std::optional<Found>& tool_output() {
    if (!tool_output_) tool_output_ = text(SpanField::tool_output);
    return *tool_output_;
  }

  bool holds(const SpanMapping::Condition& condition) {
    using Test = SpanMapping::Condition::Test;
    if (!condition.scope.empty() && condition.scope != origin_.scope) return false;
    if (condition.kind != SpanKind::none && condition.kind != kind_) return false;
    if (condition.unless_ok && span_.status == StatusCode::ok) return false;
    if (!condition.event.empty() && last_event(condition.event) == nullptr) return false;
    if (condition.of_tool_output && kind_ != SpanKind::tool) return false;
    AnyValue of_output;
    const AnyValue* value = condition.attribute.empty() ? nullptr : attributes_.find(condition.attribute);
    if (condition.of_tool_output) {
      const auto& output = tool_output();
      if (!output) return false;
      of_output.kind = AnyValue::Kind::text;
      of_output.text = output->text;
      value = &of_output;
    }
    switch (condition.test) {
      case Test::none: return true;
      case Test::present: return value != nullptr;
      case Test::absent: return value == nullptr;
      case Test::equals: return value != nullptr && is_text(*value, condition.value);
      case Test::member: return value != nullptr && member_says(*value, condition);
    }
    return false;
  }

  static bool is_text(const AnyValue& value, std::string_view text) {
    Scratch scratch;
    return text_of(value, scratch.get()) == text;
  }

  static bool member_says(const AnyValue& value, const SpanMapping::Condition& condition) {
    if (value.is_text() && value.text.find(condition.member.front()) == std::string_view::npos) return false;  // usual; avoids parsing
    Scratch scratch;
    std::optional<AnyValue> tree;
    if (value.is_text() && looks_like_json(value.text)) tree = read_json_tree(value.text, scratch.get());
    const AnyValue* at = tree ? &*tree : &value;
    for (const std::string& name : condition.member) {
      at = at->member(name);
      if (at == nullptr || at->kind == AnyValue::Kind::null) return false;
    }
    return condition.value.empty() || is_text(*at, condition.value);
  }

  bool any_holds(const std::vector<SpanMapping::Condition>& conditions) {
    return std::any_of(conditions.begin(), conditions.end(), [&](const auto& one) { return holds(one); });
  }

  void note(std::string_view name, const FieldRow& from) {
    from_.append(from_.empty() ? "" : " ").append(name).append("=");
    from.append_label(from_);
  }

  static void put_ns(JsonWriter& out, std::uint64_t ns) {
    char digits[24];
    out.string({digits, std::to_chars(digits, digits + sizeof digits, ns).ptr});
  }

  void put(JsonWriter& out, std::string_view name, const std::optional<Found>& found) {
    if (!found) return;
    out.key(name).string(found->text);
    note(name, *found->from);
  }

  void write(std::string& json, bool root) {
    JsonWriter out(json);
    const bool gives = is_step() || kind_ == SpanKind::agent || kind_ == SpanKind::structure || root;
    const bool failed = gives && (span_.status == StatusCode::error || any_holds(mapping_.failed));
    out.begin_object().key("type").string("otlp_span").key("spanId").string(span_.span_id);
    if (!span_.parent_span_id.empty()) out.key("parentSpanId").string(span_.parent_span_id);
    if (root) out.key("root").boolean(true);
    out.key("spanName").string(span_.name).key("scope").string(origin_.scope);
    out.key("spanKind").string(model::kSpanKinds[static_cast<std::size_t>(kind_)]);
    put_ns(out.key("startNs"), span_.start_ns);
    put_ns(out.key("endNs"), span_.end_ns);
    if (gives) {
      // A span that neither ended nor has the status OK may be running still.
      const bool has_outcome = failed || span_.end_ns != 0 || span_.status == StatusCode::ok;
      if (has_outcome) out.key("status").string(failed ? "failed" : "succeeded");
      const bool ok = !failed && span_.status == StatusCode::ok && !any_holds(mapping_.ok_means_nothing);
      if (ok) out.key("ok").boolean(true);
      if (failed) {
        put(out, "errorCode", text(SpanField::error_code));
        put(out, "errorMessage", text(SpanField::error_message));
      }
      if (kind_ == SpanKind::tool) write_tool(out);
      if (kind_ == SpanKind::model) write_model(out);
      if (kind_ != SpanKind::tool) {
        put(out, "userRequestText", message(SpanField::user_request, Which::last_of_user));
        if (kind_ != SpanKind::model) put(out, "outcomeSummary", message(SpanField::outcome, Which::last_of_assistant));
      }
      write_metadata(out);
    }
    if (!from_.empty()) out.key("from").string(from_);
    out.end_object();
  }

  void write_tool(JsonWriter& out) {
    put(out, "stepName", text(SpanField::tool_name));
    put(out, "inputSummary", text(SpanField::tool_input));
    put(out, "outputSummary", tool_output());
  }

  void write_model(JsonWriter& out) {
    put(out, "inputSummary", message(SpanField::user_request, Which::last));
    auto said = message(SpanField::outcome, Which::last_of_assistant);
    if (said) {
      out.key("spoke").boolean(true);
    } else {
      said = message(SpanField::tool_calls, Which::calls);
    }
    put(out, "outputSummary", said);
  }

  void put_number(JsonWriter& out, std::string_view name, std::optional<Number> number, bool whole) {
    if (!number || (whole && number->value > kMostCount)) return;
    if (whole) {
      out.key(name).integer(static_cast<std::int64_t>(number->value));
    } else {
      out.key(name).number(number->value);
    }
    note(name, *number->from);
  }

  void write_metadata(JsonWriter& out) {
    out.key("metadata").begin_object();
    if (kind_ != SpanKind::tool) {
      put(out, "model", text(SpanField::model));
      put(out, "responseModel", text(SpanField::response_model));
      put_number(out, "inputTokens", number(SpanField::input_tokens), true);
      put_number(out, "outputTokens", number(SpanField::output_tokens), true);
      put_number(out, "costUsd", number(SpanField::cost_usd), false);
    }
    put(out, "sessionId", text(SpanField::session_id));
    if (!is_step()) put(out, "name", text(SpanField::agent_name));
    put(out, "service", text(SpanField::service));
    put(out, "serviceVersion", text(SpanField::service_version));
    put(out, "environment", text(SpanField::environment));
    put(out, "project", text(SpanField::project));
    out.end_object();
  }

  const Span& span_;
  const Origin& origin_;
  const SpanMapping& mapping_;
  LocalArena<kUsualArenaBytes> arena_;  // the texts found
  AttributeIndex attributes_;
  AnyValue name_;
  AnyValue message_;
  SpanKind kind_ = SpanKind::none;
  std::list<ReadValue> read_before_;
  std::optional<std::optional<Found>> tool_output_;
  std::string from_;
};

}  // namespace

bool is_root(const Span& span) {
  return span.parent_span_id.empty() || (span.flags & kParentIsRemote) == kParentIsRemote;
}

std::unordered_set<std::string> ended_spans(const std::vector<std::string>& spans) {
  std::unordered_set<std::string> ended;
  for (const std::string& json : spans) {
    const auto members = cut_json_members(json);
    const std::string end_ns = json_member_text(members, "endNs");
    if (!end_ns.empty() && end_ns != "0") ended.insert(json_member_text(members, "spanId"));
  }
  return ended;
}

std::optional<SpanFacts> facts_of(const Span& span, const Origin& origin, const SpanMapping& mapping) {
  return Extraction(span, origin, mapping).run();
}

}  // namespace runwarden::intake::otlp
