#include "false_success/false_success.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "common/fold.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/acknowledgement.h"
#include "evidence/artifacts.h"
#include "evidence/call_entities.h"
#include "evidence/expression.h"
#include "evidence/origin.h"
#include "evidence/payload.h"
#include "evidence/program_end.h"
#include "evidence/stated_values.h"
#include "evidence/trouble.h"
#include "evidence/unheard.h"
#include "evidence/withheld.h"

namespace runwarden::plugins {
namespace {

constexpr int kHardScore = 95;
constexpr int kPlainScore = 88;
constexpr int kSoftScore = 84;
constexpr double kNamed = 0.9;  // confidences
constexpr double kInGeneral = 0.7;
constexpr double kDescribed = 0.5;  // "the purchased options": no deed is told
constexpr double kByFlag = 0.65;
constexpr double kUnrelated = 0.45;
constexpr std::size_t kSomeNames = 2;
constexpr double kAnswered = 0.65;
constexpr double kNoTrouble = 0.5;
constexpr double kMeaningless = 0.2;  // "x1": nothing tells what the call was for
constexpr double kDoubtful = 0.5;
constexpr std::ptrdiff_t kMostLookedUp = 8;  // values of a failed call that later ones are searched for
constexpr std::size_t kPrinted = 1000;  // bytes of output beyond what an error alone takes
constexpr std::size_t kLongestValue = 60;
constexpr std::size_t kMostValues = 64;
constexpr std::ptrdiff_t kSomeFigures = 3;  // which nobody tells by chance

constexpr SettingSchema kProperties[] = {FiringLine::kProperty};

constexpr Rule kRules[] = {
    {"soft_failures", {"short_failures", "zero_results_are_empty"}},
    {"recovery", {"contradiction", "no_op_retry"}},
    {"admission", {"handover", "plan"}},
    {"no_claim"},
    {"unrelated_claim"},
    {"standing_claim"},
};

constexpr SettingsForm kForm{kProperties, kRules};

bool contains(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  if (!std::all_of(word.begin(), word.end(), is_digit)) return text.find(word) != std::string_view::npos;
  // A number counts as a whole: 500 is not in 15003.
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_digit(text[at - 1])) && (end == text.size() || !is_digit(text[end]))) return true;
  }
  return false;
}

/// True for a text with several figures behind labels, none of them a count ("Rating: 4.7"), that are spelled nowhere
/// but in the agent's own words. Linear but for the few figures.
bool tells_figures(const RunView& run, std::string_view text) {
  constexpr std::size_t kMost = 16;
  std::vector<StatedValue> values;
  collect_labelled_values(text, values);
  std::erase_if(values, [](const StatedValue& value) { return value.decimals == 0 && !value.money && !value.percent; });
  if (values.size() > kMost) values.resize(kMost);
  const auto hear = [&](std::string_view said) {
    std::erase_if(values, [&](const StatedValue& value) { return said.find(value.text) != std::string_view::npos; });
  };
  hear(run.user_request);
  for (const auto& step : run.steps) {
    if (std::ssize(values) < kSomeFigures) return false;
    if (step.kind == Kind::kModel) continue;
    run.pace(step.input.size() + step.output.size());
    hear(step.input);
    hear(step.output);
  }
  return std::ssize(values) >= kSomeFigures;
}

/// "refund" of "your refund's been sent".
std::string_view without_possessive(std::string_view word) {
  constexpr std::string_view kPossessive = "'s";
  if (word.ends_with(kPossessive)) word.remove_suffix(kPossessive.size());
  return word;
}

/// True when a word of denial stands shortly before a word, with no claim between: "... and no boats of that size".
bool negated_before(const Reading& reading, const Sentence& sentence, std::uint32_t at) {
  constexpr std::uint32_t kReach = 4;
  for (auto i = at; i > sentence.begin && at - i < kReach; --i) {
    const auto& word = reading.words[i - 1];
    if (has(word.cues, kCueNegation)) return true;
    if (std::any_of(reading.claims.begin(), reading.claims.end(), [&](const Claim& claim) { return claim.word == i - 1; })) return false;
  }
  return false;
}

/// True for arguments that name what is looked up, {"port": "Whitby", "day": 3}: no program, and nothing to calculate.
bool asks_by_names(std::string_view input) {
  constexpr std::size_t kLongest = 300;
  return input.size() <= kLongest && looks_like_json(input) && input.find_first_of("*+^=()") == std::string_view::npos &&
         input.find("expr") == std::string_view::npos;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

/// A text full of addresses is what a browser showed, whoever passed it on.
bool is_record(std::string_view text) {
  constexpr std::size_t kAddresses = 5;
  std::size_t count = 0;
  for (auto at = text.find("://"); at != std::string_view::npos && count < kAddresses; at = text.find("://", at + 1)) ++count;
  return count == kAddresses;
}

/// "category": "category" is no value but the place for one.
bool is_placeholder(const CallValue& value) {
  return value.normal == normal_id(value.key);
}

/// How sure it is that an answer rests on the call that failed: surest where no tool gave anything, and where the answer is little more
/// than the value.
double unsupported_confidence(const Unsupported& answer, bool asked_for, bool given, bool tells_deed, bool looked_up) {
  constexpr std::size_t kFewWords = 12;
  constexpr std::size_t kManyWords = 100;
  constexpr double kAskedFor = 0.55, kNothingGiven = 0.85, kWorkedOut = 0.5, kShort = 0.5, kLong = 0.45, kNoValue = 0.35;
  if (asked_for && !answer.crowded) return kAskedFor;
  if (answer.missing == 0) return kNoValue;
  if (tells_deed) return kLong;
  if (!given && !looked_up) return kWorkedOut;  // by a tool of any kind: it may be known or worked out in the head
  if (!given) return answer.words <= kManyWords ? kNothingGiven : kLong;
  return answer.words <= kFewWords && answer.missing == answer.stated ? kShort : kLong;
}

/// True when the text says that something was not done or not found, or leaves the next word to the user.
bool is_open(const Reading& reading) {
  if (reading.denies || has(reading.cues, kCueNothingFound | kCueTrouble)) return true;
  if (std::any_of(reading.words.begin(), reading.words.end(), [&](const auto& word) { return negates(reading, word); })) return true;
  constexpr std::size_t kEnd = 2;
  std::size_t looked = 0;
  for (auto sentence = reading.sentences.rbegin(); sentence != reading.sentences.rend() && looked < kEnd; ++sentence, ++looked) {
    if (sentence->question || (sentence->cues & (kCueOffer | kCuePlan)) != 0) return true;
  }
  return false;
}

}  // namespace

FalseSuccess::FalseSuccess(std::string_view settings_json) : recovery_(lexicon_, content_.tools) {
  const Settings settings(settings_json, kForm);
  lexicon_ = make_lexicon(settings);
  content_ = make_content_rules(settings, "soft_failures");
  line_ = FiringLine(settings.text("sensitivity"));
  hard_words_ = settings.vocabulary().words(Key::kHardWords);
  withheld_words_ = settings.vocabulary().words(Key::kWithheldWords);
  trouble_signs_ = settings.vocabulary().words(Key::kProgramTrouble);
  all_words_ = settings.vocabulary().words(Key::kAllWords);
  outcome_words_ = {settings.vocabulary().words(Key::kOutcomeMembers), settings.vocabulary().words(Key::kFailedStatuses),
                    content_.error_openings};
  soft_failures_ = settings.rule("soft_failures");
  recovery_rule_ = settings.rule("recovery");
  admission_ = settings.rule("admission");
  no_claim_ = settings.rule("no_claim");
  unrelated_claim_ = settings.rule("unrelated_claim");
  standing_claim_ = settings.rule("standing_claim");
  finish_group_ = group_of(settings.vocabulary(), Key::kFinishingVerbs, lexicon_);
  hindering_.assign(lexicon_.verb_count(), false);
  for (const auto verb : lexicon_.verbs_named(settings.vocabulary().words(Key::kHinderingVerbs))) hindering_[verb] = true;
  find_group_ = group_of(settings.vocabulary(), Key::kFindingVerbs, lexicon_);
}

std::string FalseSuccess::schema() {
  return kForm.schema();
}

bool FalseSuccess::hard_word_in(const StepView& step) {
  std::string text = std::to_string(step.http_status);
  for (const auto part : {step.status, step.error_code, step.error_message}) text.append("\n").append(part);
  std::replace(text.begin(), text.end(), '_', ' ');
  fold(text, folded_);
  return std::any_of(hard_words_.begin(), hard_words_.end(), [&](const auto& word) { return contains(folded_, word); });
}

Finding FalseSuccess::finding(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  const std::string name(step_name(step));
  const auto reported = quote(failure_text(step));
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kTool;
  out.score = failed.failure == Failure::kSoft ? kSoftScore : hard_word_in(step) ? kHardScore : kPlainScore;
  out.title = "False success: agent claimed completion after " + name + " failed";
  out.summary = "Step \"" + name + "\" reported \"" + reported + "\", but ";
  if (message.found && !flag_only_) {
    out.summary += "the agent's final message claimed success (\"" + quote(message.text) + "\").";
    out.evidence = {failure_evidence(run, failed.step), {message.pointer(), quote(message.text)}};
  } else {
    out.summary += "the run was reported as a success.";
    out.evidence = {failure_evidence(run, failed.step), {"/success", "true"}};
    if (message.found) out.evidence.push_back({message.pointer(), quote(message.text)});
  }
  out.summary += " The user was told the action completed when it did not.";
  out.primary_step = failed.step;
  out.fingerprint_parts = {name, reported};
  return out;
}

/// "Task is locked; change not applied.": a short text that says of a deed that it was not done.
bool FalseSuccess::denies_in_words(std::string_view output) {
  constexpr std::size_t kLongest = 200;
  output = trim(output);
  if (output.empty() || output.size() > kLongest || output.find_first_of("{[\"'") != std::string_view::npos) return false;
  read(output, lexicon_, scratch_);
  return scratch_.denies;
}

