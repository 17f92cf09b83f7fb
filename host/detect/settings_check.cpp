#include "detect/settings_check.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/json_check.h"
#include "base/json_members.h"
#include "base/json_pointer.h"
#include "base/json_text.h"
#include "base/nearest_names.h"
#include "base/utf8.h"

namespace runwarden::detect {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;  // of schema and settings, because the checks below recurse

// Parses JSON text of bounded depth.
Result<Json> read(std::string_view text) {
  if (Status status = check_json(text, kMaxDepth); !status.ok()) return std::move(status.error());
  return Json::parse(text, nullptr, false);
}

const std::set<std::string, std::less<>>& known_keywords() {
  static const std::set<std::string, std::less<>> names = {"type",        "properties",       "required",         "additionalProperties",
                                                           "items",       "minItems",         "maxItems",         "minimum",
                                                           "maximum",     "minLength",        "maxLength",        "enum",
                                                           "const",       "exclusiveMinimum", "exclusiveMaximum", "title",
                                                           "description", "default",          "examples",         "$schema",
                                                           "$id",         "$comment"};
  return names;
}

bool is_type(const Json& value) {
  static const std::set<std::string, std::less<>> names = {"object", "array", "string", "integer", "number", "boolean", "null"};
  return value.is_string() && names.count(value.get_ref<const std::string&>()) > 0;
}

// `at`: the pointer of the place in the schema. The faults begin with it.
std::string keyword_fault(const std::string& name, const Json& value, const std::string& at);

std::string subschema_fault(const Json& schema, const std::string& at) {
  if (schema.is_boolean()) return {};
  if (!schema.is_object()) return at + ": a schema must be an object or a boolean, got " + std::string(schema.type_name());
  for (const auto& [name, value] : schema.items()) {
    if (std::string fault = keyword_fault(name, value, at + "/" + pointer_token(name)); !fault.empty()) return fault;
  }
  return {};
}

std::string properties_fault(const Json& properties, const std::string& at) {
  for (const auto& [name, schema] : properties.items()) {
    if (std::string fault = subschema_fault(schema, at + "/" + pointer_token(name)); !fault.empty()) return fault;
  }
  return {};
}

std::string keyword_fault(const std::string& name, const Json& value, const std::string& at) {
  if (known_keywords().count(name) == 0) return at + ": the keyword \"" + name + "\" is not supported: remove it";
  const auto wants = [&](bool good, const char* what) { return good ? std::string() : at + ": \"" + name + "\" must be " + what; };
  if (name == "type") {
    const bool list = value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_type);
    return wants(is_type(value) || list, "the name of a JSON type, or several");
  }
  if (name == "properties") return value.is_object() ? properties_fault(value, at) : wants(false, "an object");
  if (name == "items" || name == "additionalProperties") return subschema_fault(value, at);
  if (name == "required") {
    return wants(value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); }),
                 "a list of names");
  }
  if (name == "enum") return wants(value.is_array() && !value.empty(), "a list of values");
  if (name == "minItems" || name == "maxItems" || name == "minLength" || name == "maxLength") {
    return wants(value.is_number_unsigned(), "an integer of at least 0");
  }
  if (name.find("imum") != std::string::npos) return wants(value.is_number(), "a number");
  return {};
}

// The first member whose name its object has twice: a reader takes either. The text is valid and of bounded depth.
std::string duplicate_fault(std::string_view json, const std::string& at) {
  std::set<std::string> names;
  for (const JsonMemberView& member : json_member_views(json)) {
    const std::string place = at + "/" + pointer_token(member.name);
    if (!names.insert(member.name).second) return place + ": the member appears twice: write it once";
    if (std::string fault = duplicate_fault(member.json, place); !fault.empty()) return fault;
  }
  std::size_t index = 0;
  for (const std::string_view element : json_element_views(json)) {
    if (std::string fault = duplicate_fault(element, at + "/" + std::to_string(index++)); !fault.empty()) return fault;
  }
  return {};
}

