#include "schema_ghost/made_up.h"

#include <algorithm>

#include "common/json_scan.h"
#include "common/simd16.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostOpen = 16;
constexpr std::size_t kMostDerived = 128;  // figures of a run to derive
constexpr std::size_t kMostSearched = 8;   // entities per run to search the run for
constexpr std::size_t kLongInput = 200;    // bytes of an argument that is a text rather than a value
constexpr std::size_t kMuchSince = 300;    // bytes of other tools' outputs; a report may be based on more
constexpr std::size_t kFewFigures = 32;    // of a run; with few, hardly any sum equals a made-up figure by chance
constexpr std::size_t kShortestNameWord = 3;
constexpr std::size_t kUntiedThatTell = 3;
constexpr std::size_t kFewUntied = 2;  // enough when the run has hardly any figures
constexpr std::size_t kHardlyAnyFigures = 12;
constexpr double kSmallCount = 10;        // below it a whole number may be a count of returned items
constexpr std::size_t kMostFigures = 16;  // figures of a message to check
constexpr double kNothingGiven = 0.65;    // confidence in a figure when the sources of the run returned nothing at all

bool is_year(const StatedValue& value) {
  return value.decimals == 0 && !value.money && !value.percent && value.number >= 1900 && value.number <= 2100;
}

bool is_measured(const StatedValue& value) {
  return value.money || value.percent || value.degrees || value.decimals > 0;
}

/// "18.09." may be a day of a month, as in German.
bool may_be_date(std::string_view text, const StatedValue& value) {
  constexpr double kMonths = 12, kDays = 31;
  const auto point = value.text.find('.');
  const auto behind = static_cast<std::size_t>(value.text.data() - text.data()) + value.text.size();
  if (value.money || value.percent || point == std::string_view::npos || value.decimals > 2 || !text.substr(behind).starts_with('.'))
    return false;
  double month = 0;
  for (const char c : value.text.substr(point + 1)) month = month * 10 + (c - '0');
  return value.number < kDays + 1 && month >= 1 && month <= kMonths;
}

/// "The 17th" in a text with a date, and "23" of "23 to 25 August". `dates` are those of the text, views into it.
bool is_day_of_month(std::string_view text, const StatedValue& value, const std::vector<Fact>& dates) {
  constexpr double kDays = 31;
  constexpr std::size_t kReach = 8;  // bytes between the days of a range
  if (value.money || value.percent || value.decimals > 0 || value.number < 1 || value.number > kDays) return false;
  const auto end = static_cast<std::size_t>(value.text.data() - text.data()) + value.text.size();
  const bool ordinal = end < text.size() && is_ascii_letter(text[end]);
  return std::any_of(dates.begin(), dates.end(), [&](const Fact& date) {
    const auto at = static_cast<std::size_t>(date.text.data() - text.data());
    return ordinal || (at >= end && at - end <= kReach);
  });
}

bool is_count(const StatedValue& value) {
  return value.decimals == 0 && !value.money && !value.percent && !value.degrees;
}

}  // namespace

bool stands_in_condition(std::string_view text, std::string_view value, const Lexicon& lexicon) {
  const auto at = static_cast<std::size_t>(value.data() - text.data());
  const auto mark = text.substr(0, at).find_last_of("\n.!?:");
  auto sentence = text.substr(mark == std::string_view::npos ? 0 : mark + 1);
  sentence.remove_prefix(std::min(sentence.find_first_not_of(" \t*_-\"'"), sentence.size()));
  std::string folded;
  fold(sentence.substr(0, sentence.find_first_of(" ,")), folded);
  const auto* entry = lexicon.find(folded);
  return entry != nullptr && has(entry->cues, kCueHypothesis);
}

void hear_codes(const RunView& run, EvidenceIndex& evidence) {
  evidence.add_spoken(run.user_request);
  for (const auto& step : run.steps) {
    if (step.kind != Kind::kUser) continue;
    run.pace(step.said().size());
    evidence.add_spoken(step.said());
  }
}

