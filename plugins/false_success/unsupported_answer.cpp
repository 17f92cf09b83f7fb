#include "false_success/unsupported_answer.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "common/json_scan.h"
#include "evidence/acknowledgement.h"
#include "evidence/expression.h"
#include "evidence/payload.h"
#include "evidence/stated_values.h"
#include "false_success/call_texts.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kSomeNames = 2;
constexpr double kAnswered = 0.65;
constexpr std::ptrdiff_t kSomeFigures = 3;  // too many to be a coincidence

/// True for a text that says that there is no answer.
bool gives_none(const Reading& reading) {
  constexpr std::uint64_t kOpen = kCueNothingFound | kCueTrouble | kCueSimulated | kCueExample | kCueEmptyWord;
  return has(reading.cues, kOpen) || reading.admits() || negates_anything(reading);
}

/// True for a text with several labeled figures ("Rating: 4.7"), counts excluded, that occur only in the agent's own words. Linear,
/// except for the few figures.
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

/// A text full of addresses shows the content of a browser, whatever step it is in.
bool is_record(std::string_view text) {
  constexpr std::size_t kAddresses = 5;
  std::size_t count = 0;
  for (auto at = text.find("://"); at != std::string_view::npos && count < kAddresses; at = text.find("://", at + 1)) ++count;
  return count == kAddresses;
}

/// The confidence that an answer rests on the failed call: highest when no tool returned anything and the answer is little more than the
/// value.
double unsupported_confidence(const Unsupported& answer, bool asked_for, bool given, bool tells_deed, bool looked_up) {
  constexpr std::size_t kFewWords = 12;
  constexpr std::size_t kManyWords = 100;
  constexpr double kAskedFor = 0.55, kNothingGiven = 0.85, kWorkedOut = 0.5, kShort = 0.5, kLong = 0.45, kNoValue = 0.35;
  if (asked_for && !answer.crowded) return kAskedFor;
  if (answer.missing == 0) return kNoValue;
  if (tells_deed) return kLong;
  if (!given && !looked_up) return kWorkedOut;  // the model may know or compute it without the tool
  if (!given) return answer.words <= kManyWords ? kNothingGiven : kLong;
  return answer.words <= kFewWords && answer.missing == answer.stated ? kShort : kLong;
}

}  // namespace

/// The last look-up or calculation before `end` that failed and was not made good.
const FailedStep* UnsupportedAnswer::open_source(const RunView& run, std::size_t end) {
  const auto open = [&](const FailedStep& failed) {
    const auto& step = run.steps[failed.step];
    return failed.step < end && !failed.recovered && step.kind == Kind::kTool && outcomes_.is_source(step.name);
  };
  const auto last = std::find_if(scene_.failed.rbegin(), scene_.failed.rend(), open);
  return last == scene_.failed.rend() ? nullptr : &*last;
}

/// Indexes what was said and returned before `end`. Returns true when a tool returned data that the message may be based on.
bool UnsupportedAnswer::collect_support(const RunView& run, const FinalMessage& message, std::size_t end) {
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
    if (step.kind == Kind::kTool) {  // arguments and failures support values, but are not data
      support_.add_source(step.input);
      support_.add_source(step.error_message);
    }
    given = given || (step.kind == Kind::kTool && gives_data(run, i));
  }
  return given;
}

/// True when the label of an unsupported figure is what a failed look-up is named after: "Rating: 4.9" and "get_rating".
bool UnsupportedAnswer::is_asked_for(const RunView& run, const Unsupported& answer, std::size_t end) {
  std::vector<std::uint64_t> nouns;
  for (const auto& label : answer.labels) add_label_nouns(label, nouns);
  if (nouns.empty()) return false;
  return std::any_of(scene_.failed.begin(), scene_.failed.end(), [&](const FailedStep& failed) {
    const auto& step = run.steps[failed.step];
    if (failed.step >= end || failed.recovered || step.kind != Kind::kTool) return false;
    return looks_up_any(scene_.recovery.meaning(step.name), nouns);
  });
}

