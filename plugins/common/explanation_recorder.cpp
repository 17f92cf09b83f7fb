#include "common/explanation_recorder.h"

#include <utf8proc.h>

#include <algorithm>

#include "common/content.h"
#include "common/findings.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/run_view.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostOfAKind = 1025;  // one more than a host accepts in total
constexpr std::size_t kMostWords = 6;       // per sentence, as the reason for its act

/// The kind of act that a word or phrase makes of a sentence, strongest first.
struct Act {
  std::uint64_t cues;
  std::string_view name;
};
constexpr Act kActs[] = {
    {kCueAdmission, "admission"},  {kCueHandover, "handover"},    {kCueNothingFound, "nothing_found"},
    {kCueTrouble, "trouble"},      {kCueSimulated, "simulation"}, {kCueExample, "example"},
    {kCueRetracted, "retraction"}, {kCueOffer, "offer"},          {kCuePlan, "plan"},
    {kCueGoodbye, "goodbye"},
};

/// Maps offsets in the folded form of a text back to the text. Call with rising offsets; linear overall.
class Unfolded {
 public:
  explicit Unfolded(std::string_view text) : text_(text) {}

  /// The offset in the text of an offset in its folded form.
  std::size_t place(std::size_t folded) {
    while (folded_ < folded && at_ < text_.size()) {
      const auto length = length_at(at_);
      fold(text_.substr(at_, length), buffer_);
      folded_ += buffer_.size();
      at_ += length;
    }
    return at_;
  }

 private:
  [[nodiscard]] std::size_t length_at(std::size_t at) const {
    auto end = at + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return end - at;
  }

  std::string_view text_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t folded_ = 0;
};

/// Trims and cuts the text, and replaces partial characters, left where a long message was split, with blanks.
std::string quoted(std::string_view text) {
  text = cut(trim(text));
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t cp = -1;
    const auto n =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i), static_cast<utf8proc_ssize_t>(text.size() - i), &cp);
    const bool good = n > 0 && cp >= 0;
    out.append(good ? text.substr(i, static_cast<std::size_t>(n)) : std::string_view(" "));
    i += good ? static_cast<std::size_t>(n) : 1;
  }
  return out;
}

/// Adds a word unless it is there already or the list is full.
void add_word(std::vector<std::string_view>& words, std::string_view word) {
  if (words.size() < kMostWords && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

std::string_view claim_of(const Reading& reading, std::uint32_t number, std::size_t& next, std::vector<std::string_view>& words) {
  std::string_view act;
  for (; next < reading.claims.size() && reading.claims[next].sentence <= number; ++next) {
    const auto& claim = reading.claims[next];
    if (claim.sentence != number) continue;
    add_word(words, reading.words[claim.word].text);
    if (act.empty() || act == "finding") act = claim.finding ? "finding" : claim.in_progress ? "promise" : "claim";
  }
  return act;
}

std::string joined(const std::vector<std::string_view>& texts) {
  std::string all;
  for (const auto text : texts) all.append(all.empty() ? "" : ", ").append(text);
  return all;
}

/// What a step says about its failure: its HTTP status and its own words.
std::string failure_reason(const StepView& step, std::string_view outcome) {
  if (outcome == "ok") return {};
  std::string reason = step.http_status >= 400 ? "HTTP " + std::to_string(step.http_status) : std::string();
  const auto text = quote(step.outcome == Outcome::kFailed ? std::string_view(failure_text(step)) : step.output);
  if (!text.empty()) reason.append(reason.empty() ? "" : " ").append("\"").append(text).append("\"");
  return reason;
}

}  // namespace

std::string_view effect_of(const ToolMeaning& tool) {
  if (tool.any_purpose) return "run";
  if (tool.reads) return "read";
  return tool.group == 0 ? "unknown" : "write";
}

ExplanationRecorder::Item& ExplanationRecorder::add(Kind kind, std::string_view subject, std::string_view label) {
  if (counts_[static_cast<std::size_t>(kind)] >= kMostOfAKind) return surplus_ = {};
  ++counts_[static_cast<std::size_t>(kind)];
  auto& item = items_.emplace_back();
  item.kind = kind;
  item.subject = quoted(subject);
  if (item.subject.empty()) item.subject = "?";
  item.label = label;
  return item;
}

void ExplanationRecorder::rule(std::string_view name, std::string_view answer, std::size_t step, std::string_view reason,
                               std::optional<double> confidence) {
  auto& item = add(Kind::kRule, name, answer);
  item.step = step;
  item.reason = reason;
  item.confidence = confidence;
}

void ExplanationRecorder::action(const RunView& run, std::size_t step, std::string_view effect, std::string_view outcome) {
  const auto& view = run.steps[step];
  std::vector<CallValue> values;
  collect_values(view.input, *names_, values);
  constexpr std::size_t kMostValues = 16;
  std::string arguments;
  std::vector<std::string_view> objects;
  for (std::size_t i = 0; i < values.size() && i < kMostValues; ++i) {
    arguments.append(i == 0 ? "" : ", ").append(values[i].key).append(values[i].key.empty() ? "" : "=").append(values[i].text);
    if (values[i].names_object) add_word(objects, values[i].text);
  }
  if (arguments.empty()) arguments = trim(view.input);
  auto& item = add(Kind::kAction, std::string(step_name(view)) + "(" + std::string(cut(arguments)) + ")", effect);
  item.step = step;
  item.outcome = outcome;
  item.objects = quoted(joined(objects));
  item.reason = failure_reason(view, outcome);
}

void ExplanationRecorder::statements(std::string_view message, const Reading& reading, std::size_t step) {
  std::string buffer;
  const auto text = prose_of(message, buffer);
  Unfolded prose(text);
  const auto place = [&](std::uint32_t word) {
    return prose.place(word < reading.words.size() ? static_cast<std::size_t>(reading.words[word].text.data() - reading.folded.data())
                                                   : reading.folded.size());
  };
  std::size_t next_claim = 0;
  std::vector<std::string_view> words;
  for (std::uint32_t number = 0; number < reading.sentences.size(); ++number) {
    const auto& sentence = reading.sentences[number];
    const auto begin = place(sentence.begin);
    const auto end = place(sentence.end);
    words.clear();
    auto act = claim_of(reading, number, next_claim, words);
    for (const auto& [cues, name] : kActs) {
      if (!has(sentence.cues, cues)) continue;
      const bool stronger = act.empty() || (cues & (kCueAdmission | kCueHandover | kCueNothingFound)) != 0;
      if (stronger && (act.empty() || act == "claim" || act == "finding" || act == "promise")) act = name;
      for (auto i = sentence.begin; i < sentence.end; ++i) {
        if (has(reading.words[i].cues, cues)) add_word(words, reading.words[i].text);
      }
    }
    if (sentence.question && act != "admission" && act != "handover") act = "ask";
    auto& item = add(Kind::kStatement, trim(text.substr(begin, end - begin)), act.empty() ? "other" : act);
    item.step = step;
    item.pointer = step == kNoStep ? "/outcomeSummary" : pointer_to(step, Field::kOutput);
    item.reason = joined(words);
  }
}

}  // namespace runwarden::plugins