const MadeUp& MadeUpValues::find(const RunView& run, const std::vector<bool>& gave_nothing, bool own_words) {
  own_words_ = own_words;
  nothing_ = &gave_nothing;
  best_ = {};
  evidence_.clear();
  derivation_.clear();
  rough_work_.clear();
  codes_heard_ = false;
  words_.clear();
  outputs_.clear();
  open_.clear();
  spelled_taken_ = facts_taken_ = figures_taken_ = words_taken_ = {};
  searched_ = mails_ = derived_ = 0;
  bytes_since_ = 0;
  first_ = missing_ = kNoStep;
  given_since_ = any_given_ = own_knowledge_ = false;
  std::string_view last;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool) {
      if (missing_ != kNoStep) judge_call(run, i);
      take_tool(run, i);
    } else if (step.kind == Kind::kModel && !trim(step.output).empty()) {
      last = step.output;
      if (!open_.empty()) judge_message(run, step.output, i);
    }
  }
  if (!open_.empty() && !trim(run.outcome).empty() && trim(run.outcome) != trim(last)) judge_message(run, run.outcome, run.steps.size());
  return best_;
}

void MadeUpValues::add(MadeUp found) {
  if (best_.rule.empty() || found.confidence > best_.confidence) best_ = std::move(found);
}

/// "find_user_by_email" and "find_user_by_name": two ways to look up the same thing.
bool MadeUpValues::look_up_alike(std::string_view one, std::string_view other) {
  constexpr int kFewest = 2;  // words before the preposition: a verb and a thing
  if (!tools_->meaning(one).reads || !tools_->meaning(other).reads) return false;
  one = base_name(one);
  other = base_name(other);
  std::string folded;
  std::size_t at = 0, other_at = 0;
  for (int same = 0;; ++same) {
    const auto word = next_tool_word(one, at);
    if (word.empty() || !equal_ignoring_case(word, next_tool_word(other, other_at))) return false;
    if (same < kFewest) continue;
    fold(word, folded);
    const auto* entry = lexicon_->find(folded);
    if (entry != nullptr && has(entry->cues, kCuePreposition)) return true;
  }
}

/// True for tools that may be called for data: a look-up, a calculator, a script; not a tool that acts.
bool MadeUpValues::is_source(std::string_view tool) {
  const auto& meaning = tools_->meaning(tool);
  return meaning.reads || meaning.any_purpose || meaning.group == 0;
}

void MadeUpValues::take_tool(const RunView& run, std::size_t step) {
  const auto& tool = run.steps[step];
  const auto same = std::find_if(open_.begin(), open_.end(), [&](std::size_t other) {
    const auto& before = run.steps[other];
    if (before.name != tool.name) return false;
    // What a tool gives for one thing does not make up for another; a program may do the same in another way.
    return tools_->meaning(tool.name).runs_anything() || !name_different_things(before, tool, tools_->words().calls);
  });
  if ((*nothing_)[step]) {
    missing_ = step;
    if (!is_source(tool.name)) return;
    if (first_ == kNoStep) first_ = step;
    if (same != open_.end()) open_.erase(same);
    if (open_.size() < kMostOpen) open_.push_back(step);
    given_since_ = false;
    bytes_since_ = 0;
    return;
  }
  if (same != open_.end()) open_.erase(same);
  std::erase_if(open_,
                [&](std::size_t other) { return run.steps[other].name != tool.name && look_up_alike(run.steps[other].name, tool.name); });
  const auto hash = hash_text(tool.output);
  if (trim(tool.output).empty() || outputs_.contains(hash)) return;
  outputs_.insert(hash);
  given_since_ = true;
  own_knowledge_ = false;
  bytes_since_ += tool.output.size();
  any_given_ |= is_source(tool.name);
}

