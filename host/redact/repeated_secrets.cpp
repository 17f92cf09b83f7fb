#include "redact/repeated_secrets.h"

#include <charconv>
#include <vector>

#include "base/json_events.h"
#include "base/json_text.h"

namespace runwarden::redact {
namespace {

constexpr int kMaxDepth = 1000;  // documents are validated before they get here

// Copies the document with repetitions replaced in its texts and numbers.
class RepeatedSecretsWriter final : public JsonEvents {
 public:
  RepeatedSecretsWriter(const SecretMatcher& matcher, model::DocumentKind kind, Redactions& found)
      : matcher_(matcher), kind_(kind), found_(found) {}

  std::string out;
  bool changed = false;

  bool scalar(const JsonScalar& value) override {
    if (in_array()) step_into({});
    const bool worded = value.type == JsonScalar::Type::string || value.type == JsonScalar::Type::number;
    std::string without = worded && !kept_ ? matcher_.without(value.text, found_) : std::string(value.text);
    if (without == value.text) {
      write_json_scalar(writer_, value);
      return true;
    }
    changed = true;
    writer_.string(without);
    return true;
  }
  bool open_object() override { return open('{'); }
  bool open_array() override { return open('['); }
  bool key(std::string_view name) override {
    step_into(name);
    writer_.key(name);
    return true;
  }
  bool close() override {
    frames_.back().bracket == '{' ? writer_.end_object() : writer_.end_array();
    frames_.pop_back();
    return true;
  }
  void restart() override {
    out.clear();
    writer_ = JsonWriter(out);
    frames_.clear();
    place_ = model::DocumentPlace::root;
    changed = false;
  }

 private:
  struct Frame {
    model::DocumentPlace place;
    char bracket;
  };

  bool in_array() const { return !frames_.empty() && frames_.back().bracket == '['; }
  void step_into(std::string_view name) {
    const auto parent = frames_.back().place;
    kept_ = model::is_kept(kind_, parent, name);
    place_ = model::place_below(kind_, parent, name);
  }
  bool open(char bracket) {
    if (in_array()) step_into({});
    frames_.push_back({place_, bracket});
    bracket == '{' ? writer_.begin_object() : writer_.begin_array();
    return true;
  }

  const SecretMatcher& matcher_;
  model::DocumentKind kind_;
  Redactions& found_;
  JsonWriter writer_{out};
  std::vector<Frame> frames_;
  model::DocumentPlace place_ = model::DocumentPlace::root;
  bool kept_ = false;
};

}  // namespace

std::optional<std::string> without_repeated_secrets(const SecretMatcher& matcher, model::DocumentKind kind, std::string_view json,
                                                    Redactions& found) {
  Redactions again;
  RepeatedSecretsWriter writer(matcher, kind, again);
  static_cast<void>(parse_json(json, kMaxDepth, writer));
  if (!writer.changed) return std::nullopt;
  found.add(std::move(again));
  return std::move(writer.out);
}

}  // namespace runwarden::redact
