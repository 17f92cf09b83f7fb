#include "common/reading.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "common/json_scan.h"
#include "common/nonfactual.h"
#include "common/reading_memo.h"
#include "common/vocabulary.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

bool has_auxiliary(const Reading& reading, const Claim& claim) {
  constexpr std::uint32_t kReach = 3;
  const auto begin = reading.sentences[claim.sentence].begin;
  for (auto i = claim.word; i > begin && claim.word - i < kReach && reading.words[i].before == Break::kNone; --i) {
    if (has(reading.words[i - 1].cues, kCueAuxiliary | kCuePassive)) return true;
  }
  return false;
}

bool tells_deed(const Reading& reading, const Claim& claim) {
  if (claim.by_agent || claim.in_progress) return true;
  if (claim.state) return false;
  if (has_auxiliary(reading, claim)) return true;
  // "Password reset.", "alarm set for ten" are notes; before a noun, the participle is an attribute.
  const auto begin = reading.sentences[claim.sentence].begin;
  const auto end = reading.sentences[claim.sentence].end;
  const auto next = claim.word + 1;
  return claim.word == begin || next >= end || reading.words[next].before != Break::kNone ||
         has(reading.words[next].cues, kCuePreposition | kCueAdverb);
}

bool ends_like(std::string_view word, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const auto& ending) { return word.size() > ending.size() && word.ends_with(ending); });
}

bool negates(const Reading& out, const ReadWord& word) {
  return has(word.cues, kCueNegation) || ends_like(word.text, out.lexicon->negation_endings);
}

bool has_claim(const Reading& reading, std::size_t sentence) {
  return std::any_of(reading.claims.begin(), reading.claims.end(),
                     [&](const Claim& claim) { return claim.sentence == sentence && !claim.finding; });
}

bool negates_anything(const Reading& reading) {
  return std::any_of(reading.words.begin(), reading.words.end(), [&](const ReadWord& word) { return negates(reading, word); });
}

bool negates_anything(const Reading& reading, const Sentence& sentence) {
  return std::any_of(reading.words.begin() + sentence.begin, reading.words.begin() + sentence.end,
                     [&](const ReadWord& word) { return negates(reading, word); });
}

bool ends_clause(const Reading& reading, const Sentence& sentence, std::size_t word) {
  return reading.verb_last() && (word + 1 >= sentence.end || reading.words[word + 1].before != Break::kNone);
}

bool is_article(const ReadWord& word) {
  return word.text.size() == 1 && has(word.cues, kCueDeterminer);
}

namespace {

constexpr std::uint32_t kClauseReach = 12;  // how many words back a negation or condition governs a verb
constexpr std::uint32_t kFarReach = 25;     // the same in languages whose verbs end the clause

/// The language that has most words of the text; none when another comes close. A word of several languages counts for each.
std::uint8_t language_by(const Lexicon& lexicon, const std::vector<ReadWord>& words) {
  if (lexicon.language_count < 2) return kAnyLanguage;
  std::array<std::uint32_t, Vocabulary::kMostLanguages> counts{};
  for (const auto& word : words) {
    if (word.entry == nullptr) continue;
    for (auto rest = word.entry->languages; rest != 0; rest &= rest - 1) ++counts[static_cast<std::size_t>(std::countr_zero(rest))];
  }
  const auto best = std::max_element(counts.begin(), counts.end());
  const auto count = *best;
  *best = 0;
  const auto second = *std::max_element(counts.begin(), counts.end());
  return 2 * count > 3 * second ? static_cast<std::uint8_t>(best - counts.begin()) : kAnyLanguage;
}

/// Reduces the words to their meaning in the language of the text.
void keep_language(Reading& out) {
  for (auto& word : out.words) {
    if (word.shortened != 0 && (word.shortened >> out.language & 1) == 0) {
      word.before = Break::kSentence;
      if (word.mark == 0) word.mark = '.';
    }
    if (word.entry == nullptr) continue;
    word.entry = Lexicon::sense(*word.entry, out.language);
    word.cues = word.entry != nullptr ? word.entry->cues : 0;
  }
}

/// "On May 22", "22 May", "in May": a date rather than a modal.
bool is_month(const Reading& out, std::size_t at) {
  const auto in_date = [&](std::size_t i) {
    return i < out.words.size() && out.words[std::max(i, at)].before == Break::kNone && is_digit(out.words[i].text[0]);
  };
  if (in_date(at + 1) || (at > 0 && in_date(at - 1))) return true;
  return at > 0 && out.words[at].before == Break::kNone && has(out.words[at - 1].cues, kCuePreposition) &&
         !has(out.words[at - 1].cues, kCueInfinitive);
}

/// "Am 3. Dezember": the period after the day does not end the sentence, and "may" beside a day is no modal.
void mark_months(Reading& out) {
  constexpr std::size_t kLongestDay = 2;
  for (std::size_t i = 0; i < out.words.size(); ++i) {
    auto& word = out.words[i];
    const bool modal = has(word.cues, kCueModal);
    const bool behind_day = i > 0 && word.before == Break::kSentence && word.mark == '.' && is_digit(out.words[i - 1].text[0]) &&
                            out.words[i - 1].text.size() <= kLongestDay;
    if (!(modal || behind_day) || !among(word.text, out.lexicon->months)) continue;
    if (!modal) word.before = Break::kNone;
    if (modal && is_month(out, i)) word.cues = 0;
  }
}

/// "Cancel\u00E9 el pedido": reads a finite verb of the past as its participle.
void read_past(Reading& out, ReadWord& word) {
  std::string participle;
  for (const auto& past : out.lexicon->past_endings) {
    if ((out.language != kAnyLanguage && out.language != past.language) || !word.text.ends_with(past.ending)) continue;
    participle.assign(word.text.substr(0, word.text.size() - past.ending.size())).append(past.participle);
    const auto* entry = out.lexicon->find(participle);
    if (entry != nullptr && out.language != kAnyLanguage) entry = Lexicon::sense(*entry, out.language);
    // A verb that changes its spelling, "actualic\u00E9", is in the list of its forms.
    if (entry == nullptr && past.own) entry = word.entry;
    if (!is_participle(entry)) continue;
    word.entry = entry;
    word.past = past.own ? ReadWord::Past::kOwn : ReadWord::Past::kOthers;
    return;
  }
}

void read_pasts(Reading& out) {
  if (out.stressed.empty() || out.lexicon->past_endings.empty()) return;
  std::size_t next = 0;
  for (std::size_t i = 0; i < out.words.size() && next < out.stressed.size(); ++i) {
    auto& word = out.words[i];
    const auto last = static_cast<std::size_t>(word.text.data() - out.folded.data()) + word.text.size() - 1;
    while (next < out.stressed.size() && out.stressed[next] < last) ++next;
    if (next == out.stressed.size() || out.stressed[next] != last) continue;
    read_past(out, word);
    if (word.past != ReadWord::Past::kOthers || i == 0 || !among(out.words[i - 1].text, out.lexicon->impersonals)) continue;
    out.words[i - 1].cues |= kCueAuxiliary | kCuePassive;
  }
}

void close_sentence(Reading& out, std::uint32_t begin, std::uint32_t end, char mark) {
  if (end > begin) out.sentences.push_back({begin, end, 0, mark == '?'});
}

/// True for a word that may be the parted prefix of a verb, at the end of its clause: "Trag mich ein."
bool is_parted_prefix(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  if (!has(out.words[at].cues, kCueParticle)) return false;
  return at + 1 == sentence.end || out.words[at + 1].before != Break::kNone || has(out.words[at + 1].cues, kCueConjunction);
}

/// Joins the two parts of a separable verb. False when there is no such verb.
bool join(Reading& out, std::uint32_t prefix, std::uint32_t at, std::string& whole) {
  whole.assign(out.words[prefix].text).append(out.words[at].text);
  const auto* entry = out.lexicon->find(whole);
  for (const auto& ending : out.lexicon->dropped_endings) {
    if (entry == nullptr) entry = out.lexicon->find(whole + ending);
  }
  if (entry != nullptr) entry = Lexicon::sense(*entry, out.language);
  if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormBase) == 0) return false;
  out.words[at].entry = entry;
  out.words[at].cues = entry->cues;
  return true;
}

