#include "redact/document.h"

#include <charconv>
#include <utility>

#include "base/json_events.h"
#include "base/json_text.h"
#include "redact/card.h"
#include "redact/loose_members.h"
#include "redact/normal_text.h"

namespace runwarden::redact {
namespace {

constexpr int kMaxDepth = 1000;  // documents are validated before they get here
constexpr int kMaxLevels = 8;    // of JSON text nested in strings; each level doubles the backslashes
constexpr std::string_view kMarkerBegins = "[redacted:";

bool is_marker(std::string_view text) {
  return text.starts_with(kMarkerBegins) && text.find(']') == text.size() - 1;
}

bool looks_like_json(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return false;
  const char last = text[text.find_last_not_of(kBlank)];
  return (text[first] == '{' && last == '}') || (text[first] == '[' && last == ']' && !is_marker(text));
}

bool has_secret(const Rules& rules, const ValuePosition& where, std::string_view text);

// Copies a document, or a string of JSON text, to `out` without its secrets. If `out` is null it only looks for the first secret, because
// most documents have none and need no copy.
class RedactingWriter final : public JsonEvents {
 public:
  RedactingWriter(const Rules& rules, ValuePosition where, Redactions& found, std::string* out)
      : rules_(rules), pointers_(rules.pointers[static_cast<std::size_t>(where.kind)]), root_(std::move(where)), found_(found), out_(out) {
    restart();
  }

  bool hit() const { return hit_; }

  bool scalar(const JsonScalar& value) override {
    if (hiding_ > 0) {
      take(value);
      return true;
    }
    element();
    if (option_rule_ && !rule_ && !kept_) rule_ = option_rule_;
    option_rule_.reset();
    if (value.type == JsonScalar::Type::string && value.text.starts_with('-')) option_rule_ = rule_of_option(value.text);
    if (rule_ && value.type != JsonScalar::Type::null && !value.text.empty() && !is_marker(value.text)) {
      take(value);
      return replaced(*rule_);
    }
    if (rule_ && value.type == JsonScalar::Type::boolean) return replaced(*rule_);
    if (!kept_ && value.type == JsonScalar::Type::string) return string(value.text);
    if (!kept_ && value.type == JsonScalar::Type::number && is_card(value.text)) return card(value.text);
    if (out_ != nullptr) write_json_scalar(writer_, value);
    return true;
  }

  bool open_object() override { return open(Bracket::object); }
  bool open_array() override { return open(Bracket::array); }

  bool key(std::string_view name) override {
    if (hiding_ > 0) return true;
    below(name);
    if (!rule_ && !kept_ && !rules_.keys.empty()) rule_ = rules_.keys.find(name);
    return write_key(name);
  }

  bool close() override {
    if (hiding_ > 0) {
      --hiding_;
      return true;
    }
    const Bracket bracket = frames_.back().bracket;
    frames_.pop_back();
    option_rule_.reset();
    if (out_ != nullptr) bracket == Bracket::object ? writer_.end_object() : writer_.end_array();
    return true;
  }

  void restart() override {
    if (out_ != nullptr) out_->clear();
    writer_ = JsonWriter(out_ == nullptr ? nowhere_ : *out_);
    frames_.clear();
    value_ = root_;
    rule_.reset();
    option_rule_.reset();
    kept_ = false;
    hit_ = false;
    hiding_ = 0;
    found_ = {};
  }

 private:
  enum class Bracket : std::uint8_t { object, array };
  struct Frame {
    ValuePosition where;
    Bracket bracket;
    std::size_t elements;
  };

  bool open(Bracket bracket) {
    if (hiding_ > 0) {
      ++hiding_;
      return true;
    }
    if (!frames_.empty()) element();
    option_rule_.reset();
    if (rule_) {
      hiding_ = 1;
      return replaced(*rule_);
    }
    frames_.push_back({value_, bracket, 0});
    if (out_ != nullptr) bracket == Bracket::object ? writer_.begin_object() : writer_.begin_array();
    return true;
  }

