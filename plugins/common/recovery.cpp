#include "common/recovery.h"

#include <algorithm>

#include "common/json_scan.h"
#include "common/sql.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kMostMeanings = 4096;
constexpr std::uint64_t kToolKey = 0x70;
constexpr std::uint64_t kWriteKey = 0x71;
constexpr std::uint64_t kQueryKey = 0x72;
constexpr std::size_t kMostLookUps = 64;  // sets of nouns

bool names_object(std::string_view key, std::string_view text, const CallNames& names) {
  if (text.size() < 3) return false;
  if (has_digit(text) && text.size() >= 4) return true;
  return std::any_of(names.object_endings.begin(), names.object_endings.end(), [&](const auto& ending) {
    return key.size() >= ending.size() && equal_ignoring_case(key.substr(key.size() - ending.size()), ending);
  });
}

/// "item_id" for "new_item_id" and "newItemId"; empty when the key has none of the prefixes.
std::string_view behind_prefix(std::string_view key, const std::vector<std::string>& prefixes) {
  for (const auto& prefix : prefixes) {
    if (key.size() < prefix.size() + 2 || !equal_ignoring_case(key.substr(0, prefix.size()), prefix)) continue;
    const auto rest = key.substr(prefix.size());
    if (rest[0] == '_' || rest[0] == '-') return rest.substr(1);
    if (is_upper(rest[0])) return rest;
  }
  return {};
}

void collect_json(std::string_view input, const CallNames& names, std::vector<CallValue>& out) {
  JsonScanner cursor(input);
  std::string_view key;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    if (token == Token::kString || token == Token::kNumber) {
      out.push_back({key, cursor.text(), normal_id(cursor.text()), names_object(key, cursor.text(), names)});
    }
  }
}

}  // namespace

std::uint64_t hash_noun(std::string_view word) {
  if (word.size() > 3 && word.ends_with("ies")) return mix(hash_bytes(word.substr(0, word.size() - 3)), 'y');
  if (word.size() > 2 && word.back() == 'y') return mix(hash_bytes(word.substr(0, word.size() - 1)), 'y');
  if (word.size() > 3 && word.back() == 's' && word[word.size() - 2] != 's') word.remove_suffix(1);
  return hash_bytes(word);
}

void add_label_nouns(std::string_view label, std::vector<std::uint64_t>& nouns) {
  constexpr std::size_t kTellingWord = 4;
  std::vector<std::string> words;
  split_tool_name(label, words);
  for (const auto& word : words) {
    if (word.size() >= kTellingWord) nouns.push_back(hash_noun(word));
  }
}

bool looks_up_any(const ToolMeaning& tool, const std::vector<std::uint64_t>& nouns) {
  return tool.reads && std::any_of(tool.nouns.begin(), tool.nouns.end(),
                                   [&](auto noun) { return std::find(nouns.begin(), nouns.end(), noun) != nouns.end(); });
}

void collect_values(std::string_view input, const CallNames& names, std::vector<CallValue>& out) {
  out.clear();
  if (looks_like_json(input)) return collect_json(trim(input), names, out);
  constexpr auto kNone = std::string_view::npos;
  std::size_t before = kNone;  // where the word right before begins, if it may name the thing that a number counts
  bool behind_number = false;
  for (std::size_t i = 0; i < input.size();) {
    const auto inner = [&](char c) { return is_word_byte(is_upper(c) ? 'a' : c) || c == '-' || c == '_'; };
    if (!inner(input[i])) {
      if (input[i++] != ' ') before = kNone;
      continue;
    }
    const auto begin = i;
    while (i < input.size() && inner(input[i])) ++i;
    auto word = input.substr(begin, i - begin);
    if (!has_digit(word)) {
      before = behind_number ? kNone : begin;
      behind_number = false;
      continue;
    }
    // "pan 1" is one thing, and "plate 1" another; "3 and 4" are two.
    constexpr std::size_t kShortNumber = 3;
    const bool number = word.size() <= kShortNumber && std::all_of(word.begin(), word.end(), is_digit);
    if (number && before != kNone) word = input.substr(before, i - before);
    before = kNone;
    behind_number = true;
    out.push_back({{}, word, normal_id(word), names_object({}, word, names)});
  }
}