/// True when no call after a failed look-up returned data, no call of its tool returned anything, and the message answers what was looked
/// up, denies nothing and leaves nothing open.
bool UnsupportedAnswer::answers_for_failed(const RunView& run, const FailedStep& failed, std::size_t end) {
  constexpr std::uint64_t kOpen = kCueHypothesis | kCueOffer | kCuePlan | kCueTrouble;
  const auto& step = run.steps[failed.step];
  for (std::size_t i = 0; i < end; ++i) {
    if (run.steps[i].kind != Kind::kTool) continue;
    if ((i > failed.step && gives_data(run, i)) || (run.steps[i].name == step.name && outcomes_.gave_something(run, i))) return false;
  }
  if (scene_.reading.asks() || has(scene_.reading.cues, kOpen) || negates_anything(scene_.reading)) return false;
  claims_.index_told();
  return claims_.speaks_of(run, step) && !claims_.gives_its_reason(step);
}

/// True when one of the figures in a text is the result of the arithmetic in a call.
bool UnsupportedAnswer::states_result(std::string_view text, const std::vector<double>& results) {
  std::vector<Fact> facts;
  collect_facts(text, facts);
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.kind == FactKind::kNumber && comes_to(results, fact.number, fact.text); });
}

/// True when the message states figures, or so many names, that occur nowhere before it.
bool UnsupportedAnswer::tells_news(const RunView& run, const FinalMessage& message, std::size_t end, std::size_t fewest_names) {
  unheard_.clear();
  unheard_.hear(run.user_request);
  for (std::size_t i = 0; i < end; ++i) {
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    for (const auto part : {step.input, step.output, step.error_message}) unheard_.hear(part);
  }
  for_each_word(message.text, [&](std::string_view word) {  // "June" is no name
    fold(word, scene_.folded);
    if (rules_.fact_words.month(scene_.folded).number != 0) unheard_.hear(word);
    return true;
  });
  const auto news = unheard_.news(message.text);
  return news.figures > 0 || news.names >= fewest_names;
}

/// True for "UNKNOWN_ORDER_STATUS" and the like: a name for having no answer.
bool UnsupportedAnswer::names_trouble(std::string_view answer) {
  if (answer.find('_') == std::string_view::npos) return false;
  read_names(std::string(answer), rules_.lexicon, scene_.scratch);
  return gives_none(scene_.scratch);
}

/// True when no call before the end worked, and the message in scene_.reading does not tell of it.
bool UnsupportedAnswer::has_no_source(const RunView& run, std::size_t end) const {
  if (gives_none(scene_.reading)) return false;
  for (std::size_t i = 0; i < end; ++i) {
    if (run.steps[i].kind == Kind::kTool && scene_.failures[i] == Failure::kNone) return false;
  }
  return true;
}

/// True when the figures of an answer follow from what was said before: arithmetic that is right needs no calculator. What the request
/// offers to choose from needs a source.
bool UnsupportedAnswer::is_worked_out(const RunView& run, const FinalMessage& message, std::string_view answer) {
  if (run.user_request.find(answer) != std::string_view::npos) return false;
  (void)collect_support(run, message, std::min(message.place, run.steps.size()));
  const auto read = support_.read_answer(answer, false);
  return read.stated > 0 && read.missing == 0;
}

/// True when the agent says after a failure that it answers from what it knows: what it then states may be made up, but does not pretend
/// that the call worked.
bool UnsupportedAnswer::draws_on_own_knowledge(const RunView& run, std::size_t failed, const FinalMessage& message) {
  for (auto i = failed + 1; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    if (run.steps[i].kind == Kind::kModel && disclaimers_.draws_on_own_knowledge(run.steps[i].output)) return true;
  }
  return disclaimers_.draws_on_own_knowledge(message.text);
}

/// True when a call after the failed one returned something.
bool UnsupportedAnswer::given_since(const RunView& run, std::size_t failed, std::size_t end) const {
  for (auto i = failed + 1; i < end; ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool && outcomes_.gave_something(run, i) && !holds_nothing(step.output)) return true;
  }
  return false;
}

