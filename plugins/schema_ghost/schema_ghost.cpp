#include "schema_ghost/schema_ghost.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "common/json_scan.h"
#include "common/shared_rules.h"
#include "common/sql.h"
#include "common/words.h"
#include "evidence/acknowledgement.h"
#include "evidence/sentences.h"
#include "evidence/stated_values.h"
#include "evidence/withheld.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostWithheld = 16;
constexpr std::size_t kAddressesOfARecord = 5;
constexpr std::size_t kFewSpecifics = 4;
constexpr double kUnread = 0.45;   // confidence in an answer in a language that no vocabulary covers
constexpr double kDoubtful = 0.5;  // confidence in signs that were right less than nine times out of ten on real runs
constexpr double kLikely = 0.6;    // in the same signs where more than one value is unsupported
constexpr double kSure = 0.9;
constexpr double kOfItsObject = 0.8;  // a value stated about the very thing for which the tool returned nothing

constexpr SettingSchema kProperties[] = {FiringLine::kProperty};

constexpr Rule kRules[] = {
    {"grounding", {"partial_output", "cut_records"}},
    {"admission", {"example_scope", "own_words"}},
    {"empty_by_design", {"writes"}},
    {"later_answers", {"unrelated_sources"}},
    {"names", {"by_hand"}},
    {"short_failures", {"zero_results_are_empty"}},
    {"weighed"},
};

constexpr SettingsForm kForm{kProperties, kRules};

std::size_t count_addresses(std::string_view text) {
  std::size_t count = 0;
  for (const std::string_view sign : {"://", "](/", "](#"}) {
    for (auto at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + 1)) ++count;
  }
  return count;
}

/// True when some line begins like an item of a list.
bool has_list(std::string_view text) {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const auto line = text.substr(at + 1, 8);
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && (line[first] == '-' || line[first] == '*' || is_digit(line[first]))) return true;
  }
  return false;
}

/// True when more than a third of the letters belong to a script other than Latin.
bool in_another_script(std::string_view text) {
  constexpr unsigned char kFirst = 0xCD;  // first lead byte beyond Latin letters and their marks
  std::size_t latin = 0;
  std::size_t other = 0;
  for (const char c : text) {
    latin += is_ascii_letter(c) ? 1u : 0u;
    other += static_cast<unsigned char>(c) >= kFirst && static_cast<unsigned char>(c) != 0xE2 ? 1u : 0u;
  }
  return other * 2 > latin;
}

/// Keeps only letters and digits, in lower case: "BA 712" becomes "ba712".
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80) out += to_lower(c);
  }
  return out;
}

/// The line, or the sentence within it, around position `at`, cut to what is near.
std::string_view line_around(std::string_view text, std::size_t at, const Abbreviations& abbreviations) {
  constexpr std::size_t kReach = 200;
  const auto begin = begin_of_sentence(text, at, kReach, abbreviations);
  const auto last = std::min(text.size(), at + kReach);
  auto end = at;
  while (end < last && !ends_sentence_at(text, end, abbreviations)) ++end;
  return text.substr(begin, end - begin);
}

}  // namespace

SchemaGhost::SchemaGhost(std::string_view settings_json) : SchemaGhost(settings_json, Settings(settings_json, kForm)) {}

SchemaGhost::SchemaGhost(std::string_view settings_json, const Settings& settings)
    : rules_held_(shared_rules<GhostRules>(settings_json, settings)), scene_(settings, rules_) {}

std::string SchemaGhost::schema() {
  return kForm.schema();
}

/// "No 150 kW charger shows up", of "ev_chargers": the answer in scene_.reading says that there is none of what the tool looks for.
bool SchemaGhost::denies_thing_of(std::string_view tool) {
  constexpr std::uint32_t kReach = 5;
  const auto& nouns = scene_.tools.meaning(tool).nouns;
  const auto& words = scene_.reading.words;
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (!has(words[sentence.begin].cues, kCueNegation)) return false;
    const auto end = std::min(sentence.end, sentence.begin + 1 + kReach);
    for (auto i = sentence.begin + 1; i < end && words[i].before == Break::kNone; ++i) {
      if (std::find(nouns.begin(), nouns.end(), hash_noun(words[i].text)) != nouns.end()) return true;
    }
    return false;
  });
}

