#include "common/settings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::array<SettingSchema, 2> kShared = {{
    {"languages", R"({"type":"array","minItems":1,"items":{"type":"string"}})"},
    {"vocabulary", R"({"type":"string","minLength":1})"},
}};

constexpr std::string_view kExtra = "extra_";

// Former settings for how sentences are read.
constexpr std::array<std::string_view, 3> kAlwaysOn = {"modal_nouns", "clause_gerunds", "note_forms"};

[[noreturn]] void refuse(std::string_view pointer, const std::string& fault) {
  throw std::invalid_argument("/" + std::string(pointer) + ": " + fault);
}

void append_property(std::string& schema, std::string_view name, std::string_view json) {
  if (schema.back() != '{') schema += ',';
  schema.append("\"").append(name).append("\":").append(json);
}

/// The replacement of a former setting; empty for a name that never was a setting.
std::string remedy(std::string_view name, const SettingsForm& form) {
  for (const auto& rule : form.rules) {
    const bool same = rule.name == name;
    if (!same && std::find(rule.former.begin(), rule.former.end(), name) == rule.former.end()) continue;
    const std::string now(rule.name);
    return (same ? "" : "it is part of rule `" + now + "`; ") + "write `rules: {" + now + ": true}` or false";
  }
  if (among(name, kAlwaysOn)) return "sentences are always read this way; remove it";
  const bool extra = name.starts_with(kExtra);
  if (extra) name.remove_prefix(kExtra.size());
  if (name == "windows") return "put the models under `windows:`, which adds to the shipped table";
  if (name == "refusals") name = "prompt_refusals";
  if (key_named(name) == nullptr) return {};
  const std::string list(name);
  return (extra ? "" : "shipped lists can be extended but not replaced; ") + std::string("put the phrases under `") + list +
         ":` in a file and name it in `vocabulary:`";
}

std::string known_settings(const SettingsForm& form) {
  std::string out;
  const auto add = [&](std::string_view name) { out.append(out.empty() ? "" : ", ").append(name); };
  for (const auto& property : form.properties) add(property.name);
  for (const auto& property : kShared) add(property.name);
  if (!form.rules.empty()) add("rules");
  return out;
}

}  // namespace

std::string SettingsForm::schema() const {
  std::string schema = R"({"type":"object","properties":{)";
  for (const auto& property : properties) append_property(schema, property.name, property.json);
  for (const auto& property : kShared) append_property(schema, property.name, property.json);
  std::string switches = R"({"type":"object","additionalProperties":false,"properties":{)";
  for (const auto& rule : rules) append_property(switches, rule.name, R"({"type":"boolean"})");
  append_property(schema, "rules", switches + "}}");
  return schema + "}}";
}

struct Settings::Json {
  nlohmann::json value;

  [[nodiscard]] const nlohmann::json* find(std::string_view name) const {
    const auto it = value.find(std::string(name));
    return it == value.end() || it->is_null() ? nullptr : &*it;
  }

  [[nodiscard]] std::vector<std::string> strings(std::string_view name) const {
    std::vector<std::string> out;
    const auto* list = find(name);
    if (list == nullptr) return out;
    if (!list->is_array()) refuse(name, "expected a list of strings, got " + list->dump());
    for (const auto& item : *list) {
      if (!item.is_string()) refuse(name, "expected a list of strings, got " + item.dump());
      out.push_back(item.get<std::string>());
    }
    return out;
  }
};

Settings::Settings(std::string_view json) : Settings(json, SettingsForm{}) {}

Settings::Settings(std::string_view json, const SettingsForm& form) : json_(std::make_unique<Json>()) {
  json_->value = nlohmann::json::object();
  if (json.find_first_not_of(" \t\r\n") != std::string_view::npos) json_->value = nlohmann::json::parse(json, nullptr, false);
  if (json_->value.is_null()) json_->value = nlohmann::json::object();
  if (!json_->value.is_object()) throw std::invalid_argument(": expected a mapping");
  if (!form.rules.empty() || !form.properties.empty()) refuse_unknown(form);
  auto codes = json_->strings("languages");
  if (json_->find("languages") == nullptr) codes.assign(shipped_languages().begin(), shipped_languages().end());
  vocabulary_ = std::make_unique<const Vocabulary>(codes, text("vocabulary"));
}

