#include "context_overflow/context_overflow.h"

#include <algorithm>
#include <cstring>

#include "common/words.h"
#include "context_overflow/windows.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr int kScore = 76;
constexpr int kRefusalScore = 90;
constexpr std::size_t kMostModelsRemembered = 256;

constexpr SettingSchema kProperties[] = {{"windows", R"({"type":"object"})"}};

constexpr Rule kRules[] = {{"provider_refusals"}, {"per_call_counts"}};

constexpr SettingsForm kForm{kProperties, kRules};

constexpr char plain(char c) {
  return c == '_' || c == ' ' || c == ':' || c == '@' ? '-' : c;
}

/// A hash of a text's first four bytes, from 0 to 4095.
std::size_t opening_of(std::string_view text) {
  std::uint32_t block = 0;
  std::memcpy(&block, text.data(), 4);
  return (block * 0x9e3779b1u) >> 20;
}

std::string model_form(std::string_view name) {
  std::string folded;
  fold(name, folded);
  std::transform(folded.begin(), folded.end(), folded.begin(), plain);
  return folded;
}

/// True when `rest`, which follows a name that ends in a digit, continues its version: "gpt-41" is not a "gpt-4", "gpt-5.9" is not a
/// "gpt-5", and "glm-5p9" and "glm-5-9-air" are not a "glm-5". Sizes and dates ("-8b", "-0613") do not continue a version.
bool another_version(std::string_view rest) {
  if (rest.empty()) return false;
  if (is_digit(rest[0])) return true;
  if (rest.size() < 2 || !is_digit(rest[1])) return false;
  return rest[0] == '.' || rest[0] == 'p' || (rest[0] == '-' && (rest.size() == 2 || rest[2] == '-'));
}

/// Writes codes as phrases: "prompt_too_long", "prompt-too-long" and "PromptTooLong" become "prompt too long" but for the case of letters.
void spell_out(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i > 0 ? text[i - 1] : ' ';
    const bool joins = (text[i] == '_' || text[i] == '-') && is_letter(before);
    if (is_upper(text[i]) && is_lower(before)) out += ' ';
    out += joins ? ' ' : text[i];
  }
}

/// Short names ("o1", "o3") occur inside other words, so they match whole words only.
bool names_model(std::string_view model, std::string_view name) {
  constexpr std::size_t kShort = 4;
  for (auto at = model.find(name); at != std::string_view::npos; at = model.find(name, at + 1)) {
    const auto end = at + name.size();
    if (!name.empty() && is_digit(name.back()) && another_version(model.substr(end))) continue;
    if (name.size() >= kShort) return true;
    if ((at == 0 || !is_word_byte(model[at - 1])) && (end == model.size() || !is_word_byte(model[end]))) return true;
  }
  return false;
}

/// Rounded down; cannot overflow.
std::int64_t percent_over(std::int64_t tokens, std::int64_t window) {
  const auto over = tokens - window;
  return over / window * 100 + over % window * 100 / window;
}

}  // namespace

ContextOverflow::ContextOverflow(std::string_view settings_json) : provider_refusals_(true), per_call_(true) {
  const Settings settings(settings_json, kForm);
  for (const auto& [name, tokens] : settings.table("windows", shipped_windows())) windows_.push_back({model_form(name), tokens});
  std::stable_sort(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) { return a.name.size() > b.name.size(); });
  refusals_ = settings.vocabulary().words(Key::kPromptRefusals);
  for (const auto& refusal : refusals_) {
    if (refusal.size() < 4) {
      short_refusals_ = true;
    } else {
      openings_[opening_of(refusal)] = true;
    }
  }
  other_limits_ = settings.vocabulary().words(Key::kOtherLimits);
  provider_refusals_ = settings.rule("provider_refusals");
  per_call_ = settings.rule("per_call_counts");
}

std::string ContextOverflow::schema() {
  return kForm.schema();
}

const ContextOverflow::Window* ContextOverflow::window_of(std::string_view model) {
  std::string key(model);
  auto it = met_.find(key);
  if (it == met_.end()) {
    const auto form = model_form(model.substr(0, 512));
    const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const Window& window) { return names_model(form, window.name); });
    if (met_.size() >= kMostModelsRemembered) met_.clear();
    it = met_.emplace(std::move(key), static_cast<std::size_t>(found - windows_.begin())).first;
  }
  return it->second < windows_.size() ? &windows_[it->second] : nullptr;
}

/// Whether a folded text says that the prompt was refused because of its length, or tells of another limit in similar words.
ContextOverflow::Refusal ContextOverflow::refusal_in(std::string_view folded) const {
  for (std::size_t i = 0; i < folded.size(); ++i) {
    // Few offsets begin like a refusal.
    if (i + 4 <= folded.size() ? !openings_[opening_of(folded.substr(i, 4))] && !short_refusals_ : !short_refusals_) continue;
    const auto rest = folded.substr(i);
    if (std::none_of(refusals_.begin(), refusals_.end(), [&](const auto& words) { return rest.starts_with(words); })) continue;
    const auto told = [&](const auto& limit) { return folded.find(limit) != std::string_view::npos; };
    return std::none_of(other_limits_.begin(), other_limits_.end(), told) ? Refusal::kLength : Refusal::kOtherLimit;
  }
  return Refusal::kNone;
}