/// "Lade Petra zum Workshop ein": the verb near the beginning of a sentence is read together with its parted prefix. So is "Bescheid
/// geben", which is written in two words.
void join_prefix(Reading& out, const Sentence& sentence) {
  constexpr std::uint32_t kReach = 3;
  std::string whole;
  for (auto at = sentence.begin + 1; at < sentence.end; ++at) {
    const auto before = out.words[at - 1].cues;
    if (!has(before, kCueParticle) || has(before, kCuePreposition | kCueInfinitive) || out.words[at].before != Break::kNone) continue;
    if (join(out, at - 1, at, whole)) return;
  }
  for (auto at = sentence.begin; at < std::min(sentence.begin + kReach, sentence.end); ++at) {
    for (auto prefix = at + 1; prefix < sentence.end; ++prefix) {
      if (is_parted_prefix(out, sentence, prefix) && join(out, prefix, at, whole)) return;
    }
  }
}

/// True when the sentence ends before this word. Rules look through the sentence of each claim, so that none may be as long as the text: a
/// very long one ends at its next clause, or after twice as many words.
bool begins_sentence(const Reading& out, std::uint32_t begin, std::uint32_t at) {
  constexpr std::uint32_t kLongest = 256;
  const auto before = out.words[at].before;
  return before == Break::kSentence || at - begin >= 2 * kLongest || (at - begin >= kLongest && before >= Break::kClause);
}

void split(const Lexicon& lexicon, Reading& out, std::uint8_t language) {
  constexpr std::size_t kAhead = 12;  // words
  WordCursor cursor(out.folded, &lexicon.abbreviations);
  RawWord raw;
  std::size_t found = 0;
  const auto look_up = [&] {
    auto& word = out.words[found++];
    word.entry = lexicon.find(word.text);
    if (word.entry != nullptr) word.cues = word.entry->cues;
  };
  while (cursor.next(raw)) {
    lexicon.prefetch(raw.text);
    out.words.push_back({raw.text, nullptr, 0, raw.before, raw.sentence_end, raw.shortened});
    if (out.words.size() > kAhead) look_up();
  }
  while (found < out.words.size()) look_up();
  out.language = language == kAnyLanguage ? language_by(lexicon, out.words) : language;
  if (out.language != kAnyLanguage) keep_language(out);
  mark_months(out);
  read_pasts(out);
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < out.words.size(); ++i) {
    if (!begins_sentence(out, begin, i)) continue;
    close_sentence(out, begin, i, out.words[i].before == Break::kSentence ? out.words[i].mark : char{0});
    begin = i;
  }
  close_sentence(out, begin, static_cast<std::uint32_t>(out.words.size()), raw.sentence_end);
  if (!out.verb_last()) return;
  for (const auto& sentence : out.sentences) join_prefix(out, sentence);
}

bool phrase_stands_at(const Reading& out, const Phrase& phrase, std::uint32_t at, std::uint32_t end) {
  if (at + phrase.words.size() > end) return false;
  for (std::size_t k = 1; k < phrase.words.size(); ++k) {
    const auto& word = out.words[at + k];
    if (word.before >= Break::kClause || word.text != phrase.words[k]) return false;
  }
  return true;
}

/// "No problem, that's cancelled": up to `end`, where a break follows, the sentence denies nothing and stands by itself.
void take_as_courtesy(Reading& out, const Sentence& sentence, std::uint32_t end) {
  if (end < sentence.end && out.words[end].before == Break::kNone) return;
  for (auto i = sentence.begin; i < end; ++i) out.words[i].cues &= ~(kCueNegation | kCueTrouble | kCueAdmission | kCueNothingFound);
  if (end < sentence.end) out.words[end].before = std::max(out.words[end].before, Break::kClause);
}

void mark_phrases(const Lexicon& lexicon, Reading& out, const Sentence& sentence) {
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto* entry = out.words[i].entry;
    if (entry == nullptr) continue;
    if (!entry->begins_phrases || i + 1 == sentence.end) continue;
    const char second = out.words[i + 1].text[0];
    for (const auto begins : entry->phrases) {
      if (begins.second != second) continue;
      const auto& phrase = lexicon.phrase(begins.phrase);
      if (!phrase_stands_at(out, phrase, i, sentence.end)) continue;
      for (std::size_t k = 0; k < phrase.words.size(); ++k) out.words[i + k].cues |= phrase.cues;
      if (i == sentence.begin && has(phrase.cues, kCueGoodbye))
        take_as_courtesy(out, sentence, i + static_cast<std::uint32_t>(phrase.words.size()));
    }
  }
}

/// The words between the start of a clause and its verb.
struct Before {
  bool negated = false;
  bool conditional = false;
  bool modal = false;
  bool auxiliary = false;
  bool self = false;      // "I" or "we" is anywhere in the clause
  bool agent = false;     // "I" or "we" is the verb's subject: only auxiliaries and adverbs between them
  bool relative = false;  // "the option I shared": the clause modifies a noun and makes no claim
  bool able = false;
  bool wanted = false;
  bool other = false;          // "you", "they" precede it
  bool passive = false;        // "are", "been"
  bool perfect = false;        // "has", "been": it has happened
  bool other_verb = false;     // a verb or preposition: a participle after it is a noun's attribute
  std::uint32_t distance = 0;  // words between the clause's start and the verb
};

/// "Your plan has been cancelled", "the attempt was deleted": a word of intent used as a noun, after a determiner or right before the
/// auxiliary. False for "our team plans to" and "what you need is".
bool is_modal_noun(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  constexpr std::uint32_t kNounReach = 2;  // words between the noun and its determiner
  const auto& word = out.words[at];
  if (!has(word.cues, kCueNounModal)) return false;
  const auto* next = at + 1 < sentence.end && out.words[at + 1].before == Break::kNone ? &out.words[at + 1] : nullptr;
  if (next != nullptr && has(next->cues, kCueInfinitive)) return false;
  auto i = at;
  for (; i > sentence.begin && at - i <= kNounReach && out.words[i].before == Break::kNone; --i) {
    const auto& previous = out.words[i - 1];
    if (has(previous.cues, kCueDeterminer) || previous.text.ends_with("'s")) return true;
    const bool subject = has(previous.cues, kCueSelf | kCueOther | kCueAuxiliary | kCueModal | kCueConjunction | kCuePreposition);
    if (subject || word.text.ends_with('s') || previous.text.ends_with('s')) break;
  }
  if (next == nullptr || !has(next->cues, kCueAuxiliary) || has(next->cues, kCueSelf)) return false;
  return i == sentence.begin || out.words[i].before != Break::kNone || !has(out.words[at - 1].cues, kCueSelf | kCueOther);
}

