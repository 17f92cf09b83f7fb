#include "intake/change_reader.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "intake/run_id.h"
#include "intake/shape.h"
#include "intake/shape_reader.h"

namespace runwarden::intake {
namespace {

enum Slot : std::uint8_t { kKind, kPolicy, kRevision, kAuthor, kAt, kContent, kOther };

constexpr Field kChangeFields[] = {
    {"kind", Want::text, kKind}, {"ref", Want::text, kOther},         {"summary", Want::text, kOther},
    {"at", Want::time, kAt},     {"changeId", Want::ignored, kOther}, {"receivedAt", Want::ignored, kOther},
};
constexpr Alias kChangeAliases[] = {
    {"type", "kind"},           {"commit", "ref"},      {"sha", "ref"},      {"reference", "ref"},
    {"description", "summary"}, {"message", "summary"}, {"timestamp", "at"}, {"time", "at"},
};
constexpr Shape kChangeShape{kChangeFields, "a change", kChangeAliases};

constexpr Field kPolicyFields[] = {
    {"policy", Want::text, kPolicy},
    {"revision", Want::code, kRevision},
    {"content", Want::json, kContent},
    {"author", Want::text, kAuthor},
    {"summary", Want::text, kOther},
    {"ref", Want::text, kOther},
    {"at", Want::time, kAt},
    {"policyRevisionId", Want::ignored, kOther},
    {"contentSha256", Want::ignored, kOther},
    {"receivedAt", Want::ignored, kOther},
};
constexpr Alias kPolicyAliases[] = {
    {"name", "policy"},     {"version", "revision"}, {"body", "content"}, {"description", "summary"},
    {"message", "summary"}, {"commit", "ref"},       {"sha", "ref"},      {"reference", "ref"},
    {"effectiveAt", "at"},  {"timestamp", "at"},     {"time", "at"},
};
constexpr Shape kPolicyShape{kPolicyFields, "a policy revision", kPolicyAliases};

// [a-z][a-z0-9_.-]{0,63}
bool is_kind(std::string_view text) {
  if (text.empty() || text.size() > 64 || !ascii::is_lower(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '_' || c == '.' || c == '-'; });
}

class ChangeReader final : public ShapeReader {
 public:
  ChangeReader(TextArena& arena, std::vector<Warning>* warnings) : ShapeReader(kChangeShape, arena, warnings) {}

  Result<ChangeText> run(std::string_view json, int max_json_depth) {
    if (Status status = read(json, max_json_depth); !status.ok()) return std::move(status.error());
    change_.document = std::move(document_text());
    return std::move(change_);
  }

 private:
  void begin() override {
    change_ = {};
    has_kind_ = false;
  }

  void take(const Shape&, const Field& field, const FieldValue& value) override {
    if (field.slot == kAt) change_.at_ms = value.integer;
    if (field.slot != kKind) return;
    has_kind_ = true;
    change_.kind = value.text;
    if (!is_kind(value.text)) {
      fault("kind", "invalid_kind",
            "must be code, runtime, policy or another lower-case word of up to 64 characters ([a-z][a-z0-9_.-]*), got \"" +
                std::string(utf8_prefix(value.text, 80)) + "\"");
    }
  }

  void leave(const Shape&) override {
    if (!has_kind_) missing("kind", "is missing: send code, runtime, policy, or another lower-case word");
  }

  ChangeText change_;
  bool has_kind_ = false;
};

class PolicyReader final : public ShapeReader {
 public:
  PolicyReader(TextArena& arena, std::vector<Warning>* warnings) : ShapeReader(kPolicyShape, arena, warnings) {}

  Result<PolicyText> run(std::string_view json, int max_json_depth) {
    if (Status status = read(json, max_json_depth); !status.ok()) return std::move(status.error());
    policy_.document = std::move(document_text());
    return std::move(policy_);
  }

 private:
  void begin() override {
    policy_ = {};
    policy_.content = "null";
    has_policy_ = false;
  }

  void take(const Shape&, const Field& field, const FieldValue& value) override {
    switch (field.slot) {
      case kPolicy:
        has_policy_ = true;
        policy_.policy = value.text;
        if (auto wrong = run_id_fault(value.text)) fault(field.name, wrong->code, wrong->detail);
        return;
      case kRevision:
        policy_.revision = std::string(value.text);
        if (auto wrong = run_id_fault(value.text)) fault(field.name, wrong->code, wrong->detail);
        return;
      case kAuthor:
        if (!value.text.empty()) policy_.author = std::string(value.text);
        return;
      case kAt: policy_.at_ms = value.integer; return;
      case kContent: policy_.content = value.text; return;
      default: return;
    }
  }

  void leave(const Shape&) override {
    if (!has_policy_) missing("policy", "is missing: the name of the policy");
  }

  PolicyText policy_;
  bool has_policy_ = false;
};

}  // namespace

Result<ChangeText> read_change(std::string_view json, int max_json_depth, std::vector<Warning>* warnings) {
  TextArena arena;
  return ChangeReader(arena, warnings).run(json, max_json_depth);
}

Result<PolicyText> read_policy(std::string_view json, int max_json_depth, std::vector<Warning>* warnings) {
  TextArena arena;
  return PolicyReader(arena, warnings).run(json, max_json_depth);
}

}  // namespace runwarden::intake