/// Adds what supports a value: everything the user says anywhere in the run, what tools returned, and what the agent said before anything
/// was missing or what the user has heard without objecting.
template <class Add>
void MadeUpValues::catch_up(const RunView& run, std::size_t step, Taken& taken, Add add) {
  const auto hear = [&](std::size_t end) {
    if (first_ == kNoStep) return;
    for (taken.heard = std::max(taken.heard, first_); taken.heard < end; ++taken.heard) {
      if (run.steps[taken.heard].kind == Kind::kModel) add(run.steps[taken.heard].output);
    }
  };
  if (taken.upto == 0) {
    add(run.user_request);
    for (const auto& other : run.steps) {
      if (other.kind == Kind::kUser) add(other.said());
    }
  }
  for (; taken.upto < step; ++taken.upto) {
    const auto& before = run.steps[taken.upto];
    run.pace(before.error_message.size() + before.input.size() + before.output.size());
    if (before.kind == Kind::kTool) {
      add(before.error_message);
      add(before.output);
    }
    if (before.kind == Kind::kUser) hear(taken.upto);
    if (taken.upto < first_) {
      add(before.input);
      if (before.kind == Kind::kModel) add(before.output);
    }
  }
  // A separate outcome may omit the doubts that the agent expressed before.
  if (step == run.steps.size() || !own_words_) hear(step);
}

void MadeUpValues::know_figures(const RunView& run, std::size_t step) {
  for (auto i = figures_taken_.upto; i < step; ++i) {
    if (run.steps[i].kind == Kind::kTool) derivation_.add_worked_out(run.steps[i].input);
  }
  catch_up(run, step, figures_taken_, [&](std::string_view text) { derivation_.add(text); });
}

/// True when the supporting texts contain the value itself.
bool MadeUpValues::stands(const RunView& run, std::size_t step, const StatedValue& value) {
  Fact fact;
  fact.kind = FactKind::kTime;  // compared literally: derivation_ handles what follows from other figures
  fact.normal = normal_number(value.number);
  fact.text = value.text;
  catch_up(run, step, spelled_taken_, [&](std::string_view text) { evidence_.add_spelled(text); });
  if (evidence_.holds_as_stated(fact)) return true;
  catch_up(run, step, facts_taken_, [&](std::string_view text) { evidence_.add_facts(text); });
  return evidence_.holds(fact);
}

bool MadeUpValues::supported(const RunView& run, std::size_t step, const StatedValue& value) {
  if (stands(run, step, value)) return true;
  if (value.number == 0) return any_given_;
  if (++derived_ > kMostDerived) return true;
  know_figures(run, step);
  if (derivation_.reaches(value.number, value.decimals)) return true;
  rough_work_.hear(run, step);
  return rough_work_.holds(value.text);
}

/// "It comes to about $364": a calculation failed, and the agent did it in its head and says so.
bool MadeUpValues::worked_out_roughly(const RunView& run, std::string_view text, std::string_view figure) const {
  if (!disclaimers_->told_roughly(text, figure)) return false;
  std::vector<double> results;
  work_out(run.steps[open_.back()].input, results);
  return !results.empty();
}

void MadeUpValues::judge_message(const RunView& run, std::string_view text, std::size_t step) {
  text = told_of(text, buffer_);
  judge_plain_answer(run, text, step);
  judge_report(run, text, step, false);
  judge_guess(run, text, step);
  if (best_.confidence < kNothingGiven) judge_figures(run, text, step);
}

/// True when the message in reading_ owns up to nothing: it neither admits nor guesses nor makes anything up.
bool MadeUpValues::tells_no_doubt(std::string_view text) const {
  constexpr std::uint64_t kDoubt =
      kCueAdmission | kCueTrouble | kCueNothingFound | kCueSimulated | kCueExample | kCueHypothesis | kCueHandover;
  return (reading_.cues & kDoubt) == 0 && reading_.understood(text) && !denies_of_self(reading_) && !opens_with_denial(reading_);
}