  // The next value is the member or element of that name.
  void below(std::string_view name) {
    const ValuePosition& parent = frames_.back().where;
    kept_ = model::is_kept(parent.kind, parent.place, name);
    value_.place = model::place_below(parent.kind, parent.place, name);
    rule_ = pointers_.empty() ? std::nullopt : pointers_.step(parent.state, name, value_.state);
    if (kept_) rule_.reset();
  }

  void element() {
    if (frames_.empty() || frames_.back().bracket == Bracket::object) return;
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, frames_.back().elements++);
    below({digits, static_cast<std::size_t>(end.ptr - digits)});
  }

  // ["--password", "x"]: the element that comes next is hidden.
  std::optional<std::size_t> rule_of_option(std::string_view text) const {
    if (frames_.empty() || frames_.back().bracket != Bracket::array) return std::nullopt;
    const auto begin = text.find_first_not_of('-');
    return begin == std::string_view::npos ? std::nullopt : rules_.keys.find(text.substr(begin));
  }

  bool is_card(std::string_view digits) const {
    return rules_.kinds.test(static_cast<std::size_t>(model::SecretKind::card)) && is_card_number(digits);
  }

  bool card(std::string_view digits) {
    const std::size_t rule = rules_.kind_rules[static_cast<std::size_t>(model::SecretKind::card)];
    found_.add_secret(digits, rule, Redactions::Secret::By::shape);
    return replaced(rule);
  }

  void take(const JsonScalar& value) {
    const bool worded = value.type == JsonScalar::Type::string || value.type == JsonScalar::Type::number;
    if (worded && out_ != nullptr) found_.add_secret(value.text, rule_.value_or(0), Redactions::Secret::By::place);
  }

  // False if the caller only checks for a secret.
  bool replaced(std::size_t rule) {
    hit_ = true;
    if (out_ == nullptr) return false;
    found_.count(rule);
    writer_.string(rules_.markers[rule]);
    return true;
  }

  bool string(std::string_view text) {
    if (out_ == nullptr) {
      hit_ = has_secret(rules_, value_, text);
      return !hit_;
    }
    // Even in a document with a secret, most strings have none and are written only once.
    const bool clean = value_.level == 0 && !has_secret(rules_, value_, text);
    const auto changed = clean ? std::nullopt : text_without_secrets(rules_, value_, text, found_);
    hit_ = hit_ || changed.has_value();
    writer_.string(changed ? std::string_view(*changed) : text);
    return true;
  }

  // Clients may use member names as data: {"bob@example.com": 5}.
  bool write_key(std::string_view name) {
    const ValuePosition& parent = frames_.back().where;
    const bool of_client = parent.place == model::DocumentPlace::other || (!kept_ && value_.place == model::DocumentPlace::other);
    const bool may_hide = of_client && find_secret(NormalText(name).text(), 0, rules_.kinds).has_value();
    if (!may_hide) {
      if (out_ != nullptr) writer_.key(name);
      return true;
    }
    hit_ = true;
    if (out_ == nullptr) return false;
    Redactions inside;
    const auto changed = text_without_secrets(rules_, {parent.kind, model::DocumentPlace::other, {}, kMaxLevels}, name, inside);
    found_.add(std::move(inside));
    writer_.key(changed ? std::string_view(*changed) : name);
    return true;
  }

