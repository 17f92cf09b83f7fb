#include "intake/otlp/json_tree.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "base/base64.h"
#include "base/json_events.h"
#include "base/json_text.h"
#include "intake/otlp/mend_json.h"

namespace runwarden::intake::otlp {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxValues = 100'000;

class TreeReader final : public JsonEvents {
 public:
  explicit TreeReader(Arena& arena) : arena_(arena), open_(&arena) {}

  bool scalar(const JsonScalar& value) override {
    AnyValue* const at = next();
    if (at == nullptr) return false;
    switch (value.type) {
      case JsonScalar::Type::null: return true;
      case JsonScalar::Type::boolean:
        at->kind = AnyValue::Kind::boolean;
        at->boolean = value.boolean;
        return true;
      case JsonScalar::Type::string:
        at->kind = AnyValue::Kind::text;
        at->text = keep_text(arena_, value.text);
        return true;
      case JsonScalar::Type::number: {
        const char* const end = value.text.data() + value.text.size();
        const auto read = std::from_chars(value.text.data(), end, at->integer);
        const bool whole = read.ec == std::errc() && read.ptr == end;
        at->kind = whole ? AnyValue::Kind::integer : AnyValue::Kind::number;
        at->number = value.number;
        return true;
      }
    }
    return true;
  }

  bool open_object() override { return open(AnyValue::Kind::map); }
  bool open_array() override { return open(AnyValue::Kind::list); }

  bool key(std::string_view name) override {
    key_ = keep_text(arena_, name);
    return true;
  }

  bool close() override {
    open_.pop_back();
    return true;
  }

  void restart() override {
    root_ = {};
    open_.clear();
    values_ = 0;
  }

  bool over_limit() const { return values_ > kMaxValues; }
  const AnyValue& root() const { return root_; }

 private:
  AnyValue* next() {
    if (++values_ > kMaxValues) return nullptr;
    if (open_.empty()) return &root_;
    AnyValue& parent = *open_.back();
    if (parent.kind == AnyValue::Kind::list) return &parent.items.append(arena_);
    return &parent.members.append(arena_, {key_, {}}).value;
  }

  bool open(AnyValue::Kind kind) {
    AnyValue* const at = next();
    if (at == nullptr) return false;
    at->kind = kind;
    open_.push_back(at);
    return true;
  }

  Arena& arena_;
  AnyValue root_;
  std::pmr::vector<AnyValue*> open_;
  std::string_view key_;
  std::size_t values_ = 0;
};

std::optional<AnyValue> read_whole(std::string_view text, Arena& arena) {
  TreeReader reader(arena);
  if (!parse_json(text, kMaxDepth, reader).ok() || reader.over_limit()) return std::nullopt;
  return reader.root();
}

// A JSON text that was cut off.
struct CutOff {
  std::string text;     // without the incomplete end
  std::string closers;  // the brackets that close what is open
};

std::optional<CutOff> cut_off(std::string_view text) {
  std::string closers;
  bool in_string = false;
  std::size_t escape = std::string_view::npos;  // where an incomplete one begins
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') {
        const std::size_t length = at + 1 < text.size() && text[at + 1] == 'u' ? 6 : 2;
        if (at + length > text.size()) {
          escape = at;
          break;
        }
        at += length - 1;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{') closers.insert(closers.begin(), '}');
    if (c == '[') closers.insert(closers.begin(), ']');
    if ((c == '}' || c == ']') && !closers.empty()) closers.erase(closers.begin());
    if (closers.size() > kMaxDepth) return std::nullopt;
  }
  if (closers.empty() && !in_string) return std::nullopt;
  std::string kept(text.substr(0, escape));
  if (in_string) return CutOff{kept + "\"", closers};
  // Cut after the last structural character: a number, word or name after it may be incomplete.
  const auto end = kept.find_last_of("{[}]\",:");
  kept.erase(end + 1);
  if (!kept.empty() && kept.back() == ',') kept.pop_back();
  return CutOff{kept, closers};
}

std::optional<AnyValue> read_cut_off(std::string_view text, Arena& arena) {
  const auto inside = text.find_first_not_of(" \t\r\n", text.find('{') + 1);
  const bool object = text[text.find_first_not_of(" \t\r\n")] == '{';
  if (object && inside != std::string_view::npos && text[inside] != '"') return std::nullopt;
  const auto cut = cut_off(text);
  if (!cut) return std::nullopt;
  for (const char* const rest : {"", ":null", "null"}) {
    if (auto tree = read_whole(cut->text + rest + cut->closers, arena)) return tree;
  }
  return std::nullopt;
}

void write(JsonWriter& out, const AnyValue& value) {
  switch (value.kind) {
    case AnyValue::Kind::null: out.null(); return;
    case AnyValue::Kind::text: out.string(value.text); return;
    case AnyValue::Kind::boolean: out.boolean(value.boolean); return;
    case AnyValue::Kind::integer: out.integer(value.integer); return;
    case AnyValue::Kind::number: out.number(value.number); return;
    case AnyValue::Kind::bytes: out.string(bytes_to_base64(value.text)); return;
    case AnyValue::Kind::list:
      out.begin_array();
      for (const AnyValue& item : value.items) write(out, item);
      out.end_array();
      return;
    case AnyValue::Kind::map:
      out.begin_object();
      for (const KeyValue& member : value.members) write(out.key(member.key), member.value);
      out.end_object();
      return;
  }
}

}  // namespace

bool looks_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

std::optional<AnyValue> read_json_tree(std::string_view text, Arena& arena) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[' && text[first] != '"')) return std::nullopt;
  if (auto tree = read_whole(text, arena)) return tree;
  const std::string mended = mended_json(text);
  if (mended != text) {
    if (auto tree = read_whole(mended, arena)) return tree;
  }
  return text[first] == '"' ? std::nullopt : read_cut_off(mended, arena);
}

void append_json(std::string& out, const AnyValue& value) {
  JsonWriter writer(out);
  write(writer, value);
}

std::string_view text_of(const AnyValue& value, Arena& arena) {
  if (value.kind == AnyValue::Kind::text) return value.text;
  std::string text;
  if (value.kind != AnyValue::Kind::null) append_json(text, value);
  return keep_text(arena, text);
}

}  // namespace runwarden::intake::otlp
