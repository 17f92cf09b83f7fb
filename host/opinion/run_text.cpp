#include "opinion/run_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/json_members.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "intake/run_reader.h"
#include "opinion/marked_text.h"
#include "opinion/tokens.h"

namespace runwarden::opinion {
namespace {

constexpr std::string_view kRequest = "/userRequestText";
constexpr std::string_view kOutcome = "/outcomeSummary";
constexpr std::string_view kSteps = "/steps/";
constexpr std::size_t kMostNameBytes = 80;
constexpr std::size_t kMostToolNames = 40;
constexpr std::size_t kFinalMessages = 3;  // the claim may come before a good-bye
constexpr std::size_t kGapSixths = 120;    // maximum for "(steps 1200 to 1300 left out)" and its line break
constexpr std::size_t kFewestTextSixths = kCutMarkSixths + 300;
constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

// Initially a text gets at most 1/N of the room. What is left over then goes to the cut texts in turn.
constexpr std::size_t kRunTextShare = 6;
constexpr std::size_t kFocusShare = 8;
constexpr std::size_t kUserShare = 16;
constexpr std::size_t kRelatedShare = 16;
constexpr std::size_t kNeighborShare = 16;
constexpr std::size_t kTierShare = 4;  // for all user turns together, and for all related steps

constexpr std::size_t kFields = 4;
constexpr std::array<std::string_view, kFields> kFieldNames{"inputSummary", "errorCode", "errorMessage", "outputSummary"};
constexpr std::size_t kOutputField = 3;
constexpr std::size_t kLeastRepeatedBytes = 60;  // an output of this size or less is repeated even if it equals the error message
std::array<model::Text, kFields> fields_of(const model::Step& step) {
  return {step.input, step.error_code, step.error_message, step.output};
}

// Appends the name as a JSON string on one line, so that no name can end its own quotes.
void append_name(std::string& out, std::string_view name) {
  const std::string_view shown = utf8_prefix(name, kMostNameBytes);
  std::string line;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = line_break_at(shown, at);
    line += length > 0 ? ' ' : shown[at];
    at += std::max<std::size_t>(length, 1);
  }
  append_json_string(out, line);
}

const char* kind_name(model::StepKind kind) {
  switch (kind) {
    case model::StepKind::tool: return "tool";
    case model::StepKind::model: return "model";
    case model::StepKind::user: return "user";
    case model::StepKind::other: break;
  }
  return "step";
}

// tool "issue_refund"; status "failed"; HTTP 502
std::string description_of(const model::Step& step) {
  std::string out = kind_name(step.kind);
  const auto number = [&](const char* before, const std::optional<std::int64_t>& value, const char* after) {
    if (value) out.append(before).append(std::to_string(*value)).append(after);
  };
  const auto name = [&](const char* before, model::Text value) {
    if (value.empty()) return;
    out += before;
    append_name(out, value);
  };
  name(" ", step.name);
  name("; kind ", step.kind == model::StepKind::other ? step.kind_text : model::Text());
  name("; status ", step.status);
  number("; HTTP ", step.http_status, "");
  number("; ", step.retry_count.value_or(0) > 0 ? step.retry_count : std::nullopt, " retries");
  number("; ", step.input_tokens, " input tokens");
  name("; model ", step.model);
  return out;
}

std::string step_pointer(std::size_t step) {
  return std::string(kSteps) + std::to_string(step);
}

std::string error_again(std::size_t step) {
  return "(the same as " + step_pointer(step) + "/errorMessage)";
}

// The number of the step that contains the pointer, and the rest of the pointer.
std::optional<std::pair<std::size_t, std::string_view>> step_of(std::string_view pointer) {
  if (!pointer.starts_with(kSteps)) return std::nullopt;
  pointer.remove_prefix(kSteps.size());
  std::size_t step = 0;
  const auto [end, fault] = std::from_chars(pointer.data(), pointer.data() + pointer.size(), step);
  pointer.remove_prefix(static_cast<std::size_t>(end - pointer.data()));
  if (fault != std::errc() || (!pointer.empty() && pointer[0] != '/')) return std::nullopt;
  return std::pair(step, pointer);
}

// Calls `use` for every step, nearest to `from` first, until it returns false.
template <class Use>
void outward(std::size_t from, std::size_t steps, Use use) {
  if (from < steps && !use(from)) return;
  for (std::size_t away = 1; away <= std::max(from, steps - from); ++away) {
    if (away <= from && !use(from - away)) return;
    if (from + away < steps && !use(from + away)) return;
  }
}

// Chooses what to show within the available room, then writes it in the run's order.
class RunWriter {
 public:
  RunWriter(const model::Run& run, const Focus& focus, std::size_t most_tokens)
      : run_(run), room_(most_tokens * kSixthsOfToken), all_room_(room_), taken_(run.steps.size(), kNotTaken) {
    find_focus(focus);
  }

