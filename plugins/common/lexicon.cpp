#include "common/lexicon.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

std::vector<std::string> folded_words(std::string_view text) {
  std::string folded;
  fold(text, folded);
  std::vector<std::string> words;
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word);) words.emplace_back(word.text);
  return words;
}

std::uint32_t sign_of(std::uint32_t hash) {
  return hash >> 20;
}

}  // namespace

Lexicon::Key Lexicon::key_of(std::string_view word) {
  const auto n = word.size();
  Key key;
  key.size = static_cast<std::uint32_t>(n);
  if (n >= 8) {
    std::memcpy(&key.head, word.data(), 8);
    std::memcpy(&key.tail, word.data() + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(&key.head, word.data(), 4);
    std::memcpy(&key.tail, word.data() + n - 4, 4);
  } else if (n > 0) {
    const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(word[at])}; };
    key.head = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  }
  return key;
}

std::uint32_t Lexicon::Key::hash() const {
  const auto mixed = (head ^ ((tail << 8) + size) * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
  return static_cast<std::uint32_t>(mixed >> 32);
}

void Lexicon::place(std::size_t index) {
  const auto hash = key_of(entries_[index].word).hash();
  auto slot = hash & (table_.size() - 1);
  while (table_[slot].entry != 0) slot = (slot + 1) & (table_.size() - 1);
  table_[slot].entry = static_cast<std::uint32_t>(index + 1) & kMostWords;
  table_[slot].sign = sign_of(hash);
}

WordEntry& Lexicon::entry(std::string_view folded) {
  if (!table_.empty()) {
    if (const auto* found = find(folded)) return entries_[static_cast<std::size_t>(found - entries_.data())];
  }
  if ((entries_.size() + 1) * 2 > table_.size()) {
    constexpr std::size_t kFirst = 1u << 14;  // the shipped languages have some 10,000 words, and moving them costs more than room for them
    entries_.reserve(kFirst);
    table_.assign(std::bit_ceil(std::max(kFirst, entries_.size() * 2) * 2), {});
    for (std::size_t i = 0; i < entries_.size(); ++i) place(i);
  }
  if (entries_.size() == kMostWords) throw std::length_error("the vocabularies have more than 1,048,575 words; remove some");
  entries_.emplace_back();
  entries_.back().word = folded;
  place(entries_.size() - 1);
  return entries_.back();
}

/// Null while only this language has the word: then the entry is its only sense.
WordEntry* Lexicon::sense_of(WordEntry& entry, std::size_t language) {
  const auto mask = LanguageSet{1} << language;
  if (entry.languages == 0 || entry.languages == mask) {
    entry.languages = mask;
    return nullptr;
  }
  if (entry.senses.empty()) {
    auto first = entry;
    first.language = static_cast<std::uint8_t>(std::countr_zero(entry.languages));
    entry.senses.push_back(std::move(first));
  }
  entry.languages |= mask;
  for (auto& sense : entry.senses) {
    if (sense.language == language) return &sense;
  }
  entry.senses.emplace_back();
  auto& sense = entry.senses.back();
  sense.word = entry.word;
  sense.language = static_cast<std::uint8_t>(language);
  sense.languages = mask;
  return &sense;
}

void Lexicon::add(std::string_view text, Cue cue, std::size_t language, KeyUse use) {
  auto words = folded_words(text);
  if (words.empty()) return;
  auto& first = entry(words[0]);
  auto* const sense = sense_of(first, language);
  const auto both = [&](auto change) {
    change(first);
    if (sense != nullptr) change(*sense);
  };
  if (use == KeyUse::kCue) both([](WordEntry& word) { word.known = true; });
  if (words.size() == 1) {
    both([&](WordEntry& word) { word.cues |= cue; });
    return;
  }
  phrase_of(std::move(words), language).cues |= cue;
}

/// The phrase of these words, two or more, which is added when the language does not have it.
Phrase& Lexicon::phrase_of(std::vector<std::string> words, std::size_t language) {
  auto& first = entry(words[0]);
  auto* const sense = sense_of(first, language);
  for (const auto begins : (sense != nullptr ? *sense : first).phrases) {
    if (phrases_[begins.phrase].words == words) return phrases_[begins.phrase];
  }
  const WordEntry::Begins begins{static_cast<std::uint32_t>(phrases_.size()), words[1][0]};
  for (auto* word : {&first, sense}) {
    if (word == nullptr) continue;
    word->phrases.push_back(begins);
    word->begins_phrases = true;
  }
  return phrases_.emplace_back(Phrase{std::move(words), 0, language, {}});
}

bool Lexicon::add_verb(std::string_view line, std::size_t language) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const auto lemma = folded_words(line.substr(0, equals));
  if (lemma.size() != 1) return false;
  auto index = verb_named(lemma[0]);
  if (index == kNoVerb) {
    index = static_cast<std::uint16_t>(verbs_.size());
    verbs_.push_back({lemma[0], new_group()});
    verb_of_.emplace(lemma[0], index);
  }
  const auto take = [&](WordEntry& known, VerbForm form) {
    known.known = true;
    if (known.verb != kNoVerb && known.verb != index) return;
    known.verb = index;
    known.forms = static_cast<std::uint8_t>(known.forms | form);
  };
  auto rest = line.substr(equals + 1);
  for (const auto form : {kFormBase, kFormDone, kFormDoing}) {
    const auto bar = rest.find('|');
    for (const auto& word : folded_words(rest.substr(0, bar))) {
      auto& known = entry(word);
      auto* const sense = sense_of(known, language);
      take(known, form);
      if (sense != nullptr) take(*sense, form);
    }
    rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
  }
  return trim(rest).empty();
}