  const Rules& rules_;
  const Pointers& pointers_;
  const ValuePosition root_;
  Redactions& found_;
  std::string* out_;
  std::string nowhere_;
  JsonWriter writer_{nowhere_};
  std::vector<Frame> frames_;
  ValuePosition value_;                     // of the next value
  std::optional<std::size_t> rule_;         // that redacts the whole value
  bool kept_ = false;                       // exempt from all rules
  std::optional<std::size_t> option_rule_;  // that redacts the next element, because this one is an option's name
  bool hit_ = false;
  int hiding_ = 0;  // open containers inside a redacted one
};

// Processes a string of JSON text as a document. Empty if it is not JSON.
std::optional<bool> walk_inner(const Rules& rules, const ValuePosition& where, std::string_view text, Redactions& found, std::string* out) {
  ValuePosition inner = where;
  inner.place = model::DocumentPlace::other;
  ++inner.level;
  RedactingWriter writer(rules, std::move(inner), found, out);
  const bool whole = parse_json(text, kMaxDepth, writer).ok();
  return whole || (out == nullptr && writer.hit()) ? std::optional(writer.hit()) : std::nullopt;
}

using Reading = NormalText::Reading;

// Redacts secrets by their shape.
std::optional<std::string> without_kinds(const Rules& rules, std::string_view text, Reading reading, Redactions& found) {
  const NormalText normal(text, reading);
  auto next = find_secret(normal.text(), 0, rules.kinds);
  if (!next) return std::nullopt;
  std::string out;
  std::size_t from = 0;
  for (; next; next = find_secret(normal.text(), next->at.end, rules.kinds)) {
    const std::size_t rule = rules.kind_rules[static_cast<std::size_t>(next->kind)];
    const TextRange at = normal.written(next->at);
    out.append(text.substr(from, at.begin - from)).append(rules.markers[rule]);
    found.add_secret(normal.text().substr(next->at.begin, next->at.end - next->at.begin), rule, Redactions::Secret::By::shape);
    found.count(rule);
    from = at.end;
  }
  return out.append(text.substr(from));
}

std::optional<std::size_t> rule_of(const Rules& rules, const LooseMembers::Member& member) {
  auto rule = rules.keys.find(member.names.front());
  for (std::size_t i = 1; i < member.names.size() && !rule; ++i) rule = rules.keys.find_exact(member.names[i]);
  return rule || member.as_written.empty() ? rule : rules.keys.find(member.as_written);
}

// Redacts members by their name in text that is not valid JSON.
std::optional<std::string> without_loose_members(const Rules& rules, std::string_view text, Redactions& found) {
  if (rules.keys.empty()) return std::nullopt;
  const NormalText normal(text);
  std::string out;
  std::size_t from = 0;
  LooseMembers members(normal);
  while (const auto member = members.next()) {
    const auto rule = rule_of(rules, *member);
    if (!rule) continue;
    const TextRange value = members.take(*member);
    const std::string_view what = normal.text().substr(value.begin, value.end - value.begin);
    if (what.empty() || what == "null" || is_marker(what)) continue;
    const TextRange at = normal.written(value);
    out.append(text.substr(from, at.begin - from)).append(rules.markers[*rule]);
    const bool surely = member->sign == LooseMembers::Sign::quoted || member->sign == LooseMembers::Sign::equals;
    const bool known_again = surely || !LooseMembers::is_wording(what);
    if (known_again) found.add_secret(what, *rule, Redactions::Secret::By::place);
    found.count(*rule);
    from = at.end;
  }
  if (from == 0) return std::nullopt;
  return out.append(text.substr(from));
}

std::optional<std::string> loose_without_secrets(const Rules& rules, std::string_view text, Redactions& found) {
  std::optional<std::string> changed = without_loose_members(rules, text, found);
  const bool ambiguous = !rules.kinds.none() && NormalText(text).ambiguous();  // an escape may have been meant literally
  for (const Reading reading : {Reading::decoded, Reading::as_written}) {
    if (reading == Reading::as_written && !ambiguous) break;
    if (auto without = without_kinds(rules, changed ? std::string_view(*changed) : text, reading, found)) changed = std::move(without);
  }
  return changed;
}

bool has_loose_member(const Rules& rules, const NormalText& normal) {
  if (rules.keys.empty()) return false;
  LooseMembers members(normal);
  while (const auto member = members.next()) {
    if (rule_of(rules, *member)) return true;
  }
  return false;
}

ValuePosition root_of(const Rules& rules, model::DocumentKind kind) {
  return {kind, model::DocumentPlace::root, rules.pointers[static_cast<std::size_t>(kind)].start(), 0};
}

// Whether text_without_secrets() may change the text. Writes nothing.
bool has_secret(const Rules& rules, const ValuePosition& where, std::string_view text) {
  const bool by_place = !rules.keys.empty() || Pointers::any(where.state);
  if (by_place && where.level < kMaxLevels && looks_like_json(text)) {
    Redactions ignored;
    if (const auto hit = walk_inner(rules, where, text, ignored, nullptr)) return *hit;
  }
  const NormalText normal(text);
  if (find_secret(normal.text(), 0, rules.kinds) || has_loose_member(rules, normal)) return true;
  return normal.ambiguous() && find_secret(text, 0, rules.kinds);
}

}  // namespace