void FalseSuccess::collect_failures(const RunView& run) {
  failed_.clear();
  failures_.clear();
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    const auto& step = run.steps[i];
    auto failure = failure_of(step, content_);
    if (failure == Failure::kNone && step.kind == Kind::kTool && !recovery_.meaning(step.name).reads &&
        (denies_deed(step, recovery_.meaning(step.name).groups, outcome_words_, lexicon_) || answers_otherwise(step.input, step.output) ||
         (recovery_.meaning(step.name).group != 0 && !recovery_.meaning(step.name).any_purpose && denies_in_words(step.output)))) {
      failure = Failure::kSoft;
    }
    if (failure == Failure::kNone && step.kind == Kind::kTool && recovery_.meaning(step.name).reads &&
        is_withheld(step.output, withheld_words_))
      failure = Failure::kSoft;
    if (failure == Failure::kNone && step.kind == Kind::kTool && recovery_.meaning(step.name).any_purpose && ends_in_failure(step.output))
      failure = Failure::kSoft;
    failures_.push_back(failure);
    if (run.explanation != nullptr && step.kind == Kind::kTool) explain(run, i, failure);
    if (failure == Failure::kNone || (failure == Failure::kSoft && !soft_failures_)) continue;
    // A program that was told to stop did as it was told.
    if (recovery_rule_ && broken_off(run.steps[i].output)) continue;
    // An error flag beside a full payload is no failure of a look-up.
    if (recovery_rule_ && run.steps[i].kind == Kind::kTool && has_payload(run.steps[i].output)) continue;
    failed_.push_back({i, failure, false});
  }
}

/// Takes for failures the calls of a tool that changes something whose answer tells another outcome than the tool's other calls.
void FalseSuccess::find_odd_calls(const RunView& run) {
  if (!soft_failures_) return;
  std::unordered_map<std::string_view, std::vector<std::size_t>> calls;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool && failures_[i] == Failure::kNone && !recovery_.meaning(step.name).reads) calls[step.name].push_back(i);
  }
  std::vector<std::size_t> odd;
  for (const auto& [tool, steps] : calls) {
    collect_odd_calls(run, steps, outcome_words_, odd);
    for (const auto step : odd) {
      failures_[step] = Failure::kSoft;
      failed_.push_back({step, Failure::kSoft, false});
    }
  }
  std::sort(failed_.begin(), failed_.end(), [](const FailedStep& a, const FailedStep& b) { return a.step < b.step; });
}

void FalseSuccess::explain(const RunView& run, std::size_t at, Failure failure) {
  const auto& step = run.steps[at];
  const bool empty = present(step.output) && is_empty_output(step.output, lexicon_, content_, step.input);
  std::string_view outcome = step.outcome == Outcome::kOk ? "ok" : "unknown";
  if (empty) outcome = "empty";
  if (failure != Failure::kNone) outcome = "failed";
  run.explanation->action(run, at, effect_of(recovery_.meaning(step.name)), outcome);
}

/// A call that is no failure and brought what it was for: a look-up that found nothing did not.
bool FalseSuccess::gave_something(const RunView& run, std::size_t at) const {
  const auto& step = run.steps[at];
  if (failures_[at] != Failure::kNone) return false;
  if (step.kind != Kind::kTool || !present(step.output)) return true;
  return !is_empty_output(step.output, lexicon_, content_, step.input);
}

/// A retry of a failed write that changes nothing by its own arguments (the new item is the old one), where the failed call meant a
/// change: whatever it answered, it did not do what was asked for.
bool FalseSuccess::is_no_op_retry(const RunView& run, std::size_t at) {
  const auto& step = run.steps[at];
  if (!recovery_rule_ || recovery_.meaning(step.name).reads) return false;
  const auto* before = last_failed_call(run, at);
  if (before == nullptr) return false;
  collect_values(step.input, values_);
  if (!changes_nothing(values_)) return false;
  collect_values(before->input, values_);
  return !changes_nothing(values_);
}

/// The last failed call of the same tool before a step.
const StepView* FalseSuccess::last_failed_call(const RunView& run, std::size_t at) const {
  const auto later =
      std::lower_bound(failed_.begin(), failed_.end(), at, [](const FailedStep& failed, auto step) { return failed.step < step; });
  // The nearest few: a longer search would not be linear.
  constexpr std::ptrdiff_t kReach = 8;
  for (auto it = later; it != failed_.begin() && later - it < kReach;) {
    const auto& failed = run.steps[(--it)->step];
    if (failed.kind == Kind::kTool && failed.name == run.steps[at].name) return &failed;
  }
  return nullptr;
}

/// True when a call was one of several of its tool, each for another thing by an id: that others went through says nothing of it.
bool FalseSuccess::is_one_of_many(const RunView& run, std::size_t at) {
  constexpr std::size_t kMost = 16, kOthers = 2;
  const auto& step = run.steps[at];
  if (recovery_.meaning(step.name).reads) return false;
  const auto is_id = [](std::string_view text) {
    return text.find_first_of(" @/") == std::string_view::npos && (has_digit(text) || text.find_first_of("._") != std::string_view::npos);
  };
  std::vector<CallValue> own;
  collect_values(step.input, own);
  std::erase_if(own, [&](const CallValue& value) { return value.key.empty() || value.text.size() > kLongestValue || !is_id(value.text); });
  if (own.empty() || own.size() > kMost) return false;
  std::vector<std::vector<std::uint64_t>> others(own.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& other = run.steps[i];
    if (i == at || other.kind != Kind::kTool || other.name != step.name || failures_[i] != Failure::kNone) continue;
    run.pace(other.input.size());
    collect_values(other.input, values_);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto same = std::find_if(values_.begin(), values_.end(), [&](const CallValue& value) { return value.key == own[k].key; });
      if (same != values_.end() && is_id(same->text) && std::find(others[k].begin(), others[k].end(), same->normal) == others[k].end())
        others[k].push_back(same->normal);
    }
  }
  for (std::size_t k = 0; k < own.size(); ++k) {
    const bool alone = std::find(others[k].begin(), others[k].end(), own[k].normal) == others[k].end();
    if (alone && others[k].size() >= kOthers) return true;
  }
  return false;
}

/// Walks from the end, so that each failed call meets only what came after it.
void FalseSuccess::mark_recovered(const RunView& run) {
  recovery_.clear();
  bool model_spoke = false;
  auto failed = failed_.rbegin();
  for (std::size_t i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    if (failed != failed_.rend() && failed->step == i) {
      failed->recovered = step.kind == Kind::kTool ? recovery_.recovered(step) && !is_one_of_many(run, i) : model_spoke;
      // "Already deleted": an earlier try went through.
      if (step.kind == Kind::kTool && !recovery_.meaning(step.name).reads && says_already(step)) recovery_.add(step);
      ++failed;
      continue;
    }
    // What changes things may have nothing to tell.
    const bool acted = step.kind == Kind::kTool && failures_[i] == Failure::kNone && !recovery_.meaning(step.name).reads;
    if (step.kind == Kind::kTool && (acted || gave_something(run, i)) && !is_no_op_retry(run, i)) recovery_.add(step);
    model_spoke |= step.kind == Kind::kModel && !trim(step.output).empty();
  }
}

void FalseSuccess::collect_done(const RunView& run) {
  done_values_.clear();
  done_words_.clear();
  done_groups_.clear();
  last_done_ = kNoStep;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || failures_[i] != Failure::kNone) continue;
    run.pace(step.input.size());
    const auto& tool = recovery_.meaning(step.name);
    if (tool.reads || (tool.group == 0 && !gave_something(run, i))) continue;
    last_done_ = i;
    if (tool.group != 0) done_groups_.insert(tool.group);
    collect_values(step.input, values_);
    for (const auto& value : values_) {
      done_values_.insert(value.normal);
      if (value.text.size() > kLongestValue) continue;
      fold(value.text, folded_);
      WordCursor cursor(folded_);
      for (RawWord word; cursor.next(word);) done_words_.insert(hash_bytes(word.text));
    }
  }
}

/// The words of the final message, once for all values that are looked for in it.
void FalseSuccess::index_message() {
  if (indexed_) return;
  indexed_ = true;
  said_.clear();
  claimed_.clear();
  for (const auto& word : reading_.words) said_.insert(hash_bytes(word.text));
  for (std::size_t i = 0; i < reading_.claims.size(); ++i) {
    const auto number = reading_.claims[i].sentence;
    if (i > 0 && reading_.claims[i - 1].sentence == number) continue;
    const auto& sentence = reading_.sentences[number];
    for (auto k = sentence.begin; k < sentence.end; ++k) claimed_.insert(hash_bytes(reading_.words[k].text));
  }
}

/// True when each word of the value stands in the final message (in a sentence with a claim, when asked for).
bool FalseSuccess::mentioned(std::string_view value, bool in_claims) {
  index_message();
  return all_words_in(value, in_claims ? claimed_ : said_);
}

bool FalseSuccess::all_words_in(std::string_view value, const HashSet& words) {
  fold(value, folded_);
  std::replace(folded_.begin(), folded_.end(), '_', ' ');
  WordCursor cursor(folded_);
  std::size_t count = 0;
  for (RawWord word; cursor.next(word); ++count) {
    if (!words.contains(hash_bytes(word.text))) return false;
  }
  return count > 0;
}

/// True when the final message names a value of the failed call that no call that succeeded had.
bool FalseSuccess::mentions_undone_value(const StepView& step, bool words_only) {
  collect_values(step.input, values_);
  std::size_t tried = 0;
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    if (done_values_.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || tried >= kMostValues)
      return false;
    if (is_placeholder(value) || is_small_word(value.text) || (words_only && all_words_in(value.text, done_words_))) return false;
    const auto digits = std::any_of(value.text.begin(), value.text.end(), is_digit);
    // A kind ("business"), no address or name of a thing.
    if (words_only && (digits || value.names_object || value.text.find_first_of(" @./") != std::string_view::npos)) return false;
    ++tried;
    return mentioned(value.text, true);
  });
}

/// "all", "now": a word that stands in any message.
bool FalseSuccess::is_small_word(std::string_view value) {
  fold(value, folded_);
  const auto* entry = lexicon_.find(folded_);
  return entry != nullptr && entry->verb == kNoVerb && entry->cues != 0;
}

bool FalseSuccess::verb_claimed(const ToolMeaning& tool, Claimed how) const {
  return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    const bool unnamed = claim.verb == kNoVerb || lexicon_.verb(claim.verb).group == finish_group_;
    if (how == Claimed::by_name && (unnamed || tool.group == 0)) return false;
    if (unnamed || tool.group == 0 || tool.any_purpose || (how == Claimed::any_state && !claim.state)) return true;
    return std::find(tool.groups.begin(), tool.groups.end(), lexicon_.verb(claim.verb).group) != tool.groups.end();
  });
}