/// "The option I shared", "a form we sent": a noun right before the subject, with a determiner before the noun.
bool hangs_on_noun(const Reading& out, const Sentence& sentence, std::uint32_t subject) {
  constexpr std::uint32_t kNounReach = 4;
  if (subject == sentence.begin || out.words[subject].before != Break::kNone) return false;
  const auto plain = [&](std::uint32_t i) {
    const auto& word = out.words[i];
    constexpr std::uint64_t kStating =
        kCueSelf | kCueOther | kCueAuxiliary | kCueModal | kCueConjunction | kCuePreposition | kCueNegation | kCueCondition;
    return !has(word.cues, kStating) && (word.entry == nullptr || (word.entry->forms & (kFormDone | kFormDoing)) == 0);
  };
  for (auto i = subject; i > sentence.begin && subject - i < kNounReach; --i) {
    if (has(out.words[i - 1].cues, kCueDeterminer)) return i < subject;
    if (!plain(i - 1) || (i < subject && out.words[i].before != Break::kNone)) return false;
  }
  return false;
}

/// "The order you asked about": a wish in a clause that hangs on a noun.
bool modal_of_noun(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  return has(out.words[at].cues, kCueModal) && at > sentence.begin && out.words[at].before == Break::kNone &&
         has(out.words[at - 1].cues, kCueOther) && hangs_on_noun(out, sentence, at - 1);
}

/// "Wurde auf Donnerstag, den 3. Dezember, um 10:20 Uhr verlegt": a comma before a day or a time parts no clause.
bool goes_on(const Reading& out, std::uint32_t at) {
  if (out.words[at].before != Break::kComma || at + 1 >= out.words.size()) return false;
  return has(out.words[at].cues, kCuePreposition | kCueDeterminer) && is_digit(out.words[at + 1].text[0]);
}

/// "What have we cancelled", "the option I shared": the clause of the subject at this word makes no claim.
bool depends(const Reading& out, const Sentence& sentence, std::uint32_t subject) {
  const bool far = out.verb_last();
  if (subject > sentence.begin && out.words[subject].before == Break::kNone && has(out.words[subject - 1].cues, kCueAsking)) {
    // "Die Bestellung haben wir storniert": there an auxiliary asks only at the beginning.
    if (!far || subject - 1 == sentence.begin || !has(out.words[subject - 1].cues, kCueAuxiliary)) return true;
  }
  // "Den Termin habe ich verschoben": where the verb ends its clause, a clause without a relative hangs on no noun.
  return !far && hangs_on_noun(out, sentence, subject);
}

Before look_back(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  constexpr std::size_t kShortestManner = 4;
  Before before;
  const bool far = out.verb_last();
  bool adjacent = true;  // only adverbs and auxiliaries between here and the verb
  for (auto i = at; i > sentence.begin;) {
    if (out.words[i].before != Break::kNone && !(far && goes_on(out, i))) break;
    --i;
    const auto& word = out.words[i];
    before.relative |= adjacent && i + 1 < at && has(word.cues, kCueRelative) && hangs_on_noun(out, sentence, i);
    if (has(word.cues, kCueConjunction)) break;
    // "I can confirm that it has been cancelled", "the order you asked about has been cancelled": another clause governs no further.
    if (before.distance > 0 && (has(word.cues, kCueFinding) || modal_of_noun(out, sentence, i))) break;
    ++before.distance;
    if (before.distance > (far ? kFarReach : kClauseReach)) break;
    before.negated |= negates(out, word);
    before.conditional |= has(word.cues, kCueCondition);
    before.modal |= has(word.cues, kCueModal) && !is_modal_noun(out, sentence, i);
    before.wanted |= has(word.cues, kCueOffer);
    before.self |= has(word.cues, kCueSelf);
    if (adjacent && has(word.cues, kCueSelf) && !has(word.cues, kCueDeterminer)) {
      before.agent = true;
      before.relative |= depends(out, sentence, i);
    }
    // "Refund processed": a base form right before the participle is its noun.
    const bool verb = word.entry != nullptr && word.entry->forms == kFormBase && before.distance > 1;
    before.other_verb |= verb || has(word.cues, kCuePreposition);
    before.able |= adjacent && has(word.cues, kCueAble);
    before.other |= adjacent && has(word.cues, kCueOther);
    before.passive |= adjacent && has(word.cues, kCuePassive);
    before.perfect |= adjacent && has(word.cues, kCueAuxiliary) && !has(word.cues, kCuePassive);
    if (adjacent) {
      before.auxiliary |= has(word.cues, kCueAuxiliary) || has(word.cues, kCueSelf);
      const bool manner = !word.known() && word.text.size() > kShortestManner && ends_like(word.text, out.lexicon->adverb_endings);
      adjacent = far || ((manner || has(word.cues, kCueAdverb | kCueAuxiliary | kCueAble | kCueSelf)) && !has(word.cues, kCueDeterminer));
    }
  }
  return before;
}

bool attribute(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  if (at + 1 >= sentence.end) return false;
  const auto& next = out.words[at + 1];
  // "A complete, signed form": further attributes follow a comma. "All set, enjoy": only after an article.
  const bool listed =
      next.before == Break::kComma && at > sentence.begin && out.words[at].before == Break::kNone && is_article(out.words[at - 1]);
  if (next.before != Break::kNone && !listed) return false;
  if (has(next.cues, kCueAuxiliary | kCuePreposition | kCueAdverb | kCueConjunction | kCueDeterminer)) return false;
  for (auto i = at; i > sentence.begin && at - i < kClauseReach && out.words[i].before == Break::kNone;) {
    --i;
    const auto cues = out.words[i].cues;
    if (has(cues, kCueDeterminer)) return true;
    if (!has(cues, kCueAdverb)) return false;
  }
  return false;
}

bool opens_with_condition(const Reading& out, const Sentence& sentence) {
  const auto second = std::min(sentence.begin + 1, sentence.end - 1);
  return has(out.words[sentence.begin].cues, kCueHypothesis) ||
         (has(out.words[sentence.begin].cues, kCueConjunction) && has(out.words[second].cues, kCueHypothesis));
}

