#include "evidence/measures.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kStem = 5;               // bytes of a word that serve as its stem
constexpr std::size_t kTellingWord = 4;        // shorter words are in every text
constexpr std::size_t kMostBytes = 64 * 1024;  // of one text

/// The first bytes of a word as a number, in lower case.
std::uint64_t short_stem_of(std::string_view word) {
  std::uint64_t stem = 0;
  for (const char c : word.substr(0, kStem)) stem = stem << 8 | static_cast<unsigned char>(to_lower(c));
  return stem * 0x9E3779B97F4A7C15;
}

/// All of a word with digits.
std::uint64_t hash_figure(std::string_view word) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(to_lower(c))) * 0x100000001B3;
  return hash;
}

/// Passes on the stem of each telling word in a text, the word, and whether it has a digit.
template <class Take>
void each_stem(std::string_view text, Take take) {
  for_each_word(text.substr(0, kMostBytes), [&](std::string_view word) {
    if (word.size() < 2) return true;
    const bool digits = std::any_of(word.begin(), word.end(), is_digit);
    if (digits || word.size() >= kTellingWord) take(digits ? hash_figure(word) : short_stem_of(word), word, digits);
    return true;
  });
}

/// The stems of a message, and where else each of them occurs.
class Stems {
 public:
  enum Place : std::uint8_t { kAsked = 1, kChanged = 2, kRead = 4, kUndone = 8 };

  struct Slot {
    std::uint64_t stem = 0;
    std::uint8_t places = 0;
    bool used = false, digits = false, name = false;
  };

  explicit Stems(std::string_view message) {
    std::size_t count = 1;
    each_stem(message, [&](std::uint64_t, std::string_view, bool) { ++count; });
    std::size_t size = 16;
    while (size < 4 * count) size *= 2;
    slots_.resize(size);
    each_stem(message, [&](std::uint64_t stem, std::string_view word, bool digits) {
      auto& slot = find(stem);
      slot.used = true;
      slot.stem = stem;
      slot.digits = digits;
      slot.name = slot.name || is_name(message, word);
    });
  }

  /// Marks each stem that the text also contains with the place.
  void note(std::string_view text, Place place) {
    each_stem(text, [&](std::uint64_t stem, std::string_view, bool) {
      if (auto& slot = find(stem); slot.used) slot.places |= place;
    });
  }

  template <class Take>
  void each(Take take) const {
    for (const auto& slot : slots_) {
      if (slot.used) take(slot);
    }
  }

 private:
  Slot& find(std::uint64_t stem) {
    auto at = (stem ^ (stem >> 29)) & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].stem != stem) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  /// True for a capitalized word that does not begin a sentence, line or item.
  static bool is_name(std::string_view message, std::string_view word) {
    const auto at = static_cast<std::size_t>(word.data() - message.data());
    if (word[0] < 'A' || word[0] > 'Z' || at < 2 || message[at - 1] != ' ') return false;
    return std::string_view(".!?:*-#>|\n").find(message[at - 2]) == std::string_view::npos;
  }

  std::vector<Slot> slots_;
};

/// Counts the words of a message by where they occur in the run.
void measure_stems(const Stems& stems, Measures& out) {
  std::size_t words = 0, shared = 0, uncovered = 0, unchanged = 0, only_undone = 0, figures = 0, new_figures = 0, new_words = 0,
              new_names = 0;
  stems.each([&](const Stems::Slot& slot) {
    ++words;
    const bool given = (slot.places & (Stems::kChanged | Stems::kRead)) != 0;
    const bool undone = (slot.places & Stems::kUndone) != 0;
    figures += slot.digits ? 1u : 0u;
    new_figures += slot.digits && slot.places == 0 ? 1u : 0u;
    new_words += !slot.digits && slot.places == 0 ? 1u : 0u;
    new_names += slot.name && slot.places == 0 ? 1u : 0u;
    only_undone += undone && !given ? 1u : 0u;
    if ((slot.places & Stems::kAsked) == 0) return;
    ++shared;
    unchanged += (slot.places & Stems::kChanged) != 0 ? 0u : 1u;
    uncovered += given || undone ? 0u : 1u;
  });
  out.add_count("shared_words", shared);
  out.add_share("shared_not_changed", unchanged, shared);
  out.add_share("shared_nowhere", uncovered, shared);
  out.add_count("shared_nowhere_count", uncovered);
  out.add_count("only_in_undone", only_undone);
  out.add_share("only_in_undone_share", only_undone, words);
  out.add_count("told_figures", figures);
  out.add_count("new_figures", new_figures);
  out.add_share("new_figures_share", new_figures, figures);
  out.add_count("new_names", new_names);
  out.add_share("new_words_share", new_words, words);
}

}  // namespace

void Measures::clear(bool named) {
  named_ = named;
  values_.clear();
  names_.clear();
  text_.clear();
}

void Measures::append(const Measures& others) {
  values_.insert(values_.end(), others.values_.begin(), others.values_.end());
  names_.insert(names_.end(), others.names_.begin(), others.names_.end());
  if (!text_.empty() && !others.text_.empty()) text_ += ' ';
  text_ += others.text_;
}

