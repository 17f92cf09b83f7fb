#include "missing_tool_call/requests.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "common/findings.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kNearNoun = 8;  // words between a light verb or a wish and the noun of the action
constexpr std::size_t kNearVerb = 8;  // words before a participle in which "want" or "need" makes a request of it

bool is_negated(const Reading& reading, const Sentence& sentence, std::size_t end) {
  for (auto i = std::max<std::size_t>(sentence.begin, end - std::min(end, kNearNoun)); i < end; ++i) {
    if (negates(reading, reading.words[i])) return true;
  }
  return false;
}

/// "I need it cancelled", but not "how much I paid".
bool is_wanted(const Reading& reading, std::size_t at) {
  for (auto k = at; k > 0 && at - k < kNearVerb && reading.words[k].before == Break::kNone; --k) {
    const auto cues = reading.words[k - 1].cues;
    if (has(cues, kCueSelf | kCueOther)) return false;
    if (has(cues, kCueModal)) return true;
  }
  return false;
}

/// "Extend my stay": of the user's own things.
bool is_own(const Reading& reading, const Sentence& sentence, std::size_t at) {
  constexpr std::size_t kReach = 6;
  for (auto i = at + 1; i < sentence.end && i - at <= kReach && reading.words[i].before == Break::kNone; ++i) {
    if (has(reading.words[i].cues, kCueOwn)) return true;
  }
  if (!ends_clause(reading, sentence, at)) return false;
  for (auto i = at; i > sentence.begin && reading.words[i].before == Break::kNone; --i) {
    if (has(reading.words[i - 1].cues, kCueOwn)) return true;
  }
  return false;
}

/// "Turn on", "turn it down": only with such a word it does something, rather than to turn a thing into another.
bool has_particle(const Reading& reading, const Sentence& sentence, std::size_t at) {
  constexpr std::size_t kReach = 6;
  for (auto i = at + 1; i < sentence.end && i - at <= kReach && reading.words[i].before == Break::kNone; ++i) {
    if (has(reading.words[i].cues, kCueParticle)) return true;
  }
  return false;
}

/// "Könnten Sie meinen Termin absagen?": where verbs end the clause, an infinitive there that a modal or a wish of somebody's, or "bitte",
/// is before.
bool is_framed(const Reading& reading, const Sentence& sentence, std::size_t at) {
  if (!ends_clause(reading, sentence, at)) return false;
  std::uint64_t cues = 0;
  for (auto i = at; i > sentence.begin && reading.words[i].before == Break::kNone; --i) cues |= reading.words[i - 1].cues;
  return has(cues, kCuePlease) || (has(cues, kCueWish | kCueHelpingModal) && has(cues, kCueAddressee | kCueSelf));
}

/// True for a word that a hyphen joins to the one before it.
bool joined_before(const Reading& reading, const Sentence& sentence, std::size_t at) {
  if (at == sentence.begin) return false;
  const auto& previous = reading.words[at - 1].text;
  const auto* hyphen = previous.data() + previous.size();
  return *hyphen == '-' && hyphen + 1 == reading.words[at].text.data();
}

/// "A one-page briefing", but not "e-mail it".
bool part_of_word(const Reading& reading, const Sentence& sentence, std::size_t at) {
  return joined_before(reading, sentence, at) && reading.words[at - 1].text.size() > 1;
}

/// "Users can", "the app should": describes what someone does. "Can you", "I would" and "should" at the head of a clause ask.
bool tells_of_others(const Reading& reading, const Sentence& sentence, std::size_t modal) {
  if (modal == sentence.begin || reading.words[modal].before != Break::kNone) return false;
  const auto& subject = reading.words[modal - 1];
  return !has(subject.cues, kCueAddressee | kCueOpener | kCueSelf | kCueConjunction | kCueAdverb | kCueModal | kCueNegation);
}

/// "Could you please double-check the number?": asks the user for something, unlike "would you like me to book it?".
bool asks_user(const Reading& reading, const Sentence& sentence) {
  const auto next = behind_would_you(reading, sentence);
  return next < sentence.end && !has(reading.words[next].cues, kCueWish);
}