/// "The airline cancelled flight 12": with an object right after the verb, the words before it are its subject. "Refund processed today"
/// has no object.
bool has_object(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  constexpr std::size_t kShortestNoun = 4;
  if (at + 1 >= sentence.end) return false;
  const auto& next = out.words[at + 1];
  if (next.before != Break::kNone || next.known() || next.text.size() < kShortestNoun) return false;
  if (has(next.cues, kCueNotObject) || ends_like(next.text, out.lexicon->adverb_endings)) return false;
  if (std::any_of(next.text.begin(), next.text.end(), is_digit)) return false;
  if (at + 2 >= sentence.end) return true;
  const auto& last = out.words[at + 2];
  return last.before != Break::kNone || is_digit(last.text[0]);
}

/// "The airline cancelled the flight", "total paid 1,671", "order placed: false": with a determiner after the participle, the words before
/// it are its subject; with a figure or a denial, they are the label of a value.
bool acts_on(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  if (at + 1 >= sentence.end) return false;
  const auto& next = out.words[at + 1];
  if (has(next.cues, kCueDenial)) return true;
  if (next.before != Break::kNone) return false;
  return is_digit(next.text[0]) || (has(next.cues, kCueDeterminer) && !has(next.cues, kCueAuxiliary | kCueAdverb | kCuePreposition));
}

/// "Alarm set for 10:00", "Password reset.": a participle spelled like the base form, after its subject and before a figure or the end.
bool stands_as_note(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  constexpr std::uint32_t kFigureReach = 4;
  constexpr std::uint32_t kSubject = 3;  // maximum words in the subject
  if (at == sentence.begin || at - sentence.begin > kSubject || out.words[at].before != Break::kNone) return false;
  for (auto i = sentence.begin; i < at; ++i) {
    const auto& word = out.words[i];
    if (has(word.cues, kCueSelf | kCueOther | kCueModal | kCuePreposition | kCueAuxiliary | kCueAdverb | kCueNegation)) return false;
    if (word.entry != nullptr && (word.entry->forms & (kFormBase | kFormDone)) != 0 && i == sentence.begin && i + 1 < at) return false;
  }
  if (out.words[at - 1].text.ends_with('s')) return false;  // "users set"
  const auto clause_ends = [&](std::uint32_t i) { return i >= sentence.end || out.words[i].before >= Break::kClause; };
  if (clause_ends(at + 1)) return true;
  if (out.words[at + 1].before != Break::kNone || !has(out.words[at + 1].cues, kCuePreposition)) return false;
  bool figure = false;
  for (auto i = at + 2; !clause_ends(i); ++i) {
    if (has(out.words[i].cues, kCueAuxiliary | kCueModal)) return false;
    figure |= i - at <= kFigureReach && is_digit(out.words[i].text[0]);
  }
  return figure;
}

/// "Sure", "of course": words before a comma that state nothing.
bool is_opener(const Reading& out, std::uint32_t begin, std::uint32_t end) {
  constexpr std::uint32_t kMostWords = 2;
  if (end == begin || end - begin > kMostWords) return false;
  constexpr std::uint64_t kStating =
      kCueSelf | kCueOther | kCueDeterminer | kCueAuxiliary | kCueCondition | kCueModal | kCueNegation | kCueAsking;
  for (auto i = begin; i < end; ++i) {
    if (has(out.words[i].cues, kStating)) return false;
  }
  return true;
}

bool participle_claims(const Reading& out, const Sentence& sentence, std::uint32_t at, const Before& before) {
  if (attribute(out, sentence, at)) return false;
  if (before.auxiliary) return true;
  // "El pedido ha ...": before an auxiliary, the word is the subject.
  const bool subject = at + 1 < sentence.end && out.words[at + 1].before == Break::kNone && has(out.words[at + 1].cues, kCueAuxiliary);
  // "Ich bestätige, dass sie storniert wurde."
  if (subject && out.verb_last() && has(sentence.cues, kCueFinding) && has(out.words[at + 1].cues, kCuePassive)) return true;
  if (subject) return false;
  // "Refund processed.", "Cancelled order 12": a note at the beginning of its clause.
  if (before.distance > 4 || before.other_verb || has(out.words[at].cues, kCuePreposition)) return false;
  if (before.distance > 0 && (has_object(out, sentence, at) || acts_on(out, sentence, at))) return false;
  // "LAX to MIA (round trip, booked on May 13)": after a comma it is an attribute, unless only an opener precedes it.
  if (before.distance == 0 && at > sentence.begin && out.words[at].before == Break::kComma && !is_opener(out, sentence.begin, at))
    return false;
  if (at > sentence.begin && out.words[at].before == Break::kNone && has(out.words[at - 1].cues, kCuePreposition)) return false;
  // "He cancelado el pedido": after a determiner it is a noun; not in "all cancelled".
  if (at > sentence.begin && out.words[at].before == Break::kNone && has(out.words[at - 1].cues, kCueDeterminer) &&
      !has(out.words[at - 1].cues, kCueAdverb)) {
    return false;
  }
  return (out.words[at].entry->forms & kFormBase) == 0 || stands_as_note(out, sentence, at);
}

/// "Sure, turning on the lights", "Cancelling order 12 now.": at the beginning of a sentence, with an object, and without another verb
/// whose subject it could be ("cancelling an order takes a day").
bool is_under_way(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  if (sentence.question) return false;
  const bool marked = at > sentence.begin;
  if (marked && (out.words[at].before != Break::kComma || !is_opener(out, sentence.begin, at))) return false;
  auto last = at;
  for (auto i = at + 1; i < sentence.end && i - at <= kClauseReach && out.words[i].before == Break::kNone; last = i++) {
    const auto& word = out.words[i];
    if (has(word.cues, kCueAuxiliary | kCueModal | kCueCondition | kCueNegation)) return false;
    const auto* next = i + 1 < sentence.end && out.words[i + 1].before == Break::kNone ? &out.words[i + 1] : nullptr;
    const bool finite = word.text.size() > 3 && word.text.ends_with('s') && !word.text.ends_with("ss") && i > at + 1;
    constexpr std::uint64_t kNoObject = kCuePreposition | kCueConjunction | kCueAdverb;
    if (finite && next != nullptr && (is_article(*next) || !has(next->cues, kNoObject))) return false;
  }
  if (last == at || has(out.words[at + 1].cues, kCueAdverb | kCueConjunction | kCueSelf)) return false;
  if (last + 1 < sentence.end && out.words[last + 1].before == Break::kNone) return false;  // too long to decide
  const bool for_you = has(out.words[last].cues, kCueForYou);
  return marked || (last > at + 1 && (for_you || has(out.words[last].cues, kCueAdverb)));
}

/// "I was able to open the file, sort it, and print it": the later verbs of the list are facts like the first.
bool able_in_list(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  constexpr std::uint32_t kLongestList = 30;
  if (at == sentence.begin) return false;
  const bool listed = out.words[at].before == Break::kComma || has(out.words[at - 1].cues, kCueConjunction);
  if (!listed) return false;
  for (auto i = at; i > sentence.begin && at - i < kLongestList;) {
    const auto& word = out.words[--i];
    if (has(word.cues, kCueAble)) {
      for (auto k = i; k > sentence.begin && i - k < kClauseReach; --k) {
        if (negates(out, out.words[k - 1])) return false;
      }
      return !negates(out, word);
    }
    if (negates(out, word) || has(word.cues, kCueModal | kCueSelf | kCueOther | kCueHypothesis | kCueCondition)) return false;
  }
  return false;
}

