#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/words.h"
#include "language/keys.h"

namespace runwarden::plugins {

/// The forms of a verb. Bits, because a word such as "put" has several.
enum VerbForm : std::uint8_t { kFormBase = 1, kFormDone = 2, kFormDoing = 4, kFormNoun = 8 };

/// A verb, for comparison. Verbs of one group do the same thing ("book", "reserve").
struct Verb {
  std::string lemma;
  std::uint16_t group = 0;
};

inline constexpr std::uint16_t kNoVerb = 0xFFFF;

/// Means no particular language: the words of all languages count.
inline constexpr std::uint8_t kAnyLanguage = 0xFF;

/// The lexicon's entry for one word, in all languages or in one. Reading a text touches little but its first 64 bytes.
struct alignas(64) WordEntry {
  std::string word;
  std::uint64_t cues = 0;
  LanguageSet languages = 0;  // the languages that have the word
  std::uint16_t verb = kNoVerb;
  std::uint8_t forms = 0;
  std::uint8_t language = kAnyLanguage;  // the language of this entry
  bool known = false;                    // helps to understand a text: has more than marks
  bool begins_phrases = false;           // has phrases

  /// A phrase that begins with this word, and the first byte of its second word, which rules most phrases out.
  struct Begins {
    std::uint32_t phrase = 0;
    char second = 0;
  };
  std::vector<Begins> phrases;  // longest first

  /// The word's entry in each language, when several have it.
  std::vector<WordEntry> senses;
};

/// True for a verb's participle; false for nullptr.
[[nodiscard]] inline bool is_participle(const WordEntry* word) {
  return word != nullptr && word->verb != kNoVerb && (word->forms & kFormDone) != 0;
}

/// Several words with a joint meaning.
struct Phrase {
  std::vector<std::string> words;
  std::uint64_t cues = 0;
  std::size_t language = 0;
  std::vector<std::uint16_t> results_of;  // the verbs whose result it reports: "has gone out"
};

/// Words, phrases and verbs of all languages in force, found by hash. Filled once by create, then read-only: any thread may read.
class Lexicon {
 public:
  static constexpr std::size_t kMostWords = (1u << 20) - 1;

  /// Adds a word or phrase of a language to a cue; the text is folded first. A mark adds information about a word without making it a known
  /// one. Throws std::length_error beyond kMostWords.
  void add(std::string_view text, Cue cue, std::size_t language = 0, KeyUse use = KeyUse::kCue);

  /// Adds "lemma = base forms | done forms | doing forms"; false when the line has another shape.
  [[nodiscard]] bool add_verb(std::string_view line, std::size_t language = 0);

  /// A pronoun that a language writes onto the end of its verbs.
  struct Clitic {
    std::string text;
    std::size_t language = 0;
  };

  /// Adds the base forms of verbs with each pronoun of their language at the end: "reservame". `may` says whether a form of a lemma takes a
  /// pronoun.
  void add_clitics(const std::vector<Clitic>& clitics,
                   const std::function<bool(std::string_view pronoun, std::string_view form, std::string_view lemma)>& may);

  /// Adds "lemma = nouns" ("cancellation") to a known verb. Words that are already forms of verbs stay verbs only. Returns the verb, or
  /// kNoVerb for a line of another shape or an unknown verb.
  std::uint16_t add_nouns(std::string_view line, std::size_t language = 0);

  /// Adds "lemma = phrases | phrases": what the deed of a known verb leaves behind, "has gone out". False when the verb is unknown or a
  /// phrase has only one word.
  [[nodiscard]] bool add_results(std::string_view line, std::size_t language = 0);

  /// Makes the verbs named in the line one group.
  void add_group(std::string_view line);

  /// Ends the filling: sorts the phrases of each word, longest first.
  void freeze();

  /// The entry of a folded word in all languages; null when it is unknown.
  [[nodiscard]] const WordEntry* find(std::string_view word) const;

  /// Has the CPU load what find() reads first. For texts: each word lies elsewhere, and waiting for memory is most of what find() costs.
  void prefetch(std::string_view word) const;

  /// The meaning of an entry from find() in one language; null when that language does not have the word.
  [[nodiscard]] static const WordEntry* sense(const WordEntry& entry, std::uint8_t language);

  /// All known words, each once.
  [[nodiscard]] const std::vector<WordEntry>& words() const { return entries_; }

  [[nodiscard]] const std::vector<Phrase>& phrases() const { return phrases_; }
  [[nodiscard]] const Phrase& phrase(std::uint32_t index) const { return phrases_[index]; }
  [[nodiscard]] const Verb& verb(std::uint16_t index) const { return verbs_[index]; }
  [[nodiscard]] std::size_t verb_count() const { return verbs_.size(); }

  /// Groups are numbered from 1 to this.
  [[nodiscard]] std::size_t last_group() const { return next_group_; }

  /// The verb with this lemma; kNoVerb when there is none.
  [[nodiscard]] std::uint16_t verb_named(std::string_view lemma) const;

  /// The known verbs among these lemmas.
  [[nodiscard]] std::vector<std::uint16_t> verbs_named(const std::vector<std::string>& lemmas) const;

  std::size_t language_count = 1;
  LanguageSet verb_last = 0;  // languages whose participles and infinitives may end a clause
  Abbreviations abbreviations;
  std::vector<std::string> negation_endings;
  std::vector<std::string> adverb_endings;
  std::vector<std::string> dropped_endings;  // of verbs, in an imperative: "e" of "leg"
  std::vector<std::string> months;           // names of the months, folded

  /// A stressed ending of a finite verb, and the ending of its participle.
  struct PastEnding {
    std::string ending;      // "e" of "cancel\u00E9"
    std::string participle;  // "ado"
    std::size_t language;
    bool own;  // the speaker did it
  };
  std::vector<PastEnding> past_endings;
  std::vector<std::string> impersonals;    // "se"
  std::vector<std::string> plan_headings;  // "next steps"

 private:
  /// A word for comparison: its length, first bytes and last bytes. Up to 16 bytes, that is the whole word.
  struct Key {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint32_t size = 0;
    [[nodiscard]] bool operator==(const Key&) const = default;
    [[nodiscard]] std::uint32_t hash() const;
  };

  /// Small, so that the table fits in the CPU cache: most look-ups find nothing.
  struct Slot {
    std::uint32_t entry : 20 = 0;  // index + 1; 0 when free
    std::uint32_t sign : 12 = 0;   // from the word's hash
  };

  struct LemmaHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  [[nodiscard]] static Key key_of(std::string_view word);

  Phrase& phrase_of(std::vector<std::string> words, std::size_t language);
  WordEntry& entry(std::string_view folded);
  static WordEntry* sense_of(WordEntry& entry, std::size_t language);
  std::uint16_t new_group();
  void place(std::size_t index);

  std::vector<WordEntry> entries_;
  std::vector<Phrase> phrases_;
  std::vector<Verb> verbs_;
  std::unordered_map<std::string, std::uint16_t, LemmaHash, std::equal_to<>> verb_of_;  // by lemma
  std::vector<Slot> table_;                                                             // open addressing
  std::uint16_t next_group_ = 1;
};

}  // namespace runwarden::plugins