/// True when the agent owned up right after the failure and the same tool then went through, before the user spoke again: the call was
/// corrected, whatever its new arguments are.
bool FalseSuccess::corrected_after_telling(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return false;
  bool told = false;
  bool corrected = false;
  for (auto i = failed.step + 1; i < run.steps.size() && run.steps[i].kind != Kind::kUser && !corrected; ++i) {
    const auto& later = run.steps[i];
    corrected = told && later.kind == Kind::kTool && later.name == step.name && gave_something(run, i);
    if (later.kind != Kind::kModel || told) continue;
    read(later.output, lexicon_, reading_);
    told = reading_.admits() || has(reading_.cues, kCueTrouble | kCueNothingFound);
  }
  (void)find_final_message(run, lexicon_, reading_);
  indexed_ = false;
  return corrected;
}

/// True when a sentence that denies something names a value of the failed call alone: "... and no images of large ones".
bool FalseSuccess::tells_undone_value(const StepView& step) {
  collect_values(step.input, values_);
  std::size_t tried = 0;
  for (const auto& value : values_) {
    if (done_values_.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || ++tried > kMostValues)
      continue;
    fold(value.text, folded_);
    for (const auto& sentence : reading_.sentences) {
      const auto number = static_cast<std::uint32_t>(&sentence - reading_.sentences.data());
      const bool claims = std::any_of(reading_.claims.begin(), reading_.claims.end(),
                                      [&](const Claim& claim) { return claim.sentence == number && !claim.finding; });
      const auto denies = [&](const ReadWord& word) { return negates(reading_, word); };
      if (std::none_of(reading_.words.begin() + sentence.begin, reading_.words.begin() + sentence.end, denies)) continue;
      for (auto i = sentence.begin; i < sentence.end; ++i) {
        if (reading_.words[i].text == folded_ && (!claims || negated_before(reading_, sentence, i))) return true;
      }
    }
  }
  return false;
}

/// True when the agent owned up to the user after the step, and the user answered. The reading of the final message is made again.
bool FalseSuccess::user_was_told(const RunView& run, std::size_t step) {
  bool told = false;
  bool answered = false;
  for (auto i = step + 1; i < run.steps.size() && !answered; ++i) {
    const auto& later = run.steps[i];
    answered = told && later.kind == Kind::kUser;
    if (told || later.kind != Kind::kModel) continue;
    read(later.output, lexicon_, reading_);
    told = reading_.admits() || reading_.hands_over();
  }
  (void)find_final_message(run, lexicon_, reading_);
  indexed_ = false;
  return answered;
}

/// Whether what the final message claims is what this step failed to do.
bool FalseSuccess::concerns(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return true;
  const auto& tool = recovery_.meaning(step.name);
  // The flag alone speaks of what the run was for, and a look-up seldom is that.
  if (flag_only_) return !tool.reads && last_done_ == kNoStep;
  const bool done_later = last_done_ != kNoStep && last_done_ > failed.step;
  // A look-up that answered with an error and was not needed in the end: what was asked for was done after it.
  if (tool.reads && failed.failure == Failure::kSoft && done_later) return false;
  if (tells_undone_value(step)) return false;
  if (mentions_undone_value(step, false)) return true;
  // Nothing that could have been meant instead was done.
  if (last_done_ == kNoStep) return tool.reads || verb_claimed(tool, Claimed::any_state) || names_action(tool);
  if (tool.reads) return false;
  if (tool.group != 0 && done_groups_.contains(tool.group)) return false;
  // "All done" after another action speaks of that one, and after the agent owned up, of the rest.
  if (done_later) return verb_claimed(tool, Claimed::by_name);
  if (verb_claimed(tool, Claimed::by_name)) return true;
  return verb_claimed(tool, Claimed::in_general) && !user_was_told(run, failed.step);
}

/// True when the agent owned up in some message after the step, though not in its last one.
bool FalseSuccess::owned_up_after(const RunView& run, std::size_t step) {
  for (auto i = step + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind != Kind::kModel) continue;
    read(run.steps[i].output, lexicon_, reading_);
    if (reading_.admits() || reading_.hands_over()) return true;
  }
  return false;
}

/// True when the final message repeats a code or number of the failure: "I got a 502 and stopped."
bool FalseSuccess::tells_failure(const RunView& run, const StepView& step) {
  fold(quote(failure_text(step)) + "\n" + quote(step.output), folded_);
  fold(step.input, folded_value_);
  WordCursor cursor(folded_);
  for (RawWord word; cursor.next(word);) {
    if (word.text.size() < 3 || !std::any_of(word.text.begin(), word.text.end(), is_digit)) continue;
    if (folded_value_.find(word.text) != std::string_view::npos || run.user_request.find(word.text) != std::string_view::npos)
      continue;  // the thing itself
    const auto repeats = [&](const ReadWord& said) { return said.text == word.text; };
    if (std::any_of(reading_.words.begin(), reading_.words.end(), repeats)) return true;
  }
  return false;
}

/// True when all that the message tells is what kept the deed from being done: "Refund blocked."
bool FalseSuccess::tells_hindrance(const ToolMeaning& tool) const {
  const auto hinders = [&](const Claim& claim) {
    if (claim.by_agent || claim.verb == kNoVerb || !hindering_[claim.verb]) return false;
    const auto group = lexicon_.verb(claim.verb).group;
    return std::find(tool.groups.begin(), tool.groups.end(), group) == tool.groups.end();
  };
  return !reading_.claims.empty() && std::all_of(reading_.claims.begin(), reading_.claims.end(), hinders);
}

bool FalseSuccess::claims_success(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  const bool flagged = run.success.value_or(false);
  const auto last = failed_.back().step;
  if (!message.found) return flagged;
  flag_only_ = reading_.claims.empty();
  if (flag_only_ && !flagged) {
    verdict.passed("claim", last, "no message says that anything was done, and success is not set");
    return false;
  }
  if (no_claim_ && !reading_.plainly_understood(message.text)) {
    verdict.suppress("no_claim", last, "the final message is in a language that no vocabulary here has");
    return false;
  }
  if (flag_only_ && no_claim_ && (is_open(reading_) || tells_failure(run, run.steps[last]) || owned_up_after(run, last))) {
    verdict.suppress("no_claim", last, "success is set, but no message says that anything was done");
    return false;
  }
  if (flag_only_) (void)find_final_message(run, lexicon_, reading_);
  if (reading_.admits() && admission_) {
    verdict.suppress("admission", last, "the final message owns up that something did not work");
    return false;
  }
  verdict.passed("admission", last);
  if (ends_in_plan(reading_) && admission_) {
    verdict.suppress("plan", last, "the final message ends with what is still to be done");
    return false;
  }
  verdict.passed("plan", last);
  if (reading_.hands_over() && admission_) {
    verdict.suppress("handover", last, "the final message hands over to a person");
    return false;
  }
  verdict.passed("handover", last);
  return true;
}

/// A claim made right after the failure and never taken back stands, though the talk went on to other things.
FinalMessage FalseSuccess::standing_claim(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool) return {};
  const auto& tool = recovery_.meaning(step.name);
  if (tool.reads || tool.group == 0) return {};
  return claim_after(run, failed.step, tool, false);
}

/// The next thing the agent says after a call, when it claims what the call was for; after a retry that changed nothing, any claim
/// about the tool's object.
FinalMessage FalseSuccess::claim_after(const RunView& run, std::size_t step, const ToolMeaning& tool, bool any_verb) {
  auto next = step + 1;
  for (; next < run.steps.size(); ++next) {
    const auto& after = run.steps[next];
    if (after.kind == Kind::kModel && !trim(after.output).empty()) break;
    if (after.kind == Kind::kUser || failures_[next] != Failure::kNone) return {};
  }
  if (next == run.steps.size()) return {};
  read(run.steps[next].output, lexicon_, reading_);
  if (reading_.admits() || reading_.hands_over()) return {};
  for (const auto& claim : reading_.claims) {
    if (claim.in_progress || claim.verb == kNoVerb || claim.finding || claim.state) continue;
    if (!any_verb && (!claim.by_agent || lexicon_.verb(claim.verb).group != tool.group)) continue;
    const auto& sentence = reading_.sentences[claim.sentence];
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto noun = hash_noun(reading_.words[i].text);
      if (std::find(tool.nouns.begin(), tool.nouns.end(), noun) != tool.nouns.end()) return {run.steps[next].output, next, next, true};
    }
  }
  return {};
}

/// A claim made right after a retry of the failed call that changed nothing.
FinalMessage FalseSuccess::claim_after_no_op(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (step.kind != Kind::kTool || last_done_ == kNoStep || last_done_ < failed.step) return {};
  const auto& retry = run.steps[last_done_];
  if (retry.name != step.name || !is_no_op_retry(run, last_done_)) return {};
  return claim_after(run, last_done_, recovery_.meaning(step.name), true);
}

void FalseSuccess::find_standing_claims(const RunView& run, Verdict& verdict) {
  for (auto failed = failed_.rbegin(); failed != failed_.rend(); ++failed) {
    if (failed->recovered) continue;
    auto message = standing_claim(run, *failed);
    if (!message.found) message = claim_after_no_op(run, *failed);
    if (!message.found || (recovery_rule_ && corrected_after_telling(run, *failed))) continue;
    verdict.findings.push_back(finding(run, *failed, message));
    return;
  }
}

/// A tool that may have been asked for what the answer states: it looks up, computes or runs anything.
bool FalseSuccess::is_source(std::string_view name) {
  const auto& tool = recovery_.meaning(name);
  return tool.reads || tool.any_purpose;
}

/// The last look-up or calculation before a place that failed and was not made good.
const FalseSuccess::FailedStep* FalseSuccess::open_source(const RunView& run, std::size_t end) {
  const auto open = [&](const FailedStep& failed) {
    const auto& step = run.steps[failed.step];
    return failed.step < end && !failed.recovered && step.kind == Kind::kTool && is_source(step.name);
  };
  const auto last = std::find_if(failed_.rbegin(), failed_.rend(), open);
  return last == failed_.rend() ? nullptr : &*last;
}

/// Takes in what was said and given before a place; true when a tool gave data that the message may have been made of.
bool FalseSuccess::collect_support(const RunView& run, const FinalMessage& message, std::size_t end) {
  support_.clear();
  support_.expect(message.text);
  support_.add_source(run.user_request);
  bool given = false;
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    run.pace(step.output.size());
    if (step.kind == Kind::kModel && !is_record(step.output)) {
      support_.add_thought(step.output);
      continue;
    }
    given |= step.kind == Kind::kModel;
    support_.add_source(step.kind == Kind::kUser ? step.said() : step.output);
    if (step.kind == Kind::kTool) support_.add_source(step.input);  // what was asked with is no answer
    given = given || (step.kind == Kind::kTool && gives_data(run, i));
  }
  return given;
}

