#include "config/section.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/nearest_names.h"
#include "config/addresses.h"
#include "config/core_types.h"
#include "config/settings.h"

namespace runwarden::config {
namespace {

bool within(std::int64_t value, Range range) {
  return value >= range.low && value <= range.high;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string as_text(const std::string& value) {
  return value;
}
std::string as_text(const std::vector<std::string>& value) {
  return join(value);
}
template <class Number>
std::string as_text(const Number& value) {
  return std::to_string(value);
}

std::string scaled_text(std::int64_t value, std::initializer_list<std::pair<std::int64_t, const char*>> units) {
  for (const auto& [factor, unit] : units) {
    if (value >= factor && value % factor == 0) return std::to_string(value / factor) + unit;
  }
  return std::to_string(value);
}

}  // namespace

// Records the value of a key after reading it, successfully or not.
template <class Value>
class Section::Noted {
 public:
  Noted(const Section& section, std::string_view key, const Value& value) : section_(section), key_(key), value_(value) {}
  ~Noted() { section_.reading_.values[section_.path_of(key_)] = as_text(value_); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  const Section& section_;
  std::string_view key_;
  const Value& value_;
};

Section::Section(const Node* node, std::string path, Reading& reading) : node_(node), path_(std::move(path)), reading_(reading) {
  if (!node_ || node_->kind == Node::Kind::null) {
    node_ = nullptr;
  } else if (node_->kind != Node::Kind::mapping) {
    reading_.faults.push_back({path_, node_->location, "expected a mapping, got " + describe(*node_)});
    node_ = nullptr;
  }
}

Section::~Section() {
  if (!node_) return;
  for (const Member& member : node_->members) {
    if (std::find(keys_.begin(), keys_.end(), member.key) != keys_.end()) continue;
    const SourceLocation& location = member.value->from_environment ? member.value->location : member.key_location;
    reading_.faults.push_back({path_of(member.key), location, "unknown key; " + name_hint(member.key, keys_)});
  }
}

const Node* Section::take(std::string_view key) {
  keys_.emplace_back(key);
  reading_.known.push_back(path_of(key));
  const Member* member = node_ ? node_->member(key) : nullptr;
  if (!member) return nullptr;
  reading_.locations[path_of(key)] = member->value->location.text();
  return member->value.get();
}

std::string Section::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Section::fault(std::string_view key, const Node& node, const std::string& expected) {
  reading_.faults.push_back({path_of(key), node.location, "expected " + expected + ", got " + describe(node)});
}

void Section::integer(std::string_view key, Range range, std::int64_t& value) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  const auto read = node->kind == Node::Kind::integer ? integer_value(node->text) : std::nullopt;
  if (!read || !within(*read, range)) {
    fault(key, *node, "an integer from " + std::to_string(range.low) + " to " + std::to_string(range.high));
    return;
  }
  value = *read;
}

void Section::number(std::string_view key, Range range, double& value) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  const bool numeric = node->kind == Node::Kind::integer || node->kind == Node::Kind::number;
  if (!numeric || !(node->number >= static_cast<double>(range.low) && node->number <= static_cast<double>(range.high))) {
    fault(key, *node, "a number from " + std::to_string(range.low) + " to " + std::to_string(range.high));
    return;
  }
  value = node->number;
}

void Section::boolean(std::string_view key, bool& value) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  if (node->kind != Node::Kind::boolean) {
    fault(key, *node, "true or false");
    return;
  }
  value = node->boolean;
}

void Section::text(std::string_view key, std::string& value) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  if (!is_text(*node)) {
    fault(key, *node, "text (in quotes if it looks like a number)");
    return;
  }
  value = node->text;
}

void Section::choice(std::string_view key, const std::vector<std::string>& choices, std::string& value) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  if (!is_text(*node) || std::find(choices.begin(), choices.end(), node->text) == choices.end()) {
    fault(key, *node, (choices.size() == 1 ? "" : "one of ") + join(choices));
    return;
  }
  value = node->text;
}

void Section::size(std::string_view key, Range range, std::int64_t& bytes) {
  const Noted noted(*this, key, bytes);
  const Node* node = take(key);
  if (!node) return;
  std::optional<std::int64_t> read;
  if (node->kind == Node::Kind::integer) read = integer_value(node->text);
  if (node->kind == Node::Kind::text) read = size_bytes(node->text);
  if (!read || !within(*read, range)) {
    fault(key, *node, "a size from " + size_text(range.low) + " to " + size_text(range.high) + " (such as 8MiB, or bytes)");
    return;
  }
  bytes = *read;
}

void Section::duration(std::string_view key, Range range, std::int64_t& ms) {
  const Noted noted(*this, key, ms);
  const Node* node = take(key);
  if (!node) return;
  const bool scalar = node->kind == Node::Kind::text || node->kind == Node::Kind::integer;
  const auto read = scalar ? duration_ms(node->text) : std::nullopt;
  if (!read || !within(*read, range)) {
    fault(key, *node,
          "a duration from " + duration_text(range.low) + " to " + duration_text(range.high) + " (such as 250ms, 10s, 5m, 24h, 90d)");
    return;
  }
  ms = *read;
}

void Section::duration_or_forever(std::string_view key, Range range, std::int64_t& ms) {
  const Noted noted(*this, key, ms);
  const Node* node = take(key);
  if (!node) return;
  if (node->kind == Node::Kind::text && node->text == "forever") {
    ms = kForever;
    return;
  }
  const bool scalar = node->kind == Node::Kind::text || node->kind == Node::Kind::integer;
  const auto read = scalar ? duration_ms(node->text) : std::nullopt;
  if (!read || !within(*read, range)) {
    fault(key, *node,
          "a duration from " + duration_text(range.low) + " to " + duration_text(range.high) + " (such as 24h, 90d), or forever");
    return;
  }
  ms = *read;
}

void Section::texts(std::string_view key, std::vector<std::string>& value, const ItemFault& item_fault) {
  const Noted noted(*this, key, value);
  const Node* node = take(key);
  if (!node) return;
  if (node->from_environment || (node->kind != Node::Kind::list && node->kind != Node::Kind::null)) {
    fault(key, *node, node->from_environment ? "a list, which only the file can set" : "a list");
    return;
  }
  value.clear();
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const Node& item = *node->items[i];
    const std::string place = std::string(key) + "[" + std::to_string(i) + "]";
    if (!is_text(item) || item.text.empty()) {
      fault(place, item, "text");
      continue;
    }
    if (const std::string detail = item_fault ? item_fault(item.text) : ""; !detail.empty()) {
      reading_.faults.push_back({path_of(place), item.location, detail});
      continue;
    }
    value.push_back(item.text);
  }
}

void Section::peers(std::string_view key, std::vector<std::string>& value) {
  texts(key, value, [](const std::string& item) {
    return is_peer(item) ? "" : "expected an address, a block such as 10.1.0.0/16, or a host name, got \"" + item + "\"";
  });
}

bool is_text(const Node& node) {
  return node.kind == Node::Kind::text || node.from_environment;
}

std::string size_text(std::int64_t bytes) {
  return scaled_text(bytes, {{1LL << 40, "TiB"}, {1LL << 30, "GiB"}, {1LL << 20, "MiB"}, {1LL << 10, "KiB"}});
}

std::string duration_text(std::int64_t ms) {
  return scaled_text(ms, {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}});
}

}  // namespace runwarden::config
