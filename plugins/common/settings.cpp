#include "common/settings.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/fold.h"
#include "common/tools.h"
#include "common/vocabulary.h"

namespace runwarden::plugins {
namespace {

constexpr std::string_view kErrorOpenings[] = {"error", "traceback"};
constexpr std::string_view kFailureOpenings[] = {"tool error",
                                                 "tool execution error",
                                                 "tool execution failed",
                                                 "tool call failed",
                                                 "tool call error",
                                                 "tool use error",
                                                 "tool failed",
                                                 "execution failed",
                                                 "execution error",
                                                 "unknown tool ...",
                                                 "unknown function ...",
                                                 "unknown command ...",
                                                 "unknown method ...",
                                                 "unknown action ...",
                                                 "unknown skill ...",
                                                 "unknown operation ...",
                                                 "unknown endpoint ...",
                                                 "unknown parameter ...",
                                                 "unknown argument ...",
                                                 "no such tool ...",
                                                 "invalid tool ...",
                                                 "api error",
                                                 "mcp error ...",
                                                 "server error",
                                                 "internal error",
                                                 "internal server error",
                                                 "network error",
                                                 "connection error",
                                                 "database error",
                                                 "http error",
                                                 "request error",
                                                 "client error",
                                                 "system error",
                                                 "runtime error",
                                                 "fatal error",
                                                 "unexpected error",
                                                 "unhandled error",
                                                 "unhandled exception",
                                                 "uncaught exception",
                                                 "authentication error",
                                                 "authorization error",
                                                 "permission error",
                                                 "timeout error",
                                                 "exception",
                                                 "fatal",
                                                 "panic",
                                                 "command failed",
                                                 "request failed",
                                                 "query failed",
                                                 "connection failed",
                                                 "authentication failed",
                                                 "authorization failed",
                                                 "connection refused",
                                                 "connection reset",
                                                 "connection timed out",
                                                 "connection closed",
                                                 "connection lost",
                                                 "connection aborted",
                                                 "request timed out",
                                                 "request timeout",
                                                 "operation timed out",
                                                 "timed out",
                                                 "gateway timeout",
                                                 "bad gateway",
                                                 "bad request",
                                                 "service unavailable",
                                                 "service temporarily unavailable",
                                                 "access denied",
                                                 "access is denied",
                                                 "access forbidden",
                                                 "permission denied",
                                                 "unauthorized",
                                                 "not authorized",
                                                 "forbidden",
                                                 "authentication required",
                                                 "login required",
                                                 "rate limit exceeded",
                                                 "rate limit reached",
                                                 "rate limited",
                                                 "too many requests",
                                                 "quota exceeded",
                                                 "invalid api key",
                                                 "invalid token",
                                                 "invalid credentials",
                                                 "invalid argument",
                                                 "invalid arguments",
                                                 "invalid parameter",
                                                 "invalid parameters",
                                                 "invalid request",
                                                 "missing required ...",
                                                 "missing argument",
                                                 "missing parameter",
                                                 "command not found",
                                                 "something went wrong",
                                                 "an error occurred",
                                                 "an error has occurred",
                                                 "an unexpected error occurred",
                                                 "an internal error occurred",
                                                 "there was an error",
                                                 "i encountered an error",
                                                 "encountered an error",
                                                 "cannot connect",
                                                 "can't connect",
                                                 "se produjo un error",
                                                 "ha ocurrido un error",
                                                 "ocurrio un error",
                                                 "hubo un error",
                                                 "acceso denegado",
                                                 "permiso denegado",
                                                 "no autorizado",
                                                 "tiempo de espera agotado",
                                                 "conexion rechazada"};
constexpr std::string_view kRefusalOpenings[] = {"failed to ...",    "unable to ...",   "could not ...",     "couldn't ...",
                                                 "cannot open ...",  "cannot read ...", "cannot access ...", "can't open ...",
                                                 "can't access ...", "fallo al ...",    "no se pudo ...",    "no ha sido posible ..."};
constexpr std::string_view kActionFailureOpenings[] = {"operation failed",  "update failed",       "upload failed",      "login failed",
                                                       "delivery failed",   "transaction failed",  "payment failed",     "transfer failed",
                                                       "booking failed",    "cancellation failed", "validation failed",  "validation error",
                                                       "not possible",      "not allowed",         "declined",           "rejected",
                                                       "operacion fallida", "pago rechazado",      "operacion rechazada"};
constexpr std::string_view kNotThere[] = {"not found",
                                          "no such ...",
                                          "does not exist",
                                          "doesn't exist",
                                          "do not exist",
                                          "no longer exists",
                                          "could not be found",
                                          "couldn't be found",
                                          "cannot be found",
                                          "can't be found",
                                          "could not find ...",
                                          "couldn't find ...",
                                          "cannot find ...",
                                          "can't find ...",
                                          "unable to find ...",
                                          "unable to locate ...",
                                          "could not locate ...",
                                          "couldn't locate ...",
                                          "failed to find ...",
                                          "failed to locate ...",
                                          "no matching ...",
                                          "no se encontro ...",
                                          "no se encontraron ...",
                                          "no se ha encontrado ...",
                                          "no encontrado",
                                          "no encontrada",
                                          "no existe",
                                          "no se pudo encontrar ..."};
constexpr std::string_view kListOfStrings = R"({"type":"array","items":{"type":"string"}})";

std::string extra(std::string_view name) {
  return "extra_" + std::string(name);
}

void append_property(std::string& schema, std::string_view name, std::string_view json) {
  if (schema.back() != '{') schema += ',';
  schema.append("\"").append(name).append("\":").append(json);
}

void append_list(std::string& schema, std::string_view name) {
  append_property(schema, name, kListOfStrings);
  append_property(schema, extra(name), kListOfStrings);
}

}  // namespace

struct Settings::Json {
  nlohmann::json value;

