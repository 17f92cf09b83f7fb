#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/cues.h"

namespace runwarden::plugins {

/// Which form of a verb a word is; bits, since "put" is more than one.
enum VerbForm : std::uint8_t { kFormBase = 1, kFormDone = 2, kFormDoing = 4, kFormNoun = 8 };

/// A verb as the detectors compare them. Verbs of one group do one thing ("book", "reserve").
struct Verb {
  std::string lemma;
  std::uint16_t group = 0;
};

inline constexpr std::uint16_t kNoVerb = 0xFFFF;

/// What the lexicon knows of one word.
struct WordEntry {
  std::string word;
  std::uint64_t cues = 0;
  std::uint16_t verb = kNoVerb;
  std::uint8_t forms = 0;

  /// A phrase that begins with this word, and the first byte of its second word, by which most are told apart.
  struct Begins {
    std::uint32_t phrase = 0;
    char second = 0;
  };
  std::vector<Begins> phrases;  // longest first
};

/// Several words with one meaning together.
struct Phrase {
  std::vector<std::string> words;
  std::uint64_t cues = 0;
};

/// How a text is read; each is a setting.
struct ReadingRules {
  bool modal_nouns = true;     // "your plan has been cancelled" is a fact though "plan" is a word of wish
  bool clause_gerunds = true;  // "sure, cancelling order 12": is being done
  bool note_forms = true;      // "alarm set for 10:00": done, though "set" is the base form, too
};

/// Words, phrases and verbs of all languages in force, found by hash. Filled once by create, then read only: any thread may read.
class Lexicon {
 public:
  static constexpr std::size_t kMostWords = (1u << 20) - 1;

  /// Adds a word or phrase of the vocabulary to a cue; the text is folded first. Throws std::length_error beyond kMostWords.
  void add(std::string_view text, Cue cue);

  /// Adds "lemma = base forms | done forms | doing forms"; false when the line has another shape.
  [[nodiscard]] bool add_verb(std::string_view line);

  /// Adds "lemma = nouns" of a verb it has: "cancellation". Words that are forms of verbs stay that alone. The verb, kNoVerb for a line of
  /// another shape or an unknown verb.
  std::uint16_t add_nouns(std::string_view line);

  /// Makes one group of the verbs named in the line.
  void add_group(std::string_view line);

  /// Ends the filling: builds the table that find() reads.
  void freeze();

  /// The entry of a folded word, null when it is unknown.
  [[nodiscard]] const WordEntry* find(std::string_view word) const;

  /// All words it knows, each once.
  [[nodiscard]] const std::vector<WordEntry>& words() const { return entries_; }

  [[nodiscard]] const std::vector<Phrase>& phrases() const { return phrases_; }
  [[nodiscard]] const Phrase& phrase(std::uint32_t index) const { return phrases_[index]; }
  [[nodiscard]] const Verb& verb(std::uint16_t index) const { return verbs_[index]; }
  [[nodiscard]] std::size_t verb_count() const { return verbs_.size(); }

  /// Groups are numbered from 1 to this.
  [[nodiscard]] std::size_t last_group() const { return next_group_; }

  /// The verb of this lemma, kNoVerb when there is none.
  [[nodiscard]] std::uint16_t verb_named(std::string_view lemma) const;

  /// The verbs of these lemmas that it knows.
  [[nodiscard]] std::vector<std::uint16_t> verbs_named(const std::vector<std::string>& lemmas) const;

  ReadingRules rules;

 private:
  /// A word as it is compared: its length, its first and its last bytes, which is all of it up to 16.
  struct Key {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint32_t size = 0;
    [[nodiscard]] bool operator==(const Key&) const = default;
    [[nodiscard]] std::uint32_t hash() const;
  };

  /// Small, so that the table stays in a near cache: most words of a text are looked up and not found.
  struct Slot {
    std::uint32_t entry : 20 = 0;  // index + 1, 0 when free
    std::uint32_t sign : 12 = 0;   // of the word's hash
  };

  [[nodiscard]] static Key key_of(std::string_view word);

  WordEntry& entry(std::string_view folded);
  std::uint16_t new_group();
  void place(std::size_t index);

  std::vector<WordEntry> entries_;
  std::vector<Key> keys_;  // of entries_
  std::vector<Phrase> phrases_;
  std::vector<Verb> verbs_;
  std::vector<Slot> table_;  // open addressing
  std::uint16_t next_group_ = 1;
};

}  // namespace runwarden::plugins