  RunText write() {
    if (!fits_whole()) choose();
    return written();
  }

 private:
  static constexpr std::uint32_t kNotTaken = std::numeric_limits<std::uint32_t>::max();

  // A text to show, and how much of it.
  struct Shown {
    model::Text text;
    std::size_t whole = 0;  // sixths
    std::size_t given = 0;
    bool is_error_again = false;  // the output repeats the error message and is not shown again
  };
  struct ShownStep {
    std::array<Shown, kFields> fields;
  };

  void find_focus(const Focus& focus) {
    std::vector<std::size_t> pointed;
    for (const std::string& pointer : focus.pointers) {
      const auto found = step_of(pointer);
      if (found && found->first < run_.steps.size()) pointed.push_back(found->first);
    }
    std::size_t primary = kNoStep;
    if (!focus.primary_step_id.empty()) {
      const auto found =
          std::find_if(run_.steps.begin(), run_.steps.end(), [&](const auto& one) { return one.id == focus.primary_step_id; });
      if (found != run_.steps.end()) primary = static_cast<std::size_t>(found - run_.steps.begin());
    }
    if (primary == kNoStep && !pointed.empty()) primary = pointed.front();
    if (primary != kNoStep) focus_.push_back(primary);
    anchor_ = primary != kNoStep ? primary : run_.steps.empty() ? 0 : run_.steps.size() - 1;
    std::vector<std::size_t> said;
    for (std::size_t i = run_.steps.size(); i-- > 0 && said.size() < kFinalMessages;) {
      if (run_.steps[i].kind == model::StepKind::model && !run_.steps[i].output.empty()) said.push_back(i);
    }
    if (!said.empty()) {
      last_said_ = said.front();
      focus_.push_back(last_said_);
    }
    focus_.insert(focus_.end(), pointed.begin(), pointed.end());
    if (!said.empty()) focus_.insert(focus_.end(), said.begin() + 1, said.end());
  }

  bool outcome_is_last_said() const {
    return last_said_ != kNoStep && !run_.outcome.empty() && run_.steps[last_said_].output == run_.outcome;
  }

  static std::size_t labelled(std::string_view pointer) { return sixths(pointer) + sixths("[] \n"); }
  std::size_t overhead(std::size_t step) const {
    const std::string pointer = step_pointer(step);
    std::size_t sum = labelled(pointer) + sixths(description_of(run_.steps[step]));
    const auto fields = fields_of(run_.steps[step]);
    for (std::size_t i = 0; i < kFields; ++i) {
      if (model::present(fields[i])) sum += labelled(pointer) + sixths("/") + sixths(kFieldNames[i]);
    }
    return sum;
  }
  std::string facts_of_run() const {
    std::string out;
    if (run_.success != model::Flag::unknown) out.append("[/success] ").append(run_.success == model::Flag::yes ? "true" : "false") += '\n';
    if (run_.model.empty() && !run_.input_tokens) return out;
    out += "The run as a whole:";
    if (!run_.model.empty()) append_name(out.append(" model "), run_.model);
    if (run_.input_tokens) out.append(" ").append(std::to_string(*run_.input_tokens)).append(" input tokens");
    return out += '\n';
  }

  void show_run_texts(std::size_t most) {
    facts_ = facts_of_run();
    room_ -= std::min(room_, sixths(facts_));
    const auto show = [&](Shown& shown, model::Text text, std::string_view pointer) {
      if (!model::present(text)) return;
      shown = {text, marked_sixths(text), 0, false};
      shown.given = std::min(shown.whole, most);
      room_ -= std::min(room_, labelled(pointer) + shown.given);
    };
    show(request_, run_.user_request, kRequest);
    if (outcome_is_last_said()) {
      same_as_ = "(the same as " + step_pointer(last_said_) + "/outputSummary)";
      room_ -= std::min(room_, labelled(kOutcome) + sixths(same_as_));
    } else {
      show(outcome_, run_.outcome, kOutcome);
    }
  }