void Redactions::add_secret(std::string_view text, std::size_t rule, Secret::By by) {
  secrets.push_back({std::string(text), rule, by});
}

void Redactions::count(std::size_t rule) {
  if (counts.size() <= rule) counts.resize(rule + 1, 0);
  ++counts[rule];
}

void Redactions::add(Redactions more) {
  std::move(more.secrets.begin(), more.secrets.end(), std::back_inserter(secrets));
  if (counts.size() < more.counts.size()) counts.resize(more.counts.size(), 0);
  for (std::size_t i = 0; i < more.counts.size(); ++i) counts[i] += more.counts[i];
}

std::optional<std::string> text_without_secrets(const Rules& rules, const ValuePosition& where, std::string_view text, Redactions& found) {
  if (where.level < kMaxLevels && looks_like_json(text)) {
    Redactions inside;
    std::string out;
    if (const auto hit = walk_inner(rules, where, text, inside, &out)) {
      if (!*hit) return std::nullopt;
      found.add(std::move(inside));
      return out;
    }
  }
  return loose_without_secrets(rules, text, found);
}

std::optional<std::string> without_secrets(const Rules& rules, model::DocumentKind kind, std::string_view json, Redactions& found) {
  const ValuePosition root = root_of(rules, kind);
  Redactions inside;
  RedactingWriter look(rules, root, inside, nullptr);
  static_cast<void>(parse_json(json, kMaxDepth, look));
  if (!look.hit()) return std::nullopt;
  std::string out;
  out.reserve(json.size());
  RedactingWriter rewrite(rules, root, inside, &out);
  static_cast<void>(parse_json(json, kMaxDepth, rewrite));
  if (!rewrite.hit()) return std::nullopt;
  found.add(std::move(inside));
  return out;
}

std::optional<std::string> member_without_secrets(const Rules& rules, model::DocumentKind kind, std::string_view name,
                                                  std::string_view text, Redactions& found) {
  if (model::is_kept(kind, model::DocumentPlace::root, name)) return std::nullopt;
  ValuePosition where = root_of(rules, kind);
  const auto rule = hidden_as_whole(rules, where, name);
  if (!rule || text.empty() || is_marker(text)) return text_without_secrets(rules, where, text, found);
  found.add_secret(text, *rule, Redactions::Secret::By::place);
  found.count(*rule);
  return rules.markers[*rule];
}

std::optional<std::size_t> hidden_as_whole(const Rules& rules, ValuePosition& where, std::string_view name) {
  const Pointers& pointers = rules.pointers[static_cast<std::size_t>(where.kind)];
  const bool kept = model::is_kept(where.kind, where.place, name);
  Pointers::State state;
  auto rule = pointers.empty() ? std::nullopt : pointers.step(where.state, name, state);
  if (!rule) rule = rules.keys.find(name);
  where.place = model::place_below(where.kind, where.place, name);
  where.state = std::move(state);
  return kept ? std::nullopt : rule;
}

}  // namespace runwarden::redact
