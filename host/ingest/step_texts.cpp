#include "ingest/step_texts.h"

#include <algorithm>
#include <vector>

#include "base/json_events.h"
#include "base/json_members.h"
#include "base/json_pointer.h"
#include "base/json_text.h"
#include "base/utf8.h"

namespace runwarden::ingest {
namespace {

constexpr int kMaxDepth = 1010;  // the input was bounded when it was ingested; includes the members around it
constexpr std::string_view kSteps = "/steps/";
constexpr std::string_view kCut = "cut";

// The targets of evidence, as JSON Pointers (RFC 6901).
std::vector<std::string> pointers_of(std::string_view failures_json) {
  std::vector<std::string> pointers;
  for (const std::string& failure : json_elements(failures_json)) {
    for (const JsonMember& member : json_members(failure)) {
      if (member.name != "evidence") continue;
      for (const std::string& evidence : json_elements(member.json)) {
        for (const JsonMember& part : json_members(evidence)) {
          if (part.name == "pointer") pointers.push_back(json_string_value(part.json));
        }
      }
    }
  }
  return pointers;
}

// Whether the pointers are equal or one leads into the other.
bool overlap(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return other.starts_with(one) && (other.size() == one.size() || other[one.size()] == '/');
}

// Rewrites the run value by value.
class StepTextCutter final : public JsonEvents {
 public:
  StepTextCutter(std::size_t most_bytes, std::vector<std::string> whole) : most_bytes_(most_bytes), whole_(std::move(whole)) {}

  bool scalar(const JsonScalar& value) override {
    if (skips()) return next();
    const bool is_long = value.type == JsonScalar::Type::string && value.text.size() > most_bytes_;
    if (is_long && may_be_cut()) {
      cut_.push_back(pointer());
      out_.string(utf8_prefix(value.text, most_bytes_));
    } else {
      write_json_scalar(out_, value);
    }
    return next();
  }
  bool open_object() override { return open({.is_array = false, .name = {}, .index = 0}); }
  bool open_array() override { return open({.is_array = true, .name = {}, .index = 0}); }
  bool key(std::string_view name) override {
    open_.back().name = name;
    skipping_ = skipping_ || (open_.size() == 1 && name == kCut);
    if (!skips()) out_.key(name);
    return true;
  }
  bool close() override {
    const bool is_array = open_.back().is_array;
    if (open_.size() == 1) write_cut();
    open_.pop_back();
    if (skips()) return next();
    is_array ? out_.end_array() : out_.end_object();
    return next();
  }
  void restart() override {
    text_.clear();
    out_ = JsonWriter(text_);
    open_.clear();
    cut_.clear();
    skipping_ = false;
  }

  std::string take() { return std::move(text_); }

 private:
  struct Level {
    bool is_array = false;
    std::string name;  // of the member being read, or the number of the element
    std::size_t index = 0;
  };

  bool open(Level level) {
    if (!skips()) level.is_array ? out_.begin_array() : out_.begin_object();
    open_.push_back(std::move(level));
    return true;
  }
  // Called after each value.
  bool next() {
    if (open_.empty()) return true;
    if (open_.back().is_array) ++open_.back().index;
    if (open_.size() == 1) skipping_ = false;
    return true;
  }
  bool skips() const { return skipping_; }

  std::string pointer() const {
    std::string text;
    for (const Level& level : open_) {
      text += '/';
      if (level.is_array) {
        text += std::to_string(level.index);
        continue;
      }
      text += pointer_token(level.name);
    }
    return text;
  }
  bool may_be_cut() const {
    if (open_.size() < 2 || open_[0].name != "steps" || !open_[1].is_array) return false;
    if (open_.size() == 3 && open_[2].name == "stepId") return false;
    const std::string here = pointer();
    return here.starts_with(kSteps) && std::none_of(whole_.begin(), whole_.end(), [&](const std::string& one) { return overlap(one, here); });
  }
  void write_cut() { out_.key(kCut).strings(cut_); }

  const std::size_t most_bytes_;
  const std::vector<std::string> whole_;
  std::string text_;
  JsonWriter out_{text_};
  std::vector<Level> open_;
  std::vector<std::string> cut_;
  bool skipping_ = false;  // the client's own `cut`
};

}  // namespace

std::string with_cut_step_texts(std::string_view run_json, std::size_t most_bytes, const model::RunRecord& run) {
  StepTextCutter cutter(most_bytes, pointers_of(run.failures_json));
  [[maybe_unused]] const Status parsed = parse_json(run_json, kMaxDepth, cutter);
  return cutter.take();
}

}  // namespace runwarden::ingest
