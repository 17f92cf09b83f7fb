#include "common/recovery.h"

#include <algorithm>

#include "common/fold.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

using Token = JsonCursor::Token;

constexpr std::size_t kMostMeanings = 4096;
constexpr std::uint64_t kToolKey = 0x70;
constexpr std::uint64_t kWriteKey = 0x71;
constexpr std::uint64_t kReadKey = 0x72;

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

bool names_object(std::string_view key, std::string_view text) {
  if (text.size() < 3) return false;
  if (has_digit(text) && text.size() >= 4) return true;
  constexpr std::string_view kSigns[] = {"id", "name", "mail", "number", "code", "ref", "key", "path", "url"};
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](auto sign) {
    return key.size() >= sign.size() && equal_ignoring_case(key.substr(key.size() - sign.size()), sign);
  });
}

void collect_json(std::string_view input, std::vector<CallValue>& out) {
  JsonCursor cursor(input);
  std::string_view key;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    if (token == Token::kString || token == Token::kNumber) {
      out.push_back({key, cursor.text(), normal_id(cursor.text()), names_object(key, cursor.text())});
    }
  }
}

}  // namespace

void collect_values(std::string_view input, std::vector<CallValue>& out) {
  out.clear();
  if (looks_like_json(input)) return collect_json(trim(input), out);
  for (std::size_t i = 0; i < input.size();) {
    const auto inner = [&](char c) { return is_word_byte(c >= 'A' && c <= 'Z' ? 'a' : c) || c == '-' || c == '_'; };
    if (!inner(input[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    while (i < input.size() && inner(input[i])) ++i;
    const auto word = input.substr(begin, i - begin);
    if (has_digit(word)) out.push_back({{}, word, normal_id(word), names_object({}, word)});
  }
}

void Recovery::clear() {
  done_.clear();
  if (meanings_.size() > kMostMeanings) meanings_.clear();
}

const ToolMeaning& Recovery::meaning(std::string_view tool) {
  const auto [it, fresh] = meanings_.try_emplace(std::string(tool));
  auto& meaning = it->second;
  if (!fresh) return meaning;
  std::vector<std::string> words;
  split_tool_name(tool, words);
  meaning.reads = is_read_tool(tool, *read_prefixes_);
  for (const auto& word : words) {
    const auto* entry = lexicon_->find(word);
    const bool verb = entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0;
    if (verb && meaning.group == 0) {
      meaning.group = lexicon_->verb(entry->verb).group;
    } else if (!verb && word.size() > 2 && (entry == nullptr || (entry->cues & kCuePreposition) == 0)) {
      // "orders" and "order" are one noun.
      meaning.nouns.push_back(hash_bytes(word.back() == 's' ? std::string_view(word).substr(0, word.size() - 1) : std::string_view(word)));
    }
  }
  return meaning;
}

void Recovery::keys_of(const StepView& step) {
  keys_.clear();
  keys_.push_back(mix(kToolKey, hash_bytes(step.name)));
  const auto& known = meaning(step.name);
  for (const auto noun : known.nouns) {
    if (known.reads) {
      keys_.push_back(mix(kReadKey, noun));
    } else if (known.group != 0) {
      keys_.push_back(mix(mix(kWriteKey, known.group), noun));
    }
  }
}

void Recovery::add(const StepView& step) {
  keys_of(step);
  collect_values(step.input, values_);
  for (const auto key : keys_) {
    auto& done = done_[key];
    done.any = true;
    done.unknown_input |= !present(step.input);
    for (const auto& value : values_) {
      if (value.names_object) done.objects.insert(value.normal);
    }
  }
}

bool Recovery::recovered(const StepView& failed) {
  keys_of(failed);
  collect_values(failed.input, values_);
  const bool reads = meaning(failed.name).reads;
  const bool has_object = std::any_of(values_.begin(), values_.end(), [](const auto& value) { return value.names_object; });
  return std::any_of(keys_.begin(), keys_.end(), [&](auto key) {
    const auto it = done_.find(key);
    if (it == done_.end()) return false;
    const auto& done = it->second;
    if (reads || !has_object || done.unknown_input || done.objects.empty()) return true;
    return std::any_of(values_.begin(), values_.end(),
                       [&](const auto& value) { return value.names_object && done.objects.count(value.normal) != 0; });
  });
}

}  // namespace runwarden::plugins
