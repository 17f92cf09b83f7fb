#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/hash_set.h"
#include "common/lexicon.h"
#include "common/reading.h"
#include "common/run_view.h"
#include "common/vocabulary.h"

namespace runwarden::plugins {

/// What a request is about: text, a thing kept outside the conversation, what may be either ("list"), or nobody knows.
enum class Thing : std::uint8_t { kUnknown, kText, kRecord, kEither };

/// Tells work on text in the conversation ("update this paragraph: ...") from an action that needs a tool. One owner, one thread at a time.
class TextWork {
 public:
  TextWork(const Vocabulary& vocabulary, const Lexicon& lexicon);

  /// True for a verb whose effect may be the text of the answer ("update", not "refund").
  [[nodiscard]] bool shapes(std::uint16_t verb) const { return shapes_[verb]; }

  /// True for a verb that may ask for an order of things, rather than to order or arrange one.
  [[nodiscard]] bool sorts(std::uint16_t verb) const { return sorts_[verb]; }

  /// True for a word that is a noun of either list, in a text of that language.
  [[nodiscard]] bool is_noun(std::string_view word, std::uint8_t language) const;

  /// True for a noun of text alone.
  [[nodiscard]] bool is_text(std::string_view word, std::uint8_t language) const { return thing_of(word, language) == Thing::kText; }

  /// What the verb at a word of the reading is to be done to. `making`: the verb makes it.
  [[nodiscard]] Thing thing_at(const Reading& reading, const Sentence& sentence, std::size_t verb, bool making) const;

  /// True for "order these planets": a verb of sorting, and what it sorts is pointed at.
  [[nodiscard]] bool sorts_at(const Reading& reading, const Sentence& sentence, std::size_t verb) const;

  /// Begins with another run.
  void clear();

  /// True when such a request is work on text, given what was said up to the message at `step` (kNoStep: all) and the message itself.
  /// Linear in the run once, and in each message once. `named`: an unknown thing is one of the world, unless a list is in its place.
  [[nodiscard]] bool holds(const RunView& run, Thing thing, bool named, std::string_view message, std::size_t step);

 private:
  /// Which texts a message holds to work on.
  struct Held {
    bool code = false;
    bool list = false;
    bool text = false;
  };

  /// Nouns of things by their hashes.
  struct Nouns {
    HashSet texts;
    HashSet records;
  };

  [[nodiscard]] static bool holds_code(std::string_view message, bool by_user);
  [[nodiscard]] static bool holds_text(std::string_view message, bool by_user, bool* list);
  [[nodiscard]] Thing thing_of(std::string_view word, std::uint8_t language) const;
  [[nodiscard]] Thing thing_before(const Reading& reading, const Sentence& sentence, std::size_t verb) const;
  void look_for_texts(const RunView& run);

  std::vector<bool> shapes_;  // by verb
  std::vector<bool> sorts_;   // by verb: "order these planets by size"
  Nouns of_any_;
  std::vector<Nouns> of_language_;
  bool looked_ = false;
  std::size_t first_code_ = 0;  // step by which code was shown
  std::size_t first_text_ = 0;
  const char* message_ = nullptr;  // the one that `message_holds_` is of
  Held message_holds_;
};

}  // namespace runwarden::plugins