/// True when the answer in scene_.reading says that the tool found nothing, or that its specifics are made up.
bool SchemaGhost::admits(std::string_view text, std::string_view tool) {
  if ((scene_.reading.cues & kCueNothingFound) != 0 || denies_thing_of(tool)) return true;
  if (scene_.ungrounded.size() < kFewSpecifics && (denies_of_self(scene_.reading) || opens_with_denial(scene_.reading))) return true;
  if ((scene_.reading.cues & (kCueSimulated | kCueExample)) == 0) return false;
  if (looks_like_json(text)) return true;
  grounds_.strike_examples();
  return scene_.ungrounded.empty();
}

void SchemaGhost::judge_answer(const RunView& run, Hollow hollow, AnswerText answer, Verdict& verdict) {
  hollow.ids_only |= hollow.later && grounds_.takes_from_later(run, hollow, answer.text, answer.step);
  // Where only ids count, or nothing is listed, looking by hand matters only for an admission, which is checked below.
  const bool by_hand = !hollow.ids_only && (hollow.printed || has_list(answer.text)) && grounds_.looked_by_hand(answer.text);
  hollow.ids_only |= hollow.printed && !by_hand;
  grounds_.read_answer(answer.text, hollow, by_hand);
  const bool named = scene_.names.size() >= kNamesThatTell || !scene_.titles.empty();
  const bool specific = is_specific(answer.text, scene_.facts);
  if (!specific && !named) return;
  // A text full of addresses shows the content of a browser.
  if (count_addresses(answer.text) >= kAddressesOfARecord) return;
  std::vector<Stated> stated;
  if (run.explanation != nullptr) stated = grounds_.stated_specifics();
  grounds_.find_ungrounded(run, hollow, answer.step);
  if (run.explanation != nullptr) explain_grounding(stated, answer.step, *run.explanation);
  if (scene_.ungrounded.empty()) {
    if (specific) tell_why_not(hollow, verdict);
    return;
  }
  if (may_have_a_source(run, hollow.step, answer.step, verdict)) return;
  verdict.passed("grounding", hollow.step, "the answer states values found nowhere earlier in the run");
  read(answer.text, rules_.lexicon, scene_.reading);
  if (run.explanation != nullptr)
    run.explanation->statements(answer.text, scene_.reading, answer.step < run.steps.size() ? answer.step : kNoStep);
  judge_ungrounded(run, hollow, answer, verdict);
}

/// True when the ungrounded specifics are only proposed, or may come from what the record does not hold.
bool SchemaGhost::may_have_a_source(const RunView& run, std::size_t hollow, std::size_t step, Verdict& verdict) {
  if (rules_.admission) grounds_.strike_proposed();
  if (scene_.ungrounded.empty()) {
    verdict.suppress("admission", hollow, "the specifics are only proposed");
    return true;
  }
  if (rules_.grounding && gaps_.record_is_cut(run, step)) {
    verdict.suppress("cut_records", hollow, "an earlier output is truncated in the record: it may have contained the specifics");
    return true;
  }
  if (rules_.grounding && gaps_.picture_shown(run, step)) {
    verdict.suppress("partial_output", hollow,
                     "the content of an earlier picture is not in the record: it may have contained the specifics");
    return true;
  }
  return false;
}

