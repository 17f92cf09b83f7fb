#include "base/json_members.h"

#include "base/json_events.h"
#include "base/json_text.h"

namespace runwarden {
namespace {

class MemberCutter final : public JsonEvents {
 public:
  std::vector<JsonMember> members;

  bool scalar(const JsonScalar& value) override {
    if (open_.empty()) return false;
    write_json_scalar(writer_, value);
    return true;
  }
  bool open_object() override { return open('{'); }
  bool open_array() override { return open('['); }
  bool key(std::string_view name) override {
    if (open_.size() == 1) {
      members.push_back({std::string(name), {}});
      writer_ = JsonWriter(members.back().json);
    } else {
      writer_.key(name);
    }
    return true;
  }
  bool close() override {
    const char bracket = open_.back();
    open_.pop_back();
    if (open_.empty()) return true;
    bracket == '{' ? writer_.end_object() : writer_.end_array();
    return true;
  }
  void restart() override {
    members.clear();
    open_.clear();
  }

 private:
  bool open(char bracket) {
    if (open_.empty() && bracket == '[') return false;
    if (!open_.empty()) bracket == '{' ? writer_.begin_object() : writer_.begin_array();
    open_ += bracket;
    return true;
  }

  std::string open_;  // brackets that are open, the outermost first
  std::string nowhere_;
  JsonWriter writer_{nowhere_};
};

}  // namespace

std::vector<JsonMember> json_members(std::string_view object) {
  constexpr int kMaxDepth = 1000;
  MemberCutter cutter;
  if (!parse_json(object, kMaxDepth, cutter).ok()) return {};
  return std::move(cutter.members);
}

}  // namespace runwarden