/// True when a figure without support is told as the very thing that a failed look-up is named after: "Rating: 4.9" of "get_rating".
bool FalseSuccess::is_asked_for(const RunView& run, const Unsupported& answer, std::size_t end) {
  std::vector<std::uint64_t> nouns;
  for (const auto& label : answer.labels) add_label_nouns(label, nouns);
  if (nouns.empty()) return false;
  return std::any_of(failed_.begin(), failed_.end(), [&](const FailedStep& failed) {
    const auto& step = run.steps[failed.step];
    if (failed.step >= end || failed.recovered || step.kind != Kind::kTool) return false;
    return looks_up_any(recovery_.meaning(step.name), nouns);
  });
}

/// True when a failed look-up was the last call before a message, no call of its tool gave anything, and the message, which denies nothing
/// and leaves nothing open, is the answer to what was looked up.
bool FalseSuccess::answers_for_failed(const RunView& run, const FailedStep& failed, std::size_t end) {
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan | kCueTrouble;
  const auto& step = run.steps[failed.step];
  for (std::size_t i = 0; i < end; ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    if ((i > failed.step && gives_data(run, i)) || (run.steps[i].name == step.name && gave_something(run, i))) return false;
  }
  const auto denies = [&](const ReadWord& word) { return negates(reading_, word); };
  if (reading_.asks() || has(reading_.cues, kOpen) || std::any_of(reading_.words.begin(), reading_.words.end(), denies)) return false;
  index_told();
  return speaks_of(run, step) && !gives_its_reason(step);
}

/// True when one of the figures of a text is what the arithmetic of a call comes to.
bool FalseSuccess::states_result(std::string_view text, const std::vector<double>& results) {
  std::vector<Fact> facts;
  collect_facts(text, facts);
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.kind == FactKind::kNumber && comes_to(results, fact.number, fact.text); });
}

/// True when the message tells figures or names that stand nowhere before it.
bool FalseSuccess::tells_news(const RunView& run, const FinalMessage& message, std::size_t end) {
  unheard_.clear();
  unheard_.hear(run.user_request);
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    for (const auto part : {step.input, step.output, step.error_message}) unheard_.hear(part);
  }
  const auto news = unheard_.news(message.text);
  return news.figures > 0 || news.names >= kSomeNames;
}

/// A plain answer ("FINAL ANSWER: 41.20") whose values stand nowhere in the run, though the look-up or calculation for them failed.
void FalseSuccess::find_unsupported_answer(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  const auto end = std::min(message.place, run.steps.size());
  const auto* gap = open_source(run, end);
  if (gap == nullptr) return;
  (void)find_final_message(run, lexicon_, reading_);
  indexed_ = false;
  if (has(reading_.cues, kCueNothingFound | kCueTrouble | kCueSimulated | kCueExample) || !reading_.understood(message.text)) return;
  if (denies_of_self(reading_)) return;
  const bool given = collect_support(run, message, end);
  const auto answer = support_.read_answer(message.text, given);
  const bool asked_for = is_asked_for(run, answer, end);
  if (answer.missing == 0 && !asked_for && (given || answer.words == 0)) return;
  const bool tells_deed = std::any_of(reading_.claims.begin(), reading_.claims.end(), [](const Claim& claim) { return !claim.finding; });
  const FiringLine::Doubt doubt{"unsupported_answer", gap->step,
                                "what the answer states may come from elsewhere than the call that failed"};
  const auto& tool = recovery_.meaning(run.steps[gap->step].name);
  if (tool.meaningless) return;
  const bool looked_up = tool.reads || (tool.any_purpose && tool.group == 0 && asks_by_names(run.steps[gap->step].input));
  double sure = unsupported_confidence(answer, asked_for, given, tells_deed && last_done_ != kNoStep, looked_up);
  std::vector<double> results;
  work_out(run.steps[gap->step].input, results);
  if (results.size() > 1) results.erase(results.begin(), results.end() - 1);  // the steps on the way
  const bool worked_out = !results.empty() && states_result(message.text, results);
  const bool program = broke(run.steps[gap->step], tool) && answer.missing > 0;
  if ((program || (!results.empty() && answer.stated > 0 && !worked_out)) && closes_behind(run, *gap, message))
    sure = std::max(sure, kAnswered);
  if (looked_up && asks_by_names(run.steps[gap->step].input) && (answer.missing > 0 || (!given && tells_news(run, message, end))) &&
      answers_for_failed(run, *gap, end)) {
    sure = std::max(sure, kAnswered);
  }
  if (!line_.fires(sure, doubt, verdict)) return;
  flag_only_ = false;
  auto found = finding(run, *gap, message);
  found.evidence.push_back({message.pointer(), quote(answer.value)});
  verdict.fire(std::move(found), sure);
}

/// Several figures that stand nowhere, told beside the admission that the source for them failed: little, but a candidate.
void FalseSuccess::find_told_anyway(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kToldAnyway = 0.3;
  const auto end = std::min(message.place, run.steps.size());
  const auto* gap = open_source(run, end);
  if (gap == nullptr || !tells_figures(run, message.text)) return;
  (void)line_.fires(kToldAnyway, {"told_anyway", gap->step, "the message owns up to the failure, but states figures that nothing supports"},
                    verdict);
}

/// Takes in the words of the sentences in which the final message tells how things are: no question, condition or denial, nothing
/// that is still to come.
void FalseSuccess::index_told() {
  constexpr std::uint64_t kUntold = kCueHypothesis | kCueNegation | kCueOffer | kCuePlan | kCueSimulated | kCueExample;
  told_.clear();
  for (const auto& sentence : reading_.sentences) {
    const auto begin = reading_.words.begin() + sentence.begin;
    const bool denied =
        std::any_of(begin, begin + (sentence.end - sentence.begin), [&](const auto& word) { return negates(reading_, word); });
    if (sentence.question || denied || has(sentence.cues, kUntold)) continue;
    // Before "will" or "once" it tells something only with a verb.
    const auto opens = std::find_if(begin, begin + (sentence.end - sentence.begin),
                                    [](const ReadWord& word) { return has(word.cues, kCueModal | kCueCondition); });
    const auto told_to = static_cast<std::uint32_t>(opens - reading_.words.begin());
    if (told_to < sentence.end &&
        std::none_of(begin, opens, [](const ReadWord& word) { return has(word.cues, kCueAuxiliary | kCuePassive); }))
      continue;
    for (auto i = sentence.begin; i < told_to; ++i) {
      const auto word = reading_.words[i].text;
      told_.insert(hash_bytes(word));
      told_.insert(hash_bytes(without_possessive(word)));
    }
  }
}

/// True when the final message tells something of a thing that the failed call alone was made with.
bool FalseSuccess::tells_of_undone(const StepView& step) {
  collect_values(step.input, values_);
  std::size_t tried = 0;
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    if (done_values_.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || tried >= kMostValues)
      return false;
    if (is_placeholder(value) || is_small_word(value.text)) return false;
    ++tried;
    return all_words_in(value.text, told_);
  });
}

/// True when a later call was made with a value that of all calls the failed one had.
bool FalseSuccess::names_any_value(std::string_view input, const StepView& step) {
  collect_values(step.input, values_);
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    return value.text.size() >= 3 && !is_placeholder(value) && input.find(value.text) != std::string_view::npos;
  });
}

/// True when the message names, in whatever sentence, an id that the failed call alone was made with.
bool FalseSuccess::names_undone(const StepView& step) {
  collect_values(step.input, values_);
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    return value.names_object && !done_values_.contains(value.normal) && value.text.size() <= kLongestValue && mentioned(value.text, false);
  });
}

/// True when the message tells of all things, in a run where the failed call's tool did what it does for others of them: "both are
/// enrolled".
bool FalseSuccess::tells_of_all(const RunView& run, const StepView& step) {
  const auto other = [&](const StepView& done) {
    const auto at = static_cast<std::size_t>(&done - run.steps.data());
    return done.kind == Kind::kTool && done.name == step.name && failures_[at] == Failure::kNone;
  };
  if (std::none_of(run.steps.begin(), run.steps.end(), other) || names_undone(step)) return false;
  return std::any_of(all_words_.begin(), all_words_.end(), [&](const auto& word) { return told_.contains(hash_bytes(word)); });
}

/// True when a failure says that something is so already: {"error": "already_muted"}.
bool FalseSuccess::says_already(const StepView& step) {
  auto text = failure_text(step) + "\n" + quote(step.output);
  std::replace(text.begin(), text.end(), '_', ' ');
  read(text, lexicon_, scratch_);
  return has(scratch_.cues, kCueAlready);
}

/// True when the failed call was the last of all and the only one of its kind, and the message is the close of what was asked for: it
/// speaks of that, and no sentence of it denies anything or leaves it open.
bool FalseSuccess::closes_behind(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan;
  const auto& step = run.steps[failed.step];
  const bool anything = recovery_.meaning(step.name).runs_anything();
  const auto general = [&](const Claim& claim) {
    return !claim.finding && (claim.verb == kNoVerb || lexicon_.verb(claim.verb).group == finish_group_);
  };
  const bool others = !anything && std::none_of(reading_.claims.begin(), reading_.claims.end(), general);
  // What else was said since may be what the message rests on.
  for (auto i = failed.step + 1; anything && i < std::min(message.place, run.steps.size()); ++i) {
    if (run.steps[i].kind == Kind::kModel && !trim(run.steps[i].output).empty() && trim(run.steps[i].output) != trim(message.text))
      return false;
  }
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    if (i >= message.place) break;
    if (i > failed.step || (others && run.steps[i].name == step.name && failures_[i] == Failure::kNone)) return false;
  }
  if (has(reading_.cues, kOpen) || tells_own_trouble(run, message.place) || !reading_.plainly_understood(message.text)) return false;
  const auto denies = [&](const ReadWord& word) { return negates(reading_, word); };
  if (std::any_of(reading_.words.begin(), reading_.words.end(), denies) || gives_its_reason(step)) return false;
  index_told();
  return anything ? tells_word_of(step.input) : speaks_of(run, step);
}

/// True when what the message tells as it is shares a telling word with a text.
bool FalseSuccess::tells_word_of(std::string_view text) {
  constexpr std::size_t kTelling = 4, kMostBytes = 2048;
  fold(text.substr(0, kMostBytes), folded_);
  std::replace(folded_.begin(), folded_.end(), '_', ' ');
  WordCursor cursor(folded_);
  for (RawWord word; cursor.next(word);) {
    if (word.text.size() < kTelling || !told_.contains(hash_bytes(word.text))) continue;
    const auto* entry = lexicon_.find(word.text);
    const bool small = entry != nullptr && entry->verb == kNoVerb && entry->cues != 0;
    if (!small) return true;
  }
  return false;
}