  Shown shown_field(std::size_t step, std::size_t field) const {
    const model::Text text = fields_of(run_.steps[step])[field];
    const bool again = field == kOutputField && text.size() > kLeastRepeatedBytes && text == run_.steps[step].error_message;
    return {text, again ? sixths(error_again(step)) : marked_sixths(text), 0, again};
  }

  // Adds the step with at most `most` sixths of each text. False: it does not fit.
  bool take(std::size_t step, std::size_t most, std::size_t& room) {
    if (taken_[step] != kNotTaken) return true;
    ShownStep shown;
    std::size_t cost = overhead(step) + gap_;
    if (cost > room) return false;
    const auto fields = fields_of(run_.steps[step]);
    for (std::size_t i = 0; i < kFields; ++i) {
      if (!model::present(fields[i])) continue;
      shown.fields[i] = shown_field(step, i);
      shown.fields[i].given = std::min(shown.fields[i].whole, most);
      cost += shown.fields[i].given;
    }
    if (cost > room) return false;
    room -= cost;
    taken_[step] = static_cast<std::uint32_t>(shown_.size());
    shown_.push_back(shown);
    return true;
  }

  // Tries to show every text whole.
  bool fits_whole() {
    const std::size_t any = std::numeric_limits<std::size_t>::max();
    show_run_texts(any);
    for (std::size_t i = 0; room_ > 0 && i < run_.steps.size(); ++i) {
      if (!take(i, any, room_)) break;
    }
    const bool all = room_ > 0 && shown_.size() == run_.steps.size();
    if (all) return true;
    room_ = all_room_;
    shown_.clear();
    std::fill(taken_.begin(), taken_.end(), kNotTaken);
    request_ = outcome_ = {};
    return false;
  }

  std::size_t share(std::size_t parts) const { return std::max(all_room_ / parts, kFewestTextSixths); }

  void choose() {
    gap_ = kGapSixths;
    room_ -= std::min(room_, kGapSixths);
    show_run_texts(share(kRunTextShare));
    write_tools();
    for (const std::size_t step : focus_) {
      if (!take(step, share(kFocusShare), room_)) take(step, kCutMarkSixths, room_);
    }
    take_tier(share(kUserShare), [&](std::size_t i) { return run_.steps[i].kind == model::StepKind::user; });
    take_tier(share(kRelatedShare), [&](std::size_t i) { return is_related(i); });
    outward(anchor_, run_.steps.size(), [&](std::size_t i) { return take(i, share(kNeighborShare), room_); });
    grow();
  }

  bool is_related(std::size_t i) const {
    const model::Step& step = run_.steps[i];
    if (step.outcome == model::Outcome::failed) return true;
    const model::Step& anchor = run_.steps[anchor_];
    return step.kind == model::StepKind::tool && anchor.kind == model::StepKind::tool && !step.name.empty() && step.name == anchor.name;
  }

  template <class Is>
  void take_tier(std::size_t most, Is is) {
    std::size_t room = room_ / kTierShare;
    const std::size_t given = room;
    outward(anchor_, run_.steps.size(), [&](std::size_t i) { return !is(i) || take(i, most, room); });
    room_ -= given - room;
  }

  // Gives the remaining room to texts that were cut, in the order in which they were chosen.
  void grow() {
    const auto extend = [&](Shown& shown) {
      const std::size_t more = std::min(room_, shown.whole - shown.given);
      shown.given += more;
      room_ -= more;
    };
    extend(request_);
    extend(outcome_);
    for (ShownStep& step : shown_) {
      for (Shown& field : step.fields) extend(field);
    }
  }

  // Lists the tools that ran, including those of steps that are left out.
  void write_tools() {
    struct Calls {
      std::string_view name;
      std::size_t all = 0;
      std::size_t failed = 0;
    };
    std::vector<Calls> calls;
    std::unordered_map<std::string_view, std::size_t> at;
    for (const model::Step& step : run_.steps) {
      if (step.kind != model::StepKind::tool) continue;
      const auto [found, fresh] = at.emplace(step.name, calls.size());
      if (fresh) calls.push_back({step.name, 0, 0});
      ++calls[found->second].all;
      calls[found->second].failed += step.outcome == model::Outcome::failed ? 1 : 0;
    }
    if (calls.empty()) return;
    tools_ = "Tool calls in the whole run:";
    std::size_t named = 0;
    for (; named < std::min(calls.size(), kMostToolNames) && sixths(tools_) < all_room_ / 16; ++named) {
      append_name(tools_.append(named == 0 ? " " : ", "), calls[named].name);
      tools_.append(" ").append(std::to_string(calls[named].all));
      if (calls[named].failed > 0) tools_.append(" (").append(std::to_string(calls[named].failed)).append(" failed)");
    }
    if (named < calls.size()) tools_.append(", and ").append(std::to_string(calls.size() - named)).append(" other tools");
    tools_ += '\n';
    room_ -= std::min(room_, sixths(tools_));
  }

