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

/// What a request is about: text, something stored outside the conversation, something that may be either ("list"), or unknown.
enum class Thing : std::uint8_t { kUnknown, kText, kRecord, kEither };

/// Tells work on text in the conversation ("update this paragraph: ...") from an action that needs a tool. One owner, one thread at a time.
class TextWork {
 public:
  TextWork(const Vocabulary& vocabulary, const Lexicon& lexicon);

  /// True for a verb whose effect may be the text of the answer ("update", not "refund").
  [[nodiscard]] bool shapes(std::uint16_t verb) const { return shapes_[verb]; }

  /// True for a verb that may mean sorting things rather than buying or arranging one.
  [[nodiscard]] bool sorts(std::uint16_t verb) const { return sorts_[verb]; }

  /// True for a noun for a text or a record in that language.
  [[nodiscard]] bool is_noun(std::string_view word, std::uint8_t language) const;

  /// True for a noun that can only mean a text.
  [[nodiscard]] bool is_text(std::string_view word, std::uint8_t language) const { return thing_of(word, language) == Thing::kText; }

  /// The kind of object of the verb at word `verb`. `making`: the verb creates its object.
  [[nodiscard]] Thing thing_at(const Reading& reading, const Sentence& sentence, std::size_t verb, bool making) const;

  /// True when a record is the place that the verb at word `verb` puts something: "note it on the booking".
  [[nodiscard]] bool names_record_as_place(const Reading& reading, const Sentence& sentence, std::size_t verb) const;

  /// True for "order these planets": a sorting verb followed by a pointing word.
  [[nodiscard]] bool sorts_at(const Reading& reading, const Sentence& sentence, std::size_t verb) const;

  /// Call before each run.
  void clear();

  /// True when a text or code was given or written up to step `turn`, a user's turn. Linear in the run once.
  [[nodiscard]] bool given_by(const RunView& run, std::size_t turn);

  /// True when a request about `thing` is work on text, given everything said up to `step` (kNoStep: all) and the message itself.
  /// Linear in the run once, and in each message once. `named`: an unknown thing is not text, unless the message holds a list.
  [[nodiscard]] bool holds(const RunView& run, Thing thing, bool named, std::string_view message, std::size_t step);

 private:
  /// The kinds of text that a message contains.
  struct TextKinds {
    bool code = false;
    bool list = false;
    bool text = false;
  };

  /// Hashes of the nouns.
  struct Nouns {
    HashSet texts;
    HashSet records;
  };

  [[nodiscard]] static bool holds_code(std::string_view message, bool by_user);
  [[nodiscard]] static bool holds_prose(std::string_view message);
  [[nodiscard]] static bool holds_text(std::string_view message, bool by_user, bool* list);
  [[nodiscard]] Thing thing_of(std::string_view word, std::uint8_t language) const;
  [[nodiscard]] Thing thing_before(const Reading& reading, const Sentence& sentence, std::size_t verb) const;
  void look_for_texts(const RunView& run);

  std::vector<bool> shapes_;  // by verb
  std::vector<bool> sorts_;   // by verb: "order these planets by size"
  Nouns of_any_;
  std::vector<Nouns> of_language_;
  bool looked_ = false;
  std::size_t first_code_ = 0;   // code was shown by this step
  std::size_t first_prose_ = 0;  // a text that is no list of choices
  std::size_t first_text_ = 0;
  const char* message_ = nullptr;  // the message that `message_holds_` describes
  TextKinds message_holds_;
};

}  // namespace runwarden::plugins