std::string shown(const Json& value) {
  constexpr std::size_t kShownBytes = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kShownBytes) return text;
  return std::string(utf8_prefix(text, kShownBytes)) + "...";
}

std::string number_text(const Json& value) {
  return value.dump();
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  return value.is_number_integer() || (value.is_number_float() && std::nearbyint(value.get<double>()) == value.get<double>());
}

// "an integer", "a string or null"
std::string type_words(const Json& type) {
  const auto one = [](const std::string& name) {
    if (name == "null") return name;
    return (name == "object" || name == "array" || name == "integer" ? "an " : "a ") + name;
  };
  if (type.is_string()) return one(type.get<std::string>());
  std::string words;
  for (const Json& name : type) words += (words.empty() ? "" : " or ") + one(name.get<std::string>());
  return words;
}

// " from 2 to 1000", " of at least 0 and below 5", if the schema has bounds.
std::string range_words(const Json& schema) {
  const auto bound = [&](const char* name) { return schema.contains(name) ? std::optional(number_text(schema[name])) : std::nullopt; };
  const auto low = bound("minimum"), high = bound("maximum"), above = bound("exclusiveMinimum"), below = bound("exclusiveMaximum");
  const bool both = low && high;
  std::string words = both ? " from " + *low + " to " + *high : "";
  const auto add = [&words](const char* how, const std::string& number) { words += (words.empty() ? " " : " and ") + (how + number); };
  if (low && !both) add("of at least ", *low);
  if (above) add("above ", *above);
  if (high && !both) add("of at most ", *high);
  if (below) add("below ", *below);
  return words;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

class Checker {
 public:
  std::vector<FieldFault> faults;

  void check(const Json& schema, const Json& value, const std::string& at) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) fault(at, "expected no value, got " + shown(value));
      return;
    }
    if (!check_scalar(schema, value, at)) return;
    if (value.is_object()) check_object(schema, value, at);
    if (value.is_array()) check_array(schema, value, at);
  }

 private:
  void fault(const std::string& at, std::string detail) { faults.push_back({at, "invalid_setting", std::move(detail)}); }
  void unknown(const std::string& at, std::string detail) { faults.push_back({at, kUnknownSetting, std::move(detail)}); }

  bool check_scalar(const Json& schema, const Json& value, const std::string& at) {
    const auto type = schema.find("type");
    if (type != schema.end()) {
      const bool good = type->is_string() ? has_type(value, type->get_ref<const std::string&>())
                                          : std::any_of(type->begin(), type->end(),
                                                        [&](const Json& one) { return has_type(value, one.get<std::string>()); });
      if (!good) return fault(at, "expected " + type_words(*type) + range_words(schema) + ", got " + shown(value)), false;
    }
    if (const auto one_of = schema.find("enum");
        one_of != schema.end() && std::find(one_of->begin(), one_of->end(), value) == one_of->end()) {
      return fault(at, "expected one of " + shown(*one_of) + ", got " + shown(value)), false;
    }
    if (const auto same = schema.find("const"); same != schema.end() && *same != value) {
      return fault(at, "expected " + shown(*same) + ", got " + shown(value)), false;
    }
    if (value.is_number()) return check_number(schema, value, at);
    if (value.is_string()) return check_length(schema, "Length", "characters", characters(value.get_ref<const std::string&>()), at);
    if (value.is_array()) return check_length(schema, "Items", "items", value.size(), at);
    return true;
  }

  bool check_number(const Json& schema, const Json& value, const std::string& at) {
    const auto breaks = [&](const char* name, auto wrong) { return schema.contains(name) && wrong(value, schema[name]); };
    const bool wrong = breaks("minimum", std::less<>()) || breaks("maximum", std::greater<>()) ||
                       breaks("exclusiveMinimum", std::less_equal<>()) || breaks("exclusiveMaximum", std::greater_equal<>());
    if (!wrong) return true;
    const Json type = schema.contains("type") ? schema["type"] : Json("number");
    fault(at, "expected " + type_words(type) + range_words(schema) + ", got " + shown(value));
    return false;
  }

  bool check_length(const Json& schema, const std::string& what, const std::string& units, std::size_t length, const std::string& at) {
    const auto bound = [&](const char* side) {
      return schema.contains(side + what) ? std::optional(schema[side + what].get<std::size_t>()) : std::nullopt;
    };
    const auto low = bound("min"), high = bound("max");
    if (low && length < *low)
      return fault(at, "expected at least " + std::to_string(*low) + " " + units + ", got " + std::to_string(length)), false;
    if (high && length > *high)
      return fault(at, "expected at most " + std::to_string(*high) + " " + units + ", got " + std::to_string(length)), false;
    return true;
  }

  void check_object(const Json& schema, const Json& value, const std::string& at) {
    static const Json kNone = Json::object();
    const Json& properties = schema.contains("properties") ? schema["properties"] : kNone;
    if (const auto required = schema.find("required"); required != schema.end()) {
      for (const Json& name : *required) {
        const auto& text = name.get_ref<const std::string&>();
        if (!value.contains(text)) fault(at, "the setting \"" + text + "\" is missing");
      }
    }
    for (const auto& [name, member] : value.items()) {
      const std::string where = at + "/" + pointer_token(name);
      if (const auto known = properties.find(name); known != properties.end()) {
        check(*known, member, where);
      } else if (const auto rest = schema.find("additionalProperties"); rest != schema.end()) {
        if (*rest == Json(false)) {
          unknown(where, unknown_setting(name, properties));
        } else {
          check(*rest, member, where);
        }
      }
    }
  }

  void check_array(const Json& schema, const Json& value, const std::string& at) {
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (std::size_t i = 0; i < value.size(); ++i) check(*items, value[i], at + "/" + std::to_string(i));
  }

  static std::string unknown_setting(const std::string& name, const Json& properties) {
    std::vector<std::string> known;
    for (const auto& property : properties.items()) known.push_back(property.key());
    const std::string hint = name_hint(name, known);
    return "unknown setting " + shown(name) + "; " + (hint.empty() ? "the detector has none" : hint);
  }
};

}  // namespace