/// Whether the provider refused the prompt because of its length, or reported another limit in similar words.
ContextOverflow::Refusal ContextOverflow::refusal_of(const StepView& step) {
  auto refusal = Refusal::kNone;
  for (const auto text : {step.error_code, step.error_message}) {
    if (text.empty()) continue;
    fold(text, folded_);
    auto found = refusal_in(folded_);
    spell_out(text, spelled_);
    if (found == Refusal::kNone && spelled_ != text) {
      fold(spelled_, folded_);
      found = refusal_in(folded_);
    }
    if (found == Refusal::kLength) return found;
    if (found != Refusal::kNone) refusal = found;
  }
  return refusal;
}

void ContextOverflow::judge_count(std::size_t step, std::int64_t tokens, std::string_view model, Gaps& gaps, Verdict& verdict) {
  if (trim(model).empty()) {
    gaps.no_model = true;
    return;
  }
  const auto* window = window_of(model);
  if (window == nullptr) {
    gaps.unknown_model = quote(model);
    return;
  }
  gaps.counted = true;
  if (tokens <= window->tokens) {
    if (verdict.explanation == nullptr) return;
    return verdict.passed("windows", step, std::to_string(tokens) + " tokens fit " + window->name + "'s " + std::to_string(window->tokens));
  }
  // One failure per model: the largest prompt.
  const auto same = [&](const Finding& other) { return other.score == kScore && other.fingerprint_parts[0] == window->name; };
  const auto other = std::find_if(verdict.findings.begin(), verdict.findings.end(), same);
  if (other != verdict.findings.end()) {
    if (tokens <= std::stoll(other->evidence[0].value)) return;
    verdict.findings.erase(other);
  }
  const auto count = std::to_string(tokens);
  const auto limit = std::to_string(window->tokens);
  const auto percent = percent_over(tokens, window->tokens);
  Finding found;
  found.severity = Severity::kMedium;
  found.source = Source::kContext;
  found.score = kScore;
  found.title = "Context overflow: " + count + " input tokens exceed " + window->name + "'s " + limit + "-token window";
  found.summary = "The prompt sent to " + window->name + " was " + count + " tokens \u2014 " + std::to_string(percent) + "% over its " +
                  limit + "-token context window. The model silently dropped the overflow, so it answered using only partial context.";
  found.primary_step = step;
  found.evidence.push_back({step == kNoStep ? "/metadata/inputTokens" : pointer_to(step, Field::kInputTokens), count});
  found.fingerprint_parts = {window->name, ""};
  verdict.findings.push_back(std::move(found));
}

void ContextOverflow::judge_run_count(const RunView& run, bool any_step_count, std::size_t model_steps, Gaps& gaps, Verdict& verdict) {
  if (!run.input_tokens || (per_call_ && any_step_count)) return;
  if (per_call_ && model_steps > 1) {
    gaps.summed = true;
    return;
  }
  auto model = run.model;
  for (const auto& step : run.steps) {
    if (step.kind == Kind::kModel && !step.model.empty()) model = step.model;
  }
  judge_count(kNoStep, *run.input_tokens, model, gaps, verdict);
}

/// True when the provider refused a step's prompt because of its length.
bool ContextOverflow::judge_refusal(const RunView& run, std::size_t i, Verdict& verdict) {
  if (!provider_refusals_) return false;
  const auto& step = run.steps[i];
  const auto refusal = refusal_of(step);
  if (refusal == Refusal::kOtherLimit)
    verdict.suppress("other_limits", i, "the model refused because of a limit other than the prompt's length");
  if (refusal != Refusal::kLength) return false;
  const auto model = quote(step.model.empty() ? run.model : step.model);
  const auto name = model.empty() ? std::string("the model") : model;
  Finding found;
  found.severity = Severity::kMedium;
  found.source = Source::kContext;
  found.score = kRefusalScore;
  found.title = "Context overflow: " + name + " refused the prompt as too long";
  found.summary = "The prompt sent to " + name + " was refused for its length (\"" + quote(failure_text(step)) +
                  "\"). The step got no answer from the model.";
  found.primary_step = i;
  found.evidence.push_back(failure_evidence(run, i));
  found.fingerprint_parts = {std::string(step_name(step)), quote(failure_text(step))};
  verdict.findings.push_back(std::move(found));
  return true;
}

Verdict ContextOverflow::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  Gaps gaps;
  bool any_step_count = false;
  std::size_t model_steps = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kModel) ++model_steps;
    if (judge_refusal(run, i, verdict)) {
      any_step_count |= step.input_tokens.has_value();
      continue;
    }
    if (!step.input_tokens) {
      gaps.uncounted_model_step |= step.kind == Kind::kModel;
      continue;
    }
    any_step_count = true;
    judge_count(i, *step.input_tokens, step.model.empty() ? run.model : step.model, gaps, verdict);
  }
  judge_run_count(run, any_step_count, model_steps, gaps, verdict);
  if (!verdict.findings.empty() || gaps.counted) return verdict;
  if (gaps.summed) {
    verdict.cannot_tell = "inputTokens of the run may be a sum over its model steps: send metadata.inputTokens on each model step";
  } else if (!gaps.unknown_model.empty()) {
    verdict.cannot_tell = "unknown model \"" + gaps.unknown_model + "\": add it to the detector's windows";
  } else if (gaps.no_model) {
    verdict.cannot_tell = "no model name: send metadata.model on the run or its model steps";
  } else {
    verdict.cannot_tell = "no inputTokens on any model step: send metadata.inputTokens";
  }
  return verdict;
}

}  // namespace runwarden::plugins
