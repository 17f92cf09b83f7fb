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
  ReadingRules rules;
  bool has_code = false;  // a fenced code block was left out

  [[nodiscard]] bool admits() const { return (cues & kCueAdmission) != 0; }
  [[nodiscard]] bool hands_over() const { return (cues & kCueHandover) != 0; }
  /// False for a text, of which this is the reading, in a language that the lexicon does not have: hardly a word is known, or more words
  /// bear marks than in any language that it has. Linear.
  [[nodiscard]] bool understood(std::string_view text) const;
  [[nodiscard]] bool asks() const { return !sentences.empty() && sentences.back().question; }
};

/// The message, or of one longer than anybody is told (64 KiB) its beginning and end, in `buffer`.
[[nodiscard]] std::string_view told_of(std::string_view message, std::string& buffer);

/// What a message says in prose: what is told of it, the texts inside a JSON envelope, without fenced code blocks; a view of the message
/// itself where it has none of these, else of `buffer`.
[[nodiscard]] std::string_view prose_of(std::string_view message, std::string& buffer);

/// Reads a text: leaves fenced code blocks out, folds it, finds words, phrases, sentences and claims. Linear in the text's length. Any
/// thread, one Reading a thread.
void read(std::string_view text, const Lexicon& lexicon, Reading& out);

/// The first half of read(): words and sentences, with the cues of single words only. For a caller who can tell from the words that
/// the rest cannot matter.
void read_words(std::string_view text, const Lexicon& lexicon, Reading& out);

/// The second half: phrases, and claims when wanted.
void read_meaning(const Lexicon& lexicon, Reading& out, bool with_claims = true);

/// True when the text says, as done, that something was looked up by hand: by no tool, then.
[[nodiscard]] bool says_by_hand(const Reading& reading);

/// True when the text ends by saying what is to be done next rather than what was done.
[[nodiscard]] bool ends_in_plan(const Reading& reading);

/// True when the text only says goodbye, thanks or offers more help: nothing that could be a claim.
[[nodiscard]] bool is_goodbye(const Reading& reading);

}  // namespace runwarden::plugins