bool verb_claims(const Reading& out, std::uint32_t at, const Before& before, Claim& claim) {
  const auto& sentence = out.sentences[claim.sentence];
  // Without "se" somebody else did it; and "en la p\u00E1gina 6: se aprob\u00F3" tells what stands there.
  constexpr std::uint32_t kOpening = 2;
  if (out.words[at].past == ReadWord::Past::kOthers) return before.passive && at - sentence.begin <= kOpening;
  if (out.words[at].past == ReadWord::Past::kOwn) return true;
  const auto forms = out.words[at].entry->forms;
  if ((forms & kFormDone) != 0 && participle_claims(out, sentence, at, before)) return true;
  if ((forms & kFormDoing) != 0 && before.self && before.auxiliary) {
    claim.in_progress = true;
    return true;
  }
  if ((forms & kFormDoing) != 0 && is_under_way(out, sentence, at)) {
    claim.in_progress = claim.by_agent = true;
    return true;
  }
  return (forms & kFormBase) != 0 && (before.able || able_in_list(out, sentence, at));
}

/// "The verified list", "our confirmed result": mentions in passing that something was checked.
bool checked_attribute(const Reading& out, const Sentence& sentence, std::uint32_t at, const Before& before, Claim& claim) {
  if (before.other_verb || !has(out.words[at].cues, kCueChecked) || !attribute(out, sentence, at)) return false;
  claim.finding = true;
  return true;
}

/// Where the question in a sentence begins: "Refund processed - anything else?" states something first.
std::uint32_t before_question(const Reading& out, const Sentence& sentence) {
  const auto opens = out.words[sentence.begin].cues;
  if (has(opens, kCueModal | kCueOffer) || (has(opens, kCueAuxiliary) && !has(opens, kCueSelf))) return sentence.begin;
  for (auto i = sentence.end - 1; i > sentence.begin; --i) {
    if (out.words[i].before >= Break::kClause) return i;
  }
  return sentence.begin;
}

/// "It is confirmed that there are no ...": reports that nothing was found.
bool nothing_follows(const Reading& out, const Sentence& sentence, std::uint32_t at) {
  for (auto i = at; i < sentence.end && (i == at || out.words[i].before == Break::kNone); ++i) {
    if (has(out.words[i].cues, kCueNothingFound)) return true;
  }
  return false;
}

/// Where an instruction begins; the sentence's end when there is none: "check that all is configured", "verify the file you attached".
std::uint32_t instruction_in(const Reading& out, const Sentence& sentence) {
  for (auto i = sentence.begin; i + 1 < sentence.end; ++i) {
    const auto& word = out.words[i];
    if ((i > sentence.begin && word.before == Break::kNone) || word.entry == nullptr || word.entry->verb == kNoVerb) continue;
    const auto& next = out.words[i + 1];
    if (word.entry->forms == kFormBase && next.before == Break::kNone && has(next.cues, kCueDeterminer) && !is_article(next)) return i;
  }
  return sentence.end;
}

/// True for a word inside a quotation that follows a colon in its line: `Wes, 10 Feb: "I've sent you the contract."` Somebody else says it.
bool stands_in_quotation(const Reading& out, std::uint32_t word) {
  constexpr std::ptrdiff_t kLongest = 400;  // bytes of a quotation before the word, and behind it
  const std::string_view text(out.folded);
  const auto at = out.words[word].text.data() - text.data();
  const auto from = std::max<std::ptrdiff_t>(0, at - kLongest);
  const auto before = text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(at - from));
  const auto open = before.rfind('"');
  if (open == std::string_view::npos || before.find('\n', open) != std::string_view::npos) return false;
  const auto colon = open == 0 ? std::string_view::npos : before.find_last_not_of(" *_", open - 1);
  if (colon == std::string_view::npos || before[colon] != ':') return false;
  const auto rest = text.substr(static_cast<std::size_t>(at), kLongest);
  const auto close = rest.find_first_of("\"\n");
  return close != std::string_view::npos && rest[close] == '"';
}

void find_claims(Reading& out, std::uint32_t number) {
  const auto& sentence = out.sentences[number];
  if (opens_with_condition(out, sentence)) return;
  const auto instructed = instruction_in(out, sentence);
  const auto end = sentence.question ? before_question(out, sentence) : sentence.end;
  for (auto i = sentence.begin; i < end; ++i) {
    const auto& word = out.words[i];
    const bool finished = has(word.cues, kCueFinished | kCueFinding);
    if (!finished && (i > instructed || word.entry == nullptr || word.entry->verb == kNoVerb)) continue;
    const auto before = look_back(out, sentence, i);
    out.denies |= before.negated && word.entry != nullptr && (word.entry->forms & kFormDone) != 0;
    if (before.negated || before.conditional || before.modal || before.wanted || (before.other && !before.passive)) continue;
    if (before.relative && !finished) continue;
    // "I'm told to wait", "we were asked": the agent is the object. In other languages, auxiliary and participle are too far apart to
    // tell.
    const bool done_to_agent =
        before.passive && before.agent && !out.verb_last() && word.entry != nullptr && word.entry->forms == kFormDone;
    if (done_to_agent && !finished) continue;
    const bool state = before.passive && !before.perfect && !before.agent && word.past == ReadWord::Past::kNone;
    Claim claim{i, number, kNoVerb, false, before.agent || word.past == ReadWord::Past::kOwn, state, has(word.cues, kCueFinding)};
    if (finished) {
      if (word.entry != nullptr && word.entry->verb != kNoVerb) claim.verb = word.entry->verb;
      if (attribute(out, sentence, i)) continue;
    } else {
      claim.verb = word.entry->verb;
      if (!verb_claims(out, i, before, claim) && !checked_attribute(out, sentence, i, before, claim)) continue;
    }
    if (has(word.cues, kCueChecked | kCueFinding) && nothing_follows(out, sentence, i)) continue;
    if (stands_in_quotation(out, i)) continue;
    out.claims.push_back(claim);
  }
}

/// The longest phrase at a word that tells of a deed by what it leaves behind; nullptr for none.
const Phrase* result_at(const Lexicon& lexicon, const Reading& out, const Sentence& sentence, std::uint32_t at) {
  const auto* entry = out.words[at].entry;
  if (entry == nullptr || !has(out.words[at].cues, kCueResult)) return nullptr;
  for (const auto begins : entry->phrases) {
    const auto& phrase = lexicon.phrase(begins.phrase);
    if (!phrase.results_of.empty() && phrase_stands_at(out, phrase, at, sentence.end)) return &phrase;
  }
  return nullptr;
}

/// Needs the cues of find_claims().
void find_results(const Lexicon& lexicon, Reading& out, std::uint32_t number) {
  const auto& sentence = out.sentences[number];
  if (sentence.question || opens_with_condition(out, sentence)) return;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    const auto* phrase = result_at(lexicon, out, sentence, i);
    if (phrase == nullptr) continue;
    const auto before = look_back(out, sentence, i);
    if (before.negated || before.conditional || before.modal || before.wanted || before.relative || stands_in_quotation(out, i)) continue;
    for (const auto verb : phrase->results_of) {
      Claim result{i, number, verb};
      result.result = true;
      out.results.push_back(result);
    }
    i += static_cast<std::uint32_t>(phrase->words.size()) - 1;
  }
}