/// True when it doubts nothing, and states one of the figures before its sentence leaves anything open: it is no question, offer or wish.
bool MadeUpValues::tells_as_fact(std::string_view text, const std::vector<std::string>& figures) const {
  constexpr std::uint64_t kOpen = kCueOffer | kCuePlan | kCueCondition | kCueModal;
  if (!tells_no_doubt(text)) return false;
  if ((reading_.cues & kOpen) == 0 && !reading_.asks()) return true;
  const auto is_figure = [&](const ReadWord& word) {
    return has_digit(word.text) &&
           std::any_of(figures.begin(), figures.end(), [&](const auto& figure) { return figure.find(word.text) != std::string::npos; });
  };
  return std::any_of(reading_.sentences.begin(), reading_.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.question || (has(sentence.cues, kCueSelf) && has(sentence.cues, kCueModal))) return false;  // "I would guess"
    const auto end = reading_.words.begin() + sentence.end;
    const auto first = std::find_if(reading_.words.begin() + sentence.begin, end,
                                    [&](const ReadWord& word) { return has(word.cues, kOpen) || is_figure(word); });
    return first != end && !has(first->cues, kOpen);
  });
}

/// True when a message states several figures that nothing supports, in a run with few figures: the rest of the sources gave little that
/// they could come from.
bool MadeUpValues::tells_several(const RunView& run, std::string_view text, std::size_t step) {
  constexpr std::size_t kSeveral = 2;
  if (values_.size() < kSeveral || bytes_since_ >= kMuchSince || asked_since(run, step)) return false;
  know_figures(run, step);
  if (derivation_.size() > kHardlyAnyFigures) return false;
  read(text, *lexicon_, reading_);
  return tells_no_doubt(text);
}

/// "The rate did not come back; assuming 11.8, that is 23,600": a guess that is declared as one is made up all the same.
void MadeUpValues::judge_guess(const RunView& run, std::string_view text, std::size_t step) {
  if (!tools_->meaning(run.steps[open_.back()].name).reads || asked_since(run, step)) return;
  std::size_t looked = 0;
  for (std::size_t i = find_digit(text, 0); i < text.size() && looked < kMostFigures; ++looked) {
    StatedValue value;
    const bool is_read = read_figure(text, i, value, *fact_words_);
    if (is_read && !is_year(value) && disclaimers_->declared_as_guess(text, value.text, lexicon_->abbreviations) &&
        !supported(run, step, value)) {
      add({"declared_guess", open_.back(), step, false, kNothingGiven, {std::string(value.text)}, true});
      return;
    }
    i = find_digit(text, i + (is_read ? value.text.size() : 1));
  }
}