/// "Email: ann@harbour.example": the name of a value, at the beginning of its line.
bool is_label(const Reading& reading, const ReadWord& word) {
  const std::string_view text = reading.folded;
  const auto begin = static_cast<std::size_t>(word.text.data() - text.data());
  const auto before = text.substr(0, begin).find_last_not_of("*-# \t");
  const auto after = text.find_first_not_of("* \t", begin + word.text.size());
  return after != std::string_view::npos && text[after] == ':' && (before == std::string_view::npos || text[before] == '\n');
}

/// "Order 5518-L": true for a word with an id behind it that ends the clause. It names a thing.
bool is_numbered(const Reading& reading, const Sentence& sentence, std::size_t at) {
  constexpr std::size_t kShortest = 4;
  if (at + 1 >= sentence.end || reading.words[at + 1].before != Break::kNone) return false;
  const auto first = reading.words[at + 1].text;
  auto next = at + 2;
  while (next < sentence.end && joined_before(reading, sentence, next)) ++next;
  const auto last = reading.words[next - 1].text;
  const std::string_view number(first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data()));
  const bool ends = next >= sentence.end || reading.words[next].before != Break::kNone;
  return ends && number.size() >= kShortest && std::any_of(number.begin(), number.end(), is_digit);
}

/// "On the staging host restart the proxy": an imperative behind the place or time that it opens with, and before its object.
bool is_fronted(const Reading& reading, const Sentence& sentence, std::size_t at) {
  constexpr std::size_t kMost = 6, kLeast = 2;
  const auto& words = reading.words;
  if (at < sentence.begin + kLeast || at > sentence.begin + kMost || at + 1 >= sentence.end) return false;
  const auto opens = words[sentence.begin].cues;
  if (!has(opens, kCuePreposition) || has(opens, kCueInfinitive | kCueAuxiliary | kCueModal | kCueCondition | kCueReason)) return false;
  if (words[at + 1].before != Break::kNone || !has(words[at + 1].cues, kCueDeterminer | kCueOwn)) return false;
  const auto before = words[at - 1].cues;
  if (has(before, kCueDeterminer | kCueOwn | kCuePreposition | kCueNegation | kCueAuxiliary | kCueModal)) return false;
  for (auto i = sentence.begin + 1; i < at; ++i) {
    if (has(words[i].cues, kCueSelf | kCueOther | kCueAsking | kCueRelative)) return false;
    // "In spring the crew paint the boats": another noun is who does it.
    if (has(words[i].cues, kCueDeterminer | kCueOwn) && !has(words[i - 1].cues, kCuePreposition)) return false;
  }
  return true;
}

}  // namespace

std::string pointer_of(const RunView& run, const Request& request) {
  if (request.step == kNoStep) return "/userRequestText";
  return pointer_to(request.step, run.steps[request.step].output.empty() ? Field::kInput : Field::kOutput);
}

std::uint32_t behind_would_you(const Reading& reading, const Sentence& sentence) {
  for (auto i = sentence.begin; i + 2 < sentence.end; ++i) {
    if (has(reading.words[i].cues, kCueModal) && has(reading.words[i + 1].cues, kCueAddressee)) return i + 2;
  }
  return sentence.end;
}