  [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
    const auto it = value.find(std::string(name));
    return it == value.end() || it->is_null() ? nullptr : &*it;
  }

  void append_strings(std::string_view name, std::vector<std::string>& out) const {
    const auto* list = find(name);
    if (list == nullptr) return;
    if (!list->is_array()) throw std::invalid_argument("/" + std::string(name) + ": expected a list of texts");
    for (const auto& item : *list) {
      if (!item.is_string()) throw std::invalid_argument("/" + std::string(name) + ": expected a list of texts, got " + item.dump());
      out.push_back(item.get<std::string>());
    }
  }

  void append_numbers(std::string_view name, std::map<std::string, std::int64_t>& out) const {
    const auto* map = find(name);
    if (map == nullptr) return;
    if (!map->is_object()) throw std::invalid_argument("/" + std::string(name) + ": expected a mapping of names to numbers");
    for (const auto& [key, item] : map->items()) {
      if (!item.is_number() || item.get<double>() < 1 || item.get<double>() > 1e12) {
        throw std::invalid_argument("/" + std::string(name) + "/" + key + ": expected a number from 1 to 1000000000000, got " +
                                    item.dump());
      }
      out[key] = item.get<std::int64_t>();
    }
  }
};

Settings::Settings(std::string_view json) : json_(std::make_unique<Json>()) {
  json_->value = nlohmann::json::object();
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  json_->value = nlohmann::json::parse(json, nullptr, false);
  if (json_->value.is_null()) json_->value = nlohmann::json::object();
  if (!json_->value.is_object()) throw std::invalid_argument(": expected a mapping");
}

Settings::~Settings() = default;
Settings::Settings(Settings&&) noexcept = default;

bool Settings::rule(std::string_view name, bool fallback) const {
  const auto* value = json_->find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) throw std::invalid_argument("/" + std::string(name) + ": expected true or false, got " + value->dump());
  return value->get<bool>();
}

std::string Settings::text(std::string_view name) const {
  const auto* value = json_->find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) throw std::invalid_argument("/" + std::string(name) + ": expected a string, got " + value->dump());
  return value->get<std::string>();
}

std::int64_t Settings::integer(std::string_view name, std::int64_t fallback) const {
  const auto* value = json_->find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number_integer()) throw std::invalid_argument("/" + std::string(name) + ": expected an integer, got " + value->dump());
  return value->get<std::int64_t>();
}

/// A text of which nothing is left when it is folded would stand everywhere.
void Settings::refuse_empty(std::string_view name, const std::vector<std::string>& texts) {
  std::string folded;
  for (const auto& text : texts) {
    fold(text, folded);
    if (trim(folded).empty()) throw std::invalid_argument("/" + std::string(name) + ": an empty text would fit everything; leave it out");
  }
}