/// Fires unless the answer in scene_.reading admits what it does not know.
void SchemaGhost::judge_ungrounded(const RunView& run, Hollow hollow, AnswerText answer, Verdict& verdict) {
  const bool by_hand = rules_.names && says_by_hand(scene_.reading);
  if (rules_.admission && !by_hand && admits(answer.text, run.steps[hollow.step].name)) {
    const bool example = (scene_.reading.cues & (kCueSimulated | kCueExample)) != 0 && (scene_.reading.cues & kCueNothingFound) == 0;
    verdict.suppress("admission", hollow.step,
                     example ? "the specifics are given as an example" : "the answer says that nothing was found");
    if (scene_.withheld.size() < kMostWithheld) scene_.withheld.push_back(answer.step);
    scene_.admitted.push_back(answer.step);
    return;
  }
  verdict.passed("admission", hollow.step);
  const FiringLine::Doubt doubt{"few_specifics", hollow.step,
                                "little of the answer is unsupported, or it is far from the step that returned nothing"};
  // In a language that no vocabulary covers, the answer may admit that nothing was found.
  double sure = in_another_script(answer.text) && !scene_.reading.understood(answer.text) ? kUnread : 1.0;
  // After another user turn, the answer may be about other things.
  if (scene_.ungrounded.size() < kFewSpecifics && user_replied(run, hollow.step, answer.step)) sure = kUnread;
  sure = std::min(sure, confidence(run, hollow, answer.step));
  if (hollow.printed && !by_hand) sure = std::min(sure, kDoubtful);
  sure = std::min(sure, unless_from_elsewhere(run, hollow, answer.step, sure));
  if (!hollow.ids_only && tells_of_hollow(run, hollow, answer.step)) sure = std::max(sure, kOfItsObject);
  if (!rules_.line.fires(sure, doubt, verdict)) return;
  const bool at_end = answer.step >= run.steps.size();
  verdict.fire(grounds_.finding(run, hollow.step, at_end ? "/outcomeSummary" : pointer_to(answer.step, Field::kOutput)), sure);
}

void SchemaGhost::explain_grounding(const std::vector<Stated>& stated, std::size_t step, ExplanationRecorder& explanation) const {
  const std::unordered_set<std::string_view> missing(scene_.ungrounded.begin(), scene_.ungrounded.end());
  for (const auto& [text, type] : stated) {
    auto& item = explanation.add(ExplanationRecorder::Kind::kFact, text, type);
    item.outcome = missing.count(text) != 0 ? "ungrounded" : "grounded";
    item.step = step < scene_.hollow.size() ? step : kNoStep;
    item.pointer = item.step == kNoStep ? "/outcomeSummary" : pointer_to(step, Field::kOutput);
  }
}

/// The confidence that the ungrounded specifics were made up: it grows with their number and specificity, and when the user has not
/// spoken since the step that returned nothing.
double SchemaGhost::confidence(const RunView& run, Hollow hollow, std::size_t step) const {
  constexpr double kNear = 0.35, kMoney = 0.5, kId = 0.6, kPoorId = 0.2, kOther = 0.35, kNewTitle = 0.6;
  constexpr std::size_t kDigitsOfAnId = 2;
  const auto is_user = [&](const StepView& other) { return other.kind == Kind::kUser; };
  const auto first = run.steps.begin() + static_cast<std::ptrdiff_t>(hollow.step) + 1;
  const auto last = run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, run.steps.size()));
  const bool near = !(hollow.later && hollow.ids_only) && std::none_of(first, last, is_user);
  double sum = near ? kNear : 0.0;
  std::vector<std::uint64_t> seen;
  for (const auto& fact : scene_.facts) {
    if (std::find(seen.begin(), seen.end(), fact.normal) != seen.end()) continue;
    seen.push_back(fact.normal);
    const auto digits = std::count_if(fact.text.begin(), fact.text.end(), is_digit);
    if (fact.kind == FactKind::kId) {
      sum += static_cast<std::size_t>(digits) >= kDigitsOfAnId ? kId : kPoorId;
    } else {
      sum += fact.money ? kMoney : kOther;
    }
    if (sum >= 1.0) return 1.0;
  }
  if (scene_.names.size() >= kNamesThatTell) sum += kOther * static_cast<double>(scene_.names.size());
  return std::min(1.0, sum + kNewTitle * static_cast<double>(scene_.titles.size()));
}