/// Collects the texts inside a JSON object, which is a message in an envelope.
bool open_envelope(std::string_view text, std::string& prose) {
  if (!looks_like_json(text)) return false;
  JsonScanner cursor(trim(text));
  std::string part;
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd; token = cursor.next()) {
    if (token == JsonScanner::Token::kBad) return false;
    if (token != JsonScanner::Token::kString || cursor.text().find(' ') == std::string_view::npos) continue;
    unescape(cursor.text(), part);
    prose.append(part).append("\n\n");
  }
  return true;
}

bool leave_code_out(std::string_view text, std::string& prose) {
  constexpr std::string_view kFence = "```";
  if (text.find(kFence) == std::string_view::npos) return false;
  while (!text.empty()) {
    const auto open = text.find(kFence);
    prose.append(text.substr(0, open)).append("\n\n");
    if (open == std::string_view::npos) break;
    const auto close = text.find(kFence, open + kFence.size());
    text = close == std::string_view::npos ? std::string_view{} : text.substr(close + kFence.size());
  }
  return true;
}

constexpr std::string_view kQuotes[] = {"\"", "\u201C", "\u201D", "\u201E", "\u00AB", "\u00BB"};

bool opens_quotation(std::string_view line) {
  return std::any_of(std::begin(kQuotes), std::end(kQuotes), [&](auto mark) { return line.starts_with(mark); });
}

bool closes_quotation(std::string_view line) {
  return std::any_of(std::begin(kQuotes), std::end(kQuotes), [&](auto mark) { return line.ends_with(mark); });
}

/// Copies the message without its quoted lines, "> Dear Ms Ray, ...", and without the words that a line with a colon offers: "You could
/// write:", then lines from one quotation mark to another. False when there are none.
bool leave_quotations_out(std::string_view text, std::string& prose) {
  if (text.find('>') == std::string_view::npos && text.find(":\n") == std::string_view::npos) return false;
  constexpr std::size_t kShortest = 80;  // bytes of a quotation; a shorter one may be an error that the agent reports
  constexpr std::size_t kLongest = 4096;
  bool any = false;
  bool offered = false;      // the last line that is not empty ends in a colon
  std::size_t searched = 0;  // no quotation closes before it
  for (std::size_t at = 0; at < text.size();) {
    auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(text.substr(at, end - at));
    bool quoted = line.starts_with('>');
    if (offered && at >= searched && opens_quotation(line)) {
      auto last = end;
      while (last < text.size() && last - at < kLongest && !closes_quotation(trim(text.substr(at, last - at))))
        last = std::min(text.find('\n', last + 1), text.size());
      quoted |= last - at >= kShortest && closes_quotation(trim(text.substr(at, last - at)));
      if (quoted) end = last;
      searched = last;
    }
    any |= quoted;
    if (!quoted) prose.append(text.substr(at, end - at));
    prose.append("\n");
    if (!line.empty()) offered = line.ends_with(':');
    at = end + 1;
  }
  return any;
}

/// What a model thinks before it answers.
constexpr std::string_view kThoughts[] = {"think", "thought", "thoughts", "thinking", "reasoning", "scratchpad", "reflection"};
/// Code that a model wants run.
constexpr std::string_view kCode[] = {"execute", "code"};

/// Where the first opening tag of an element within a range is, with or without attributes; npos when there is none.
std::size_t opening_tag(std::string_view text, std::string_view name, std::size_t from, std::size_t end) {
  const auto tag = std::string("<").append(name);
  for (auto at = text.find(tag, from); at < end; at = text.find(tag, at + 1)) {
    const char next = text[at + tag.size()];
    if (next == '>' || next == ' ') return at;
  }
  return std::string_view::npos;
}

/// True when [begin, end) is a whole line.
bool is_own_line(std::string_view text, std::size_t begin, std::size_t end) {
  const auto before = text.substr(0, begin).find_last_not_of(" \t");
  const auto after = text.find_first_not_of(" \t\r", end);
  return (before == std::string_view::npos || text[before] == '\n') && (after == std::string_view::npos || text[after] == '\n');
}

/// Copies the message without its elements of these names, "<think>...</think>", and, with `unopened`, without what is before an end tag
/// that is alone on its line: some templates leave the first tag out. False when there are none, or nothing but them.
bool leave_elements_out(std::string_view text, std::span<const std::string_view> names, bool unopened, std::string& prose) {
  constexpr std::string_view kEnd = "</";
  constexpr std::size_t kLongest = 12, kMost = 128;  // bytes of a name and its bracket, and end tags read
  bool any = false;
  std::size_t from = 0, tags = 0;
  for (auto end = text.find(kEnd); end != std::string_view::npos && tags < kMost; end = text.find(kEnd, end + 1), ++tags) {
    const auto rest = text.substr(end + kEnd.size(), kLongest);
    const auto name = rest.substr(0, rest.find('>'));
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const auto close = std::min(text.size(), end + kEnd.size() + name.size() + 1);
    auto open = opening_tag(text, name, from, end);
    if (open == std::string_view::npos && !(unopened && is_own_line(text, end, close))) continue;
    if (open == std::string_view::npos) open = from;
    prose.append(text.substr(from, open - from)).append("\n\n");
    from = close;
    any = true;
  }
  if (any) prose.append(text.substr(from));
  return any && !trim(prose).empty();
}

std::string_view prose_of(std::string_view message, std::string& buffer, bool& has_code) {
  std::string told;
  message = told_of(message, told);
  std::string prose;
  if (leave_elements_out(message, kThoughts, true, prose)) told = std::move(prose), message = told;
  prose.clear();
  if (leave_elements_out(message, kCode, false, prose)) told = std::move(prose), message = told;
  prose.clear();
  if (open_envelope(message, prose)) told = std::move(prose), message = told;
  prose.clear();
  has_code = leave_code_out(message, prose);
  if (has_code) told = std::move(prose), message = told;
  prose.clear();
  if (leave_quotations_out(message, prose)) told = std::move(prose), message = told;
  if (message.data() != told.data()) return message;
  buffer = std::move(told);
  return buffer;
}

}  // namespace

std::string_view told_of(std::string_view message, std::string& buffer) {
  constexpr std::size_t kEnds = 32 * 1024;
  if (message.size() <= 2 * kEnds) return message;
  buffer.assign(message.substr(0, kEnds)).append("\n\n").append(message.substr(message.size() - kEnds));
  return buffer;
}

std::string_view prose_of(std::string_view message, std::string& buffer) {
  bool has_code = false;
  return prose_of(message, buffer, has_code);
}

namespace {

std::uint8_t find_language(std::string_view text, const Lexicon& lexicon) {
  std::string folded;
  fold(text, folded);
  std::vector<ReadWord> words;
  WordCursor cursor(folded);
  for (RawWord raw; cursor.next(raw);) {
    if (const auto* entry = lexicon.find(raw.text); entry != nullptr) words.push_back({raw.text, entry});
  }
  return language_by(lexicon, words);
}

}  // namespace

