#include "store/raw_json.h"

#include "base/json_members.h"
#include "store/envelope.h"

namespace runwarden::store {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Walks over the elements, or the members, of one container.
class Walk {
 public:
  Walk(std::string_view text, char bracket) : text_(text) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != bracket) throw BadValue(std::string("expected a JSON value that begins with ") + bracket);
    ++at_;
  }

  bool more() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      skip_space();
    }
    return at_ < text_.size() && text_[at_] != '}' && text_[at_] != ']';
  }

  // The next value: up to the comma or bracket that ends it.
  std::string_view value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        pass_string();
        continue;
      }
      if (depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']' || is_space(c))) break;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void pass_colon() {
    skip_space();
    ++at_;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  void pass_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  Walk walk(array, '[');
  while (walk.more()) elements.push_back(walk.value());
  return elements;
}

RawObject::RawObject(std::string_view object) {
  Walk walk(object, '{');
  while (walk.more()) {
    std::string name = json_string_value(walk.value());
    walk.pass_colon();
    members_.emplace_back(std::move(name), walk.value());
  }
}

std::optional<std::string_view> RawObject::find(std::string_view name) const {
  for (const auto& [known, raw] : members_) {
    if (known == name) return raw;
  }
  return std::nullopt;
}

std::string_view RawObject::at(std::string_view name) const {
  const auto raw = find(name);
  if (!raw || raw->empty()) throw BadValue("the member \"" + std::string(name) + "\" is missing");
  return *raw;
}

}  // namespace runwarden::store