void add_actions(const Vocabulary& vocabulary, Lexicon& lexicon) {
  vocabulary.each(Key::kActionVerbs, [&](auto line, auto language) { (void)lexicon.add_verb(line, language); });
  const auto telling = vocabulary.words(Key::kTellingVerbs);
  const auto askers = vocabulary.words(Key::kAsker);
  std::vector<Lexicon::Clitic> clitics;
  vocabulary.each(Key::kClitics, [&](std::string_view pronoun, auto language) { clitics.push_back({std::string(pronoun), language}); });
  const auto without = vocabulary.words(Key::kNoCliticEndings);
  // "Let me know" asks for a message.
  lexicon.add_clitics(clitics, [&](std::string_view pronoun, std::string_view form, std::string_view lemma) {
    return !ends_like(form, without) && (!among(pronoun, askers) || !among(lemma, telling));
  });
  vocabulary.each(Key::kActionGroups, [&](auto line, auto) { lexicon.add_group(line); });
  vocabulary.each(Key::kActionNouns, [&](std::string_view line, auto language) {
    if (lexicon.add_nouns(line, language) != kNoVerb) return;
    const auto lemma = std::string(trim(line.substr(0, line.find('='))));
    throw std::invalid_argument("/vocabulary: action_nouns: no verb has the lemma \"" + lemma + "\"; add it under `verbs`");
  });
  vocabulary.each(Key::kResults, [&](std::string_view line, auto language) {
    if (lexicon.add_results(line, language)) return;
    const auto lemma = std::string(trim(line.substr(0, line.find('='))));
    throw std::invalid_argument("/vocabulary: results: " + lemma + ": no verb has this lemma, or a phrase is a single word");
  });
  lexicon.freeze();
}

Requests::Requests(const Settings& settings, const Lexicon& lexicon, const TextWork& text_work)
    : lexicon_(lexicon), text_work_(text_work), grammar_(settings.rule("request_grammar")), any_action_rule_(settings.rule("any_action")) {
  const auto& vocabulary = settings.vocabulary();
  read_vocabulary(vocabulary);
  make_group_ = group_of(vocabulary, Key::kMakingVerbs, lexicon_);
  if (any_action_rule_) add_same_actions();
  retracting_words_.add_all(lexicon_, kCueRetracted);
  for (const auto& word : lexicon_.words()) {
    if (has(word.cues, kCueParticle) && (word.languages & lexicon_.verb_last) != 0) parted_prefixes_.add(word.word);
  }
}

void Requests::read_vocabulary(const Vocabulary& vocabulary) {
  const auto verbs_of = [&](Key key, bool otherwise = false) {
    std::vector<bool> verbs(lexicon_.verb_count(), otherwise);
    for (const auto verb : lexicon_.verbs_named(vocabulary.words(key))) verbs[verb] = !otherwise;
    return verbs;
  };
  listed_ = verbs_of(Key::kRequestVerbs);
  light_ = verbs_of(Key::kLightVerbs);
  with_particle_ = verbs_of(Key::kParticleVerbs);
  telling_ = verbs_of(Key::kTellingVerbs);
  asker_ = vocabulary.words(Key::kAsker);
  object_pronouns_ = vocabulary.words(Key::kObjectPronouns);
  open_ = any_action_rule_ ? verbs_of(Key::kAnswerVerbs, true) : std::vector<bool>(lexicon_.verb_count(), false);
  nouns_of_.assign(lexicon_.verb_count(), 0);
  vocabulary.each(Key::kActionNouns, [&](std::string_view line, std::size_t language) {
    if (const auto verb = lexicon_.verb_named(trim(line.substr(0, line.find('=')))); verb != kNoVerb) {
      nouns_of_[verb] |= LanguageSet{1} << language;
    }
  });
  for (const auto& word : vocabulary.words(Key::kQuotingVerbs)) quoting_.add(word);
  make_believe_ = vocabulary.words(Key::kMakeBelieve);
}

/// A verb that does what a request verb does asks for the same ("buy" as "order"); but making things is often only talk.
void Requests::add_same_actions() {
  const auto group_of = [&](std::size_t verb) { return lexicon_.verb(static_cast<std::uint16_t>(verb)).group; };
  std::vector<bool> groups(lexicon_.last_group() + 1, false);
  for (std::size_t verb = 0; verb < listed_.size(); ++verb) {
    if (listed_[verb] && group_of(verb) != make_group_) groups[group_of(verb)] = true;
  }
  for (std::size_t verb = 0; verb < listed_.size(); ++verb) listed_[verb] = listed_[verb] || groups[group_of(verb)];
}

void Requests::set_relevant(const std::vector<bool>& relevant, const WordFilter& words, const std::vector<bool>& actions,
                            const WordFilter& action_words) {
  relevant_ = relevant;
  relevant_words_ = words;
  actions_ = actions;
  action_words_ = action_words;
}