std::string schema_fault(std::string_view schema_json) {
  Result<Json> schema = read(schema_json);
  if (!schema.ok()) return "its beginning: " + schema.error().detail;
  if (!schema->is_object()) return "its beginning: expected an object, got " + shown(*schema);
  std::string duplicate = duplicate_fault(schema_json, "");
  return duplicate.empty() ? subschema_fault(*schema, "") : duplicate;
}

namespace {

// The schema of a member or item; null if the schema has none for it.
const Json* subschema(const Json& schema, const std::string& name) {
  const auto properties = schema.find("properties");
  if (properties != schema.end() && properties->contains(name)) return &(*properties)[name];
  for (const char* of_all : {"additionalProperties", "items"}) {
    const auto found = schema.find(of_all);
    if (found != schema.end() && found->is_object()) return &*found;
  }
  return nullptr;
}

}  // namespace

bool declares(std::string_view schema_json, std::string_view pointer) {
  const Result<Json> schema = schema_json.empty() ? Result<Json>(Json::object()) : read(schema_json);
  if (!schema.ok()) return true;
  const Json* at = &*schema;
  while (at->is_object() && !pointer.empty()) {
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    const Json* const below = subschema(*at, pointer_name(pointer.substr(1, end - 1)));
    if (below == nullptr) return !at->contains("properties");
    at = below;
    pointer = pointer.substr(end);
  }
  return true;
}

std::vector<FieldFault> settings_faults(std::string_view schema_json, std::string_view settings_json) {
  Result<Json> settings = read(settings_json);
  if (!settings.ok()) return {{"", "invalid_setting", settings.error().detail}};
  if (!settings->is_object()) return {{"", "invalid_setting", "expected an object, got " + shown(*settings)}};
  if (schema_json.empty()) return {};
  Result<Json> schema = read(schema_json);
  if (!schema.ok()) return {{"", "invalid_schema", schema.error().detail}};
  Checker checker;
  checker.check(*schema, *settings, "");
  return std::move(checker.faults);
}

}  // namespace runwarden::detect
