#include "schema_ghost/values_of_others.h"

#include <algorithm>

#include "common/findings.h"
#include "common/words.h"
#include "evidence/call_entities.h"
#include "evidence/sentences.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostHollow = 4;    // the last look-ups that returned nothing
constexpr std::size_t kMostObjects = 16;  // of a step, and of all others of its tool
constexpr std::size_t kShortest = 3;      // bytes of an object
constexpr std::size_t kLongest = 48;      // bytes of an object
constexpr std::size_t kReach = 80;        // bytes between an object and its value
constexpr std::ptrdiff_t kFewestDigits = 2;
constexpr double kOfAnother = 0.65;

/// The position behind the last whole mention of an object in a text of a few words, ignoring case; 0 for none.
std::size_t end_of_last(std::string_view text, std::string_view object) {
  for (auto end = text.size(); end >= object.size(); --end) {
    const auto at = end - object.size();
    if (!equal_ignoring_case(text.substr(at, object.size()), object)) continue;
    const bool whole = (at == 0 || !is_letter_or_digit(text[at - 1])) && (end == text.size() || !is_letter_or_digit(text[end]));
    if (whole) return end;
  }
  return 0;
}

/// The same of the object that is named last.
std::size_t end_of_last(std::string_view text, const std::vector<std::string_view>& objects) {
  std::size_t end = 0;
  for (const auto object : objects) end = std::max(end, end_of_last(text, object));
  return end;
}

}  // namespace

/// Adds what a call is about: the values that identify something.
void ValuesOfOthers::add_objects(std::string_view input, std::vector<std::string_view>& objects) {
  collect_values(input, rules_.content.tools.calls, values_);
  for (const auto& value : values_) {
    const bool sized = value.text.size() >= kShortest && value.text.size() <= kLongest;
    if (objects.size() < kMostObjects && sized && value.names_object) objects.push_back(value.text);
  }
}

/// Collects what a step asked for and what other calls of its tool asked for. False when a later call was for the same, when no other call
/// returned anything, or when the step asked for nothing of its own.
bool ValuesOfOthers::is_left_open(const RunView& run, std::size_t hollow) {
  objects_.clear();
  others_.clear();
  const auto& asked = run.steps[hollow];
  add_objects(asked.input, objects_);
  for (std::size_t i = 0; i < run.steps.size() && !objects_.empty(); ++i) {
    const auto& other = run.steps[i];
    if (i == hollow || other.kind != Kind::kTool || scene_.hollow[i]) continue;
    const bool same_tool = other.name == asked.name;
    if (!same_tool && i < hollow) continue;
    run.pace(other.input.size());
    std::erase_if(objects_, [&](std::string_view object) { return names_entity(other.input, object); });
    if (same_tool) add_objects(other.input, others_);
  }
  return !objects_.empty() && !others_.empty();
}

/// Reads what the other calls of the tool returned, and what the rest of the run says.
void ValuesOfOthers::know_others(const RunView& run, std::size_t hollow) {
  of_others_.clear();
  elsewhere_.clear();
  elsewhere_.add_facts(run.user_request);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.input.size() + step.output.size());
    if (step.kind == Kind::kUser) elsewhere_.add_facts(step.said());
    if (step.kind != Kind::kTool) continue;
    const bool other = i != hollow && step.name == run.steps[hollow].name && !scene_.hollow[i];
    (other ? of_others_ : elsewhere_).add_facts(step.output);
    if (!other) elsewhere_.add_facts(step.input);
  }
}

/// True when the object that is named last before a fact, in its sentence and near it, is what the look-up without result was for.
bool ValuesOfOthers::is_told_of_hollow(std::string_view text, const Fact& fact) const {
  const auto at = static_cast<std::size_t>(fact.text.data() - text.data());
  const auto begin = begin_of_sentence(text, at, kReach, rules_.lexicon.abbreviations);
  const auto before = text.substr(begin, at - begin);
  return end_of_last(before, objects_) > end_of_last(before, others_);
}

void ValuesOfOthers::find(const RunView& run, Verdict& verdict) {
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || scene_.reading.admits() || has(scene_.reading.cues, kCueNothingFound | kCueSimulated | kCueExample)) return;
  std::size_t looked = 0;
  facts_.clear();
  for (auto hollow = std::min(message.place, run.steps.size()); hollow-- > 0 && looked < kMostHollow;) {
    if (!scene_.hollow[hollow] || !scene_.tools.meaning(run.steps[hollow].name).reads) continue;
    ++looked;
    const auto is_named = [&](std::string_view object) { return names_entity(message.text, object); };
    if (!is_left_open(run, hollow) || std::none_of(objects_.begin(), objects_.end(), is_named)) continue;
    if (facts_.empty()) collect_facts(message.text, facts_);
    know_others(run, hollow);
    scene_.ungrounded.clear();
    for (const auto& fact : facts_) {
      if (std::count_if(fact.text.begin(), fact.text.end(), is_digit) < kFewestDigits || !is_told_of_hollow(message.text, fact)) continue;
      if (of_others_.holds_as_stated(fact) && !elsewhere_.holds_as_stated(fact)) scene_.ungrounded.emplace_back(fact.text);
    }
    if (scene_.ungrounded.empty()) continue;
    scene_.answer = message.text;
    const FiringLine::Doubt doubt{"value_of_another", hollow, "the answer gives for this the value that the same tool gave for another"};
    if (rules_.line.fires(kOfAnother, doubt, verdict)) verdict.fire(grounds_.finding(run, hollow, message.pointer()), kOfAnother);
    return;
  }
}

}  // namespace runwarden::plugins