/// True when a source before a step returned a lot, or something that shares a significant word with the answer.
bool SchemaGhost::others_gave(const RunView& run, std::size_t step) {
  others_.clear();
  others_.expect(scene_.answer);
  for (std::size_t i = 0; i < std::min(step, run.steps.size()); ++i) {
    const auto& other = run.steps[i];
    if (other.kind != Kind::kTool || scene_.hollow[i] || gaps_.only_acts(other.name)) continue;
    run.pace(other.output.size());
    if (others_.relates(other.output)) return true;
  }
  return false;
}

/// True for a call that may have worked something out, which a model may do itself; what a database holds it can neither know nor compute.
bool SchemaGhost::runs_program(const RunView& run, std::size_t step) {
  const auto& call = run.steps[step];
  return scene_.tools.meaning(call.name).runs_anything() && !has_statement(call.input, Statement::kQuery);
}

/// True when an unsupported specific is a long id, which does not follow from anything else: it is copied or invented.
bool SchemaGhost::states_new_id() const {
  constexpr std::ptrdiff_t kFewestDigits = 4;
  return std::any_of(scene_.facts.begin(), scene_.facts.end(), [](const Fact& fact) {
    return fact.kind == FactKind::kId && std::count_if(fact.text.begin(), fact.text.end(), is_digit) >= kFewestDigits;
  });
}

/// An upper limit on the confidence for cases that were sometimes true on real runs: a few specifics after a program, which the model may
/// know or compute itself, or next to other sources that may have given them. Lowest for a single value, and when the user has asked for
/// something else since.
double SchemaGhost::unless_from_elsewhere(const RunView& run, Hollow hollow, std::size_t step, double sure) {
  const auto& tool = scene_.tools.meaning(run.steps[hollow.step].name);
  const bool program = runs_program(run, hollow.step);
  const auto first = run.steps.begin() + static_cast<std::ptrdiff_t>(hollow.step);
  const auto last = run.steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, run.steps.size()));
  const bool asked_since = std::any_of(first, last, [](const StepView& other) { return other.kind == Kind::kUser; });
  if (program && asked_since) return kDoubtful;
  const double likely = scene_.ungrounded.size() > 1 || states_new_id() ? kLikely : kDoubtful;
  if (program && sure < kSure) return likely;
  if (tool.reads && sure >= kSure) {
    return hollow.later && hollow.ids_only && gaps_.given_before(run, step) > kMostUnrelated ? kDoubtful : 1.0;
  }
  return (tool.reads || scene_.ungrounded.size() < kFewSpecifics) && others_gave(run, step) ? likely : 1.0;
}

/// True when an unsupported value is next to the very thing that the call asked about without result, while the same tool returned
/// something for other things: one row of a table, one of two flights. Checks only the nearest calls and a few values and facts: linear.
bool SchemaGhost::tells_of_hollow(const RunView& run, Hollow hollow, std::size_t step) {
  constexpr std::size_t kShortest = 4, kShortestSqueezed = 3, kMostCalls = 64, kMostValues = 8;
  constexpr std::ptrdiff_t kMostFacts = 32;
  const auto& asked = run.steps[hollow.step];
  collect_values(asked.input, rules_.content.tools.calls, scene_.values);
  if (scene_.values.size() > kMostValues) return false;
  std::erase_if(scene_.values, [](const CallValue& value) { return value.text.size() < kShortest; });
  bool told_of_others = false;
  const auto end = std::min({step, run.steps.size(), hollow.step + kMostCalls});
  for (auto i = hollow.step - std::min(hollow.step, kMostCalls); i < end; ++i) {
    const auto& other = run.steps[i];
    if (other.kind != Kind::kTool || other.name != asked.name || scene_.hollow[i]) continue;
    told_of_others = true;
    run.pace(other.input.size());
    std::erase_if(scene_.values, [&](const CallValue& value) { return other.input.find(value.text) != std::string_view::npos; });
  }
  if (!told_of_others || scene_.values.empty()) return false;
  const auto beside = [&](const Fact& fact) {
    const auto line = squeezed(
        line_around(scene_.answer, static_cast<std::size_t>(fact.text.data() - scene_.answer.data()), rules_.lexicon.abbreviations));
    return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
      const auto object = squeezed(value.text);
      return object.size() >= kShortestSqueezed && line.find(object) != std::string::npos;
    });
  };
  return std::any_of(scene_.facts.begin(), scene_.facts.begin() + std::min(kMostFacts, std::ssize(scene_.facts)), beside);
}