/// Judges any figure or name that is stated while a source is missing: weak evidence by itself. When no source in the run returned
/// anything and the user has not spoken since, a figure is made up.
void MadeUpValues::judge_figures(const RunView& run, std::string_view text, std::size_t step) {
  own_knowledge_ = own_knowledge_ || disclaimers_->draws_on_own_knowledge(text);
  values_.clear();
  for (std::size_t i = find_digit(text, 0); i < text.size() && values_.size() < kMostFigures;) {
    StatedValue value;
    const bool read = read_figure(text, i, value, *fact_words_);
    if (read) values_.push_back(value);
    i = find_digit(text, i + (read ? value.text.size() : 1));
  }
  collect_names(text, names_, titles_);
  if (!values_.empty()) {
    collect_facts(text, dates_, *fact_words_);
    std::erase_if(dates_, [](const Fact& fact) { return fact.kind != FactKind::kDate; });
  }
  std::erase_if(values_, [&](const auto& value) {
    if (is_day_of_month(text, value, dates_)) return true;
    if ((is_count(value) && value.number < kSmallCount) || (is_year(value) && !own_knowledge_)) return true;
    if (may_be_date(text, value) || stands_in_condition(text, value.text, *lexicon_)) return true;
    return worked_out_roughly(run, text, value.text) || supported(run, step, value);
  });
  if (!names_.empty()) catch_up(run, step, words_taken_, [&](std::string_view said) { words_.add_words(said); });
  MadeUp found{"figures", open_.back(), step, false, 0.3, {}, false};
  for (const auto& value : values_) found.values.emplace_back(value.text);
  for (const auto name : names_) {
    if (is_new(name)) found.values.emplace_back(name);
  }
  const bool named = !found.values.empty() && values_.empty();
  const bool stated = !values_.empty() || invents_mail(run, text, step, found);
  if (found.values.empty()) return;
  if ((stated || named) && !any_given_ && !asked_since(run, step)) {
    read(text, *lexicon_, reading_);
    // "28 °C, wind 55 km/h" needs no vocabulary, and what else the message says does not make it known.
    const bool measured = !reading_.understood(text) && values_.size() > 1 && std::any_of(values_.begin(), values_.end(), is_measured);
    if ((stated && own_knowledge_) || measured || tells_as_fact(text, found.values)) found.confidence = kNothingGiven;
  }
  if (any_given_ && tells_several(run, text, step)) {
    found.confidence = kNothingGiven;
    found.apart = true;
  }
  add(std::move(found));
}

/// True when the text states a mail address that nobody has told and that is not made of names that were; adds it to `found`.
bool MadeUpValues::invents_mail(const RunView& run, std::string_view text, std::size_t step, MadeUp& found) {
  constexpr std::size_t kMost = 2;
  collect_mails(text, kMost, mail_texts_);
  const auto known = [&](std::string_view mail) {
    return ++searched_ > kMostSearched || told(run, step, mail) || is_made_of_told_words(run, mail);
  };
  std::erase_if(mail_texts_, known);
  for (const auto mail : mail_texts_) found.values.emplace_back(mail);
  return !mail_texts_.empty();
}

/// True when the user has spoken since the source that returned nothing.
bool MadeUpValues::asked_since(const RunView& run, std::size_t step) const {
  const auto first = run.steps.begin() + static_cast<std::ptrdiff_t>(open_.back());
  const auto last = run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, run.steps.size()));
  return std::any_of(first, last, [](const StepView& other) { return other.kind == Kind::kUser; });
}

/// True when none of the longer words of a name occurs in the supporting texts. "Sierra Kilo" is no name.
bool MadeUpValues::is_new(std::string_view name) const {
  std::size_t words = 0;
  std::string folded;
  const bool none = for_each_word(name, [&](std::string_view word) {
    if (word.size() < kShortestNameWord) return true;
    fold(word, folded);
    if (fact_words_->spoken(folded) != '\0') return false;
    ++words;
    return !words_.holds_word(word);
  });
  return none && words > 0;
}

void MadeUpValues::judge_plain_answer(const RunView& run, std::string_view text, std::size_t step) {
  if (given_since_) return;
  const auto form = read_plain_answer(text, values_, *fact_words_);
  if (form == PlainAnswer::kNone) return;
  const bool bare = form == PlainAnswer::kBare;
  std::erase_if(values_, [&](const auto& value) {
    return worked_out_roughly(run, text, value.text) || supported(run, step, value) || (!bare && is_year(value));
  });
  if (values_.empty()) return;
  read(text, *lexicon_, reading_);
  constexpr std::uint64_t kNoAnswer = kCueAdmission | kCueNothingFound | kCueSimulated | kCueExample | kCueOffer | kCuePlan;
  if ((reading_.cues & kNoAnswer) != 0) return;
  constexpr std::uint64_t kNoFact = kCueSelf | kCueModal | kCueCondition | kCueHypothesis;
  if (form == PlainAnswer::kSentence && ((reading_.cues & kNoFact) != 0 || !reading_.understood(text))) return;
  know_figures(run, step);
  const auto& value = values_.front();
  double confidence = bare ? 0.8 : is_count(value) ? 0.5 : 0.7;
  if (is_count(value) && any_given_) confidence -= 0.3;  // may be a count of returned items
  if (is_count(value) && !any_given_ && !asked_since(run, step) && fact_words_->asks_how_many(run.user_request)) confidence = kNothingGiven;
  if (value.rounded || derivation_.crowded()) confidence -= 0.3;
  add({"plain_answer", open_.back(), step, false, confidence, {std::string(value.text)}, false});
}

