#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/words.h"

namespace runwarden::plugins {

/// One word of a text.
struct ReadWord {
  std::string_view text;
  const WordEntry* entry = nullptr;
  std::uint64_t cues = 0;  // of the word and of every phrase that covers it
  Break before = Break::kNone;
  char mark = 0;              // the mark that ended the sentence before it
  LanguageSet shortened = 0;  // as in RawWord
  /// A finite verb of the past; `entry` is then that of its participle.
  enum class Past : std::uint8_t { kNone, kOwn, kOthers };
  Past past = Past::kNone;

  /// True for a word that helps to understand the text.
  [[nodiscard]] bool known() const { return entry != nullptr && entry->known; }
};

/// Something that a text says was done or is being done.
struct Claim {
  std::uint32_t word = 0;
  std::uint32_t sentence = 0;
  std::uint16_t verb = kNoVerb;  // kNoVerb for "all set"
  bool in_progress = false;      // "I'm forwarding this now"
  bool by_agent = false;         // "I've ...", "we ..."
  bool state = false;            // "is locked": may describe a state rather than an action
  bool finding = false;          // "can confirm": about a fact, not an action
  bool result = false;           // told by what the deed leaves behind, "has gone out"; `word` is the phrase's first
};

/// One sentence: words [begin, end) and what holds for the whole of it.
struct Sentence {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t cues = 0;
  bool question = false;
  bool nonfactual = false;  // still to do, planned or told as simulated: claims nothing
};

/// A text split once into words, sentences and claims. The words are views into `folded`. Reused from text to text to save allocations.
struct Reading {
  std::string source;                           // the text that read() read last, unless it is long; whoever changes the rest empties this
  std::uint8_t source_language = kAnyLanguage;  // as given to read()
  std::string folded;
  std::vector<ReadWord> words;
  std::vector<Sentence> sentences;
  std::vector<Claim> claims;
  std::vector<Claim> results;           // what says that a deed was done by what it leaves behind: "it has gone out"
  std::vector<std::uint32_t> stressed;  // where words end in a vowel with an acute accent
  std::uint64_t cues = 0;
  bool denies = false;  // says that something was not done
  const Lexicon* lexicon = nullptr;
  std::uint8_t language = kAnyLanguage;  // the language whose words count; in doubt, all languages count
  bool has_code = false;                 // a fenced code block was left out

  [[nodiscard]] bool admits() const { return (cues & kCueAdmission) != 0; }
  [[nodiscard]] bool hands_over() const { return (cues & kCueHandover) != 0; }
  /// False when `text`, which this reads, is in a language that the lexicon does not have: it knows hardly any words, or more words have
  /// diacritics than in any language that it has. Linear.
  [[nodiscard]] bool understood(std::string_view text) const;
  /// How many words the language that knows most of them knows, and how many there are: without figures and single letters.
  struct Known {
    std::size_t words = 0;
    std::size_t of = 0;
  };
  [[nodiscard]] Known known_in_one_language() const;
  /// Also false for a short text when every language knows less than a third of its words: too little to tell an action from its denial.
  [[nodiscard]] bool plainly_understood(std::string_view text) const;
  /// True when a participle or infinitive may end a clause, far from its auxiliary.
  [[nodiscard]] bool verb_last() const { return language != kAnyLanguage && (lexicon->verb_last >> language & 1) != 0; }
  [[nodiscard]] bool ends_in_question() const { return !sentences.empty() && sentences.back().question; }
  /// True for a question at the end that wants an answer: "Anything else?" is a courtesy.
  [[nodiscard]] bool asks() const { return ends_in_question() && !has(sentences.back().cues, kCueClosingQuestion); }
};

/// The message; for one longer than 64 KiB, its beginning and end, in `buffer`.
[[nodiscard]] std::string_view told_of(std::string_view message, std::string& buffer);

/// What a message says in prose: the result of told_of(), reduced to the texts inside a JSON envelope, and without fenced code blocks and
/// quoted lines. A view of the message itself when it has none of these, else of `buffer`.
[[nodiscard]] std::string_view prose_of(std::string_view message, std::string& buffer);

/// The language of a text, judged by its beginning; kAnyLanguage in doubt. Any thread.
[[nodiscard]] std::uint8_t language_of(std::string_view text, const Lexicon& lexicon);

/// The language of a text, found when it is first asked for. Keeps a view of the text. One owner.
class TextLanguage {
 public:
  TextLanguage(std::string_view text, const Lexicon& lexicon) : text_(text), lexicon_(lexicon) {}

