#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/reading.h"
#include "evidence/deed_reader.h"
#include "evidence/stems.h"

namespace runwarden::plugins {

/// Cues of a sentence that leaves it open whether anything was done, says that it was not, or tells what was found.
inline constexpr std::uint64_t kOpenCues =
    kCueAdmission | kCueNothingFound | kCueSimulated | kCueHypothesis | kCuePlan | kCueCondition | kCueFinding | kCueChecked;

/// A part of a sentence between commas or conjunctions, which may tell one deed of several, or ask for one. Words [begin, end) of its
/// reading.
struct Clause {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  double sure = 0;    // the probability that it tells a deed as done; of a user's clause, that its sentence asks for one
  double whole = 0;   // the same for the whole sentence
  double undone = 0;  // of the agent's: the probability that it tells that something was not done
  bool open = false;  // of an untold one: it denies something, tells of trouble or of another's part, or leaves it open what was done
  Stems stems;        // of its telling words
  Stems own;          // of these, those that no other clause of the message has
  Stems figures;
  std::vector<std::uint16_t> groups;  // of its verbs, and of nouns that name their deeds
  std::vector<std::uint16_t> acts;    // of its verbs in a base form or participle
  Stems act_stems;                    // of the words of these
};

/// Replaces `out` by the clauses of a message that may tell a deed: the first 24. Linear.
void collect_told(const Reading& reading, DeedReader& reader, std::vector<Clause>& out);

/// Replaces `out` by the other clauses of a message: the first 24. Linear.
void collect_untold(const Reading& reading, DeedReader& reader, std::vector<Clause>& out);

/// Replaces `out` by the clauses of a user's turn that may ask for a deed: the first 24. `passes` is false for a sentence that does not
/// count. Linear.
void collect_asked(const Reading& reading, DeedReader& reader, const std::function<bool(const Sentence&)>& passes,
                   std::vector<Clause>& out);

/// True for a number, and for a longer word that has no role in a sentence.
[[nodiscard]] bool is_telling(const ReadWord& word);

/// True for a sentence of figures and small words: "Set x to 4 and add 9".
[[nodiscard]] bool is_arithmetic(const Reading& reading, const Sentence& sentence);

/// The folded text of a clause.
[[nodiscard]] std::string_view text_of(const Reading& reading, const Clause& clause);

/// True when a verb of one is of a group of the other.
[[nodiscard]] bool share_group(const std::vector<std::uint16_t>& some, const std::vector<std::uint16_t>& others);

}  // namespace runwarden::plugins