bool Requests::is_action_noun(const WordEntry& word) const {
  return word.verb != kNoVerb && (nouns_of_[word.verb] & word.languages) != 0 && (word.forms & (kFormNoun | kFormBase)) != 0;
}

/// The verb of the action that a light verb is about: "initiated the process for your full refund".
std::uint16_t Requests::noun_behind(const Reading& reading, const Sentence& sentence, std::size_t at) const {
  for (auto i = at + 1; i < sentence.end && i - at <= kNearNoun && reading.words[i].before == Break::kNone; ++i) {
    const auto* entry = reading.words[i].entry;
    if (entry != nullptr && is_action_noun(*entry)) return entry->verb;
  }
  return kNoVerb;
}

/// True for the first word of a compound, "payment" in "the payment figure": a word follows that nothing is known of.
bool Requests::begins_compound(const Reading& reading, const Sentence& sentence, std::size_t at) {
  if (at + 1 >= sentence.end || reading.words[at + 1].before != Break::kNone) return false;
  const auto& next = reading.words[at + 1];
  return !next.known() && !is_digit(next.text[0]) && next.text.size() > 3;
}

/// "I want a full refund", "I'd like to get a refund", "go ahead with the refund".
bool Requests::is_wished(const Reading& reading, const Sentence& sentence, std::size_t at) const {
  if (begins_compound(reading, sentence, at)) return false;
  for (auto i = at; i > sentence.begin && at - i < kNearNoun && reading.words[i].before == Break::kNone; --i) {
    const auto& word = reading.words[i - 1];
    const auto before = i > sentence.begin + 1 && word.before == Break::kNone ? reading.words[i - 2].cues : 0;
    if (has(word.cues, kCueGoAhead)) return !is_negated(reading, sentence, i);
    if (has(word.cues, kCueInfinitive) && has(before, kCueWish)) continue;
    if (has(word.cues, kCuePreposition | kCueConjunction) && !is_article(word)) return false;
    // "I'd like to cancel my reservation": another verb's object.
    const auto verb = word.entry != nullptr && (word.entry->forms & kFormBase) != 0 ? word.entry->verb : kNoVerb;
    if (verb != kNoVerb && (listed_[verb] || open_[verb]) && !light_[verb] && lexicon_.verb(verb).group != make_group_) return false;
    if (has(word.cues, kCueWish)) return i > sentence.begin + 1 && has(reading.words[i - 2].cues, kCueSelf | kCueModal);
  }
  return false;
}

/// True when the base form of a verb at this word asks for something, rather than being a noun ("my last order").
bool Requests::is_request(const Reading& reading, const Sentence& sentence, std::size_t at) const {
  const auto& word = reading.words[at];
  // "Texts", "she books": the third person, or a noun of several.
  if (word.text.ends_with('s') && word.entry != nullptr && word.entry->verb != kNoVerb &&
      word.text.substr(0, word.text.size() - 1) == lexicon_.verb(word.entry->verb).lemma) {
    return false;
  }
  if (!grammar_ || at == 0 || word.before != Break::kNone) return true;
  const auto& previous = reading.words[at - 1];
  if (has(previous.cues, kCueInfinitive))
    return at < 2 || !has(reading.words[at - 2].cues, kCueAsking) || has(reading.words[at - 2].cues, kCueAuxiliary);
  if (has(previous.cues, kCueConjunction) && has(previous.cues, kCueAsking)) return false;
  if (has(previous.cues, kCueSelf | kCueModal | kCueConjunction | kCueOffer)) return true;
  // "Via email".
  if (has(previous.cues, kCuePreposition) && !has(previous.cues, kCueAdverb | kCueAuxiliary | kCuePlease)) return false;
  // "The $25 charge", "for 20 transfers".
  const bool counted = is_digit(previous.text[0]) && at >= 2 && previous.before == Break::kNone &&
                       has(reading.words[at - 2].cues, kCueDeterminer | kCuePreposition);
  if (counted || has(previous.cues, kCueDeterminer | kCueNounSign | kCueAuxiliary) || text_work_.is_noun(previous.text, reading.language))
    return false;
  if (has(previous.cues, kCueAdverb | kCueNegation) || ends_like(previous.text, lexicon_.adverb_endings)) return true;
  // "Quiero cancelar": the infinitive of a wish. "I need cancellation" names no verb.
  if (has(previous.cues, kCueWish) || is_fronted(reading, sentence, at)) return true;
  // "Returning order 12", "the quoted text": a participle has a noun behind it.
  if (previous.entry != nullptr && previous.entry->verb != kNoVerb && (previous.entry->forms & (kFormBase | kFormNoun)) == 0) return false;
  // "you book", "also cancel", "hi cancel": any other short word leaves it a verb; a noun or adjective before makes a noun.
  return previous.known() || has(previous.cues, kCueAddressee) || previous.text.size() <= 3;
}

