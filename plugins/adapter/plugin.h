#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/call_names.h"
#include "common/explanation_recorder.h"
#include "common/reading_memo.h"
#include "common/run_view.h"
#include "common/settings.h"
#include "common/verdict.h"
#include "evidence/wrapped_call.h"
#include "runwarden/detector.hpp"

namespace runwarden::plugins {

/// The only place where the detectors meet the ABI: reads the host's run into a RunView and returns a Verdict. `D` has kKey, kTitle,
/// schema(), a constructor from settings text, and evaluate(RunView).
template <class D>
class Plugin : public rw::Detector {
 public:
  static rw::Info info() {
    static const std::string schema = D::schema();
    return {D::kKey, RUNWARDEN_DETECTORS_VERSION, D::kTitle, schema};
  }

  void configure(std::string_view settings_json) override {
    detector_ = std::make_unique<D>(settings_json);
    names_ = CallNames(Settings(settings_json).vocabulary());
  }

  void evaluate(const rw::Run& run, rw::Call& call) override {
    take_in(run);
    const ReadingMemo::Scope readings(readings_);
    ExplanationRecorder explanation(names_);
    view_.explanation = call.explains() ? &explanation : nullptr;
    call.stop_point();
    view_.stop = [&call] { call.stop_point(); };
    unwrap_calls(view_, names_);
    const Verdict verdict = detector_->evaluate(view_);
    for (const auto& finding : verdict.findings) tell(finding, call);
    for (const auto& silenced : verdict.suppressed) tell(silenced, call);
    if (!verdict.cannot_tell.empty()) call.abstain(shortened(verdict.cannot_tell, RW_MAX_REASON));
    if (call.explains()) explain(verdict, explanation, call);
  }

 private:
  static constexpr std::size_t kFairShare = RW_MAX_EXPLANATIONS / ExplanationRecorder::kKinds;

  static std::int64_t index(std::size_t step) { return step == kNoStep ? RW_NO_STEP : static_cast<std::int64_t>(step); }

  /// At most `limit` bytes, cut between characters.
  static std::string shortened(std::string_view text, std::size_t limit) {
    if (text.size() > limit) {
      while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
      text = text.substr(0, limit);
    }
    return std::string(text);
  }

  static std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return text;
  }

  void take_in(const rw::Run& run) {
    view_.user_request = run.user_request();
    view_.outcome = run.outcome();
    view_.model = run.model();
    view_.success = run.success();
    view_.cost_usd = run.cost_usd();
    view_.input_tokens = run.input_tokens();
    view_.steps.clear();
    view_.steps.reserve(run.size());
    for (const rw::Step step : run) {
      view_.steps.push_back({static_cast<Kind>(step.kind()), static_cast<Outcome>(step.outcome()),
                             static_cast<int>(step.http_status().value_or(0)), step.retry_count(), step.input_tokens(), step.id(),
                             step.name(), step.status_text(), step.error_code(), step.error_message(), step.input(), step.output(),
                             step.model()});
    }
  }

  static void tell(const Finding& found, rw::Call& call) {
    rw::Finding out(shortened(one_line(found.title), RW_MAX_TITLE));
    out.summary(shortened(found.summary, RW_MAX_SUMMARY))
        .score(found.score)
        .severity(static_cast<rw::Severity>(found.severity))
        .source(static_cast<rw::Source>(found.source))
        .fingerprint(found.fingerprint_parts);
    if (found.primary_step != kNoStep) out.primary_step(static_cast<std::uint32_t>(found.primary_step));
    if (found.waste_usd) out.waste_usd(*found.waste_usd);
    if (found.confidence) out.confidence(*found.confidence);
    std::size_t taken = 0;
    for (const auto& item : found.evidence) {
      if (++taken > RW_MAX_EVIDENCE) break;
      out.evidence(item.pointer, shortened(item.value, RW_MAX_VALUE));
    }
    call.emit(out);
  }

  static void tell(const Suppression& silenced, rw::Call& call) {
    const auto reason = shortened(silenced.reason, RW_MAX_REASON);
    if (silenced.confidence) {
      call.candidate(silenced.rule, index(silenced.step), reason, *silenced.confidence);
    } else {
      call.suppress(silenced.rule, index(silenced.step), reason);
    }
  }

  /// Sends a fair share of each kind first, so that a run of many steps does not crowd out the answers of its rules.
  static void explain(const Verdict& verdict, ExplanationRecorder& explanation, rw::Call& call) {
    bool asked = false;
    std::vector<std::size_t> fired;
    for (const auto& item : explanation.items()) {
      asked |= item.kind == ExplanationRecorder::Kind::kRule;
      if (item.kind == ExplanationRecorder::Kind::kRule && item.label == "fires") fired.push_back(item.step);
    }
    for (const auto& finding : verdict.findings) {
      const bool told = std::find(fired.begin(), fired.end(), finding.primary_step) != fired.end();
      if (!told) explanation.rule("finding", "fires", finding.primary_step, finding.title);
    }
    if (!asked && verdict.findings.empty()) explanation.rule("finding", "no", kNoStep, "the run contains nothing that a rule applies to");
    for (const bool first : {true, false}) {
      std::array<std::size_t, ExplanationRecorder::kKinds> counts{};
      for (const auto& item : explanation.items()) {
        if ((counts[static_cast<std::size_t>(item.kind)]++ < kFairShare) == first) call.explain(item_of(item));
      }
    }
  }

  static rw::Explanation item_of(const ExplanationRecorder::Item& item) {
    rw::Explanation out(static_cast<rw::ExplanationKind>(item.kind), shortened(one_line(item.subject), RW_MAX_SUBJECT), item.label);
    out.json_pointer(shortened(item.pointer, RW_MAX_POINTER))
        .outcome(item.outcome)
        .objects(shortened(item.objects, RW_MAX_SUBJECT))
        .reason(shortened(one_line(item.reason), RW_MAX_REASON));
    if (item.step != kNoStep) out.step(static_cast<std::uint32_t>(item.step));
    if (item.confidence) out.confidence(*item.confidence);
    return out;
  }

  std::unique_ptr<D> detector_;
  CallNames names_;  // by which calls are read before the detector sees them
  RunView view_;
  ReadingMemo readings_;
};

}  // namespace runwarden::plugins