Settings::~Settings() = default;
Settings::Settings(Settings&&) noexcept = default;

/// Names the first unknown setting and its place, and all other former settings, because an old configuration has many.
void Settings::refuse_unknown(const SettingsForm& form) const {
  const auto is_known = [&](std::string_view name) {
    const auto named = [&](const SettingSchema& property) { return property.name == name; };
    return name == "rules" || std::any_of(form.properties.begin(), form.properties.end(), named) ||
           std::any_of(kShared.begin(), kShared.end(), named);
  };
  std::string first;
  std::string fault;
  std::string others;
  for (const auto& [name, value] : json_->value.items()) {
    if (is_known(name)) continue;
    if (first.empty()) {
      const auto instead = remedy(name, form);
      first = name;
      fault = instead.empty() ? "unknown setting; this detector has " + known_settings(form) : "`" + name + "` was removed: " + instead;
    } else if (!remedy(name, form).empty()) {
      others.append(others.empty() ? "" : ", ").append(name);
    }
  }
  if (!first.empty()) refuse(first, fault + (others.empty() ? "" : ". Gone, too: " + others));
  refuse_unknown_rules(form);
}

void Settings::refuse_unknown_rules(const SettingsForm& form) const {
  const auto* rules = json_->find("rules");
  if (rules == nullptr) return;
  if (!rules->is_object()) refuse("rules", "expected a mapping of rules to true or false, got " + rules->dump());
  std::vector<std::string_view> known;
  for (const auto& rule : form.rules) known.push_back(rule.name);
  for (const auto& [name, value] : rules->items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto instead = remedy(name, form);
    refuse("rules/" + name, instead.empty() ? "unknown rule" + nearest_hint(name, known) : "`" + name + "` was removed: " + instead);
  }
}

bool Settings::rule(std::string_view name) const {
  const auto* rules = json_->find("rules");
  if (rules == nullptr || !rules->is_object()) return true;
  const auto value = rules->find(std::string(name));
  if (value == rules->end() || value->is_null()) return true;
  if (!value->is_boolean()) refuse("rules/" + std::string(name), "expected true or false, got " + value->dump());
  return value->get<bool>();
}

std::string Settings::text(std::string_view name) const {
  const auto* value = json_->find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(name, "expected a string, got " + value->dump());
  return value->get<std::string>();
}

std::int64_t Settings::integer(std::string_view name, std::int64_t fallback) const {
  const auto* value = json_->find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number_integer()) refuse(name, "expected an integer, got " + value->dump());
  return value->get<std::int64_t>();
}

std::map<std::string, std::int64_t> Settings::table(std::string_view name, std::map<std::string, std::int64_t> shipped) const {
  constexpr double kMost = 1e12;
  const auto* map = json_->find(name);
  if (map == nullptr) return shipped;
  if (!map->is_object()) refuse(name, "expected a mapping of names to numbers");
  for (const auto& [key, item] : map->items()) {
    const bool good = item.is_number() && item.get<double>() >= 1 && item.get<double>() <= kMost;
    if (trim(key).empty()) refuse(name, "expected a name before " + item.dump() + ", got \"" + key + "\"");
    if (!good) refuse(std::string(name) + "/" + key, "expected a number from 1 to 1000000000000, got " + item.dump());
    shipped[key] = item.get<std::int64_t>();
  }
  return shipped;
}