/// "Turn on the light", "please", "can you", "I want you to": an imperative or a wish of the user that the verb at this word is in.
bool Requests::is_asked(const Reading& reading, const Sentence& sentence, std::size_t at, WordContext context) const {
  const auto& words = reading.words;
  if (is_framed(reading, sentence, at)) return !context.told;
  const bool joined = at + 1 < sentence.end && words[at + 1].before == Break::kNone;
  if (joined && has(words[at + 1].cues, kCueAuxiliary) && !has(words[at + 1].cues, kCueSelf)) return false;
  auto k = at;
  const auto heads = [&](std::size_t word) { return word == sentence.begin || words[word].before != Break::kNone; };
  while (!heads(k) && (has(words[k - 1].cues, kCueAdverb) || has(words[k - 1].cues, kCuePlease))) {
    if (has(words[--k].cues, kCuePlease)) return true;
  }
  if (k == sentence.begin) return true;
  if (heads(k)) return !context.told;
  if (is_fronted(reading, sentence, k)) return true;
  const auto& previous = words[k - 1];
  if (has(previous.cues, kCueOpener) && heads(k - 1)) return true;
  if (has(previous.cues, kCueWish)) return true;
  const auto* before = k >= sentence.begin + 2 && words[k - 1].before == Break::kNone ? &words[k - 2] : nullptr;
  if (has(previous.cues, kCueConjunction) && !has(previous.cues, kCueAsking)) {
    const auto opens = words[sentence.begin].cues;
    const bool statement = has(opens, kCueSelf | kCueOther | kCueDeterminer | kCueAsking | kCueAuxiliary | kCueCondition);
    return !context.told && (context.asked || !statement);
  }
  if (before == nullptr) return false;
  // "Hey Jarvis turn it on": a name may follow the greeting.
  if (has(before->cues, kCueOpener) && heads(k - 2) && !previous.known()) return true;
  if (has(previous.cues, kCueAddressee)) return has(before->cues, kCueHelpingModal);
  if (!has(previous.cues, kCueInfinitive)) return false;
  if (has(before->cues, kCueWish)) return true;
  return has(before->cues, kCueAddressee) && k >= sentence.begin + 3 && has(words[k - 3].cues, kCueWish);
}

/// True when an open verb at this word asks for an action that only a tool can do.
bool Requests::asks_for_action(const Reading& reading, const Sentence& sentence, std::size_t at, WordContext context) const {
  const auto verb = reading.words[at].entry->verb;
  const bool making = lexicon_.verb(verb).group == make_group_;
  if (!any_action_ || !(open_[verb] || text_work_.shapes(verb)) || !is_asked(reading, sentence, at, context)) return false;
  const auto* next = at + 1 < sentence.end && reading.words[at + 1].before == Break::kNone ? &reading.words[at + 1] : nullptr;
  const auto* after =
      next != nullptr && at + 2 < sentence.end && reading.words[at + 2].before == Break::kNone ? &reading.words[at + 2] : nullptr;
  // "Remind me how it works": asks to know.
  if (after != nullptr && among(next->text, asker_) && has(after->cues, kCueAsking | kCueTopicPreposition)) return false;
  if (with_particle_[verb] && !has_particle(reading, sentence, at)) return false;
  const auto thing = text_work_.thing_at(reading, sentence, at, making);
  // "Open the list" asks to see it, "note the allergy on the booking" for a deed.
  const bool for_asker = next != nullptr && among(next->text, asker_);
  if (!open_[verb]) return making ? thing == Thing::kRecord : !for_asker && text_work_.names_record_as_place(reading, sentence, at);
  if (making) return thing == Thing::kRecord || thing == Thing::kEither;
  if (thing == Thing::kText && text_work_.shapes(verb)) return false;
  const bool of_talk = tools_ran_ && next != nullptr && among(next->text, object_pronouns_);
  return thing != Thing::kUnknown || (changed_ && !gives_text_) || of_talk || !text_work_.shapes(verb) || is_own(reading, sentence, at);
}