/// True when the message tells, as it is, of what the user asked last or of the call's arguments, or says in general that all is done.
bool FalseSuccess::speaks_of(const RunView& run, const StepView& step) {
  const auto general = [](const Claim& claim) { return claim.verb == kNoVerb && !claim.finding; };
  if (std::any_of(reading_.claims.begin(), reading_.claims.end(), general)) return true;
  const auto turn = std::find_if(run.steps.rbegin(), run.steps.rend(), [](const StepView& other) { return other.kind == Kind::kUser; });
  return tells_word_of(turn == run.steps.rend() ? run.user_request : turn->said()) || tells_word_of(step.input);
}

/// True when the message uses a word of trouble that neither the user nor a call's arguments had: "timeout=5" is nobody's trouble.
bool FalseSuccess::tells_own_trouble(const RunView& run, std::size_t place) {
  if (!has(reading_.cues, kCueTrouble)) return false;
  return std::any_of(reading_.words.begin(), reading_.words.end(), [&](const ReadWord& word) {
    if (!has(word.cues, kCueTrouble)) return false;
    const auto names = [&](std::string_view text) {
      run.pace(text.size());
      fold(text, folded_);
      return folded_.find(word.text) != std::string::npos;
    };
    if (names(run.user_request)) return false;
    const auto end = run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(place, run.steps.size()));
    return std::none_of(run.steps.begin(), end, [&](const StepView& step) {
      return (step.kind == Kind::kTool && names(step.input)) || (step.kind == Kind::kUser && names(step.said()));
    });
  });
}

/// True when most words of what the failure says are in the message: whoever repeats "expired token" tells of it.
bool FalseSuccess::gives_its_reason(const StepView& step) {
  constexpr std::size_t kTelling = 4, kMost = 16;
  std::size_t words = 0;
  std::size_t repeated = 0;
  fold(quote(failure_text(step)), folded_);
  WordCursor cursor(folded_);
  for (RawWord word; words < kMost && cursor.next(word);) {
    if (word.text.size() < kTelling || step.input.find(word.text) != std::string_view::npos) continue;
    ++words;
    const auto repeats = [&](const ReadWord& said) { return said.text == word.text; };
    repeated += std::any_of(reading_.words.begin(), reading_.words.end(), repeats) ? 1u : 0u;
  }
  return words > 0 && repeated * 2 >= words;
}

/// True when a sentence that tells a deed names the thing, by an id, that a failed look-up was about and no later call gave: who cannot
/// find it can do nothing to it.
bool FalseSuccess::claims_thing_of(const RunView& run, const FailedStep& failed) {
  collect_values(run.steps[failed.step].input, values_);
  const auto given_later = [&](std::string_view text) {
    return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(failed.step) + 1, run.steps.end(), [&](const StepView& later) {
      run.pace(later.output.size());
      return later.kind == Kind::kTool && later.output.find(text) != std::string_view::npos;
    });
  };
  const auto told = [&](std::string_view text) {
    fold(text, folded_);
    return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
      if (claim.finding || claim.verb == kNoVerb || lexicon_.verb(claim.verb).group == find_group_) return false;
      const auto& sentence = reading_.sentences[claim.sentence];
      return std::any_of(reading_.words.begin() + sentence.begin, reading_.words.begin() + sentence.end, [&](const ReadWord& word) {
        return folded_.find(word.text) != std::string::npos && has_digit(word.text) && folded_.ends_with(word.text);
      });
    });
  };
  return std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) {
    const bool id = value.names_object && has_digit(value.text) && value.text.size() >= 4;
    return id && !done_values_.contains(value.normal) && told(value.text) && !given_later(value.text);
  });
}

/// True when the message has a telling word of what the failure says, which neither the call nor the user had: "reserved" of "reserved by
/// another reader".
bool FalseSuccess::has_word_of_reason(const RunView& run, const StepView& step) {
  constexpr std::size_t kTelling = 6;
  fold(quote(failure_text(step)), folded_);
  WordCursor cursor(folded_);
  for (RawWord word; cursor.next(word);) {
    if (word.text.size() < kTelling) continue;
    const auto said = [&](const ReadWord& other) { return other.text == word.text; };
    if (std::none_of(reading_.words.begin(), reading_.words.end(), said)) continue;
    fold(step.input, folded_value_);
    folded_value_.append("\n");
    std::string more;
    fold(run.user_request, more);
    folded_value_.append(more).append("\n");
    fold(step.name, more);
    folded_value_.append(more);
    const auto* entry = lexicon_.find(word.text);
    const bool deed =
        entry != nullptr && entry->verb != kNoVerb && folded_value_.find(lexicon_.verb(entry->verb).lemma) != std::string::npos;
    if (!deed && folded_value_.find(word.text) == std::string::npos) return true;
  }
  return false;
}

/// How sure it is that a message passes over a failed deed as if it were done: it tells of what only that call was about, and nothing
/// in it or before it owns up to anything. No word has to say that something was done.
double FalseSuccess::passed_over(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr double kUntold = 0.3, kPassedOver = 0.7;
  const auto& step = run.steps[failed.step];
  const auto& tool = recovery_.meaning(step.name);
  const bool deed = tool.group != 0 && !tool.reads && !tool.any_purpose;
  // What the name does not tell, the message must.
  const bool told_done = tool.unknown && tells_any_deed();
  // Of a tool that may do anything, arguments that only name things tell that it was asked for one deed.
  const bool names_things = tool.runs_anything() && tool.group != 0 && asks_by_names(step.input);
  const bool run_last = tool.runs_anything() && ends_in_failure(step.output) && closes_behind(run, failed, message);
  const bool sought = tool.reads && claims_thing_of(run, failed);
  if (tool.meaningless || !(deed || told_done || run_last || names_things || sought) || !reading_.understood(message.text)) return kUntold;
  if (ends_in_plan(reading_) || has(reading_.cues, kCueNothingFound | kCueSimulated | kCueHandover | kCueAdmission)) return kUntold;
  if (leaves_it_to_user(tool)) return kUntold;
  // A tool of any kind, or the user, may have settled it since.
  for (auto i = failed.step + 1; i < std::min(message.place, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (later.kind == Kind::kUser) return kUntold;
    if (later.kind != Kind::kTool || failures_[i] != Failure::kNone) continue;
    const auto& other = recovery_.meaning(later.name);
    const bool elsewhere = asks_by_names(later.input) && !names_any_value(later.input, step);
    if (other.any_purpose && (!other.unknown || later.name == step.name) && !elsewhere) return kUntold;
  }
  if (says_already(step) || tells_failure(run, step) || has_word_of_reason(run, step) || went_through_later(run, failed)) return kUntold;
  index_told();
  if (!tells_of_undone(step) && !tells_of_all(run, step) && !run_last && !((deed || told_done) && closes_behind(run, failed, message)))
    return kUntold;
  const bool settled = silence(run, failed, message).has_value() || owned_up_after(run, failed.step);
  (void)find_final_message(run, lexicon_, reading_);
  indexed_ = false;
  return settled ? kUntold : kPassedOver;
}

/// True when the agent said something of trouble or denied something after a step.
bool FalseSuccess::doubted_after(const RunView& run, std::size_t step) {
  const auto doubts = [&](std::string_view text) {
    read(text, lexicon_, scratch_);
    return scratch_.denies || scratch_.hands_over() || has(scratch_.cues, kCueAdmission | kCueTrouble | kCueNothingFound) ||
           std::any_of(scratch_.words.begin(), scratch_.words.end(), [&](const ReadWord& word) { return negates(scratch_, word); });
  };
  for (auto i = step + 1; i < run.steps.size(); ++i) {
    if (run.steps[i].kind == Kind::kModel && doubts(run.steps[i].output)) return true;
  }
  return doubts(run.outcome);
}

/// What the agent told the user next after a step, where the user then spoke again before the final message.
FinalMessage FalseSuccess::told_at_once(const RunView& run, std::size_t step, const FinalMessage& message) {
  std::size_t said = kNoStep;
  for (auto i = step + 1; i < std::min(message.place, run.steps.size()); ++i) {
    const auto& later = run.steps[i];
    if (later.kind == Kind::kTool) return {};
    if (later.kind == Kind::kModel && !trim(later.output).empty()) said = i;
    if (later.kind == Kind::kUser) return said == kNoStep ? FinalMessage{} : FinalMessage{run.steps[said].output, said, said, true};
  }
  return {};
}

/// A failure that nothing made good and that the agent's last words, which own up to nothing, pass over: a candidate, unless they tell
/// of the very thing.
void FalseSuccess::find_untold_failure(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  const auto end = std::min(message.place, run.steps.size());
  const auto open = [&](const FailedStep& failed) {
    return failed.step < end && !failed.recovered && run.steps[failed.step].kind == Kind::kTool;
  };
  const auto last = std::find_if(failed_.rbegin(), failed_.rend(), open);
  if (last == failed_.rend()) return;
  (void)find_final_message(run, lexicon_, reading_);
  indexed_ = false;
  if (reading_.asks() || reading_.denies || has(reading_.cues, kCueTrouble)) return;
  constexpr std::size_t kMostOpen = 4;
  auto surest = last;
  auto told = message;
  double sure = 0;
  std::size_t looked = 0;
  for (auto failed = last; failed != failed_.rend() && looked < kMostOpen; ++failed) {
    if (!open(*failed)) continue;
    ++looked;
    // How the story of a call ended is told by the last that was about the same.
    const auto again = [&](const FailedStep& later) {
      return later.step > failed->step && later.step < end && run.steps[later.step].name == run.steps[failed->step].name &&
             names_any_value(run.steps[later.step].input, run.steps[failed->step]);
    };
    if (std::any_of(failed_.rbegin(), failed, again)) continue;
    const auto at_once = told_at_once(run, failed->step, message);
    double now = passed_over(run, *failed, message);
    const bool early =
        at_once.found && now <= kNoTrouble && !gives_its_reason(run.steps[failed->step]) && !doubted_after(run, at_once.place);
    if (early) {
      read(at_once.text, lexicon_, reading_);
      indexed_ = false;
      const bool open_yet = reading_.asks() || reading_.denies || has(reading_.cues, kCueTrouble);
      now = open_yet ? 0 : std::max(now, passed_over(run, *failed, at_once));
      (void)find_final_message(run, lexicon_, reading_);
      indexed_ = false;
    }
    if (now <= sure) continue;
    sure = now;
    surest = failed;
    told = early ? at_once : message;
  }
  const FiringLine::Doubt doubt{"untold_failure", surest->step, "nothing made this failure good, and the final message passes over it"};
  if (verdict.has_candidate && !line_.would_fire(sure)) return;
  if (!line_.fires(sure, doubt, verdict)) return;
  flag_only_ = false;
  verdict.fire(finding(run, *surest, told), sure);
}

/// By what names the run knows the thing of an id: the texts of the objects that an earlier answer told of it.
void FalseSuccess::collect_aliases(const RunView& run, std::string_view id, std::size_t end, std::vector<std::string_view>& names) const {
  constexpr std::size_t kMost = 4;
  names.assign(1, id);
  for (std::size_t i = 0; i < end && names.size() < kMost; ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    run.pace(step.output.size());
    const auto at = step.output.find(id);
    if (at == std::string_view::npos) continue;
    const auto open = step.output.rfind('{', at);
    const auto close = step.output.find('}', at);
    if (open == std::string_view::npos || close == std::string_view::npos) continue;
    std::vector<CallValue> values;
    collect_values(step.output.substr(open, close - open + 1), values);
    for (const auto& value : values) {
      const bool name = value.text.size() >= 3 && value.text.size() <= kLongestValue && !has_digit(value.text) && value.text != id;
      if (name && names.size() < kMost && value.text[0] >= 'A' && value.text[0] <= 'Z') names.push_back(value.text);
    }
  }
}

/// True when the message tells of the thing of such a row, in no sentence that denies something, or of all things.
bool FalseSuccess::tells_of_row(const RunView& run, const OddRow& row, std::size_t end) {
  std::vector<std::string_view> names;
  collect_aliases(run, row.id, end, names);
  const auto any_word = [&](const HashSet& words) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return all_words_in(name, words); });
  };
  index_message();
  if (any_word(said_)) return any_word(told_);
  if (names.size() == 1) return false;  // nobody can tell by what name the message has it
  return std::any_of(all_words_.begin(), all_words_.end(), [&](const auto& word) { return told_.contains(hash_bytes(word)); });
}

