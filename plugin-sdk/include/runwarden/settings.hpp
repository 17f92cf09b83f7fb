// Reads a detector's settings by name; authors need not parse JSON. Included by detector.hpp.
//
//   void configure(std::string_view settings_json) override {
//     const rw::Settings settings(settings_json);
//     domains_ = settings.strings("ignore_domains");     // empty when not given
//     score_ = settings.integer("score", 75, 1, 100);    // 75 when not given, from 1 to 100
//     strict_ = settings.boolean("strict", false);
//   }
//
// A value of the wrong type or out of range throws BadSettings with its JSON Pointer; the host reports the file, line and column to
// the operator. Unknown settings are accepted here: reject them with "additionalProperties": false in the schema.
#ifndef RUNWARDEN_SETTINGS_HPP
#define RUNWARDEN_SETTINGS_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace rw {

// Invalid settings: throw it from configure. From the JSON Pointer ("/repeats") the host finds the file, line and column to report;
// an empty pointer means the settings as a whole.
class BadSettings : public std::runtime_error {
 public:
  BadSettings(std::string_view json_pointer, std::string_view detail)
      : std::runtime_error(json_pointer.empty() ? std::string(detail) : std::string(json_pointer) + ": " + std::string(detail)) {}
};

namespace detail {

// Reads JSON text (RFC 8259) from front to back. Throws BadSettings when the text is not JSON.
class JsonReader {
 public:
  // `subject` begins the message about text that is not JSON.
  explicit JsonReader(std::string_view text, const char* subject = "the settings are") noexcept : text_(text), subject_(subject) {}

  // Skips white space and returns the next byte without consuming it; '\0' at the end.
  char peek() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Skips white space, then consumes the wanted byte if it is next.
  bool skip(char wanted) noexcept {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!skip(wanted)) fail(std::string("expected '") + wanted + "'");
  }

  void expect_end() {
    peek();
    if (at_ < text_.size()) fail("unexpected text after the value");
  }

  // Consumes one value and returns its text.
  std::string_view value(int depth = 0) {
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '{' || first == '[') {
      if (depth == kMaxDepth) fail("nested more than " + std::to_string(kMaxDepth) + " levels deep");
      list(first, depth);
    } else if (first == '"') {
      string();
    } else if (first == '-' || is_digit(first)) {
      number();
    } else {
      word();
    }
    return text_.substr(begin, at_ - begin);
  }

  // Consumes a string and returns its characters, unescaped.
  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      if (at_ == text_.size()) fail("unterminated string");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string must be escaped");
      ++at_;
      if (c == '"') return out;
      if (c == '\\') {
        escape(out);
      } else {
        out.push_back(c);
      }
    }
  }

 private:
  static constexpr int kMaxDepth = 64;

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  [[noreturn]] void fail(const std::string& what) const {
    throw BadSettings("", std::string(subject_) + " not JSON at byte " + std::to_string(at_) + ": " + what);
  }

  void list(char open, int depth) {
    const char close = open == '{' ? '}' : ']';
    expect(open);
    if (skip(close)) return;
    do {
      if (open == '{') {
        string();
        expect(':');
      }
      value(depth + 1);
    } while (skip(','));
    expect(close);
  }

  void digits() {
    if (at_ == text_.size() || !is_digit(text_[at_])) fail("expected a digit");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  }

  bool skip_one_of(std::string_view wanted) noexcept {
    if (at_ == text_.size() || wanted.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  void number() {
    skip_one_of("-");
    if (!skip_one_of("0")) digits();
    if (skip_one_of(".")) digits();
    if (skip_one_of("eE")) {
      skip_one_of("+-");
      digits();
    }
  }

  void word() {
    for (const std::string_view known : {"true", "false", "null"}) {
      if (text_.substr(at_, known.size()) != known) continue;
      at_ += known.size();
      return;
    }
    fail("expected a value");
  }

  std::uint32_t hex4() {
    std::uint32_t code = 0;
    const char* const begin = text_.data() + at_;
    const bool whole = text_.size() - at_ >= 4;
    if (!whole || std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  // The code point of the four digits after "\u", and of a second "\u" escape when the first is half of a surrogate pair.
  std::uint32_t code_point() {
    const std::uint32_t first = hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    const bool followed = first < 0xDC00 && text_.substr(at_, 2) == "\\u";
    if (followed) at_ += 2;
    const std::uint32_t second = followed ? hex4() : 0;
    if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto continuation = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3F))); };
    if (code < 0x80) {
      out.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out.push_back(static_cast<char>(0xC0 | (code >> 6)));
      continuation(0);
    } else if (code < 0x10000) {
      out.push_back(static_cast<char>(0xE0 | (code >> 12)));
      continuation(6);
      continuation(0);
    } else {
      out.push_back(static_cast<char>(0xF0 | (code >> 18)));
      continuation(12);
      continuation(6);
      continuation(0);
    }
  }

  void escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    const char name = at_ < text_.size() ? text_[at_] : '\0';
    if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      ++at_;
      out.push_back(kCharacters[known]);
    } else if (name == 'u') {
      ++at_;
      append_utf8(out, code_point());
    } else {
      fail("unknown escape in a string");
    }
  }

  std::string_view text_;
  const char* subject_;
  std::size_t at_ = 0;
};

}  // namespace detail