void Requests::forget() {
  found_.clear();
  asked_.assign(lexicon_.verb_count(), 0);
}

/// Where the words begin and end that a turn asks to work on: what is behind "translate this:" is asked by nobody.
std::pair<std::size_t, std::size_t> Requests::quoted_part(std::string_view prose) {
  constexpr std::size_t kLeading = 160;  // bytes before a mark that contain the verb
  const std::pair<std::size_t, std::size_t> none{prose.size(), prose.size()};
  if (!grammar_) return none;
  const auto asks_before = [&](std::size_t mark) {
    auto from = mark;
    while (from > 0 && mark - from < kLeading && prose[from - 1] != '.' && prose[from - 1] != '!' && prose[from - 1] != '?') --from;
    return quoting_.finds(prose.substr(from, mark - from));
  };
  auto mark = prose.find(':');
  for (const char sign : {'"', '\n'}) mark = std::min(mark, prose.substr(0, mark).find(sign));
  const auto single = prose.substr(0, mark).find(" '");  // an apostrophe follows a letter
  if (single != std::string_view::npos && asks_before(single + 1)) {
    mark = single + 1;
  } else if (mark == std::string_view::npos || !asks_before(mark)) {
    return none;
  }
  const auto ends = [&](std::size_t at) { return at + 1 >= prose.size() || !is_letter_or_digit(prose[at + 1]); };
  auto close = prose[mark] == '"' || prose[mark] == '\'' ? prose.find(prose[mark], mark + 1) : std::string_view::npos;
  while (close != std::string_view::npos && prose[mark] == '\'' && !ends(close)) close = prose.find('\'', close + 1);
  return {mark, close == std::string_view::npos ? prose.size() : close};
}

std::string_view Requests::given_text(std::string_view turn) {
  const auto [begin, end] = quoted_part(turn);
  return turn.substr(begin, end - begin);
}

/// Collects what the sentences in `reading`, a part of a turn, ask for.
void Requests::collect_read(Reading& reading, std::string_view turn, std::size_t step) {
  read_meaning(lexicon_, reading, false);
  for (const auto& sentence : reading.sentences) {
    if (has(sentence.cues, kCueRetracted)) forget();
    // "How do I transfer it?", "Did you charge me?": asks to know.
    // Not all who ask how it is done put a question mark behind it.
    const auto opens = reading.words[sentence.begin].cues;
    const bool inquires = sentence.question || !has(opens, kCueAuxiliary | kCueModal | kCueCondition | kCueConjunction);
    if (grammar_ && inquires && has(opens, kCueAsking)) continue;
    collect_in(reading, sentence, turn, step);
  }
}

/// True for a text in a language that parts its verbs ("lade ... ein"), with a word that may be a part: neither part alone is looked for.
bool Requests::may_part_verbs(std::string_view prose, TextLanguage& language) {
  if (!any_action_ || !parted_prefixes_.finds(prose)) return false;
  return language.get() != kAnyLanguage && (lexicon_.verb_last >> language.get() & 1) != 0;
}