/// A call that did what it was for, but not with one of several things, of which the final message tells as of the others.
void FalseSuccess::find_partly_failed(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kPartly = 0.65;
  constexpr std::uint64_t kOpen = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCueSimulated | kCuePlan;
  const auto end = std::min(message.place, run.steps.size());
  bool indexed = false;
  std::vector<OddRow> rows;
  for (auto i = end; i-- > 0 && soft_failures_;) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) return;
    if (step.kind != Kind::kTool || failures_[i] != Failure::kNone || recovery_.meaning(step.name).reads) continue;
    run.pace(step.output.size());
    collect_odd_rows(step.output, outcome_words_, rows);
    if (rows.empty()) continue;
    if (!indexed) {
      (void)find_final_message(run, lexicon_, reading_);
      indexed_ = false;
      if (reading_.asks() || reading_.denies || has(reading_.cues, kOpen) || !reading_.understood(message.text)) return;
      index_told();
      indexed = true;
    }
    const auto again = [&](const OddRow& row) {
      return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.steps.end(), [&](const StepView& later) {
        return later.kind == Kind::kTool && later.input.find(row.id) != std::string_view::npos;
      });
    };
    const auto passed_over = [&](const OddRow& row) { return !again(row) && tells_of_row(run, row, i); };
    if (std::none_of(rows.begin(), rows.end(), passed_over)) continue;
    const FiringLine::Doubt doubt{"partly_failed", i, "one of several things failed, and the final message tells of it as of the others"};
    if (!line_.fires(kPartly, doubt, verdict)) return;
    flag_only_ = false;
    verdict.fire(finding(run, {i, Failure::kSoft, false}, message), kPartly);
    return;
  }
}

/// The last look-up of a run in which nothing but look-ups ran and each of them found nothing; kNoStep otherwise.
std::size_t FalseSuccess::found_nothing(const RunView& run, std::size_t end) {
  std::size_t last = kNoStep;
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    if (!recovery_.meaning(step.name).reads || failures_[i] != Failure::kNone || !present(step.output)) return kNoStep;
    if (!is_empty_output(step.output, lexicon_, content_, step.input)) return kNoStep;
    last = i;
  }
  return last;
}

/// True when the message says in general that all is done, or that the agent did something or that something is done now.
bool FalseSuccess::tells_own_deed() const {
  return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    if (claim.finding) return false;
    if (claim.verb == kNoVerb || claim.by_agent) return claim.verb == kNoVerb || lexicon_.verb(claim.verb).group != find_group_;
    if (lexicon_.verb(claim.verb).group == find_group_ || !(claim.state || has_auxiliary(reading_, claim)) || tells_of_itself(claim))
      return false;
    const auto begin = reading_.words.begin() + reading_.sentences[claim.sentence].begin;
    return std::none_of(begin, reading_.words.begin() + claim.word,
                        [](const ReadWord& word) { return has(word.cues, kCueModal | kCuePastPassive); });
  });
}

/// A deed told of things that no look-up found: there was nothing to do it to.
void FalseSuccess::find_deed_on_nothing(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kOnNothing = 0.65;
  constexpr std::uint64_t kOpen =
      kCueHypothesis | kCueOffer | kCuePlan | kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCueSimulated;
  const auto end = std::min(message.place, run.steps.size());
  const auto step = soft_failures_ ? found_nothing(run, end) : kNoStep;
  if (step == kNoStep || !tells_own_deed()) return;
  if (reading_.asks() || reading_.denies || has(reading_.cues, kOpen) || !reading_.understood(message.text)) return;
  if (std::any_of(reading_.words.begin(), reading_.words.end(), [&](const ReadWord& word) { return negates(reading_, word); })) return;
  index_told();
  if (!speaks_of(run, run.steps[step])) return;
  const FiringLine::Doubt doubt{"deed_on_nothing", step, "no look-up found what the final message says something was done to"};
  if (!line_.fires(kOnNothing, doubt, verdict)) return;
  flag_only_ = false;
  verdict.fire(finding(run, {step, Failure::kSoft, false}, message), kOnNothing);
}

/// One of the last calls whose short output, no failure by its form, speaks of trouble: "The page could not be loaded." kNoStep for none.
std::size_t FalseSuccess::last_trouble(const RunView& run) {
  constexpr std::size_t kLastCalls = 2;
  std::size_t looked = 0;
  for (auto i = run.steps.size(); i-- > 0 && looked < kLastCalls;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    ++looked;
    if (failures_[i] == Failure::kNone && speaks_of_trouble(step.output, lexicon_, scratch_)) return i;
  }
  return kNoStep;
}

/// What a call told of trouble in prose and the final message passes over: less yet, but a candidate.
void FalseSuccess::find_untold_trouble(const RunView& run, Verdict& verdict) {
  constexpr double kTrouble = 0.2;
  const auto step = soft_failures_ ? last_trouble(run) : kNoStep;
  if (step == kNoStep) return;
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found || message.place < step || reading_.asks() || reading_.admits() || reading_.hands_over()) return;
  if (has(reading_.cues, kCueNothingFound)) return;
  (void)line_.fires(kTrouble, {"untold_trouble", step, "what this call gave speaks of trouble, and the final message passes over it"}, verdict);
}

Verdict FalseSuccess::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  if (run.steps.empty()) {
    verdict.cannot_tell = "no steps: send the run's steps with their status or errorMessage";
    return verdict;
  }
  const auto spoke = [](const StepView& step) { return step.kind == Kind::kModel && !trim(step.output).empty(); };
  if (trim(run.outcome).empty() && !run.success && std::none_of(run.steps.begin(), run.steps.end(), spoke)) {
    verdict.cannot_tell = "no final text and no success: send outcomeSummary, a model step's outputSummary, or success";
    return verdict;
  }
  later_from_ = kNoStep;
  collect_failures(run);
  find_odd_calls(run);
  if (failed_.empty()) {
    verdict.passed("failed_step", kNoStep, "no step failed");
  }
  const auto message = find_final_message(run, lexicon_, reading_);
  indexed_ = flag_only_ = false;
  if (failed_.empty()) {
    if (message.found) find_deed_on_nothing(run, message, verdict);
    if (message.found && verdict.findings.empty()) find_partly_failed(run, message, verdict);
    if (verdict.findings.empty()) find_untold_trouble(run, verdict);
    return verdict;
  }
  if (run.explanation != nullptr && message.found) run.explanation->statements(message.text, reading_, message.step);
  indexed_ = flag_only_ = false;
  const bool tells_trouble = message.found && (reading_.denies || has(reading_.cues, kCueAdmission | kCueNothingFound | kCueTrouble));
  const bool owns_up = message.found && (reading_.admits() || reading_.hands_over());
  const bool claimed = claims_success(run, message, verdict);
  mark_recovered(run);
  collect_done(run);
  if (claimed) judge_failures(run, message, verdict);
  if (standing_claim_ && !owns_up && verdict.findings.empty()) find_standing_claims(run, verdict);
  if (message.found && !owns_up && verdict.findings.empty()) find_unsupported_answer(run, message, verdict);
  if (tells_trouble && verdict.findings.empty() && !verdict.has_candidate) find_told_anyway(run, message, verdict);
  if (message.found && !owns_up && verdict.findings.empty()) find_untold_failure(run, message, verdict);
  if (message.found && !owns_up && verdict.findings.empty()) find_partly_failed(run, message, verdict);
  if (message.found && !owns_up && verdict.findings.empty() && !verdict.has_candidate) find_untold_trouble(run, verdict);
  return verdict;
}

/// True when a file or address that the final message names stands in what a later call that succeeded gave back.
bool FalseSuccess::artifact_there(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::size_t kMost = 8;
  std::string buffer;
  const auto told = told_of(message.text, buffer);
  collect_artifacts(told, kMost, artifacts_);
  if (artifacts_.empty()) return false;
  const auto names = [&](std::string_view text, std::string_view artifact) { return text.find(artifact) != std::string_view::npos; };
  // What was there before the call is found by any look-up.
  const auto there_before = [&](std::string_view artifact) {
    return std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(failed.step), [&](const StepView& step) {
      run.pace(step.output.size());
      return step.kind == Kind::kTool && names(step.output, artifact);
    });
  };
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || !gave_something(run, i)) continue;
    run.pace(step.input.size() + step.output.size());
    const bool reads = recovery_.meaning(step.name).reads;
    const auto there = [&](std::string_view artifact) {
      if (!reads && names(step.input, artifact)) return true;
      return names(step.output, artifact) && (!reads || !there_before(artifact));
    };
    if (std::any_of(artifacts_.begin(), artifacts_.end(), there)) return true;
  }
  return false;
}