bool replaces_one(const std::vector<CallValue>& values, const CallNames& names) {
  constexpr std::size_t kMostCompared = 64;
  if (values.size() > kMostCompared || names.new_prefixes.empty()) return false;
  // The other prefixes may be those of a range.
  const std::vector<std::string> plain{names.new_prefixes.front()};
  return std::any_of(values.begin(), values.end(), [&](const CallValue& fresh) {
    const auto target = behind_prefix(fresh.key, plain);
    return !target.empty() && std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
      return equal_ignoring_case(behind_prefix(value.key, names.old_prefixes), target);
    });
  });
}

bool changes_nothing(const std::vector<CallValue>& values, const CallNames& names) {
  constexpr std::size_t kMostCompared = 64;
  if (values.size() > kMostCompared) return false;
  bool any = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto target = behind_prefix(values[i].key, names.new_prefixes);
    if (target.empty() || (i > 0 && values[i - 1].key == values[i].key)) continue;
    const auto replaces = [&](const CallValue& value) {
      return equal_ignoring_case(value.key, target) || equal_ignoring_case(behind_prefix(value.key, names.old_prefixes), target);
    };
    auto old = std::find_if(values.begin(), values.end(), replaces);
    if (old == values.end()) return false;
    // Lists are compared in order.
    auto fresh = values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto old_key = old->key;
    const auto new_key = fresh->key;
    for (; old != values.end() && fresh != values.end() && old->key == old_key && fresh->key == new_key; ++old, ++fresh) {
      if (old->normal != fresh->normal) return false;
    }
    if ((old != values.end() && old->key == old_key) || (fresh != values.end() && fresh->key == new_key)) return false;
    any = true;
  }
  return any;
}

bool name_different_things(const StepView& one, const StepView& other, const CallNames& names) {
  constexpr std::size_t kLongest = 1000, kMostThings = 16;  // bytes of arguments
  if (!present(one.input) || !present(other.input) || one.input.size() > kLongest || other.input.size() > kLongest) return false;
  const auto things_of = [&](const StepView& step) {
    std::vector<CallValue> things;
    collect_values(step.input, names, things);
    std::erase_if(things, [](const CallValue& value) { return !value.names_object || value.text.find(' ') != std::string_view::npos; });
    return things;
  };
  const auto first = things_of(one);
  const auto second = things_of(other);
  if (first.empty() || second.empty() || first.size() > kMostThings || second.size() > kMostThings) return false;
  return std::none_of(first.begin(), first.end(), [&](const CallValue& thing) {
    return std::any_of(second.begin(), second.end(), [&](const CallValue& value) { return value.normal == thing.normal; });
  });
}

bool only_asks(const std::vector<CallValue>& values, const ToolWords& words) {
  constexpr std::size_t kMostArguments = 6;
  if (values.size() > kMostArguments) return false;
  bool asks = false;
  for (const auto& value : values) {
    const bool number = std::all_of(value.text.begin(), value.text.end(), is_digit);
    const bool query = among(value.key, words.query_members);
    if (!query && !number) return false;
    const auto statement = query ? statement_of(value.text) : Statement::kNone;
    if (statement == Statement::kChangeRows || statement == Statement::kOther) return false;
    asks |= query;
  }
  return asks;
}

void Recovery::clear() {
  done_.clear();
  objects_.clear();
  looked_up_.clear();
  if (meanings_.size() <= kMostMeanings) return;
  meanings_.clear();
  recent_.fill(nullptr);
}

/// "logs", "orders": in a tool's name these are things, although they are also verb forms.
bool Recovery::is_plural(std::string_view word, const WordEntry& entry) const {
  if (!word.ends_with('s')) return false;
  const auto* singular = lexicon_->find(word.substr(0, word.size() - 1));
  return singular != nullptr && singular->verb == entry.verb;
}

/// False for names such as "x1", "_", "func_12" and "handler": a number, letters that form no word, or words that any tool may be called
/// by.
bool Recovery::has_telling_word(const std::vector<std::string>& words) const {
  constexpr std::size_t kShortest = 3;
  const auto numbered = [](const std::string& word) { return has_digit(word); };
  const bool counted = std::any_of(words.begin(), words.end(), numbered);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    if (numbered(word) || among(word, words_->meaningless_words)) return false;
    const auto* entry = lexicon_->find(word);
    const bool generic = entry != nullptr && (entry->cues & kCueAnyPurpose) != 0;
    return generic ? !counted : word.size() > kShortest;
  });
}

const ToolMeaning& Recovery::meaning(std::string_view tool) {
  constexpr std::size_t kApart = 8;  // bytes; names that are closer share a place
  auto& recent = recent_[reinterpret_cast<std::uintptr_t>(tool.data()) / kApart % recent_.size()];
  if (recent != nullptr && recent->first == tool) return recent->second;
  auto known = meanings_.find(tool);
  if (known == meanings_.end()) known = meanings_.emplace(tool, read_tool(tool)).first;
  recent = &*known;
  return known->second;
}