/// Records why a specific answer after a step that returned nothing is not a finding.
void SchemaGhost::tell_why_not(Hollow hollow, Verdict& verdict) {
  if (hollow.wrote) {
    verdict.suppress("writes", hollow.step, "the step was meant to change something, not to return data, and no id is invented");
  } else if (hollow.ids_only && hollow.printed) {
    verdict.suppress("partial_output", hollow.step, "the step printed something before it failed, and no id is invented");
  } else if (!hollow.ids_only) {
    verdict.suppress("grounding", hollow.step, "every specific of the answer appears earlier in the run");
  }
}

/// Records a specific answer that follows only a tool that is silent by design.
void SchemaGhost::tell_of_design(std::string_view answer, Verdict& verdict) {
  grounds_.read_answer(answer, {}, false);
  if (is_specific(answer, scene_.facts))
    verdict.suppress("empty_by_design", scene_.designed, "the tool never returns anything in this run");
}

void SchemaGhost::walk(const RunView& run, Verdict& verdict) {
  gaps_.learn_design(run);
  scene_.tools.clear();
  scene_.evidence.clear();
  scene_.words.clear();
  scene_.rough_work.clear();
  scene_.worked_out.clear();
  scene_.clock.clear();
  scene_.spelled_upto = scene_.facts_upto = scene_.words_upto = scene_.clock_upto = scene_.cut_upto = scene_.worked_upto = 0;
  scene_.pictures_upto = 0;
  scene_.record_cut = scene_.picture_shown = scene_.request_read = scene_.calendar_read = false;
  scene_.withheld.clear();
  scene_.admitted.clear();
  scene_.designed = kNoStep;
  Hollow hollow;
  std::string_view last_answer;
  for (std::size_t i = 0; i < run.steps.size() && !verdict.full(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.output.size());
    if (step.kind == Kind::kTool) hollow = gaps_.after_tool(run, i, hollow);
    if (!scene_.withheld.empty() && (step.kind == Kind::kUser || hollow.step == kNoStep)) grounds_.release(run);
    if (step.kind == Kind::kModel && !trim(step.output).empty()) {
      const auto found = verdict.findings.size();
      if (hollow.step != kNoStep) {
        judge_answer(run, hollow, {step.output, i}, verdict);
      } else if (scene_.designed != kNoStep) {
        tell_of_design(step.output, verdict);
      }
      scene_.designed = kNoStep;
      if (!rules_.later_answers || verdict.findings.size() > found) hollow = {};
      last_answer = step.output;
    }
  }
  // The answer may be in outcomeSummary only. As a summary, it may omit an earlier admission.
  grounds_.release(run);
  if (hollow.step != kNoStep && !trim(run.outcome).empty() && trim(run.outcome) != trim(last_answer)) {
    judge_answer(run, hollow, {run.outcome, run.steps.size()}, verdict);
  }
}