void Lexicon::add_clitics(const std::vector<Clitic>& clitics,
                          const std::function<bool(std::string_view pronoun, std::string_view form, std::string_view lemma)>& may) {
  constexpr std::size_t kShortest = 3;  // bytes of the verb
  const auto words = entries_.size();
  for (const auto& clitic : clitics) {
    const auto mask = LanguageSet{1} << clitic.language;
    for (std::size_t i = 0; i < words; ++i) {
      const auto* const sense = Lexicon::sense(entries_[i], static_cast<std::uint8_t>(clitic.language));
      if (sense == nullptr || sense->verb == kNoVerb || (sense->forms & kFormBase) == 0 || sense->word.size() < kShortest) continue;
      const auto verb = sense->verb;
      if (!may(clitic.text, sense->word, verbs_[verb].lemma)) continue;
      auto& known = entry(sense->word + clitic.text);
      if (known.languages != 0) continue;  // it is another word as well
      known.languages = mask;
      known.known = true;
      known.verb = verb;
      known.forms = kFormBase;
    }
  }
}

std::uint16_t Lexicon::add_nouns(std::string_view line, std::size_t language) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return kNoVerb;
  const auto lemma = folded_words(line.substr(0, equals));
  const auto verb = lemma.size() == 1 ? verb_named(lemma[0]) : kNoVerb;
  if (verb == kNoVerb) return kNoVerb;
  const auto take = [&](WordEntry& known) {
    known.known = true;
    if (known.verb != kNoVerb) return;
    known.verb = verb;
    known.forms = kFormNoun;
  };
  for (const auto& word : folded_words(line.substr(equals + 1))) {
    auto& known = entry(word);
    auto* const sense = sense_of(known, language);
    take(known);
    if (sense != nullptr) take(*sense);
  }
  return verb;
}

bool Lexicon::add_results(std::string_view line, std::size_t language) {
  const auto equals = std::min(line.find('='), line.size());
  const auto verb = verb_named(trim(line.substr(0, equals)));
  if (verb == kNoVerb) return false;
  for (auto rest = line.substr(std::min(equals + 1, line.size())); !rest.empty();) {
    const auto bar = std::min(rest.find('|'), rest.size());
    auto words = folded_words(rest.substr(0, bar));
    if (words.size() < 2) return false;
    auto& phrase = phrase_of(std::move(words), language);
    phrase.cues |= kCueResult;
    phrase.results_of.push_back(verb);
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return true;
}

std::uint16_t Lexicon::new_group() {
  // Each verb has its own group, so a free group means a free verb.
  if (next_group_ == kNoVerb - 1) throw std::length_error("the vocabularies have more than 65,533 verbs and groups; remove some");
  return next_group_++;
}

void Lexicon::add_group(std::string_view line) {
  const auto group = new_group();
  for (const auto& word : folded_words(line)) {
    if (const auto index = verb_named(word); index != kNoVerb) verbs_[index].group = group;
  }
}

void Lexicon::freeze() {
  const auto longest_first = [&](WordEntry& entry) {
    std::sort(entry.phrases.begin(), entry.phrases.end(),
              [&](auto a, auto b) { return phrases_[a.phrase].words.size() > phrases_[b.phrase].words.size(); });
  };
  for (auto& entry : entries_) {
    longest_first(entry);
    for (auto& sense : entry.senses) longest_first(sense);
  }
}

const WordEntry* Lexicon::sense(const WordEntry& entry, std::uint8_t language) {
  if ((entry.languages >> language & 1) == 0) return nullptr;
  if (std::has_single_bit(entry.languages)) return &entry;
  const auto of_language = [&](const WordEntry& sense) { return sense.language == language; };
  return &*std::find_if(entry.senses.begin(), entry.senses.end(), of_language);
}

const WordEntry* Lexicon::find(std::string_view word) const {
  if (table_.empty()) return nullptr;
  constexpr std::size_t kWholeKey = 16;
  const auto key = key_of(word);
  const auto hash = key.hash();
  for (auto slot = hash & (table_.size() - 1); table_[slot].entry != 0; slot = (slot + 1) & (table_.size() - 1)) {
    if (table_[slot].sign != sign_of(hash)) continue;
    const auto& candidate = entries_[table_[slot].entry - 1];
    if (key_of(candidate.word) != key) continue;
    if (word.size() <= kWholeKey || candidate.word == word) return &candidate;
  }
  return nullptr;
}

void Lexicon::prefetch(std::string_view word) const {
  if (!table_.empty()) __builtin_prefetch(&table_[key_of(word).hash() & (table_.size() - 1)]);
}

std::uint16_t Lexicon::verb_named(std::string_view lemma) const {
  const auto found = verb_of_.find(lemma);
  return found == verb_of_.end() ? kNoVerb : found->second;
}

std::vector<std::uint16_t> Lexicon::verbs_named(const std::vector<std::string>& lemmas) const {
  std::vector<std::uint16_t> verbs;
  for (const auto& lemma : lemmas) {
    if (const auto verb = verb_named(lemma); verb != kNoVerb) verbs.push_back(verb);
  }
  return verbs;
}

}  // namespace runwarden::plugins