Lexicon make_lexicon(const Settings& settings) {
  const auto& vocabulary = settings.vocabulary();
  Lexicon lexicon;
  lexicon.language_count = vocabulary.languages().size();
  lexicon.verb_last = vocabulary.languages_with("verb_last");
  lexicon.negation_endings = vocabulary.words(Key::kNegationEndings);
  lexicon.adverb_endings = vocabulary.words(Key::kAdverbEndings);
  lexicon.dropped_endings = vocabulary.words(Key::kDroppedEndings);
  lexicon.plan_headings = vocabulary.words(Key::kPlanHeadings);
  for (const auto& key : kKeys) {
    if (key.use == KeyUse::kNone) continue;
    vocabulary.each(key.key, [&](auto text, auto language) { lexicon.add(text, static_cast<Cue>(key.cue), language, key.use); });
  }
  vocabulary.each(Key::kAbbreviations, [&](auto text, auto language) { lexicon.abbreviations.add(text, language); });
  vocabulary.each(Key::kVerbs, [&](auto line, auto language) { (void)lexicon.add_verb(line, language); });
  vocabulary.each(Key::kVerbGroups, [&](auto line, auto) { lexicon.add_group(line); });
  vocabulary.each(Key::kMonths, [&](auto names, auto) {
    for_each_word(names, [&](std::string_view name) {
      lexicon.months.emplace_back(name);
      return true;
    });
  });
  const auto add_endings = [&](Key key, bool own) {
    vocabulary.each(key, [&](std::string_view line, std::size_t language) {
      const auto equals = line.find('=');
      if (equals == std::string_view::npos)
        throw std::invalid_argument("/vocabulary: " + std::string(info(key).name) +
                                    ": expected \"ending=participle's ending\", as in \"e=ado\", got \"" + std::string(line) + '"');
      lexicon.past_endings.push_back({std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)), language, own});
    });
  };
  add_endings(Key::kOwnPastEndings, true);
  add_endings(Key::kOthersPastEndings, false);
  lexicon.impersonals = vocabulary.words(Key::kImpersonals);
  lexicon.freeze();
  return lexicon;
}

std::uint16_t group_of(const Vocabulary& vocabulary, Key key, const Lexicon& lexicon) {
  const auto verbs = lexicon.verbs_named(vocabulary.words(key));
  return verbs.empty() ? std::uint16_t{0} : lexicon.verb(verbs.front()).group;
}

ContentRules make_content_rules(const Settings& settings, std::string_view signs) {
  const auto& vocabulary = settings.vocabulary();
  ContentRules rules;
  rules.zero_results_are_empty = settings.rule(signs);
  rules.error_openings = vocabulary.words(Key::kErrorOpenings);
  rules.error_report_words = vocabulary.words(Key::kErrorReportWords);
  rules.metadata_members = NameSet(vocabulary.words(Key::kMetadataMembers));
  rules.telling_when_empty = NameSet(vocabulary.words(Key::kTellingWhenEmpty));
  rules.message_members = NameSet(vocabulary.words(Key::kMessageMembers));
  rules.paging_members = NameSet(vocabulary.words(Key::kPagingMembers));
  rules.found_words = NameSet(vocabulary.words(Key::kFoundWords));
  rules.existence_members = NameSet(vocabulary.words(Key::kExistenceMembers));
  rules.count_names = vocabulary.words(Key::kCountNames);
  rules.plural_endings = vocabulary.words(Key::kPluralEndings);
  rules.singular_endings = vocabulary.words(Key::kSingularEndings);
  rules.envelope_members = NameSet(vocabulary.words(Key::kEnvelopeMembers));
  rules.tools = ToolWords(vocabulary);
  rules.any_purpose = vocabulary.words(Key::kAnyPurposeWords);
  auto& short_signs = rules.short_signs;
  if (settings.rule(signs)) short_signs.turn_on();
  short_signs.set_words(vocabulary);
  const auto openings = [&](Key key, ShortSign sign) {
    vocabulary.each(key, [&](auto text, auto) { short_signs.add_opening(text, sign); });
  };
  openings(Key::kFailureOpenings, ShortSign::kFailed);
  openings(Key::kRefusalOpenings, ShortSign::kRefused);
  openings(Key::kActionFailureOpenings, ShortSign::kActionFailed);
  vocabulary.each(Key::kNotThere, [&](auto text, auto) { short_signs.add_not_there(text); });
  vocabulary.each(Key::kMachineFailures, [&](auto text, auto) { short_signs.add_machine_failure(text); });
  vocabulary.each(Key::kRefusedStates, [&](auto text, auto) { short_signs.add_refused_state(text); });
  return rules;
}

}  // namespace runwarden::plugins