/// True when a look-up that is named after the label returned nothing.
bool MadeUpValues::asked_for(const RunView& run, std::string_view label) {
  std::vector<std::uint64_t> nouns;
  add_label_nouns(label, nouns);
  return std::any_of(open_.begin(), open_.end(),
                     [&](std::size_t source) { return looks_up_any(tools_->meaning(run.steps[source].name), nouns); });
}

void MadeUpValues::judge_report(const RunView& run, std::string_view text, std::size_t step, bool in_input) {
  collect_labelled_values(text, values_, *fact_words_);
  std::erase_if(values_, is_year);
  if (values_.empty()) return;
  // A rating cannot be computed from other figures.
  const auto looked_up = [&](const StatedValue& value) {
    return value.decimals > 0 && !value.money && !value.percent && value.number < kSmallCount && asked_for(run, value.label);
  };
  std::erase_if(values_, [&](const auto& value) { return looked_up(value) ? stands(run, step, value) : supported(run, step, value); });
  if (values_.empty()) return;
  know_figures(run, step);
  const auto may_be_counted = [](const StatedValue& value) { return is_count(value) && value.number < kSmallCount; };
  const bool counts = std::all_of(values_.begin(), values_.end(), may_be_counted);
  const auto tied = std::find_if(values_.begin(), values_.end(), [&](const auto& value) { return asked_for(run, value.label); });
  const bool reads = std::any_of(open_.begin(), open_.end(), [&](auto source) { return tools_->meaning(run.steps[source].name).reads; });
  MadeUp found{"report", open_.back(), step, in_input, 0, {}, false};
  for (const auto& value : values_) {
    const std::string stated(value.text);
    if (std::find(found.values.begin(), found.values.end(), stated) == found.values.end()) found.values.push_back(stated);
  }
  if (tied != values_.end()) {
    found.confidence = counts && any_given_ ? 0.4 : 0.7;
  } else if (reads && !counts && bytes_since_ < kMuchSince &&
             found.values.size() >= (derivation_.size() < kHardlyAnyFigures ? kFewUntied : kUntiedThatTell)) {
    found.confidence = derivation_.size() < kFewFigures ? 0.65 : 0.45;
  } else {
    return;
  }
  if (derivation_.crowded()) found.confidence -= 0.3;
  read(text, *lexicon_, reading_);
  if ((reading_.cues & (kCueNothingFound | kCueSimulated | kCueExample)) != 0 || !reading_.understood(text)) found.confidence -= 0.3;
  add(std::move(found));
}

void MadeUpValues::judge_texts(const RunView& run, std::size_t step) {
  const auto& meaning = tools_->meaning(run.steps[step].name);
  if (meaning.any_purpose || meaning.reads || !looks_like_json(run.steps[step].input)) return;
  JsonScanner cursor(trim(run.steps[step].input));
  std::string text;
  for (auto token = cursor.next(); token != JsonScanner::Token::kBad && token != JsonScanner::Token::kEnd; token = cursor.next()) {
    if (token != JsonScanner::Token::kString || cursor.text().size() < kLongInput) continue;
    unescape(cursor.text(), text);
    judge_report(run, text, step, true);
  }
}

