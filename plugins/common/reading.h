#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/words.h"

namespace runwarden::plugins {

/// One word of a text that was read.
struct ReadWord {
  std::string_view text;
  const WordEntry* entry = nullptr;
  std::uint64_t cues = 0;  // of the word and of every phrase that covers it
  Break before = Break::kNone;
  char mark = 0;              // with which the sentence before it ended
  LanguageSet shortened = 0;  // as in RawWord

  /// True for a word by which a text is understood.
  [[nodiscard]] bool known() const { return entry != nullptr && entry->known; }
};

/// Something a text says was done or is being done.
struct Claim {
  std::uint32_t word = 0;
  std::uint32_t sentence = 0;
  std::uint16_t verb = kNoVerb;  // kNoVerb for "all set"
  bool in_progress = false;      // "I'm forwarding this now"
  bool by_agent = false;         // "I've ...", "we ..."
  bool state = false;            // "is locked": may describe how things stand rather than what was done
  bool finding = false;          // "can confirm": of a fact, not of an action
};

/// One sentence: words [begin, end) and what holds for all of it.
struct Sentence {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t cues = 0;
  bool question = false;
};

/// A text taken apart once: words, sentences, claims. Views into `folded`; reused from text to text to spare allocations.
struct Reading {
  std::string folded;
  std::vector<ReadWord> words;
  std::vector<Sentence> sentences;
  std::vector<Claim> claims;
  std::uint64_t cues = 0;
  bool denies = false;  // says of something that it was not done
  const Lexicon* lexicon = nullptr;
  std::uint8_t language = kAnyLanguage;  // whose words count; in doubt those of all
  bool has_code = false;                 // a fenced code block was left out

  [[nodiscard]] bool admits() const { return (cues & kCueAdmission) != 0; }
  [[nodiscard]] bool hands_over() const { return (cues & kCueHandover) != 0; }
  /// False for a text, of which this is the reading, in a language that the lexicon does not have: hardly a word is known, or more words
  /// bear marks than in any language that it has. Linear.
  [[nodiscard]] bool understood(std::string_view text) const;
  /// False as well for a short text of which less than a third is known in any one language: too little to tell a deed from its denial.
  [[nodiscard]] bool plainly_understood(std::string_view text) const;
  /// True where a participle or infinitive may end a clause, far from its helping verb.
  [[nodiscard]] bool verb_last() const { return language != kAnyLanguage && (lexicon->verb_last >> language & 1) != 0; }
  [[nodiscard]] bool asks() const { return !sentences.empty() && sentences.back().question; }
};

/// The message, or of one longer than anybody is told (64 KiB) its beginning and end, in `buffer`.
[[nodiscard]] std::string_view told_of(std::string_view message, std::string& buffer);

/// What a message says in prose: what is told of it, the texts inside a JSON envelope, without fenced code blocks; a view of the message
/// itself where it has none of these, else of `buffer`.
[[nodiscard]] std::string_view prose_of(std::string_view message, std::string& buffer);

/// The language of a text by its beginning, kAnyLanguage in doubt. Any thread.
[[nodiscard]] std::uint8_t language_of(std::string_view text, const Lexicon& lexicon);

/// Reads a text: leaves fenced code blocks out, folds it, tells its language, finds words, phrases, sentences and claims. Linear in the
/// text's length. `language`: that of the text around it, where it is a part of one; kAnyLanguage:
/// the text tells it. Any thread, one Reading a thread.
void read(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language = kAnyLanguage);

/// The first half of read(): language, words and sentences, with the cues of single words only. For a caller who can tell from the words
/// that the rest cannot matter.
void read_words(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language = kAnyLanguage);

/// The second half: phrases, and claims when wanted.
void read_meaning(const Lexicon& lexicon, Reading& out, bool with_claims = true);

/// True for a word that is a negation or ends like one.
[[nodiscard]] bool negates(const Reading& reading, const ReadWord& word);

/// True when such a word is in the text, or in one sentence of it.
[[nodiscard]] bool negates_anything(const Reading& reading);
[[nodiscard]] bool negates_anything(const Reading& reading, const Sentence& sentence);

/// True for the last word of its clause in a language whose participles and infinitives stand there.
[[nodiscard]] bool ends_clause(const Reading& reading, const Sentence& sentence, std::size_t word);

/// True for a claim that tells a deed ("I've booked it", "it has been booked", "password reset."), false for one that may describe a thing:
/// "your booked flight", "it is booked".
[[nodiscard]] bool tells_deed(const Reading& reading, const Claim& claim);

/// True where "has", "was" or the like is right before the claim's participle, in the same clause.
[[nodiscard]] bool has_auxiliary(const Reading& reading, const Claim& claim);

/// True for a word that is longer than one of the endings and ends with it.
[[nodiscard]] bool ends_like(std::string_view word, const std::vector<std::string>& endings);

/// True for a determiner of one letter, which may be a preposition in another language: "a".
[[nodiscard]] bool is_article(const ReadWord& word);

/// True when a sentence says of the agent itself what it does not or cannot do: "the system isn't answering, so I don't know".
[[nodiscard]] bool denies_of_self(const Reading& reading);

/// True when the first of several sentences denies something: "Our handbook has no page on that. In general, ..."
[[nodiscard]] bool opens_with_denial(const Reading& reading);

/// True when a telling word of the message, of its first few hundred, is in the beginning of another text: it speaks of the same.
[[nodiscard]] bool shares_word(const Reading& reading, std::string_view text);

/// True when the text says, as done, that something was looked up by hand: by no tool, then.
[[nodiscard]] bool says_by_hand(const Reading& reading);

/// True when the text ends by saying what is to be done next rather than what was done.
[[nodiscard]] bool ends_in_plan(const Reading& reading);

/// True when the text only says goodbye, thanks or offers more help: nothing that could be a claim.
[[nodiscard]] bool is_goodbye(const Reading& reading);

}  // namespace runwarden::plugins
