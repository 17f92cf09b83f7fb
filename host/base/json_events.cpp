#include "base/json_events.h"

#include <simdjson.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_text.h"

namespace runwarden {
namespace {

using Json = nlohmann::json;

// Without line and column if there is only one line: it may be any line of a batch.
std::string place(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  if (text.find('\n') == std::string_view::npos) return "byte " + std::to_string(at);
  const std::string_view before = text.substr(0, at);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "byte " + std::to_string(at) + " (line " + std::to_string(lines + 1) + ", column " + std::to_string(at - line_start + 1) + ")";
}

Error malformed(std::string detail) {
  return Error{Code::malformed_json, std::move(detail), {}, {}};
}

// nlohmann's message without its prefix: the part after the last "line n, column m: ".
std::string reason_of(const std::string& what) {
  for (const std::string_view mark : {"parse error: ", "syntax error "}) {
    const auto at = what.find(mark);
    if (at != std::string::npos) return what.substr(at);
  }
  const auto bracket = what.find("] ");
  return bracket == std::string::npos ? what : what.substr(bracket + 2);
}

// Converts nlohmann's SAX calls to our events and checks the depth.
class Bridge {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  Bridge(std::string_view text, int max_depth, JsonEvents& events) : text_(text), max_depth_(max_depth), events_(events) {}

  bool null() { return emit({}); }
  bool boolean(bool value) { return emit({JsonScalar::Type::boolean, value, 0, {}}); }
  bool number_integer(number_integer_t value) { return integer(value); }
  bool number_unsigned(number_unsigned_t value) { return integer(value); }
  bool number_float(number_float_t value, const string_t& text) { return emit({JsonScalar::Type::number, false, value, text}); }
  bool string(string_t& value) { return emit({JsonScalar::Type::string, false, 0, value}); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return enter() && check(events_.open_object()); }
  bool start_array(std::size_t) { return enter() && check(events_.open_array()); }
  bool key(string_t& name) { return check(events_.key(name)); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& fault) {
    const std::size_t at = position == 0 ? 0 : position - 1;
    if (fault.id == 406) {
      error_ = malformed("the number " + token.substr(0, 40) + " at " + place(text_, at) +
                         " is outside the range of a double; send it as a string");
    } else {
      error_ = malformed("not JSON at " + place(text_, at) + ": " + reason_of(fault.what()));
    }
    return false;
  }

  bool stopped_by_reader() const { return stopped_; }
  Error& error() { return error_; }

 private:
  template <class Integer>
  bool integer(Integer value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    return emit({JsonScalar::Type::number, false, static_cast<double>(value), {digits, static_cast<std::size_t>(end.ptr - digits)}});
  }

  bool emit(const JsonScalar& value) { return check(events_.scalar(value)); }

  bool check(bool proceed) {
    stopped_ = !proceed;
    return proceed;
  }

  bool enter() {
    if (++depth_ <= max_depth_) return true;
    error_ = malformed("the JSON is nested deeper than limits.max_json_depth (" + std::to_string(max_depth_) +
                       "); send the inner part as a string, or raise the limit");
    return false;
  }

  bool leave() {
    --depth_;
    return check(events_.close());
  }

  std::string_view text_;
  int max_depth_;
  JsonEvents& events_;
  int depth_ = 0;
  bool stopped_ = false;
  Error error_ = malformed("not JSON");
};

// Walks a document with simdjson's On-Demand parser, which is several times faster than nlohmann's. Gives up, possibly after some events,
// on anything that it does not accept. nlohmann then decides and words the fault.
class FastWalk {
 public:
  enum class End : std::uint8_t { complete, stopped_by_reader, gave_up };

  FastWalk(int max_depth, JsonEvents& events) : max_depth_(std::min(max_depth, kMostRecursion)), events_(events) {}

  End walk(simdjson::ondemand::document& document) {
    simdjson::ondemand::json_type type;
    if (document.type().get(type) != simdjson::SUCCESS) return End::gave_up;
    simdjson::ondemand::value root;
    const bool container = type == simdjson::ondemand::json_type::object || type == simdjson::ondemand::json_type::array;
    if (!container || document.get_value().get(root) != simdjson::SUCCESS || !value(root)) return end();
    const char* rest = nullptr;
    return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS ? End::complete : End::gave_up;
  }

 private:
  static constexpr int kMostRecursion = 1000;
  using Value = simdjson::ondemand::value;
  using Type = simdjson::ondemand::json_type;

  End end() const { return stopped_ ? End::stopped_by_reader : End::gave_up; }