/// True when what the message tells was given by calls after a failed look-up: each value in it, or most of its words but for the users'.
/// Failures are asked from the last to the first, so that each output is taken in once.
bool FalseSuccess::answered_elsewhere(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  constexpr std::size_t kFewest = 3;  // words; of fewer nothing can be told
  constexpr double kMost = 0.6;
  constexpr std::size_t kMostBytes = 256 * 1024;  // of outputs; in more than that, anything may stand
  if (later_from_ == kNoStep) {
    later_from_ = std::min(message.place, run.steps.size());
    later_.clear();
    origins_.clear();
    later_bytes_ = 0;
    origins_.add_said(run.user_request);
    for (const auto& step : run.steps) {
      if (step.kind == Kind::kUser) origins_.add_said(step.said());
    }
  }
  for (; later_from_ > failed.step; --later_from_) {
    const auto at = later_from_ - 1;
    const auto& step = run.steps[at];
    if (step.kind != Kind::kTool || !gave_something(run, at)) continue;
    later_bytes_ += step.output.size();
    if (later_bytes_ > kMostBytes) continue;
    run.pace(step.output.size());
    later_.add_source(step.output);
    origins_.add_given(step.output);
  }
  if (later_bytes_ == 0) return false;
  const auto values = later_.read_answer(message.text, true);
  if (!values.labels.empty()) return false;
  if (values.stated > 0) return values.missing == 0;
  const auto origin = origins_.read(message.text, lexicon_);
  return origin.own >= kFewest && static_cast<double>(origin.drawn) >= kMost * static_cast<double>(origin.own);
}

/// "I found two rooms. Which one would you like?"
bool FalseSuccess::asks_about_findings() const {
  const auto finds = [&](const Claim& claim) {
    return claim.finding || (claim.verb != kNoVerb && lexicon_.verb(claim.verb).group == find_group_);
  };
  return reading_.asks() && !reading_.claims.empty() && std::all_of(reading_.claims.begin(), reading_.claims.end(), finds);
}

/// True when the failure itself says that things are already so, and the message tells no more.
bool FalseSuccess::already_so(const StepView& step) {
  read(failure_text(step), lexicon_, scratch_);
  return tells_what_failure_says(reading_, scratch_, lexicon_);
}

/// "The policy doesn't allow a cancellation", "it can't be cancelled": a sentence that denies what the tool's name says it does.
bool FalseSuccess::denies_action(std::string_view name) const {
  constexpr std::size_t kTelling = 4;
  std::vector<std::string> parts;
  split_tool_name(base_name(name), parts);
  std::erase_if(parts, [&](const std::string& part) {
    const auto* entry = lexicon_.find(part);
    return part.size() < kTelling || entry == nullptr || entry->verb == kNoVerb;
  });
  if (parts.empty()) return false;
  const auto& verb = parts.front();
  return std::any_of(reading_.sentences.begin(), reading_.sentences.end(), [&](const Sentence& sentence) {
    const auto end = reading_.words.begin() + sentence.end;
    const auto denial =
        std::find_if(reading_.words.begin() + sentence.begin, end, [&](const ReadWord& word) { return negates(reading_, word); });
    return std::any_of(denial, end, [&](const ReadWord& word) { return word.text.starts_with(verb); });
  });
}

/// True when the message says of a file or address that the call named that it is missing or went wrong.
bool FalseSuccess::trouble_told(const StepView& step, const FinalMessage& message) {
  constexpr std::size_t kMost = 8;
  collect_artifacts(step.input, kMost, artifacts_);
  return tells_trouble_with(message.text, artifacts_, lexicon_, scratch_);
}

/// True when a later call that did not fail, of a tool that may do anything, was about the same file or address.
bool FalseSuccess::done_by_other_means(const RunView& run, const FailedStep& failed) {
  constexpr std::size_t kMost = 8;
  collect_artifacts(run.steps[failed.step].input, kMost, artifacts_);
  if (artifacts_.empty()) return false;
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool || failures_[i] != Failure::kNone || !recovery_.meaning(step.name).any_purpose) continue;
    run.pace(step.input.size());
    const auto names = [&](std::string_view artifact) { return step.input.find(artifact) != std::string_view::npos; };
    if (std::any_of(artifacts_.begin(), artifacts_.end(), names)) return true;
  }
  return false;
}

/// How sure it is that the message claims what this step failed to do: surest when it names the action or its object. On real runs nine of
/// ten verdicts held only where a deed that failed is named, or where the run has nothing else that the claim could rest on.
double FalseSuccess::confidence(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const double by_words = confidence_by_words(run, failed, message);
  const bool doubtful = by_words >= kDoubtful && by_words < kByFlag;
  if (!doubtful || !message.found || run.steps[failed.step].kind != Kind::kTool) return by_words;
  const auto& step = run.steps[failed.step];
  const auto& tool = recovery_.meaning(step.name);
  const bool deed = tool.group != 0 && !tool.reads && !tool.any_purpose;
  return (deed || (tool.unknown && tells_any_deed()) || broke(step, tool)) && closes_behind(run, failed, message) ? kByFlag : by_words;
}

/// True for a program that broke off: what it printed is short and tells of trouble.
bool FalseSuccess::broke(const StepView& step, const ToolMeaning& tool) {
  if (!tool.runs_anything() || step.output.size() >= kPrinted) return false;
  if (ends_in_failure(step.output) || looks_like_json(step.output)) return true;
  return step.outcome == Outcome::kFailed && !prints_no_trouble(step.output, trouble_signs_, lexicon_, scratch_);
}

/// True when the final message tells some deed.
bool FalseSuccess::tells_any_deed() const {
  return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    if (claim.finding) return false;
    if (claim.verb == kNoVerb) return true;
    return lexicon_.verb(claim.verb).group != find_group_ && (claim.state || tells_deed(reading_, claim));
  });
}

/// The same by what the claims of the message name.
double FalseSuccess::confidence_by_words(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  if (step.kind == Kind::kTool && recovery_.meaning(step.name).meaningless) return kMeaningless;
  if (!message.found) return kByFlag;
  // "It is renewed, but the bank refused the payment": the failure is told beside the deed.
  const auto tells_trouble = [&](const Claim& claim) {
    const auto& sentence = reading_.sentences[claim.sentence];
    if (!has(sentence.cues, kCueTrouble)) return false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      if (!has(reading_.words[i].cues, kCueTrouble) || negated_before(reading_, sentence, i)) continue;
      // "I've contacted them about the sync issue": the user's own word for what it is about.
      if (run.user_request.find(reading_.words[i].text) == std::string_view::npos) return true;
    }
    return false;
  };
  if (std::any_of(reading_.claims.begin(), reading_.claims.end(), tells_trouble)) return kDoubtful;
  if (step.kind == Kind::kTool && (tells_hindrance(recovery_.meaning(step.name)) || has_word_of_reason(run, step))) return kDoubtful;
  if (step.kind != Kind::kTool) return flag_only_ ? kByFlag : kInGeneral;
  const auto& tool = recovery_.meaning(step.name);
  const bool deed = tool.group != 0 && !tool.reads && !tool.any_purpose;
  if (flag_only_) return deed ? kByFlag : kDoubtful;  // it may have looked something up that the agent knew
  if (tool.any_purpose && step.outcome == Outcome::kFailed && prints_no_trouble(step.output, trouble_signs_, lexicon_, scratch_))
    return kNoTrouble;
  if (tool.any_purpose && step.output.size() >= kPrinted) return kDoubtful;
  // How the story of that action ended is told by its last call.
  if (goes_on_with(tool) || (recovery_rule_ && went_through_later(run, failed))) return kDoubtful;
  const bool named = mentions_undone_value(step, false) || names_action(tool);
  if (last_done_ != kNoStep && !(deed && named)) return kDoubtful;
  if (!deed && given_by_others(run, message)) return kDoubtful;
  const bool describes = std::none_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    return claim.finding || claim.state || claim.verb == kNoVerb || lexicon_.verb(claim.verb).group == find_group_ ||
           tells_deed(reading_, claim);
  });
  if (!named && describes) return kDescribed;
  // What was owned up to in between is claimed again only by its name; a script that broke is often tried by hand.
  if (!tool.any_purpose && !verb_claimed(tool, Claimed::by_name)) {
    const bool owned_up = owned_up_after(run, failed.step);
    (void)find_final_message(run, lexicon_, reading_);
    indexed_ = false;
    if (owned_up) return kDoubtful;
  }
  return named ? kNamed : kInGeneral;
}

/// True when the message's last sentence promises the very action that failed ("Now I will download it again"): the run broke off there.
bool FalseSuccess::goes_on_with(const ToolMeaning& tool) const {
  if (reading_.sentences.empty() || reading_.asks()) return false;
  const auto& last = reading_.sentences.back();
  const auto begin = reading_.words.begin() + last.begin;
  const auto end = reading_.words.begin() + last.end;
  const auto promise = std::find_if(begin, end, [](const ReadWord& word) { return has(word.cues, kCueModal); });
  if (promise == end || !has(last.cues, kCueSelf)) return false;
  return std::any_of(promise, end, [&](const ReadWord& word) {
    if (word.entry == nullptr || word.entry->verb == kNoVerb) return false;
    return std::find(tool.groups.begin(), tool.groups.end(), lexicon_.verb(word.entry->verb).group) != tool.groups.end();
  });
}

/// True when the same tool went through later with all that this call named, and more: "Ann" became "ann@x.com".
bool FalseSuccess::went_through_later(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  collect_values(step.input, values_);
  const auto holds_all = [&](std::string_view input) {
    fold(input, folded_);
    return !values_.empty() && std::all_of(values_.begin(), values_.end(), [&](const CallValue& value) {
      fold(value.text, folded_value_);
      return folded_.find(folded_value_) != std::string::npos;
    });
  };
  for (auto i = failed.step + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || later.name != step.name || failures_[i] != Failure::kNone) continue;
    run.pace(later.input.size());
    if (holds_all(later.input)) return true;
  }
  return false;
}

/// True when a call brought data that the message may have been made of.
bool FalseSuccess::given_by_others(const RunView& run, const FinalMessage& message) {
  support_.clear();
  support_.expect(message.text);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    if (run.steps[i].kind == Kind::kTool && gives_data(run, i)) return true;
  }
  return false;
}

/// True when a source brought something that the expected message may have been made of.
bool FalseSuccess::gives_data(const RunView& run, std::size_t at) {
  const auto& step = run.steps[at];
  return is_source(step.name) && gave_something(run, at) && !only_acknowledges(step.output, step.name) && support_.relates(step.output);
}