/// True when a user or a tool named the value, or the agent did so before anything was missing. User turns count wherever they are: a
/// record may hold a turn after the call that it led to.
bool MadeUpValues::told(const RunView& run, std::size_t step, std::string_view value) const {
  if (names_entity(run.user_request, value)) return true;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& other = run.steps[i];
    run.pace(other.input.size() + other.output.size());
    if (other.kind == Kind::kUser) {
      if (names_entity(other.said(), value)) return true;
      continue;
    }
    if (i >= step) continue;
    const bool asked = names_entity(other.input, value);
    // The arguments of the first look-up that returned nothing were known before anything was missing.
    const bool known = i < first_ ? !(*nothing_)[i] : i == first_ && tools_->meaning(other.name).reads;
    if (asked ? known : names_entity(other.output, value) && (other.kind == Kind::kTool || i < first_)) return true;
  }
  return false;
}

/// "TEMP_99999999A" for the user's own 99999999A: true when the run gave each part with digits.
bool MadeUpValues::names_told_id(const RunView& run, std::size_t step, std::string_view value) const {
  constexpr std::size_t kShortest = 5, kLongest = 64;  // bytes of a part, and of the value
  if (value.size() > kLongest) return false;
  bool any = false;
  for (std::size_t begin = 0; begin < value.size();) {
    const auto end = std::min(value.find_first_of("_-:/", begin), value.size());
    const auto part = value.substr(begin, end - begin);
    begin = end + 1;
    if (std::none_of(part.begin(), part.end(), is_digit)) continue;
    if (part.size() < kShortest || part.size() == value.size() || !told(run, step, part)) return false;
    any = true;
  }
  return any;
}

/// True when a later look-up for the value returned something: the value is not invented.
bool MadeUpValues::answered_later(const RunView& run, std::size_t step, std::string_view value) const {
  for (auto i = step + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || (*nothing_)[i] || !tools_->meaning(later.name).reads) continue;
    run.pace(later.input.size());
    if (names_entity(later.input, value)) return true;
  }
  return false;
}

/// "costCentre":"CC-4410" where find_cost_centre returned nothing: adds the codes under names of what is missing.
void MadeUpValues::collect_missing_ids(const RunView& run, std::string_view input) {
  constexpr std::size_t kLongest = 32, kMostIds = 32;  // bytes of a code; of a call, with what else identifies something in it
  constexpr std::ptrdiff_t kFewestDigits = 3;
  if (open_.empty() || !looks_like_json(input)) return;
  const auto is_code = [](std::string_view text) {
    const auto digits = std::count_if(text.begin(), text.end(), is_digit);
    return text.size() <= kLongest && digits >= kFewestDigits && text.find(' ') == std::string_view::npos &&
           std::any_of(text.begin(), text.end(), is_ascii_letter) && text.find_first_of(":/@.") == std::string_view::npos;
  };
  const auto known = [&](std::string_view text) {
    return std::any_of(entities_.begin(), entities_.end(), [&](const CallEntity& entity) { return entity.text == text; });
  };
  JsonScanner cursor(trim(input));
  std::string_view key;
  std::string label;
  for (auto token = cursor.next(); token != JsonScanner::Token::kBad && token != JsonScanner::Token::kEnd && entities_.size() < kMostIds;
       token = cursor.next()) {
    if (token == JsonScanner::Token::kKey) key = cursor.text();
    if (token != JsonScanner::Token::kString || cursor.escaped() || !is_code(cursor.text()) || known(cursor.text())) continue;
    label.clear();
    std::size_t at = 0;
    for (auto word = next_tool_word(key, at); !word.empty(); word = next_tool_word(key, at)) (label += word) += ' ';
    if (asked_for(run, trim(label))) entities_.push_back({EntityKind::kId, cursor.text(), cursor.text(), false});
  }
}

