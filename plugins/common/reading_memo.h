#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "common/reading.h"

namespace runwarden::plugins {

/// The readings of the texts of one run: many rules read the same message, and find here what the first of them read. Bounded: of a run
/// with more text than kMostBytes or kMostWords, the rest is not kept. Keeps its memory from run to run. One owner, one thread at a time.
class ReadingMemo {
 public:
  static constexpr std::size_t kMostTexts = 500, kMostBytes = 256 * 1024, kMostWords = 32 * 1024;

  /// How much of a text was read: by read_words(), by read(), or by language_of() alone.
  enum class Kind : std::uint8_t { kWords, kMeaning, kLanguage };

  /// While it lives, the readers of this thread use a memo, which is empty at first. Scopes do not nest.
  class Scope {
   public:
    explicit Scope(ReadingMemo& memo);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

  /// The memo in use on this thread; nullptr for none.
  [[nodiscard]] static ReadingMemo* current();

  /// A text and the lexicon that reads it. A view of the text.
  struct Key {
    Key(std::string_view of, const Lexicon& by);
    std::string_view text;
    const Lexicon* lexicon;
    std::uint64_t hash;
  };

  /// Copies the reading of a text in a language, as given to read(), to `out`, all but `source`. False when there is none.
  [[nodiscard]] bool find(const Key& key, Kind kind, std::uint8_t language, Reading& out) const;
  /// Keeps a copy of a reading that find() does not find, if there is room. `whole` says that nothing was left out of the text.
  void add(const Key& key, Kind kind, std::uint8_t language, const Reading& reading, bool whole);

  /// What language_of() finds for a short text, where it was added or the text was read as a whole; nullptr when it is not known.
  [[nodiscard]] const std::uint8_t* find_language(const Key& key) const;
  void add_language(const Key& key, std::uint8_t language);

  void clear();
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  /// A part of one of the lists below.
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct Text {
    std::uint64_t hash;
    const Lexicon* lexicon;
    std::string_view source;
    Kind kind;
    std::uint8_t asked;     // the language as given to read()
    std::uint8_t language;  // of the reading
    bool whole = false;
    bool has_code = false;
    bool denies = false;
    std::uint64_t cues = 0;
    std::string_view folded = {};
    Range words = {}, sentences = {}, claims = {}, results = {}, stressed = {};
  };
  static constexpr std::size_t kSlots = 1024;

  [[nodiscard]] std::string_view keep(std::string_view text);
  bool place(const Text& text);
  template <class Matches>
  [[nodiscard]] const Text* find_text(const Key& key, Matches matches) const;

  std::vector<Text> texts_;
  std::array<std::uint16_t, kSlots> slots_{};  // index + 1 into texts_; 0 when free. Open addressing
  std::unique_ptr<char[]> bytes_;              // kMostBytes: what the views of texts_ and words_ view
  std::size_t used_ = 0;                       // of them
  std::vector<ReadWord> words_;
  std::vector<Sentence> sentences_;
  std::vector<Claim> claims_, results_;
  std::vector<std::uint32_t> stressed_;
};

}  // namespace runwarden::plugins