std::uint8_t language_of(std::string_view text, const Lexicon& lexicon) {
  constexpr std::size_t kEnough = 1024;
  if (lexicon.language_count < 2) return kAnyLanguage;
  text = cut(text, kEnough);
  auto* const memo = ReadingMemo::current();
  if (memo == nullptr) return find_language(text, lexicon);
  const ReadingMemo::Key key(text, lexicon);
  if (const auto* known = memo->find_language(key); known != nullptr) return *known;
  const auto language = find_language(text, lexicon);
  memo->add_language(key, language);
  return language;
}

std::uint8_t TextLanguage::get() {
  if (!language_) language_ = language_of(text_, lexicon_);
  return *language_;
}

std::uint8_t TextLanguage::of_part(std::string_view part) {
  return language_ || part.size() < text_.size() ? get() : kAnyLanguage;
}

namespace {

/// True for the point of "19.05." or "on the 19." that is followed by a word in lower case: no sentence ends there.
bool ends_date(std::string_view text, std::size_t point, const Lexicon& lexicon) {
  constexpr std::size_t kDigits = 2;
  if (point + 2 >= text.size() || text[point + 1] != ' ' || !is_lower(text[point + 2])) return false;
  std::size_t at = point;
  const auto figure = [&] {
    const auto end = at;
    while (at > 0 && is_digit(text[at - 1])) --at;
    return at < end && end - at <= kDigits;
  };
  if (!figure() || at == 0) return false;
  if (text[--at] == '.') return figure() && (at == 0 || !(is_letter_or_digit(text[at - 1]) || text[at - 1] == '.'));
  if (text[at] != ' ' || at == 0) return false;
  const auto begin = text.find_last_of(" \n", at - 1);
  std::string word;
  fold(text.substr(begin + 1, at - begin - 1), word);
  const auto* before = lexicon.find(word);
  return before != nullptr && has(before->cues, kCuePreposition | kCueDeterminer);
}

/// "Auf den 19.05. um acht verschoben" is one sentence: such a text, with blanks for these points, in `buffer`, or the text as it is.
std::string_view with_joined_dates(std::string_view text, const Lexicon& lexicon, std::string& buffer) {
  bool any = false;
  for (auto point = text.find(". "); point != std::string_view::npos; point = text.find(". ", point + 1)) {
    if (!ends_date(text, point, lexicon)) continue;
    if (!any) buffer.assign(text);
    any = true;
    buffer[point] = ' ';
  }
  return any ? std::string_view(buffer) : text;
}

}  // namespace

namespace {

/// True when nothing was left out of the text.
bool read_words_anew(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language) {
  std::string prose, dated;
  out.has_code = false;
  const auto told = prose_of(text, prose, out.has_code);
  out.words.clear();
  out.sentences.clear();
  out.claims.clear();
  out.results.clear();
  out.cues = 0;
  out.denies = false;
  out.lexicon = &lexicon;
  const auto joined = with_joined_dates(told, lexicon, dated);
  fold(joined, out.folded, out.stressed);
  split(lexicon, out, language);
  return joined.data() == text.data() && joined.size() == text.size();
}

void read_anew(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language) {
  auto* const memo = ReadingMemo::current();
  if (memo == nullptr) {
    (void)read_words_anew(text, lexicon, out, language);
    read_meaning(lexicon, out);
    return;
  }
  const ReadingMemo::Key key(text, lexicon);
  if (memo->find(key, ReadingMemo::Kind::kMeaning, language, out)) return;
  const bool whole = !memo->find(key, ReadingMemo::Kind::kWords, language, out) && read_words_anew(text, lexicon, out, language);
  read_meaning(lexicon, out);
  memo->add(key, ReadingMemo::Kind::kMeaning, language, out, whole);
}

}  // namespace

void read(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language) {
  constexpr std::size_t kLongestKept = 64 * 1024;
  if (!out.source.empty() && out.lexicon == &lexicon && out.source_language == language && out.source == text) return;
  out.source.clear();
  read_anew(text, lexicon, out, language);
  if (text.size() > kLongestKept) return;
  out.source = text;
  out.source_language = language;
}

void read_words(std::string_view text, const Lexicon& lexicon, Reading& out, std::uint8_t language) {
  out.source.clear();
  auto* const memo = ReadingMemo::current();
  if (memo == nullptr) {
    (void)read_words_anew(text, lexicon, out, language);
    return;
  }
  const ReadingMemo::Key key(text, lexicon);
  if (memo->find(key, ReadingMemo::Kind::kWords, language, out)) return;
  const bool whole = read_words_anew(text, lexicon, out, language);
  memo->add(key, ReadingMemo::Kind::kWords, language, out, whole);
}

namespace {

/// "Could you tell me which it is:": a question without its mark.
bool asks_with_colon(const Reading& out, const Sentence& sentence) {
  const auto first = sentence.begin;
  if (first + 1 >= sentence.end || !has(out.words[first].cues, kCueModal) || !has(out.words[first + 1].cues, kCueAddressee)) return false;
  const auto& last = out.words[sentence.end - 1].text;
  const auto end = static_cast<std::size_t>(last.data() + last.size() - out.folded.data());
  return end < out.folded.size() && out.folded[end] == ':';
}

}  // namespace

void read_meaning(const Lexicon& lexicon, Reading& out, bool with_claims) {
  ListReader lists(out);
  for (std::uint32_t i = 0; i < out.sentences.size(); ++i) {
    auto& sentence = out.sentences[i];
    mark_phrases(lexicon, out, sentence);
    for (auto k = sentence.begin; k < sentence.end; ++k) sentence.cues |= out.words[k].cues;
    out.cues |= sentence.cues;
    sentence.question |= lists.is_choice(sentence) || asks_with_colon(out, sentence);
    sentence.nonfactual = lists.is_nonfactual(sentence);
    lists.after(sentence);
    if (!with_claims || sentence.nonfactual) continue;
    find_claims(out, i);
    if (has(sentence.cues, kCueResult)) find_results(lexicon, out, i);
  }
}

namespace {

/// Half of the words of Vietnamese have letters that Spanish, German and French do not have. Without the diacritics, the words may look
/// known.
bool often_marked(std::string_view text) {
  constexpr std::size_t kWordsToOne = 4;
  constexpr std::size_t kFewest = 8;      // fewer words are no evidence
  constexpr char kSign = '\xE2';          // begins currency signs, dashes and quotes in UTF-8, but no letter with a diacritic
  constexpr unsigned char kFirst = 0xC4;  // begins the first letter that none of the three has
  if (find_in_blocks(text, 0, [](const Simd16& block) { return block.wide(); }) == text.size()) return false;
  std::size_t words = 0;
  std::size_t marked = 0;
  for_each_word(text, [&](std::string_view word) {
    if (word.size() < 3 || word[0] == kSign) return true;
    ++words;
    marked += std::any_of(word.begin(), word.end(), [&](char c) { return static_cast<unsigned char>(c) >= kFirst && c != kSign; });
    return true;
  });
  return words >= kFewest && marked * kWordsToOne > words;
}

}  // namespace