ToolMeaning Recovery::read_tool(std::string_view tool) const {
  ToolMeaning meaning;
  std::vector<std::string> words;
  split_tool_name(base_name(tool), words);
  meaning.reads = is_read_tool(tool, *words_) && !goes_on_to_change(words);
  meaning.queries = std::any_of(words.begin(), words.end(), [&](const auto& word) { return among(word, words_->query_words); });
  read_name(words, base_name(tool).size() < tool.size(), meaning);
  if (!meaning.groups.empty()) meaning.group = meaning.groups.front();
  // "browse" alone drives a browser, which can press any button; "browse_products" is a look-up.
  if (words.size() == 1 && among(words[0], words_->any_purpose_names)) meaning.reads = false;
  meaning.unknown = meaning.groups.empty() && !meaning.reads && !meaning.any_purpose;
  meaning.any_purpose |= meaning.unknown || changes_by_method(tool);
  if (meaning.groups.empty() && !meaning.reads) {
    split_tool_name(tool, words);  // includes the namespace: "refund.v2"
    meaning.meaningless = !has_telling_word(words);
  }
  return meaning;
}

/// "find_and_replace", "get_or_create_user", "list_add": the tool changes what it looks up. Not "get_update", nor "get_name_and_address".
bool Recovery::goes_on_to_change(const std::vector<std::string>& words) const {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool joined = among(words[i - 1], words_->joining_words);
    const bool last = i + 1 == words.size() && !among(words[i], words_->changing_nouns);
    if ((joined || last) && among(words[i], words_->changing_words)) return true;
    const auto* entry = joined && i == 2 ? lexicon_->find(words[i]) : nullptr;
    const bool verb = entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0;
    if (verb && !is_plural(words[i], *entry) && !is_read_tool(words[i], *words_)) return true;
  }
  return false;
}

/// Takes the verbs and nouns of a tool's name, and whether it reads although its first word does not say so. `named_within`: the name has a
/// namespace.
void Recovery::read_name(const std::vector<std::string>& words, bool named_within, ToolMeaning& meaning) const {
  bool looks_up = false;  // "fhir_get", "jira_get_issue": the verb may come after the name of a system
  bool changes = false;
  bool gets = false;  // regardless of the other words: "order_lookup", "slack_get_channel"
  bool changes_for_sure = false;
  for (const auto& word : words) {
    const bool behind = &word != &words.front() && is_read_tool(word, *words_);
    looks_up |= behind;
    gets |= &word != &words.front() && among(word, words_->getting_words);
    changes_for_sure |= among(word, words_->changing_words) || among(word, words_->joining_words);
    const auto* entry = lexicon_->find(word);
    if (is_any_purpose(words, word, meaning)) meaning.any_purpose = true;
    const bool thing =
        &word == &words.back() && (words.size() > 1 || named_within) && meaning.groups.empty() && among(word, words_->noun_words);
    if (!thing && entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0 && !is_plural(word, *entry)) {
      if (meaning.groups.empty()) meaning.may_look = among(lexicon_->verb(entry->verb).lemma, words_->looking_verbs);
      meaning.groups.push_back(lexicon_->verb(entry->verb).group);
      changes |= !behind;
      // "issue_refund": one verb is the action, the other its object.
      if (meaning.groups.size() > 1) meaning.nouns.push_back(hash_noun(word));
    } else if (meaning.reads && &word == &words.front() && words.size() > 1) {
      // "get_balance" and "get_weather" share the action, not the subject.
    } else if (word.size() > 2 && (entry == nullptr || (entry->cues & kCuePreposition) == 0)) {
      meaning.nouns.push_back(hash_noun(word));
    }
  }
  // A "sql_query" may also change things.
  meaning.reads |= ((looks_up && !changes) || (gets && !changes_for_sure)) && !among(words.back(), words_->query_words);
  meaning.reads |= shows_only(words, named_within);
  // "planning_tool": the name does not say what the tool does.
  const bool labelled = std::any_of(words.begin(), words.end(), [&](const auto& word) { return among(word, words_->tool_labels); });
  meaning.any_purpose |= labelled && meaning.groups.empty() && !meaning.reads;
}