void MadeUpValues::judge_call(const RunView& run, std::size_t step) {
  if (!open_.empty()) judge_texts(run, step);
  const auto& meaning = tools_->meaning(run.steps[step].name);
  if (meaning.reads && !(*nothing_)[step]) return;  // the look-up confirms the value
  collect_call_entities(run.steps[step].input, tools_->words().calls, entities_);
  collect_missing_ids(run, run.steps[step].input);
  const bool reads = std::any_of(open_.begin(), open_.end(), [&](auto source) { return tools_->meaning(run.steps[source].name).reads; });
  for (const auto& entity : entities_) {
    if (searched_ >= kMostSearched) return;
    ++searched_;
    const bool figure = entity.kind == EntityKind::kPlace || entity.kind == EntityKind::kAmount;
    if (figure ? follows(run, step, entity.text)
               : told(run, step, entity.code) || names_told_id(run, step, entity.code) || answered_later(run, step, entity.code) ||
                     spelled_out(run, step, entity.code))
      continue;
    const bool guessed = entity.kind != EntityKind::kAddress && !figure && is_made_of_told_words(run, entity.text);
    double confidence = reads ? 0.65 : 0.45;
    if (entity.kind == EntityKind::kMail) {
      mails_ += guessed ? 0 : 1;
      confidence += (entity.reserved ? 0.1 : 0.0) + (mails_ > 1 ? 0.1 : 0.0);
    }
    if (entity.kind == EntityKind::kAccount) confidence = 0.65;
    if (entity.kind == EntityKind::kAmount && (any_given_ || meaning.reads || meaning.group == 0)) confidence -= 0.3;
    if (entity.kind == EntityKind::kAddress && meaning.reads) confidence -= 0.15;
    if (guessed) confidence -= 0.3;
    // An id does not follow from other data: it is copied or invented.
    const bool copied = entity.kind == EntityKind::kId || entity.kind == EntityKind::kAccount;
    add({"invented_input", open_.empty() ? missing_ : open_.back(), step, true, confidence, {std::string(entity.text)}, copied});
  }
}

/// True when a figure in the arguments of a call occurs in the run or follows from figures that do.
bool MadeUpValues::follows(const RunView& run, std::size_t step, std::string_view digits) {
  StatedValue value;
  if (!read_figure(digits, digits.starts_with('-') ? 1 : 0, value, *fact_words_)) return true;
  return supported(run, step, value);
}

/// True for a code that was read out before: "X seven Y eight Z nine".
bool MadeUpValues::spelled_out(const RunView& run, std::size_t step, std::string_view code) {
  if (!codes_heard_) hear_codes(run, evidence_);
  codes_heard_ = true;
  return evidence_.holds_word(code) || tells_digits_of(run, step, code);
}

/// True when the run gave the digits of a code without its letters: "order 789012" and "#W789012".
bool MadeUpValues::tells_digits_of(const RunView& run, std::size_t step, std::string_view code) const {
  constexpr std::size_t kFewest = 5;
  const auto first = code.find_first_of("0123456789");
  const auto end = first == std::string_view::npos ? first : code.find_first_not_of("0123456789", first);
  if (first == std::string_view::npos || end != std::string_view::npos || code.size() - first < kFewest) return false;
  return told(run, step, code.substr(first));
}

/// "ann.lee@example.org" when the user mentioned Ann Lee: a guess at a name.
bool MadeUpValues::is_made_of_told_words(const RunView& run, std::string_view value) const {
  value = value.substr(0, value.find('@'));
  std::size_t words = 0;
  for (std::size_t i = 0; i < value.size();) {
    const auto letter = [&](char c) { return is_letter_or_digit(c) && !is_digit(c); };
    const auto begin = i;
    while (i < value.size() && letter(value[i])) ++i;
    const auto word = value.substr(begin, i - begin);
    while (i < value.size() && !letter(value[i])) ++i;
    if (word.size() < kShortestNameWord) continue;
    ++words;
    const auto says = [&](const StepView& step) { return step.kind == Kind::kUser && names_word(step.said(), word); };
    if (!names_word(run.user_request, word) && std::none_of(run.steps.begin(), run.steps.end(), says)) return false;
  }
  return words > 0;
}

}  // namespace runwarden::plugins