  [[nodiscard]] std::uint8_t get();
  /// The language to read a part of the text in; kAnyLanguage for the whole of it when nobody has asked yet: then read() finds it.
  [[nodiscard]] std::uint8_t of_part(std::string_view part);

 private:
  std::string_view text_;
  const Lexicon& lexicon_;
  std::optional<std::uint8_t> language_;
};

/// Reads a text: drops fenced code blocks, folds it, detects its language, and finds words, phrases, sentences and claims. Linear in the
/// text's length. `language` is that of the surrounding text when this is a part of one; with kAnyLanguage, the text decides. Returns at
/// once when `out` is the reading of the same text already. Any thread, one Reading per thread.
void read(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language = kAnyLanguage);

/// The first half of read(): language, words and sentences, with the cues of single words only. For callers that can tell from the words
/// whether the rest matters.
void read_words(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language = kAnyLanguage);

/// The second half: phrases, and claims if wanted.
void read_meaning(const Lexicon& lexicon, Reading& out, bool with_claims = true);

/// True for a word that is a negation or has a negative ending.
[[nodiscard]] bool negates(const Reading& reading, const ReadWord& word);
/// True when a sentence, by its number, has a claim other than a finding.
[[nodiscard]] bool has_claim(const Reading& reading, std::size_t sentence);

/// True when the text, or one sentence of it, contains a negation.
[[nodiscard]] bool negates_anything(const Reading& reading);
[[nodiscard]] bool negates_anything(const Reading& reading, const Sentence& sentence);

/// True for the last word of its clause, in a language that puts participles and infinitives there.
[[nodiscard]] bool ends_clause(const Reading& reading, const Sentence& sentence, std::size_t word);

/// True for a claim that reports an action ("I've booked it", "it has been booked", "password reset."), false for one that may describe a
/// thing: "your booked flight", "it is booked".
[[nodiscard]] bool tells_deed(const Reading& reading, const Claim& claim);

/// True when "has", "was" or the like is right before the claim's participle, in the same clause.
[[nodiscard]] bool has_auxiliary(const Reading& reading, const Claim& claim);

/// True for a word that ends with one of the endings and is longer than it.
[[nodiscard]] bool ends_like(std::string_view word, const std::vector<std::string>& endings);

/// True for a one-letter determiner, which may be a preposition in another language: "a".
[[nodiscard]] bool is_article(const ReadWord& word);

/// True when a sentence of the agent about itself says that it does not or cannot do something: "the system isn't answering, so I don't
/// know".
[[nodiscard]] bool denies_of_self(const Reading& reading);

/// True when the first of several sentences denies something: "Our handbook has no page on that. In general, ..."
[[nodiscard]] bool opens_with_denial(const Reading& reading);

/// The last claim of the sentence before a word of it; nullptr for none. Logarithmic.
[[nodiscard]] const Claim* claim_before(const Reading& reading, const Sentence& sentence, std::uint32_t word);

/// True when the beginning of another text contains a telling word from the first few hundred of the message: both are about the same
/// thing.
[[nodiscard]] bool shares_word(const Reading& reading, std::string_view text);

/// True when the text says, as a fact, that something was looked up by hand, so by no tool.
[[nodiscard]] bool says_by_hand(const Reading& reading);

/// True when the text, a user's, tells as a fact that they did what was talked about ("just did it by hand"), or a deed of one of the
/// groups of verbs: "I've cancelled it".
[[nodiscard]] bool tells_own_deed(const Reading& reading, const std::vector<std::uint16_t>& groups);

/// True when the text ends with what is to be done next rather than with what was done.
[[nodiscard]] bool ends_in_plan(const Reading& reading);

/// True when the text only says goodbye or thanks, or offers more help: it claims nothing.
[[nodiscard]] bool is_goodbye(const Reading& reading);

}  // namespace runwarden::plugins