void Requests::collect_of(std::string_view turn, std::size_t step, Reading& reading) {
  const auto& relevant = any_action_ ? actions_ : relevant_;
  gives_text_ = false;
  const auto asks = [&](const WordEntry& word) {
    return word.verb != kNoVerb && relevant[word.verb] && (any_action_ || word.forms != kFormNoun);
  };
  std::string buffer;
  const auto prose = prose_of(turn, buffer);
  TextLanguage language(prose, lexicon_);
  const auto read_part = [&](std::string_view part) {
    read_words(part, lexicon_, reading, language.of_part(part));
    collect_read(reading, turn, step);
  };
  std::optional<std::pair<std::size_t, std::size_t>> quoted;
  const auto take = [&](std::string_view passage) {
    if (!quoted) quoted = quoted_part(prose);
    gives_text_ = quoted->first < quoted->second;
    const auto begin = static_cast<std::size_t>(passage.data() - prose.data());
    const auto end = begin + passage.size();
    if (end <= quoted->first || begin >= quoted->second) {
      read_part(passage);
      return true;
    }
    if (begin < quoted->first) read_part(prose.substr(begin, quoted->first - begin));
    if (end > quoted->second) read_part(prose.substr(quoted->second, end - quoted->second));
    return true;
  };
  if (retracting_words_.finds(prose) || may_part_verbs(prose, language)) {
    take(prose);
  } else {
    (any_action_ ? action_words_ : relevant_words_).each_passage(prose, lexicon_, asks, take);
  }
}

void Requests::add(Request request, std::size_t at, const Reading& reading, const Sentence& sentence) {
  if (text_work_.shapes(request.verb)) {
    request.thing = text_work_.thing_at(reading, sentence, at, lexicon_.verb(request.verb).group == make_group_);
  }
  request.sorting = text_work_.sorts_at(reading, sentence, at);
  request.conditional = has(sentence.cues, kCueCondition);
  if (reading.language != kAnyLanguage) request.languages = LanguageSet{1} << reading.language;
  const auto bit = static_cast<std::uint8_t>(1u << (static_cast<unsigned>(request.thing) + (request.sorting ? 4u : 0u)));
  if ((asked_[request.verb] & bit) == 0) {
    asked_[request.verb] |= bit;
    found_.push_back(request);
    return;
  }
  if (!request.open && !request.listed) return;
  for (auto& known : found_) {
    const bool same = known.verb == request.verb && known.thing == request.thing;
    known.open |= same && request.open;
    known.listed |= same && request.listed;
    known.accepted |= same && request.accepted;
    if (same) known.languages |= request.languages;
  }
}

void Requests::collect_in(const Reading& reading, const Sentence& sentence, std::string_view turn, std::size_t step) {
  WordContext context;
  for (std::size_t i = sentence.begin; i < sentence.end; ++i) {
    const auto& word = reading.words[i];
    if (word.before >= Break::kClause) context.told = false;
    if (has(word.cues, kCueModal)) context.told = grammar_ && has(word.cues, kCueHelpingModal) && tells_of_others(reading, sentence, i);
    if (word.entry == nullptr || word.entry->verb == kNoVerb) continue;
    // "Pay attention": a phrase that is not an action.
    if (has(word.cues & ~word.entry->cues, kCueFinding) || part_of_word(reading, sentence, i) || is_label(reading, word)) continue;
    const auto verb = word.entry->verb;
    const auto forms = word.entry->forms;
    if (text_work_.sorts(verb) && is_numbered(reading, sentence, i)) continue;
    // "Tell me when it comes": asks to know.
    if (telling_[verb] && i + 1 < sentence.end && among(reading.words[i + 1].text, asker_)) continue;
    const bool infinitive = i > 0 && has(reading.words[i - 1].cues, kCueInfinitive);
    const bool base = (forms & kFormBase) != 0;
    const bool heard = listed_[verb] || relevant_[verb];
    const bool open = base && !listed_[verb] && asks_for_action(reading, sentence, i, context);
    const bool asked =
        open || (heard && base && (!context.told || infinitive) && (is_framed(reading, sentence, i) || is_request(reading, sentence, i))) ||
        (heard && !base && (forms & kFormDone) != 0 && is_wanted(reading, i)) ||
        (any_action_ && is_action_noun(*word.entry) && is_wished(reading, sentence, i));
    context.asked |= asked;
    if (asked) add({verb, Thing::kUnknown, false, listed_[verb], open, step, turn}, i, reading, sentence);
    if (!any_action_ || asked || !base || !light_[verb] || !is_asked(reading, sentence, i, context)) continue;
    // "Process my refund".
    context.asked = true;
    const auto noun = noun_behind(reading, sentence, i);
    if (noun == kNoVerb) continue;
    add({noun, Thing::kUnknown, false, listed_[noun], open_[noun], step, turn}, i, reading, sentence);
  }
}