std::vector<std::string> Settings::list(std::string_view name, std::span<const std::string_view> shipped) const {
  std::vector<std::string> out;
  if (json_->find(name) == nullptr) {
    out.assign(shipped.begin(), shipped.end());
  } else {
    json_->append_strings(name, out);
  }
  json_->append_strings(extra(name), out);
  refuse_empty(name, out);
  return out;
}

std::vector<std::string> Settings::folded_list(std::string_view name, std::span<const std::string_view> shipped) const {
  auto texts = list(name, shipped);
  std::string folded;
  for (auto& text : texts) {
    fold(text, folded);
    text = folded;
  }
  return texts;
}

std::map<std::string, std::int64_t> Settings::table(std::string_view name, const std::map<std::string, std::int64_t>& shipped) const {
  std::map<std::string, std::int64_t> out;
  if (json_->find(name) == nullptr) {
    out = shipped;
  } else {
    json_->append_numbers(name, out);
  }
  json_->append_numbers(extra(name), out);
  return out;
}

Lexicon make_lexicon(const Settings& settings) {
  Lexicon lexicon;
  for (const auto& list : shipped_lists()) {
    for (const auto& text : settings.list(list.name, list.words)) lexicon.add(text, list.cue);
  }
  for (const auto& line : settings.list("verbs", shipped_verbs())) {
    if (!lexicon.add_verb(line)) {
      throw std::invalid_argument("/verbs: expected \"lemma = base forms | done forms | doing forms\", got \"" + line + "\"");
    }
  }
  for (const auto& line : settings.list("verb_groups", shipped_verb_groups())) lexicon.add_group(line);
  lexicon.freeze();
  lexicon.rules.modal_nouns = settings.rule("modal_nouns");
  lexicon.rules.clause_gerunds = settings.rule("clause_gerunds");
  lexicon.rules.note_forms = settings.rule("note_forms");
  return lexicon;
}

ContentRules make_content_rules(const Settings& settings) {
  ContentRules rules;
  rules.zero_results_are_empty = settings.rule("zero_results_are_empty");
  rules.error_openings = settings.list("error_openings", kErrorOpenings);
  rules.read_prefixes = settings.list("read_prefixes", shipped_read_prefixes());
  for (const auto& list : shipped_lists()) {
    if (list.cue == kCueAnyPurpose) rules.any_purpose = settings.list(list.name, list.words);
  }
  if (settings.rule("short_failures")) rules.short_signs.turn_on();
  for (const auto& text : settings.list("failure_openings", kFailureOpenings)) rules.short_signs.add_opening(text, ShortSign::kFailed);
  for (const auto& text : settings.list("refusal_openings", kRefusalOpenings)) rules.short_signs.add_opening(text, ShortSign::kRefused);
  for (const auto& text : settings.list("action_failure_openings", kActionFailureOpenings)) {
    rules.short_signs.add_opening(text, ShortSign::kActionFailed);
  }
  for (const auto& text : settings.list("not_there", kNotThere)) rules.short_signs.add_not_there(text);
  return rules;
}

std::string settings_schema(std::span<const SettingSchema> properties, Vocabulary what) {
  std::string schema = R"({"type":"object","additionalProperties":false,"properties":{)";
  for (const auto& property : properties) append_property(schema, property.name, property.json);
  const bool failures = what == Vocabulary::kFailures || what == Vocabulary::kAll;
  if (what == Vocabulary::kWords || what == Vocabulary::kAll) {
    for (const auto& list : shipped_lists()) append_list(schema, list.name);
    append_list(schema, "verbs");
    append_list(schema, "verb_groups");
    for (const auto* rule : {"modal_nouns", "clause_gerunds", "note_forms"}) append_property(schema, rule, R"({"type":"boolean"})");
  }
  if (what == Vocabulary::kAll) append_property(schema, "zero_results_are_empty", R"({"type":"boolean"})");
  if (what == Vocabulary::kFailures) append_list(schema, "any_purpose_words");
  if (failures) {
    append_list(schema, "error_openings");
    append_list(schema, "failure_openings");
    append_list(schema, "refusal_openings");
    append_list(schema, "action_failure_openings");
    append_list(schema, "not_there");
    append_property(schema, "short_failures", R"({"type":"boolean"})");
  }
  return schema + "}}";
}

}  // namespace runwarden::plugins
