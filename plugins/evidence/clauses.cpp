#include "evidence/clauses.h"

#include <algorithm>

#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostClauses = 24;
constexpr std::size_t kShortestName = 3;  // bytes of a word that no language has: "SIM"
constexpr double kLeastTold = 0.05, kLeastAsked = 0.2;

/// Passes on where each clause of a sentence begins and ends. A part of fewer words belongs to what follows, the last to what is before it.
template <class Take>
void each_clause(const Reading& reading, const Sentence& sentence, std::uint32_t shortest, Take take) {
  auto begin = sentence.begin;
  for (auto i = sentence.begin + 1; i < sentence.end; ++i) {
    const auto& word = reading.words[i];
    if (word.before == Break::kNone && !has(word.cues, kCueConjunction)) continue;
    if (i - begin < shortest || sentence.end - i < shortest) continue;
    take(begin, i);
    begin = i;
  }
  take(begin, sentence.end);
}

/// Passes on the clauses of an agent's sentence, and whether each denies something or leaves it open.
template <class Take>
void each_part(const Reading& reading, const Sentence& sentence, Take take) {
  constexpr std::uint32_t kShortest = 3;
  bool open = false;
  each_clause(reading, sentence, kShortest, [&](std::uint32_t begin, std::uint32_t end) {
    Sentence part{begin, end, 0, false};
    for (auto i = begin; i < end; ++i) part.cues |= reading.words[i].cues;
    // "Once a desk is booked and another is cancelled": the conjunction goes on with what the clause before left open.
    const bool goes_on = open && has(reading.words[begin].cues, kCueConjunction) && reading.words[begin].before == Break::kNone;
    open = sentence.nonfactual || goes_on || has(part.cues, kOpenCues) || negates_anything(reading, part);
    take(part, open);
  });
}

/// Notes what the words of a clause are.
void read_words_of(const Reading& reading, Clause& clause) {
  for (auto i = clause.begin; i < clause.end; ++i) {
    const auto& word = reading.words[i];
    if (word.entry != nullptr && word.entry->verb != kNoVerb) {
      clause.groups.push_back(reading.lexicon->verb(word.entry->verb).group);
      if ((word.entry->forms & (kFormBase | kFormDone)) != 0) {
        clause.acts.push_back(clause.groups.back());
        clause.act_stems.push_back(stem_of(word.text));
      }
    }
    if (has_digit(word.text)) {
      for_each_word(word.text, [&](std::string_view piece) {
        clause.stems.push_back(stem_of(piece));
        if (has_digit(piece)) clause.figures.push_back(stem_of(piece));
        return true;
      });
    } else if (is_telling(word) || (word.entry == nullptr && word.text.size() == kShortestName)) {
      clause.stems.push_back(stem_of(word.text));
    }
  }
  Stems joined;
  add_joined_figures(text_of(reading, clause), joined);
  clause.stems.insert(clause.stems.end(), joined.begin(), joined.end());
  clause.figures.insert(clause.figures.end(), joined.begin(), joined.end());
  settle(clause.stems);
  settle(clause.figures);
  settle(clause.act_stems);
}

/// A clause of the words [begin, end).
Clause read_clause(const Reading& reading, std::uint32_t begin, std::uint32_t end, double sure, double whole) {
  Clause clause;
  clause.begin = begin;
  clause.end = end;
  clause.sure = sure;
  clause.whole = whole;
  read_words_of(reading, clause);
  return clause;
}

void find_own_stems(std::vector<Clause>& clauses) {
  for (auto& clause : clauses) {
    std::copy_if(clause.stems.begin(), clause.stems.end(), std::back_inserter(clause.own), [&](auto stem) {
      return std::none_of(clauses.begin(), clauses.end(),
                          [&](const Clause& other) { return &other != &clause && holds(other.stems, stem); });
    });
  }
}

}  // namespace

bool is_telling(const ReadWord& word) {
  constexpr std::size_t kTelling = 4;
  const bool small =
      word.entry != nullptr && (word.entry->verb == kNoVerb || (word.entry->forms & kFormBase) == 0) && word.entry->cues != 0;
  const bool number = word.text.size() > 1 && std::all_of(word.text.begin(), word.text.end(), is_digit);
  return !small && (word.text.size() >= kTelling || number);
}

bool is_arithmetic(const Reading& reading, const Sentence& sentence) {
  std::size_t figures = 0;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto& word = reading.words[i];
    if (has_digit(word.text)) {
      ++figures;
    } else if (is_telling(word)) {
      return false;
    }
  }
  return figures > 1;
}

std::string_view text_of(const Reading& reading, const Clause& clause) {
  const auto* begin = reading.words[clause.begin].text.data();
  const auto& last = reading.words[clause.end - 1].text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

bool share_group(const std::vector<std::uint16_t>& some, const std::vector<std::uint16_t>& others) {
  return std::any_of(some.begin(), some.end(), [&](auto group) { return std::find(others.begin(), others.end(), group) != others.end(); });
}

void collect_told(const Reading& reading, DeedReader& reader, std::vector<Clause>& out) {
  out.clear();
  for (const auto& sentence : reading.sentences) {
    if (sentence.question || out.size() >= kMostClauses) continue;
    const double whole = reader.tells(reading, sentence);
    if (whole < kLeastTold) continue;
    each_part(reading, sentence, [&](const Sentence& part, bool open) {
      if (open || out.size() >= kMostClauses) return;
      const double sure = part.end - part.begin == sentence.end - sentence.begin ? whole : reader.tells(reading, part);
      if (sure < kLeastTold) return;
      out.push_back(read_clause(reading, part.begin, part.end, sure, whole));
      out.back().undone = reader.tells_undone();
    });
  }
  find_own_stems(out);
}

void collect_untold(const Reading& reading, DeedReader& reader, std::vector<Clause>& out) {
  out.clear();
  for (const auto& sentence : reading.sentences) {
    const double whole = sentence.question ? 0 : reader.tells(reading, sentence);
    each_part(reading, sentence, [&](const Sentence& part, bool open) {
      if (out.size() >= kMostClauses) return;
      const double alone = reader.tells(reading, part);
      const double sure = whole < kLeastTold ? whole : alone;
      if (!open && sure >= kLeastTold) return;
      out.push_back(read_clause(reading, part.begin, part.end, sure, whole));
      out.back().undone = reader.tells_undone();
      out.back().open = open || sentence.question || has(part.cues, kCueTrouble | kCueModal | kCueHandover);
    });
  }
  find_own_stems(out);
}

void collect_asked(const Reading& reading, DeedReader& reader, const std::function<bool(const Sentence&)>& passes,
                   std::vector<Clause>& out) {
  constexpr std::uint32_t kShortest = 2;
  out.clear();
  for (const auto& sentence : reading.sentences) {
    if (out.size() >= kMostClauses) return;
    const double asks = reader.asks(reading, sentence);
    if (asks < kLeastAsked || !passes(sentence)) continue;
    each_clause(reading, sentence, kShortest, [&](std::uint32_t begin, std::uint32_t end) {
      if (out.size() < kMostClauses) out.push_back(read_clause(reading, begin, end, asks, asks));
    });
  }
}

}  // namespace runwarden::plugins