namespace {

/// False for figures, and for single letters that are not words.
bool is_spelled(const ReadWord& word) {
  return !is_digit(word.text[0]) && (word.text.size() >= 2 || word.known());
}

/// True when a phrase with the cue is told as a fact, by the speaker.
bool tells_as_fact(const Reading& reading, Cue cue) {
  if (!has(reading.cues, cue)) return false;
  for (const auto& sentence : reading.sentences) {
    if (!has(sentence.cues, cue) || sentence.question || opens_with_condition(reading, sentence)) continue;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      if (!has(reading.words[i].cues, cue)) continue;
      const auto before = look_back(reading, sentence, i);
      if (!before.negated && !before.conditional && !before.modal && !before.wanted && !before.other) return true;
      while (i + 1 < sentence.end && has(reading.words[i + 1].cues, cue)) ++i;
    }
  }
  return false;
}

}  // namespace

bool Reading::understood(std::string_view text) const {
  if (often_marked(text)) return false;
  constexpr std::size_t kFewWords = 3;      // "Done.", "Refund processed today": one known word suffices
  constexpr std::size_t kUnknownToOne = 7;  // English and Spanish texts have three or four known words in ten
  std::size_t known = 0;
  std::size_t foreign = 0;
  std::size_t spelled = 0;
  for (const auto& word : words) {
    foreign += has(word.cues, kCueForeign) ? 1u : 0u;
    if (!is_spelled(word)) continue;
    ++spelled;
    known += word.known();
  }
  if (foreign > 0 && 2 * foreign >= known) return false;
  return spelled <= kFewWords ? known > 0 || spelled == 0 : known * kUnknownToOne >= spelled;
}

Reading::Known Reading::known_in_one_language() const {
  std::array<std::size_t, Vocabulary::kMostLanguages> known{};
  std::size_t spelled = 0;
  for (const auto& word : words) {
    if (!is_spelled(word)) continue;
    ++spelled;
    if (!word.known()) continue;
    for (auto rest = word.entry->languages; rest != 0; rest &= rest - 1) ++known[static_cast<std::size_t>(std::countr_zero(rest))];
  }
  return {*std::max_element(known.begin(), known.end()), spelled};
}

bool Reading::plainly_understood(std::string_view text) const {
  constexpr std::size_t kFewWords = 3;
  constexpr std::size_t kShort = 12;
  constexpr std::size_t kUnknownToOne = 3;
  if (!understood(text)) return false;
  const auto [known, spelled] = known_in_one_language();
  return spelled <= kFewWords || spelled > kShort || known * kUnknownToOne >= spelled;
}

bool denies_of_self(const Reading& reading) {
  return std::any_of(reading.sentences.begin(), reading.sentences.end(),
                     [&](const Sentence& sentence) { return (sentence.cues & kCueSelf) != 0 && negates_anything(reading, sentence); });
}

bool opens_with_denial(const Reading& reading) {
  if (reading.sentences.size() < 2) return false;
  const auto& first = reading.sentences.front();
  const auto begin = reading.words.begin() + first.begin;
  const auto end = reading.words.begin() + first.end;
  return std::any_of(begin, end, [&](const ReadWord& word) { return negates(reading, word); }) &&
         std::none_of(begin, end, [](const ReadWord& word) { return is_digit(word.text[0]); });
}

const Claim* claim_before(const Reading& reading, const Sentence& sentence, std::uint32_t word) {
  const auto next = std::lower_bound(reading.claims.begin(), reading.claims.end(), word,
                                     [](const Claim& claim, std::uint32_t at) { return claim.word < at; });
  const auto* last = next == reading.claims.begin() ? nullptr : &*std::prev(next);
  return last != nullptr && last->word >= sentence.begin ? last : nullptr;
}

bool shares_word(const Reading& reading, std::string_view text) {
  constexpr std::size_t kTelling = 4, kMostBytes = 2048;
  constexpr std::ptrdiff_t kMostWords = 256;
  std::string other;
  fold(text.substr(0, kMostBytes), other);
  const auto last = reading.words.begin() + std::min(kMostWords, std::ssize(reading.words));
  return std::any_of(reading.words.begin(), last, [&](const ReadWord& word) {
    const bool small = word.entry != nullptr && word.entry->verb == kNoVerb && word.entry->cues != 0;  // "all", "now"
    return word.text.size() >= kTelling && !small && other.find(word.text) != std::string::npos;
  });
}

bool says_by_hand(const Reading& reading) {
  return tells_as_fact(reading, kCueByHand);
}

bool tells_own_deed(const Reading& reading, const std::vector<std::uint16_t>& groups) {
  return tells_as_fact(reading, kCueOwnDeed) || std::any_of(reading.claims.begin(), reading.claims.end(), [&](const Claim& claim) {
           if (!claim.by_agent || claim.in_progress || claim.finding || claim.verb == kNoVerb) return false;
           if (reading.sentences[claim.sentence].question) return false;
           return std::find(groups.begin(), groups.end(), reading.lexicon->verb(claim.verb).group) != groups.end();
         });
}

bool ends_in_plan(const Reading& reading) {
  constexpr std::size_t kClosingWords = 3;
  std::size_t looked = 0;
  for (auto sentence = reading.sentences.rbegin(); sentence != reading.sentences.rend(); ++sentence) {
    if (sentence->end - sentence->begin < kClosingWords) continue;
    const auto opens = reading.words[sentence->begin].cues;
    if (has(opens, kCuePlan) && !has(opens, kCueOffer)) return true;
    const bool announces = has(sentence->cues, kCueSelf) && has(sentence->cues, kCueModal) && !has(sentence->cues, kCueHypothesis);
    if (reading.has_code && (has(sentence->cues, kCuePlan) || announces)) return true;
    // Code handed out to be run also makes the sentence before the last a plan.
    if (++looked == (reading.has_code ? 2u : 1u)) return false;
  }
  return false;
}

bool is_goodbye(const Reading& reading) {
  constexpr std::size_t kFewWords = 2;  // "ok", a protocol's stop word
  constexpr std::size_t kMostWords = 80;
  constexpr std::ptrdiff_t kMostFigures = 4;
  if (!reading.claims.empty() || reading.denies || has(reading.cues, kCueAdmission | kCueHandover | kCueNothingFound)) return false;
  if (reading.words.size() <= kFewWords) return true;
  // "TP575, 12 June, 06:00. Have a wonderful time!" is a report that ends politely.
  const auto figures =
      std::count_if(reading.words.begin(), reading.words.end(), [](const ReadWord& word) { return is_digit(word.text[0]); });
  if (has(reading.cues, kCueGoodbye)) return reading.words.size() <= kMostWords && figures <= kMostFigures;
  // "Enjoy the new home, Tess!"
  constexpr std::size_t kShort = 10;
  constexpr std::uint64_t kTelling = kCueTrouble | kCueHypothesis | kCueModal | kCueAuxiliary;
  return trim(reading.folded).ends_with('!') && reading.words.size() <= kShort && figures == 0 && !reading.asks() &&
         !has(reading.cues, kTelling) && !negates_anything(reading);
}

}  // namespace runwarden::plugins