/// Looks for single made-up values when no whole answer was made up.
void SchemaGhost::judge_single_values(const RunView& run, Verdict& verdict) {
  scene_.nothing.assign(run.steps.size(), false);
  for (std::size_t i = 0; i < run.steps.size(); ++i) scene_.nothing[i] = scene_.hollow[i] && !gaps_.silent_by_design(run.steps[i]);
  const auto& found = single_values_.find(run, scene_.nothing, rules_.admission);
  if (found.rule.empty()) return;
  if (rules_.grounding && gaps_.picture_shown(run, found.step)) return;
  const bool admitted = std::find(scene_.admitted.begin(), scene_.admitted.end(), found.step) != scene_.admitted.end();
  const FiringLine::Doubt doubt{found.rule, found.source, "nothing in the run supports this value, but it may come from elsewhere"};
  scene_.answer =
      found.step < run.steps.size() ? (found.in_input ? run.steps[found.step].input : run.steps[found.step].output) : run.outcome;
  const bool known = !found.in_input && runs_program(run, found.source) && announced_answer(scene_.answer, rules_.answer_labels).empty() &&
                     !grounds_.looked_by_hand(scene_.answer);
  const auto may_stand_elsewhere = [&] {
    return known || (!found.apart && others_gave(run, found.step)) ||
           (found.in_input && gaps_.may_be_cut_off(run, found.step, found.values.front()));
  };
  const bool doubtful = rules_.line.would_fire(found.confidence) && may_stand_elsewhere();
  const bool silenced = found.rule == kFigures && admitted;
  const double sure = doubtful || silenced ? std::min(found.confidence, kDoubtful) : found.confidence;
  if (!rules_.line.fires(sure, doubt, verdict)) return;
  scene_.ungrounded.assign(found.values.begin(), found.values.end());
  const auto field = found.in_input ? Field::kInput : Field::kOutput;
  verdict.fire(grounds_.finding(run, found.source, found.step < run.steps.size() ? pointer_to(found.step, field) : "/outcomeSummary"),
               sure);
}

std::string SchemaGhost::cannot_tell(const RunView& run) const {
  const auto is_tool = [](const StepView& step) { return step.kind == Kind::kTool; };
  if (std::none_of(run.steps.begin(), run.steps.end(), is_tool))
    return "no tool steps: send each tool call as a step with stepKind \"tool\"";
  const auto tells = [&](const StepView& step) {
    return is_tool(step) && (present(step.output) || present(step.status) || step.outcome != Outcome::kUnknown);
  };
  if (std::none_of(run.steps.begin(), run.steps.end(), tells))
    return "no tool step has an output or a status: send outputSummary or status";
  return {};
}

Verdict SchemaGhost::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  scene_.hollow.assign(run.steps.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    run.pace(run.steps[i].output.size());
    const auto& step = run.steps[i];
    // From a look-up, "search_berths ran successfully" and "<content withheld>" count as nothing.
    const auto holds_back = [&] {
      return scene_.tools.meaning(step.name).reads &&
             (only_acknowledges(step.output, step.name) || is_withheld(step.output, rules_.withheld_words));
    };
    scene_.hollow[i] = step.kind == Kind::kTool && (gaps_.gave_nothing(step) || holds_back() || gaps_.disowned(run, i));
    any |= scene_.hollow[i];
    if (run.explanation == nullptr || run.steps[i].kind != Kind::kTool) continue;
    const auto outcome = !scene_.hollow[i] ? "ok" : failure_of(run.steps[i], rules_.content) != Failure::kNone ? "failed" : "empty";
    run.explanation->action(run, i, effect_of(scene_.tools.meaning(run.steps[i].name)), outcome);
  }
  if (any) walk(run, verdict);
  if (any && rules_.grounding && verdict.findings.empty()) judge_single_values(run, verdict);
  if (any && rules_.grounding && verdict.findings.empty()) values_of_others_.find(run, verdict);
  if (rules_.grounding && verdict.findings.empty() && !verdict.has_candidate) news_.find(run, verdict);
  if (rules_.grounding && verdict.findings.empty()) found_things_.find(run, verdict);
  weighed_ = false;
  if (rules_.weighed && verdict.findings.empty()) weigh(run, verdict);
  // A rule that left another text about the same step alone does not speak for it.
  std::erase_if(verdict.suppressed, [&](const Suppression& silenced) {
    return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                       [&](const Finding& found) { return found.primary_step == silenced.step; });
  });
  if (verdict.findings.empty()) verdict.cannot_tell = cannot_tell(run);
  if (!any && verdict.cannot_tell.empty()) verdict.passed("empty_source", kNoStep, "every tool returned something");
  return verdict;
}

}  // namespace runwarden::plugins
