#include "opinion/answer_json.h"

#include <algorithm>
#include <cstddef>

#include "base/json_check.h"

namespace runwarden::opinion {
namespace {

// Walks one object, whatever its text may be.
class Walk {
 public:
  Walk(std::string_view text, std::size_t begin) : text_(text), begin_(begin), at_(begin), last_whole_(begin + 1) {
    do {
      step();
      ++at_;
    } while (!open_.empty() && at_ < text_.size());
  }

  bool closed() const { return open_.empty(); }
  std::size_t end() const { return at_; }
  std::string_view object() const { return text_.substr(begin_, at_ - begin_); }

  // With what is open closed: where it ends, or where its last value ended that was whole.
  std::string closed_here() const {
    std::string out(object());
    if (in_string_) {
      if (escaped_) out.pop_back();
      out += '"';
    }
    return out + closers(open_);
  }
  std::string closed_before() const { return std::string(text_.substr(begin_, last_whole_ - begin_)) + closers(open_); }

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
    if (c == '{' || c == '[') open_ += c == '{' ? '}' : ']';
    if (c == '}' || c == ']') open_.pop_back();
    if (c == ',') last_whole_ = at_;
    if (c == '{' || c == '[' || c == '}' || c == ']') last_whole_ = at_ + 1;
  }
  static std::string closers(const std::string& open) { return {open.rbegin(), open.rend()}; }

  std::string_view text_;
  std::size_t begin_;
  std::size_t at_;
  std::size_t last_whole_;
  std::string open_;  // what closes the levels, outermost first; the same at last_whole_
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

std::optional<FoundObject> find_object(std::string_view text, int max_depth) {
  const auto valid = [&](std::string_view json) { return check_json(json, max_depth).ok(); };
  for (std::size_t at = text.find('{'); at != std::string_view::npos;) {
    const Walk walk(text, at);
    if (walk.closed() && valid(walk.object())) return FoundObject{std::string(walk.object()), false};
    if (!walk.closed()) {
      for (std::string json : {walk.closed_here(), walk.closed_before()}) {
        if (valid(json)) return FoundObject{std::move(json), true};
      }
      return std::nullopt;
    }
    at = text.find('{', walk.end());
  }
  return std::nullopt;
}

}  // namespace runwarden::opinion
