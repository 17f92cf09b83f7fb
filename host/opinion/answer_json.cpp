#include "opinion/answer_json.h"

#include <cstddef>

#include "base/json_check.h"

namespace runwarden::opinion {
namespace {

// Walks one object in any text.
class ObjectScanner {
 public:
  ObjectScanner(std::string_view text, std::size_t begin) : text_(text), begin_(begin), at_(begin) {
    do {
      step();
      ++at_;
    } while (depth_ > 0 && at_ < text_.size());
  }

  bool closed() const { return depth_ == 0; }
  // Only the object's closing bracket is missing.
  bool lacks_its_end() const { return depth_ == 1 && !in_string_; }
  std::size_t end() const { return at_; }
  std::string_view object() const { return text_.substr(begin_, at_ - begin_); }

 private:
  void step() {
    const char c = text_[at_];
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
      return;
    }
    if (c == '"') in_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if (c == '}' || c == ']') --depth_;
  }

  std::string_view text_;
  std::size_t begin_;
  std::size_t at_;
  std::size_t depth_ = 0;  // of open brackets
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

std::optional<std::string> find_object(std::string_view text, int max_depth) {
  for (std::size_t at = text.find('{'); at != std::string_view::npos;) {
    const ObjectScanner scanner(text, at);
    if (!scanner.closed() && !scanner.lacks_its_end()) return std::nullopt;
    std::string object(scanner.object());
    if (!scanner.closed()) object += '}';
    if (check_json(object, max_depth).ok()) return object;
    at = text.find('{', scanner.end());
  }
  return std::nullopt;
}

}  // namespace runwarden::opinion
