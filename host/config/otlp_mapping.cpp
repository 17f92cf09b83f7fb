#include "config/otlp_mapping.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "config/section.h"

namespace runwarden::embedded {

std::string_view otlp_mapping();  // config/otlp-mapping.yaml, by cmake/embed_text.cmake

}

namespace runwarden::config {
namespace {

using model::SpanKind;
using model::SpanMapping;

template <class Enum, std::size_t kCount>
std::optional<Enum> named(const std::array<std::string_view, kCount>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::vector<std::string> split_member(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('.', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class Reader {
 public:
  explicit Reader(Reading& reading) : reading_(reading) {}

  SpanMapping read(const Node& root) {
    Section section(&root, "", reading_);
    if (const Node* sources = section.take("sources")) {
      for (const Member& one : sources->members) sources_.insert(one.key);
    }
    each(section.take("kinds"), "kinds", [&](const Node& row, const std::string& path) { mapping_.kinds.push_back(kind_row(row, path)); });
    if (const Node* fields = section.take("fields")) {
      Section rows(fields, "fields", reading_);
      for (std::size_t i = 0; i < model::kSpanFields.size(); ++i) {
        const std::string path = "fields." + std::string(model::kSpanFields[i]);
        each(rows.take(model::kSpanFields[i]), path,
             [&](const Node& row, const std::string& at) { mapping_.fields[i].push_back(field_row(row, at)); });
      }
    }
    section.texts("name_prefixes", mapping_.name_prefixes);
    section.texts("name_suffixes", mapping_.name_suffixes);
    each(section.take("failed"), "failed",
         [&](const Node& row, const std::string& path) { mapping_.failed.push_back(condition(row, path)); });
    each(section.take("ok_means_nothing"), "ok_means_nothing",
         [&](const Node& row, const std::string& path) { mapping_.ok_means_nothing.push_back(condition(row, path)); });
    return std::move(mapping_);
  }

 private:
  template <class Use>
  void each(const Node* list, const std::string& path, Use use) {
    if (list == nullptr) return;
    if (list->kind != Node::Kind::list) return fault(*list, path, "expected a list, got " + describe(*list));
    for (std::size_t i = 0; i < list->items.size(); ++i) use(*list->items[i], path + "[" + std::to_string(i) + "]");
  }

  void fault(const Node& node, const std::string& path, std::string detail) {
    reading_.faults.push_back({path, node.location, std::move(detail)});
  }

  std::string source(Section& section, const Node& row, const std::string& path) {
    std::string name;
    section.text("source", name);
    if (sources_.count(name) == 0) fault(row, path + ".source", "expected a name listed under sources, got \"" + name + "\"");
    return name;
  }

  model::SpanRead how_read(Section& section, const Node& row, const std::string& path) {
    std::string name = "text";
    section.text("read", name);
    const auto read = named<model::SpanRead>(model::kSpanReads, name);
    if (!read) fault(row, path + ".read", "unknown reader \"" + name + "\"");
    return read.value_or(model::SpanRead::text);
  }

  SpanMapping::KindRow kind_row(const Node& node, const std::string& path) {
    SpanMapping::KindRow row;
    Section section(&node, path, reading_);
    section.text("attribute", row.attribute);
    if (row.attribute.empty()) fault(node, path, "expected an attribute");
    row.read = how_read(section, node, path);
    section.text("scope", row.scope);
    section.text("except", row.except);
    section.texts("with", row.with);
    for (const std::string_view name : {"model", "tool", "agent", "structure", "ignored", "dropped", "weak"}) {
      std::vector<std::string> values;
      section.texts(name, values);
      const bool weak = name == "weak";
      const SpanKind kind = weak ? SpanKind::structure : *named<SpanKind>(model::kSpanKinds, name);
      for (std::string& value : values) {
        const bool prefix = value.back() == '*';
        if (prefix) value.pop_back();
        row.values.push_back({std::move(value), prefix, kind, weak});
      }
    }
    if (row.values.empty()) fault(node, path, "expected at least one value of model, tool, agent, structure, ignored or dropped");
    source(section, node, path);
    return row;
  }

  SpanMapping::FieldRow field_row(const Node& node, const std::string& path) {
    SpanMapping::FieldRow row;
    Section section(&node, path, reading_);
    section.text("attribute", row.attribute);
    if (row.attribute.empty()) fault(node, path, "expected an attribute");
    if (row.attribute.ends_with(".*")) {
      row.numbered = true;
      row.attribute.pop_back();
    }
    section.boolean("resource", row.of_resource);
    section.text("event", row.event);
    std::string member;
    section.text("member", member);
    row.member = split_member(member);
    section.text("plus", row.plus);
    section.texts("except", row.except);
    row.read = how_read(section, node, path);
    row.source = source(section, node, path);
    return row;
  }

  SpanMapping::Condition condition(const Node& node, const std::string& path) {
    using Test = SpanMapping::Condition::Test;
    SpanMapping::Condition condition;
    Section section(&node, path, reading_);
    section.text("scope", condition.scope);
    section.text("event", condition.event);
    section.text("attribute", condition.attribute);
    std::string text;
    section.text("field", text);
    if (!text.empty() && text != "tool_output") fault(node, path + ".field", "expected tool_output, got \"" + text + "\"");
    condition.of_tool_output = !text.empty();
    text.clear();
    section.text("kind", text);
    if (!text.empty()) {
      const auto kind = named<SpanKind>(model::kSpanKinds, text);
      if (!kind) fault(node, path + ".kind", "unknown span kind \"" + text + "\"");
      condition.kind = kind.value_or(SpanKind::none);
    }
    bool present = false;
    bool absent = false;
    section.boolean("present", present);
    section.boolean("absent", absent);
    section.boolean("unless_ok", condition.unless_ok);
    section.text("is", condition.value);
    text.clear();
    section.text("member", text);
    condition.member = split_member(text);
    if (present) condition.test = Test::present;
    if (absent) condition.test = Test::absent;
    if (!condition.member.empty()) condition.test = Test::member;
    if (!condition.value.empty() && condition.member.empty()) condition.test = Test::equals;
    if (condition.test != Test::none && condition.attribute.empty() && !condition.of_tool_output) {
      fault(node, path, "expected an attribute to look at");
    }
    source(section, node, path);
    return condition;
  }

  Reading& reading_;
  SpanMapping mapping_;
  std::set<std::string> sources_;
};

}  // namespace

Result<SpanMapping> read_otlp_mapping(std::string_view yaml) {
  Reading reading;
  const NodePtr root = parse_yaml(yaml, "otlp-mapping.yaml", reading.faults);
  SpanMapping mapping;
  if (root) mapping = Reader(reading).read(*root);
  if (reading.faults.empty()) return mapping;
  Error error{Code::validation_failed, {}, {}, {}};
  for (const Fault& fault : reading.faults) error.detail += (error.detail.empty() ? "" : "\n") + fault.text();
  return error;
}

std::string_view built_in_otlp_mapping() {
  return embedded::otlp_mapping();
}

}  // namespace runwarden::config