// The settings of one detector: the members of a JSON object. Copies what it needs from the text. A value type; any thread.
//
// Each getter takes the name of a setting and the default to return when the operator gave none. It throws BadSettings when the value
// has another type. null never matches.
class Settings {
 public:
  // Takes the text that configure receives; absent or empty text means an object without members. Throws BadSettings when the text is
  // not a JSON object or a name occurs twice.
  explicit Settings(std::string_view json) : Settings(std::string(), json) {}

  // True when the operator gave this setting.
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

  // Throws BadSettings unless the operator gave this setting.
  const Settings& require(std::string_view name) const {
    if (!has(name)) throw BadSettings(pointer(name), "the setting \"" + std::string(name) + "\" is missing");
    return *this;
  }

  std::string text(std::string_view name, std::string_view otherwise) const {
    const std::string* const value = find(name);
    return value == nullptr ? std::string(otherwise) : string_of(pointer(name), *value);
  }

  // The value must lie between `lowest` and `highest`, and must fit the type of `otherwise`.
  template <class T>
  T integer(std::string_view name, T otherwise, std::common_type_t<T> lowest = std::numeric_limits<T>::min(),
            std::common_type_t<T> highest = std::numeric_limits<T>::max()) const {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "an integer's type, such as int or std::int64_t");
    const std::string* const value = find(name);
    if (value == nullptr) return otherwise;
    T out{};
    if (to_integer(*value, out) && out >= lowest && out <= highest) return out;
    const bool any = lowest == std::numeric_limits<T>::min() && highest == std::numeric_limits<T>::max();
    const bool too_large = is_number(*value) && value->find_first_of(".eE") == std::string::npos;
    fail(pointer(name), any && !too_large ? "an integer" : "an integer from " + std::to_string(lowest) + " to " + std::to_string(highest),
         *value);
  }

  // Any number, integers included.
  double number(std::string_view name, double otherwise, double lowest = std::numeric_limits<double>::lowest(),
                double highest = std::numeric_limits<double>::max()) const {
    const std::string* const value = find(name);
    if (value == nullptr) return otherwise;
    double out = 0;
    if (to_number(*value, out) && out >= lowest && out <= highest) return out;
    const bool any = lowest == std::numeric_limits<double>::lowest() && highest == std::numeric_limits<double>::max();
    fail(pointer(name), any ? "a number" : "a number from " + text_of(lowest) + " to " + text_of(highest), *value);
  }

  bool boolean(std::string_view name, bool otherwise) const {
    const std::string* const value = find(name);
    if (value == nullptr) return otherwise;
    if (*value != "true" && *value != "false") fail(pointer(name), "true or false", *value);
    return *value == "true";
  }

  // A list of strings. The JSON Pointer in an error names the item: "/words/2".
  std::vector<std::string> strings(std::string_view name, std::vector<std::string> otherwise = {}) const {
    const std::string* const value = find(name);
    if (value == nullptr) return otherwise;
    if ((*value)[0] != '[') fail(pointer(name), "a list of strings", *value);
    std::vector<std::string> out;
    detail::JsonReader reader(*value);
    reader.expect('[');
    if (reader.skip(']')) return out;
    do {
      out.push_back(string_of(pointer(name) + "/" + std::to_string(out.size()), reader.value()));
    } while (reader.skip(','));
    return out;
  }

  // Nested settings; without members when the operator gave none. JSON Pointers in their errors begin with the pointer of this one.
  Settings object(std::string_view name) const {
    const std::string* const value = find(name);
    return Settings(pointer(name), value == nullptr ? std::string_view() : std::string_view(*value));
  }

 private:
  Settings(std::string at, std::string_view json) : at_(std::move(at)) {
    detail::JsonReader reader(json);
    if (reader.peek() == '\0') {
      reader.expect_end();
      return;
    }
    if (reader.peek() != '{') fail(at_, "an object", reader.value());
    reader.expect('{');
    if (!reader.skip('}')) {
      do {
        std::string name = reader.string();
        reader.expect(':');
        if (has(name)) throw BadSettings(pointer(name), "duplicate member");
        members_.emplace_back(std::move(name), std::string(reader.value()));
      } while (reader.skip(','));
      reader.expect('}');
    }
    reader.expect_end();
  }

  // The JSON text of a setting; nullptr when it is missing.
  const std::string* find(std::string_view name) const noexcept {
    for (const auto& [known, value] : members_) {
      if (known == name) return &value;
    }
    return nullptr;
  }

  std::string pointer(std::string_view name) const {
    std::string out = at_ + "/";
    for (const char c : name) {
      if (c == '~') {
        out += "~0";
      } else if (c == '/') {
        out += "~1";
      } else {
        out += c;
      }
    }
    return out;
  }

  static bool is_number(std::string_view value) noexcept { return value[0] == '-' || (value[0] >= '0' && value[0] <= '9'); }

  // Follows the rules of JSON, independent of the locale.
  static bool to_number(std::string_view value, double& out) {
    if (!is_number(value)) return false;
    std::istringstream in{std::string(value)};
    in.imbue(std::locale::classic());
    return static_cast<bool>(in >> out);
  }

  // Accepts 5.0 and 5e2 as integers.
  template <class T>
  static bool to_integer(std::string_view value, T& out) {
    constexpr double kExact = 9007199254740992.0;  // up to here a double holds every integer
    const char* const end = value.data() + value.size();
    if (const auto read = std::from_chars(value.data(), end, out); read.ptr == end) return read.ec == std::errc();
    double number = 0;
    if (!to_number(value, number) || number < -kExact || number > kExact) return false;
    const auto whole = static_cast<std::int64_t>(number);
    out = static_cast<T>(whole);
    return static_cast<double>(whole) == number && static_cast<std::int64_t>(out) == whole && (whole >= 0 || std::is_signed_v<T>);
  }

  static std::string string_of(const std::string& pointer, std::string_view value) {
    if (value[0] != '"') fail(pointer, "a string", value);
    return detail::JsonReader(value).string();
  }

  static std::string text_of(double value) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << value;
    return out.str();
  }

  [[noreturn]] static void fail(const std::string& pointer, const std::string& expected, std::string_view value) {
    constexpr std::size_t kShownBytes = 60;
    std::size_t cut = value.size() <= kShownBytes ? value.size() : kShownBytes;
    while (cut < value.size() && (static_cast<unsigned char>(value[cut]) & 0xC0) == 0x80) --cut;
    throw BadSettings(pointer, "expected " + expected + ", got " + std::string(value.substr(0, cut)) + (cut < value.size() ? "..." : ""));
  }

  std::string at_;                                            // JSON Pointer to these settings; empty: the root
  std::vector<std::pair<std::string, std::string>> members_;  // name and JSON text
};

}  // namespace rw

#endif  // RUNWARDEN_SETTINGS_HPP