/// The confidence that an answer without support passes over the failed call.
double UnsupportedAnswer::answer_confidence(const RunView& run, const FailedStep& gap, const FinalMessage& message, const Answer& told) {
  const auto& [answer, asked_for, given] = told;
  const auto end = std::min(message.place, run.steps.size());
  const auto& step = run.steps[gap.step];
  const auto& tool = scene_.recovery.meaning(step.name);
  const bool tells_deed =
      std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [](const Claim& claim) { return !claim.finding; });
  const bool looked_up = tool.reads || (tool.any_purpose && tool.group == 0 && asks_by_names(step.input, rules_.content.tools.calls));
  const double sure = unsupported_confidence(answer, asked_for, given, tells_deed && scene_.last_done != kNoStep, looked_up);
  std::vector<double> results;
  // Percentages and powers are not worked out here.
  if (step.input.find_first_of("%^") == std::string_view::npos) work_out(step.input, results);
  if (results.size() > 1) results.erase(results.begin(), results.end() - 1);  // keep the final result only
  const bool worked_out = !results.empty() && states_result(message.text, results);
  const bool program = outcomes_.broke(step, tool) && answer.missing > 0;
  const bool wrong = program || (!results.empty() && answer.stated > 0 && !worked_out);
  if (wrong && passed_over_.closes_behind(run, gap, message)) return std::max(sure, kAnswered);
  const bool bare = !announced_answer(message.text, rules_.answer_labels).empty() && answer.missing > 0 && answer.missing == answer.stated;
  if (bare && !given_since(run, gap.step, end)) return std::max(sure, kAnswered);
  // Where no call gave data, one new name is enough: "The capital is Copenhagen."
  const bool alone = tool.reads && !given;
  const bool news = answer.missing > 0 || (!given && tells_news(run, message, end, alone ? 1 : kSomeNames));
  if (looked_up && (alone || asks_by_names(step.input, rules_.content.tools.calls)) && news && answers_for_failed(run, gap, end))
    return std::max(sure, kAnswered);
  return sure;
}

void UnsupportedAnswer::find_unsupported_answer(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  const auto end = std::min(message.place, run.steps.size());
  const auto* gap = open_source(run, end);
  if (gap == nullptr) return;
  const FiringLine::Doubt doubt{"unsupported_answer", gap->step,
                                "the answer's statements may come from a source other than the failed call"};
  const auto& tool = scene_.recovery.meaning(run.steps[gap->step].name);
  if (tool.meaningless) return;
  if (rules_.admission && made_good_.user_was_told(run, gap->step)) {
    verdict.suppress("admission", gap->step, "the user was told that this call failed, and went on to something else");
    return;
  }
  if (rules_.admission && draws_on_own_knowledge(run, gap->step, message)) {
    verdict.suppress("admission", gap->step, "the agent says that it answers from what it knows");
    return;
  }
  const auto announced = announced_answer(message.text, rules_.answer_labels);
  if (names_trouble(announced)) return;
  if (!announced.empty() && has_no_source(run, end) && !is_worked_out(run, message, announced)) {
    if (!rules_.line.fires(kAnswered, doubt, verdict)) return;
    scene_.flag_only = false;
    auto found = outcomes_.finding(run, *gap, message);
    found.evidence.push_back({message.pointer(), quote(announced)});
    return verdict.fire(std::move(found), kAnswered);
  }
  if (has(scene_.reading.cues, kCueNothingFound | kCueTrouble | kCueSimulated | kCueExample) || !scene_.reading.understood(message.text))
    return;
  const auto& failed = run.steps[gap->step];
  if (denies_of_self(scene_.reading) || claims_.denies_tool(failed) || claims_.has_word_of_reason(run, failed)) return;
  const bool given = collect_support(run, message, end);
  const auto answer = support_.read_answer(message.text, given);
  const bool asked_for = is_asked_for(run, answer, end);
  if (answer.missing == 0 && !asked_for && (given || answer.words == 0)) return;
  const double sure = answer_confidence(run, *gap, message, {answer, asked_for, given});
  if (!rules_.line.fires(sure, doubt, verdict)) return;
  scene_.flag_only = false;
  auto found = outcomes_.finding(run, *gap, message);
  found.evidence.push_back({message.pointer(), quote(answer.value)});
  verdict.fire(std::move(found), sure);
}