  void line(std::string_view pointer, const Shown& shown) {
    if (!model::present(shown.text)) return;
    result_.text.append("[").append(pointer).append("] ");
    result_.texts_cut += append_marked(result_.text, shown.text, shown.given) ? 1 : 0;
    result_.text += '\n';
  }

  void field_line(std::size_t step, std::size_t field, const Shown& shown) {
    const std::string pointer = step_pointer(step) + "/" + std::string(kFieldNames[field]);
    if (!shown.is_error_again) return line(pointer, shown);
    result_.text.append("[").append(pointer).append("] ").append(error_again(step)) += '\n';
  }

  void gap(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    result_.steps_left_out += end - begin;
    result_.text.append(end - begin == 1 ? "(step " : "(steps ").append(std::to_string(begin));
    if (end - begin > 1) result_.text.append(" to ").append(std::to_string(end - 1));
    result_.text.append(" left out)\n");
  }

  RunText written() {
    line(kRequest, request_);
    result_.text.append(facts_).append(tools_);
    std::size_t next = 0;
    for (std::size_t i = 0; i < run_.steps.size(); ++i) {
      if (taken_[i] == kNotTaken) continue;
      gap(next, i);
      next = i + 1;
      const std::string pointer = step_pointer(i);
      result_.text.append("[").append(pointer).append("] ").append(description_of(run_.steps[i])) += '\n';
      const ShownStep& shown = shown_[taken_[i]];
      for (std::size_t k = 0; k < kFields; ++k) field_line(i, k, shown.fields[k]);
    }
    gap(next, run_.steps.size());
    line(kOutcome, outcome_);
    if (!same_as_.empty()) result_.text.append("[").append(kOutcome).append("] ").append(same_as_) += '\n';
    return std::move(result_);
  }

  const model::Run& run_;
  std::size_t room_;  // remaining, in sixths of a token
  const std::size_t all_room_;
  std::size_t gap_ = 0;  // extra cost per step for the note about steps left out before it
  std::vector<std::size_t> focus_;
  std::size_t anchor_ = 0;
  std::size_t last_said_ = kNoStep;
  Shown request_;
  Shown outcome_;
  std::string facts_;
  std::string same_as_;
  std::string tools_;
  std::vector<std::uint32_t> taken_;  // for each step, its index in shown_
  std::vector<ShownStep> shown_;      // in the order in which they were chosen
  RunText result_;
};

}  // namespace

Result<model::Run> read_document(std::string_view document, std::string_view run_id) {
  return intake::read_run(document, intake::kStoredRun, run_id);
}

Focus focus_of(const model::Opinion& opinion, std::string_view failure_json) {
  Focus focus{opinion.primary_step_id, {}};
  for (const std::string& evidence : json_elements(json_member(json_members(failure_json), "evidence"))) {
    focus.pointers.push_back(json_member_text(evidence, "pointer"));
  }
  return focus;
}

RunText write_run(const model::Run& run, const Focus& focus, std::size_t most_tokens) {
  return RunWriter(run, focus, most_tokens).write();
}

std::vector<std::string> texts_at(const model::Run& run, std::string_view pointer) {
  const auto one = [](model::Text text) { return model::present(text) ? std::vector{std::string(text)} : std::vector<std::string>(); };
  if (pointer == kRequest) return one(run.user_request);
  if (pointer == kOutcome) return one(run.outcome);
  if (pointer == "/success" && run.success != model::Flag::unknown) return {run.success == model::Flag::yes ? "true" : "false"};
  const auto found = step_of(pointer);
  if (!found || found->first >= run.steps.size()) return {};
  const model::Step& step = run.steps[found->first];
  const auto fields = fields_of(step);
  if (found->second == "/status") return one(step.status);
  if (found->second == "/stepName") return one(step.name);
  std::vector<std::string> texts;
  if (found->second.empty()) texts.push_back(description_of(step));
  for (std::size_t i = 0; i < kFields; ++i) {
    const bool named = found->second.empty() || (found->second.size() > 1 && found->second.substr(1) == kFieldNames[i]);
    if (named && model::present(fields[i])) texts.emplace_back(fields[i]);
  }
  return texts;
}

}  // namespace runwarden::opinion
