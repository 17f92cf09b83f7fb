#include "schema_ghost/values_of_others.h"

#include <algorithm>

#include "common/findings.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostHollow = 4;    // the last steps that returned nothing
constexpr std::size_t kMostOthers = 16;   // objects
constexpr std::size_t kShortest = 3;      // bytes of an object
constexpr std::size_t kLongest = 48;      // bytes of an object
constexpr std::size_t kReach = 80;        // bytes between an object and its value
constexpr std::ptrdiff_t kFewestDigits = 2;
constexpr double kOfAnother = 0.65;

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

/// The position behind the last whole mention of an object before `end`; npos for none.
std::size_t end_of_last(std::string_view text, std::string_view object, std::size_t end) {
  for (auto at = text.substr(0, end).rfind(object); at != std::string_view::npos && at + object.size() <= end;) {
    const auto behind = at + object.size();
    const bool whole = (at == 0 || !is_letter_or_digit(text[at - 1])) && (behind == text.size() || !is_letter_or_digit(text[behind]));
    if (whole) return behind;
    if (at == 0) break;
    at = text.substr(0, at + object.size() - 1).rfind(object);
  }
  return std::string_view::npos;
}

/// True when a line or a sentence ends between two positions of a text.
bool parts(std::string_view text, std::size_t begin, std::size_t end) {
  for (auto i = begin; i < end; ++i) {
    const char c = text[i];
    if (c == '\n' || c == ';' || c == '!' || c == '?') return true;
    if (c == '.' && i + 1 < text.size() && blank(text[i + 1])) return true;
  }
  return false;
}

}  // namespace

/// Collects what a step asked for and what other calls of its tool asked for. False when a later call was for the same, when no other call
/// returned anything, or when the step asked for nothing of its own.
bool ValuesOfOthers::is_left_open(const RunView& run, std::size_t hollow) {
  objects_.clear();
  others_.clear();
  const auto& asked = run.steps[hollow];
  collect_values(asked.input, rules_.content.tools.calls, values_);
  for (const auto& value : values_) {
    if (value.names_object && value.text.size() >= kShortest && value.text.size() <= kLongest) objects_.push_back(in_lower_case(value.text));
  }
  for (std::size_t i = 0; i < run.steps.size() && !objects_.empty(); ++i) {
    const auto& other = run.steps[i];
    if (i == hollow || other.kind != Kind::kTool || scene_.hollow[i]) continue;
    run.pace(other.input.size());
    const auto input = in_lower_case(other.input.substr(0, 4096));
    if (other.name != asked.name) {
      if (i > hollow) std::erase_if(objects_, [&](const std::string& object) { return input.find(object) != std::string::npos; });
      continue;
    }
    std::erase_if(objects_, [&](const std::string& object) { return input.find(object) != std::string::npos; });
    collect_values(other.input, rules_.content.tools.calls, values_);
    for (const auto& value : values_) {
      if (others_.size() < kMostOthers && value.names_object && value.text.size() >= kShortest && value.text.size() <= kLongest)
        others_.push_back(in_lower_case(value.text));
    }
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

/// The object that is named last before a position of the answer, near it and in the same sentence; empty for none.
std::string_view ValuesOfOthers::named_before(std::size_t fact) const {
  const auto begin = fact - std::min(fact, kReach);
  std::string_view found;
  std::size_t end = 0;
  const auto look_for = [&](const std::vector<std::string>& objects) {
    for (const auto& object : objects) {
      const auto behind = end_of_last(lower_, object, fact);
      if (behind == std::string_view::npos || behind < begin || behind <= end || parts(lower_, behind, fact)) continue;
      end = behind;
      found = object;
    }
  };
  look_for(objects_);
  look_for(others_);
  return found;
}

void ValuesOfOthers::find(const RunView& run, Verdict& verdict) {
  std::string_view text = trim(run.outcome);
  std::size_t step = run.steps.size();
  for (auto i = run.steps.size(); i-- > 0 && text.empty();) {
    if (run.steps[i].kind != Kind::kModel || trim(run.steps[i].output).empty()) continue;
    text = run.steps[i].output;
    step = i;
  }
  std::size_t looked = 0;
  for (auto hollow = std::min(step, run.steps.size()); hollow-- > 0 && looked < kMostHollow;) {
    const auto& asked = run.steps[hollow];
    if (!scene_.hollow[hollow] || !scene_.tools.meaning(asked.name).reads) continue;
    ++looked;
    if (!is_left_open(run, hollow)) continue;
    lower_ = in_lower_case(text);
    if (std::none_of(objects_.begin(), objects_.end(), [&](const auto& object) { return lower_.find(object) != std::string::npos; }))
      continue;
    read(text, rules_.lexicon, scene_.reading);
    if (scene_.reading.admits() || has(scene_.reading.cues, kCueNothingFound | kCueSimulated | kCueExample)) return;
    collect_facts(text, facts_);
    know_others(run, hollow);
    scene_.ungrounded.clear();
    for (const auto& fact : facts_) {
      if (std::count_if(fact.text.begin(), fact.text.end(), is_digit) < kFewestDigits) continue;
      const auto object = named_before(static_cast<std::size_t>(fact.text.data() - text.data()));
      if (std::find(objects_.begin(), objects_.end(), object) == objects_.end()) continue;
      if (of_others_.holds_as_stated(fact) && !elsewhere_.holds_as_stated(fact)) scene_.ungrounded.emplace_back(fact.text);
    }
    if (scene_.ungrounded.empty()) continue;
    scene_.answer = text;
    const FiringLine::Doubt doubt{"value_of_another", hollow, "the answer gives for this the value that the same tool gave for another"};
    if (!rules_.line.fires(kOfAnother, doubt, verdict)) return;
    verdict.fire(grounds_.finding(run, hollow, step < run.steps.size() ? pointer_to(step, Field::kOutput) : "/outcomeSummary"), kOfAnother);
    return;
  }
}

}  // namespace runwarden::plugins