void Measures::add(std::string_view name, double value) {
  values_.push_back(static_cast<float>(value));
  if (!named_) return;
  names_.emplace_back(name);
  if (value == 0) return;
  char number[32];
  char* const end = std::to_chars(number, number + sizeof number, value, std::chars_format::general, 4).ptr;  // in any locale
  text_.append(text_.empty() ? "" : " ").append(name).append("=").append(number, end);
}

void measure_rules(const Verdict& verdict, std::span<const std::string_view> candidates, std::span<const std::string_view> silences,
                   std::size_t step, Measures& out) {
  const auto& told = verdict.suppressed;
  double surest = 0;
  for (const auto& one : told) surest = std::max(surest, one.confidence.value_or(0));
  out.add("rule_confidence", surest);
  for (const auto rule : candidates) {
    out.add_flag(rule, std::any_of(told.begin(), told.end(), [&](const Suppression& one) { return one.confidence && one.rule == rule; }));
  }
  for (const auto rule : silences) {
    out.add_flag(rule, std::any_of(told.begin(), told.end(), [&](const Suppression& one) {
                   return !one.confidence && one.rule == rule && (step == kNoStep || one.step == step);
                 }));
  }
}

void measure_message(const Reading& reading, std::string_view prefix, Measures& out) {
  const auto named = [&](std::string_view name) { return out.named() ? std::string(prefix).append(name) : std::string(); };
  const auto claims = [&](std::string_view name, auto holds) {
    out.add_count(named(name), static_cast<std::size_t>(std::count_if(reading.claims.begin(), reading.claims.end(), holds)));
  };
  const auto words = [&](std::string_view name, auto holds) {
    out.add_count(named(name), static_cast<std::size_t>(std::count_if(reading.words.begin(), reading.words.end(), holds)));
  };
  claims("claims", [](const Claim& claim) { return !claim.finding; });
  claims("own_claims", [](const Claim& claim) { return claim.by_agent && !claim.finding; });
  claims("states", [](const Claim& claim) { return claim.state; });
  claims("general_claims", [](const Claim& claim) { return claim.verb == kNoVerb && !claim.finding; });
  claims("findings", [](const Claim& claim) { return claim.finding; });
  words("negations", [&](const ReadWord& word) { return negates(reading, word); });
  words("modals", [](const ReadWord& word) { return has(word.cues, kCueModal); });
  constexpr std::pair<std::string_view, std::uint64_t> kCues[] = {{"admission", kCueAdmission}, {"nothing_found", kCueNothingFound},
                                                                  {"trouble", kCueTrouble},     {"handover", kCueHandover},
                                                                  {"offer", kCueOffer},         {"plan", kCuePlan},
                                                                  {"simulated", kCueSimulated}, {"example", kCueExample},
                                                                  {"already", kCueAlready},     {"hypothesis", kCueHypothesis},
                                                                  {"promise", kCuePromise}};
  for (const auto& [name, cue] : kCues) out.add_flag(named(name), has(reading.cues, cue));
  out.add_flag(named("asks"), reading.ends_in_question());
  out.add_flag(named("denies"), reading.denies);
  constexpr std::uint32_t kBrief = 2, kLong = 8;  // sentences
  const auto count = static_cast<std::uint32_t>(reading.sentences.size());
  out.add_flag(named("opens_with_claim"), count > 0 && has_claim(reading, 0));
  out.add_flag(named("closes_with_claim"), count > 0 && has_claim(reading, count - 1));
  out.add_flag(named("opens_with_denial"), count > 0 && negates_anything(reading, reading.sentences.front()));
  out.add_flag(named("brief"), count <= kBrief);
  out.add_flag(named("long"), count > kLong);
}

void measure_shared_words(const RunView& run, std::string_view message, const std::vector<bool>& failed, const std::vector<bool>& changes,
                          Measures& out) {
  Stems stems(message);
  const auto note = [&](std::string_view text, Stems::Place place) {
    run.pace(text.size());
    stems.note(text, place);
  };
  note(run.user_request, Stems::kAsked);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) note(step.said(), Stems::kAsked);
    if (step.kind != Kind::kTool) continue;
    const auto place = failed[i] ? Stems::kUndone : changes[i] ? Stems::kChanged : Stems::kRead;
    note(step.name, place);
    note(step.input, place);
    if (!failed[i]) note(step.output, place);
  }
  measure_stems(stems, out);
}

void measure_user(const RunView& run, Measures& out) {
  std::size_t turns = 0;
  auto last = run.user_request;
  for (const auto& step : run.steps) {
    if (step.kind != Kind::kUser) continue;
    ++turns;
    last = step.said();
  }
  constexpr std::size_t kSeveral = 2;
  out.add_count("user_turns", turns, kSeveral);
  out.add_flag("user_asks_last", trim(last).ends_with('?'));
  out.add_flag("user_asks_first", trim(run.user_request).ends_with('?'));
}

}  // namespace runwarden::plugins