/// True for a name of things that ends with what a look-up shows: "order_history", "hr.leave_balance". Not "send_details".
bool Recovery::shows_only(const std::vector<std::string>& words, bool named_within) const {
  if ((words.size() < 2 && !named_within) || words.empty() || !among(words.back(), words_->showing_nouns)) return false;
  return std::all_of(words.begin(), words.end() - 1, [&](const std::string& word) {
    if (among(word, words_->changing_words) || among(word, words_->joining_words)) return false;
    const auto* entry = lexicon_->find(word);
    const bool verb = entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0;
    return !verb || among(word, words_->thing_verbs);
  });
}

/// True for a word of a name that says that the tool may do anything: "http", "run"; not the label of "cancel_ticket_tool", and neither the
/// deed of "post_tweet" nor the thing of "create_post". `meaning` holds what the words before it say.
bool Recovery::is_any_purpose(const std::vector<std::string>& words, const std::string& word, const ToolMeaning& meaning) const {
  const auto generic = [&](const std::string& one) {
    const auto* entry = lexicon_->find(one);
    return entry != nullptr && has(entry->cues, kCueAnyPurpose);
  };
  if (!generic(word) || among(word, words_->tool_labels)) return false;
  if (!among(word, words_->thing_words)) return true;
  if (&word != &words.front()) return meaning.groups.empty() && !meaning.reads;
  return std::all_of(words.begin() + 1, words.end(), generic);
}

void Recovery::keys_of(const StepView& step) {
  keys_.clear();
  const auto& known = meaning(step.name);
  // What a query of SQL returns makes no change good that failed.
  const bool queries = known.any_purpose && has_statement(step.input, Statement::kQuery);
  keys_.push_back(mix(queries ? kQueryKey : kToolKey, hash_bytes(step.name)));
  if (queries || known.reads || known.group == 0) return;
  for (const auto noun : known.nouns) keys_.push_back(mix(mix(kWriteKey, known.group), noun));
}

/// True when a later look-up was about the same thing: its nouns are all in this one's name, or vice versa. True for "get_order" and
/// "get_order_details", false for "get_room_price" and "get_room_rating".
bool Recovery::looked_up_since(const ToolMeaning& tool) const {
  const auto within = [](const auto& some, const auto& all) {
    return std::all_of(some.begin(), some.end(), [&](auto noun) { return std::find(all.begin(), all.end(), noun) != all.end(); });
  };
  return !tool.nouns.empty() && std::any_of(looked_up_.begin(), looked_up_.end(),
                                            [&](const auto& nouns) { return within(nouns, tool.nouns) || within(tool.nouns, nouns); });
}

void Recovery::add(const StepView& step) {
  keys_of(step);
  const auto& known = meaning(step.name);
  if (known.reads && !known.nouns.empty() && looked_up_.size() < kMostLookUps &&
      std::find(looked_up_.begin(), looked_up_.end(), known.nouns) == looked_up_.end()) {
    looked_up_.push_back(known.nouns);
  }
  collect_values(step.input, words_->calls, values_);
  for (const auto key : keys_) {
    auto& done = done_[key];
    done.unknown_input |= !present(step.input);
    for (const auto& value : values_) {
      if (!value.names_object) continue;
      done.objects = true;
      objects_.insert(mix(key, value.normal));
    }
  }
}

bool Recovery::recovered(const StepView& failed) {
  keys_of(failed);
  collect_values(failed.input, words_->calls, values_);
  if (keys_.front() == mix(kQueryKey, hash_bytes(failed.name))) keys_.push_back(mix(kToolKey, hash_bytes(failed.name)));
  const bool reads = meaning(failed.name).reads;
  if (reads && looked_up_since(meaning(failed.name))) return true;
  const bool has_object = std::any_of(values_.begin(), values_.end(), [](const auto& value) { return value.names_object; });
  // "put fern 2 on shelf 1": the first thing is the object, the others say where.
  const bool ordered = has_object && !looks_like_json(failed.input) && values_.front().key.empty() &&
                       values_.front().text.find(' ') != std::string_view::npos;
  if (ordered) values_.resize(1);
  return std::any_of(keys_.begin(), keys_.end(), [&](auto key) {
    const auto it = done_.find(key);
    if (it == done_.end()) return false;
    const auto& done = it->second;
    if (reads || !has_object || done.unknown_input || !done.objects) return true;
    return std::any_of(values_.begin(), values_.end(),
                       [&](const auto& value) { return value.names_object && objects_.contains(mix(key, value.normal)); });
  });
}

}  // namespace runwarden::plugins