void Requests::collect(const RunView& run, Scope scope, Reading& reading) {
  any_action_ = scope.any_action && any_action_rule_;
  changed_ = scope.changed;
  tools_ran_ = std::any_of(run.steps.begin(), run.steps.end(), [](const StepView& step) { return step.kind == Kind::kTool; });
  believed_ = -1;
  forget();
  collect_of(run.user_request, kNoStep, reading);
  if (!any_action_rule_) return;
  std::string_view offer;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.said().size());
    if (step.kind == Kind::kModel && !trim(step.output).empty()) offer = step.output;
    if (step.kind != Kind::kUser || trim(step.said()) == trim(run.user_request)) continue;
    collect_of(step.said(), i, reading);
    if (any_action_) collect_accepted(offer, step.said(), i, reading);
    offer = {};
  }
}

/// "Which one would you like to book?" and "option 2": a user who agrees to what the agent proposes has asked for it.
void Requests::collect_accepted(std::string_view offer, std::string_view turn, std::size_t step, Reading& reading) {
  std::string buffer;
  const auto prose = prose_of(offer, buffer);
  if (prose.find('?') == std::string_view::npos || !action_words_.finds(prose) || !accepts(turn, reading)) return;
  read_words(prose, lexicon_, reading);
  for (const auto& sentence : reading.sentences) {
    if (!sentence.question || asks_user(reading, sentence)) continue;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto* entry = reading.words[i].entry;
      if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormBase) == 0 || !(listed_[entry->verb] || open_[entry->verb]))
        continue;
      // "Would you like to book it", "shall I cancel it", "soll ich das so einrichten", "¿desea cancelarla?": but not "your order".
      const bool meant = i > sentence.begin &&
                         (has(reading.words[i - 1].cues, kCueInfinitive | kCueSelf | kCueAddressee | kCueOther | kCueWish | kCueModal) ||
                          ends_clause(reading, sentence, i));
      if (!meant) continue;
      Request request{entry->verb, Thing::kUnknown, false, listed_[entry->verb], open_[entry->verb], step, turn};
      request.accepted = true;
      add(request, i, reading, sentence);
    }
  }
}

/// True unless the user asks back or says no.
bool Requests::accepts(std::string_view turn, Reading& reading) const {
  std::string buffer;
  read_words(prose_of(turn, buffer), lexicon_, reading);
  return std::none_of(reading.sentences.begin(), reading.sentences.end(), [&](const Sentence& sentence) {
    return sentence.question || std::any_of(reading.words.begin() + sentence.begin, reading.words.begin() + sentence.end,
                                            [&](const ReadWord& word) { return negates(reading, word); });
  });
}

bool Requests::make_believe(const RunView& run) {
  if (believed_ >= 0) return believed_ == 1;
  believed_ = 0;
  std::string told;
  std::string folded;
  const auto take = [&](std::string_view text) {
    run.pace(text.size());
    fold(told_of(text, told), folded);
    for (const auto& phrase : make_believe_) {
      for (auto at = folded.find(phrase); at != std::string::npos; at = folded.find(phrase, at + 1)) {
        const auto end = at + phrase.size();
        const bool whole = (at == 0 || !is_word_byte(folded[at - 1])) && (end == folded.size() || !is_word_byte(folded[end]));
        if (whole) believed_ = 1;
        if (whole) return;
      }
    }
  };
  take(run.user_request);
  for (const auto& step : run.steps) {
    if (believed_ == 1) break;
    if (step.kind == Kind::kUser) take(step.said());
  }
  return believed_ == 1;
}

}  // namespace runwarden::plugins