  // False: the document is not accepted, or the handler stopped. Recurses with each level.
  bool value(Value& value) {
    Type type;
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    switch (type) {
      case Type::object: return object(value);
      case Type::array: return array(value);
      case Type::string: {
        std::string_view text;
        return value.get_string().get(text) == simdjson::SUCCESS && check(events_.scalar({JsonScalar::Type::string, false, 0, text}));
      }
      case Type::number: return number(value);
      case Type::boolean: {
        bool flag = false;
        return value.get_bool().get(flag) == simdjson::SUCCESS && check(events_.scalar({JsonScalar::Type::boolean, flag, 0, {}}));
      }
      case Type::null: {
        bool null = false;
        return value.is_null().get(null) == simdjson::SUCCESS && null && check(events_.scalar({}));
      }
    }
    return false;
  }

  bool number(Value& value) {
    std::string_view text = value.raw_json_token();
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
      text.remove_suffix(1);
    double number = 0;
    return value.get_double().get(number) == simdjson::SUCCESS && check(events_.scalar({JsonScalar::Type::number, false, number, text}));
  }

  bool object(Value& value) {
    simdjson::ondemand::object members;
    if (++depth_ > max_depth_ || value.get_object().get(members) != simdjson::SUCCESS || !check(events_.open_object())) return false;
    for (auto member : members) {
      simdjson::ondemand::field field;
      std::string_view name;
      if (std::move(member).get(field) != simdjson::SUCCESS || field.unescaped_key().get(name) != simdjson::SUCCESS) return false;
      if (!check(events_.key(name)) || !this->value(field.value())) return false;
    }
    --depth_;
    return check(events_.close());
  }

  bool array(Value& value) {
    simdjson::ondemand::array elements;
    if (++depth_ > max_depth_ || value.get_array().get(elements) != simdjson::SUCCESS || !check(events_.open_array())) return false;
    for (auto element : elements) {
      if (element.error() != simdjson::SUCCESS) return false;
      Value inner = element.value_unsafe();
      if (!this->value(inner)) return false;
    }
    --depth_;
    return check(events_.close());
  }

  bool check(bool proceed) {
    stopped_ = !proceed;
    return proceed;
  }

  int max_depth_;
  JsonEvents& events_;
  int depth_ = 0;
  bool stopped_ = false;
};

// The buffers of a parse. Each thread keeps them for texts of usual size; a large text allocates its own.
struct FastParser {
  static constexpr std::size_t kKeepBytes = 256 * 1024;

  FastWalk::End walk(std::string_view text, int max_depth, JsonEvents& events) {
    padded.resize(std::max(padded.size(), text.size() + simdjson::SIMDJSON_PADDING));
    std::memcpy(padded.data(), text.data(), text.size());
    // On truncated text the parser reads one character past the end. If an earlier text left data there, the parser would continue through
    // that text's positions.
    std::memset(padded.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document document;
    if (parser.iterate(padded.data(), text.size(), padded.size()).get(document) != simdjson::SUCCESS) return FastWalk::End::gave_up;
    return FastWalk(max_depth, events).walk(document);
  }

  simdjson::ondemand::parser parser;
  std::string padded;
};

FastWalk::End walk_fast(std::string_view text, int max_depth, JsonEvents& events) {
  if (text.empty()) return FastWalk::End::gave_up;
  // A handler may parse the contents of a string during an event, so each nesting level has its own parser.
  thread_local std::array<FastParser, 4> kept;
  thread_local std::size_t in_use = 0;
  if (text.size() > FastParser::kKeepBytes || in_use == kept.size()) return FastParser().walk(text, max_depth, events);
  const struct Use {
    Use() { ++in_use; }
    ~Use() { --in_use; }
  } use;
  return kept[in_use - 1].walk(text, max_depth, events);
}

}  // namespace

Status parse_json(std::string_view text, int max_depth, JsonEvents& events) {
  const auto nul = text.find('\0');
  if (nul != std::string_view::npos)
    return malformed("a NUL byte at " + place(text, nul) + "; JSON text has none (write \\u0000 inside a string)");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return malformed("not JSON at byte 0: it is empty; send a JSON value");
  if (walk_fast(text, max_depth, events) != FastWalk::End::gave_up) return Nothing{};
  events.restart();
  Bridge bridge(text, max_depth, events);
  if (Json::sax_parse(text.data(), text.data() + text.size(), &bridge)) return Nothing{};
  if (bridge.stopped_by_reader()) return Nothing{};
  return std::move(bridge.error());
}

void write_json_scalar(JsonWriter& out, const JsonScalar& value) {
  switch (value.type) {
    case JsonScalar::Type::null: out.null(); return;
    case JsonScalar::Type::boolean: out.boolean(value.boolean); return;
    case JsonScalar::Type::number: out.raw(value.text); return;
    case JsonScalar::Type::string: out.string(value.text); return;
  }
}

}  // namespace runwarden