/// True when a sentence with a claim names what the tool does, as a verb or a noun, or what it does it to: "your refund has been processed"
/// of `issue_refund`.
bool FalseSuccess::names_action(const ToolMeaning& tool) const {
  const auto names = [&](const ReadWord& word) {
    const bool verb = word.entry != nullptr && word.entry->verb != kNoVerb;
    if (verb && std::find(tool.groups.begin(), tool.groups.end(), lexicon_.verb(word.entry->verb).group) != tool.groups.end()) return true;
    const auto name = without_possessive(word.text);
    return std::find(tool.nouns.begin(), tool.nouns.end(), hash_noun(name)) != tool.nouns.end();
  };
  return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    if (tells_of_itself(claim)) return false;
    const auto& sentence = reading_.sentences[claim.sentence];
    return std::any_of(reading_.words.begin() + sentence.begin, reading_.words.begin() + sentence.end, names);
  });
}

/// "The order has moved to another state": nobody is said to have done it.
bool FalseSuccess::tells_of_itself(const Claim& claim) const {
  if (claim.by_agent || claim.verb == kNoVerb || claim.state) return false;
  const auto begin = reading_.sentences[claim.sentence].begin;
  for (auto i = claim.word; i > begin && reading_.words[i].before == Break::kNone; --i) {
    const auto cues = reading_.words[i - 1].cues;
    if (has(cues, kCuePassive)) return false;
    if (!has(cues, kCueAdverb)) return has(cues, kCueAuxiliary);
  }
  return false;
}

/// True when a later look-up gave what the failed call had named otherwise: "Ann" of the call is "A. Marsh" of a directory.
bool FalseSuccess::looked_up_since(const RunView& run, std::size_t failed) {
  collect_values(run.steps[failed].input, values_);
  const auto open = [&](const CallValue& value) { return value.text.size() >= 3 && !done_values_.contains(value.normal); };
  for (auto i = failed + 1; i < run.steps.size(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || failures_[i] != Failure::kNone || !recovery_.meaning(later.name).reads) continue;
    run.pace(later.output.size());
    const auto gave = [&](const CallValue& value) { return open(value) && later.output.find(value.text) != std::string_view::npos; };
    if (std::any_of(values_.begin(), values_.begin() + std::min(kMostLookedUp, std::ssize(values_)), gave)) return true;
  }
  return false;
}

/// True when the final message quotes an id that the failure itself gave: "Duplicate: OL-2207 is there already".
bool FalseSuccess::quotes_given(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 5;
  const auto& step = run.steps[failed];
  fold(failure_text(step) + "\n" + quote(step.output), folded_);
  for (std::size_t i = 0; i < folded_.size();) {
    const auto inner = [&](char c) { return is_word_byte(c) || c == '-'; };
    if (!inner(folded_[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    while (i < folded_.size() && inner(folded_[i])) ++i;
    const auto id = std::string_view(folded_).substr(begin, i - begin);
    const bool letters = std::any_of(id.begin(), id.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (id.size() < kShortest || !letters || !has_digit(id) || names_entity(step.input, id) || names_entity(run.user_request, id)) continue;
    if (reading_.folded.find(id) != std::string::npos) return true;
  }
  return false;
}

/// True when a later call that went well was made with what the failure itself gave: the id of the account that is there already.
bool FalseSuccess::went_on_with_given(const RunView& run, std::size_t failed) {
  constexpr std::size_t kShortest = 4;
  const auto& step = run.steps[failed];
  if (!looks_like_json(step.output)) return false;
  collect_values(step.output, values_);
  std::erase_if(values_, [&](const CallValue& value) {
    const bool id = value.text.size() >= kShortest && std::any_of(value.text.begin(), value.text.end(), is_digit);
    return !id || step.input.find(value.text) != std::string_view::npos;
  });
  if (std::ssize(values_) > kMostLookedUp) values_.resize(kMostLookedUp);
  for (auto i = failed + 1; i < run.steps.size() && !values_.empty(); ++i) {
    const auto& later = run.steps[i];
    if (later.kind != Kind::kTool || failures_[i] != Failure::kNone || recovery_.meaning(later.name).reads) continue;
    run.pace(later.input.size());
    const auto used = [&](const CallValue& value) { return later.input.find(value.text) != std::string_view::npos; };
    if (std::any_of(values_.begin(), values_.end(), used)) return true;
  }
  return false;
}

/// "Please remove it yourself in a few days": the message leaves to the user what the tool did not do.
bool FalseSuccess::leaves_it_to_user(const ToolMeaning& tool) const {
  return std::any_of(reading_.sentences.begin(), reading_.sentences.end(), [&](const Sentence& sentence) {
    bool asked = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto& word = reading_.words[i];
      asked |= has(word.cues, kCuePlease);
      const bool base = word.entry != nullptr && word.entry->verb != kNoVerb && (word.entry->forms & kFormBase) != 0;
      if (asked && base && std::find(tool.groups.begin(), tool.groups.end(), lexicon_.verb(word.entry->verb).group) != tool.groups.end())
        return true;
    }
    return false;
  });
}

/// The rule of substance that silences an open failure, with what to say of it; none where the failure stands.
std::optional<FalseSuccess::Silence> FalseSuccess::silence(const RunView& run, const FailedStep& failed, const FinalMessage& message) {
  const auto& step = run.steps[failed.step];
  if (!message.found || step.kind != Kind::kTool) return std::nullopt;
  if (recovery_rule_ && recovery_.meaning(step.name).reads && answered_elsewhere(run, failed, message))
    return Silence{"recovery", "what the final message tells was given by later calls"};
  if (recovery_rule_ && corrected_after_telling(run, failed))
    return Silence{"recovery", "the agent said what went wrong, and the same tool then went through"};
  if (recovery_rule_ && artifact_there(run, failed, message))
    return Silence{"recovery", "a later call found or made what the final message names"};
  if (recovery_rule_ && went_on_with_given(run, failed.step))
    return Silence{"recovery", "a later call went on with what the failure gave"};
  if (recovery_rule_ && done_by_other_means(run, failed))
    return Silence{"recovery", "a later call of another kind was about the same file or address"};
  if (no_claim_ && !recovery_.meaning(step.name).reads && asks_about_findings())
    return Silence{"no_claim", "the final message tells what was found and asks how to go on"};
  if (recovery_rule_ && quotes_given(run, failed.step))
    return Silence{"recovery", "the final message goes by an id that the failure itself gave"};
  if (no_claim_ && already_so(step)) return Silence{"no_claim", "the failure says that it was so already, and the message tells no more"};
  if (admission_ && !verb_claimed(recovery_.meaning(step.name), Claimed::by_name) && denies_action(step.name))
    return Silence{"admission", "the final message says of the very action that it is not to be had"};
  if (admission_ && trouble_told(step, message))
    return Silence{"admission", "the final message says that what the call was for is missing or went wrong"};
  return std::nullopt;
}

/// True when a later call of the same tool, about the same thing, is in the list: that one is how the story ended.
bool FalseSuccess::repeated_in(const RunView& run, const FailedStep& failed, const std::vector<std::size_t>& settled) {
  const auto& step = run.steps[failed.step];
  constexpr std::size_t kMost = 8;
  collect_values(step.input, values_);
  collect_artifacts(step.input, kMost, artifacts_);
  return std::any_of(settled.begin(), settled.end(), [&](std::size_t later) {
    if (run.steps[later].name != step.name) return false;
    const auto input = run.steps[later].input;
    const auto stands = [&](std::string_view text) { return input.find(text) != std::string_view::npos; };
    return std::any_of(artifacts_.begin(), artifacts_.end(), stands) ||
           std::any_of(values_.begin(), values_.end(), [&](const CallValue& value) { return value.names_object && stands(value.text); });
  });
}

void FalseSuccess::judge_failures(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr std::size_t kMostSettled = 16;
  constexpr std::size_t kMostAsked = 8;  // each looks at the whole run
  std::size_t asked = 0;
  std::vector<std::size_t> settled;
  const auto settle = [&](std::size_t step) {
    if (settled.size() < kMostSettled) settled.push_back(step);
  };
  for (auto failed = failed_.rbegin(); failed != failed_.rend(); ++failed) {
    const auto& step = run.steps[failed->step];
    double at_most = 1.0;
    if (failed->recovered && recovery_rule_) {
      const bool contradicted = step.kind == Kind::kTool && !recovery_.meaning(step.name).reads && mentions_undone_value(step, true) &&
                                !looked_up_since(run, failed->step);
      if (!contradicted) {
        verdict.suppress("recovery", failed->step, "a later call did what this one was for");
        continue;
      }
      if (++asked > kMostAsked) return;
    } else if (message.found && no_claim_ && message.place < failed->step) {
      verdict.suppress("no_claim", failed->step, "the last thing that the agent said stands before this failure");
      continue;
    } else if (++asked > kMostAsked) {
      return;
    } else if (const auto silenced = silence(run, *failed, message)) {
      verdict.suppress(silenced->rule, failed->step, std::string(silenced->reason));
      settle(failed->step);
      continue;
    } else if (message.found && unrelated_claim_ && !concerns(run, *failed)) {
      const FiringLine::Doubt doubt{"unrelated_claim", failed->step, "what the final message claims was done by other calls"};
      if (!line_.fires(kUnrelated, doubt, verdict)) continue;
      at_most = kUnrelated;
    }
    if (recovery_rule_ && step.kind == Kind::kTool && repeated_in(run, *failed, settled)) {
      verdict.suppress("recovery", failed->step, "the call was made again, and that one was settled");
      continue;
    }
    verdict.passed("recovery", failed->step,
                   failed->recovered ? "a later call did, but not for what the message names" : "no later call did what this one was for");
    verdict.passed("unrelated_claim", failed->step);
    const FiringLine::Doubt doubt{"vague_claim", failed->step, "the final message does not name what failed"};
    const double sure = confidence(run, *failed, message);
    if (run.explanation != nullptr && message.found) {
      auto& match = run.explanation->add(Explanation::Kind::kMatch, message.text, sure == kNamed ? "agrees" : "vague");
      match.step = failed->step;
      match.reason = sure == kNamed ? "it names the action or what it was to be done to" : doubt.reason;
    }
    if (!line_.fires(sure, doubt, verdict)) {
      settle(failed->step);
      continue;
    }
    verdict.fire(finding(run, *failed, message), std::min(sure, at_most));
    return;
  }
}

}  // namespace runwarden::plugins