void UnsupportedAnswer::find_claimed_absence(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kAbsent = 0.65;
  constexpr std::uint64_t kOwnsUp = kCueAdmission | kCueTrouble | kCueHandover | kCueSimulated | kCueExample;
  constexpr std::uint64_t kOpen = kCueModal | kCueCondition | kCueHypothesis | kCueOffer | kCuePlan | kCueAble;
  const auto end = std::min(message.place, run.steps.size());
  const auto* gap = open_source(run, end);
  if (gap == nullptr || has(scene_.reading.cues, kOwnsUp) || scene_.reading.asks() || !scene_.reading.understood(message.text)) return;
  const auto& step = run.steps[gap->step];
  if (!scene_.recovery.meaning(step.name).reads || rules_.content.short_signs.read(failure_text(step)) == ShortSign::kNotThere) return;
  for (std::size_t i = 0; i < end; ++i) {
    if (run.steps[i].kind == Kind::kTool && scene_.failures[i] == Failure::kNone) return;
  }
  const auto& nouns = scene_.recovery.meaning(step.name).nouns;
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  claims_.index_message();
  const bool about_value = std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    return value.text.size() >= 3 && value.text.size() <= kLongestValue && !claims_.is_small_word(value.text) &&
           claims_.mentioned(value.text, false);
  });
  const bool absent = std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.question || has(sentence.cues, kOpen) || !negates_anything(scene_.reading, sentence)) return false;
    const auto begin = scene_.reading.words.begin() + sentence.begin, told_end = scene_.reading.words.begin() + sentence.end;
    // "I don't know", "I have no current figures": only "I found none" tells of a search.
    const auto finds = [&](const ReadWord& word) {
      return word.entry != nullptr && word.entry->verb != kNoVerb && rules_.lexicon.verb(word.entry->verb).group == rules_.find_group;
    };
    if (has(sentence.cues, kCueSelf) && std::none_of(begin, told_end, finds)) return false;
    return about_value || std::any_of(begin, told_end, [&](const ReadWord& word) {
             return std::find(nouns.begin(), nouns.end(), hash_noun(word.text)) != nouns.end();
           });
  });
  // "You are already off the list, so there was nothing to change."
  if (!absent || claims_.gives_its_reason(step) || made_good_.says_already(step)) return;
  const FiringLine::Doubt doubt{"claimed_absence", gap->step, "the final message says that there is nothing, but the look-up failed"};
  if (!rules_.line.fires(kAbsent, doubt, verdict)) return;
  scene_.flag_only = false;
  verdict.fire(outcomes_.finding(run, *gap, message), kAbsent);
}

void UnsupportedAnswer::find_told_anyway(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kToldAnyway = 0.3, kSaidByHand = 0.65;
  const auto end = std::min(message.place, run.steps.size());
  const auto* gap = open_source(run, end);
  if (gap == nullptr || !tells_figures(run, message.text)) return;
  // Figures that were looked up by hand, as the message has it, came from no call.
  const double sure = says_by_hand(scene_.reading) ? kSaidByHand : kToldAnyway;
  const FiringLine::Doubt doubt{"told_anyway", gap->step, "the message admits the failure, but states figures that nothing supports"};
  if (!rules_.line.fires(sure, doubt, verdict)) return;
  scene_.flag_only = false;
  verdict.fire(outcomes_.finding(run, *gap, message), sure);
}

bool UnsupportedAnswer::gave_answer(const StepView& step, std::string_view request, const FinalMessage& message) {
  constexpr std::size_t kReach = 16 * 1024, kFewest = 3;  // bytes, and figures and texts of an answer that tells more than an error
  if (!scene_.recovery.meaning(step.name).reads || !looks_like_json(step.output)) return false;
  support_.clear();
  support_.expect(message.text);
  support_.add_source(request);
  support_.add_source(step.input);
  if (support_.read_answer(message.text, false).missing == 0) return false;
  support_.add_source(payload_of(trim(step.output).substr(0, kReach), rules_.content.tools.calls));
  if (support_.read_answer(message.text, true).missing > 0) return false;
  std::size_t values = 0;
  JsonScanner cursor(step.output);
  for (auto token = cursor.next(); token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next())
    values += token == JsonScanner::Token::kString || token == JsonScanner::Token::kNumber ? 1u : 0u;
  return values > kFewest;
}

bool UnsupportedAnswer::given_by_others(const RunView& run, const FinalMessage& message) {
  support_.clear();
  support_.expect(message.text);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    if (run.steps[i].kind == Kind::kTool && gives_data(run, i)) return true;
  }
  return false;
}

/// True when a source returned something that the expected message may be based on.
bool UnsupportedAnswer::gives_data(const RunView& run, std::size_t at) {
  const auto& step = run.steps[at];
  return outcomes_.is_source(step.name) && outcomes_.gave_something(run, at) && !only_acknowledges(step.output, step.name) &&
         support_.relates(step.output);
}

}  // namespace runwarden::plugins
