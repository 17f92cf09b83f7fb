#include "intake/run_reader.h"

#include <utility>

#include "intake/member_names.h"
#include "intake/run_id.h"
#include "intake/shape.h"
#include "intake/shape_reader.h"
#include "intake/step_rules.h"

namespace runwarden::intake {
namespace {

using model::Run;
using model::Step;

enum Slot : std::uint8_t {
  kRunId,
  kUserRequest,
  kOutcome,
  kSuccess,
  kStarted,
  kEnded,
  kAt,
  kMetadata,
  kSteps,
  kServerOwned,
  kServerMark,
  kStepId,
  kStepKind,
  kStepName,
  kStatus,
  kErrorMessage,
  kErrorCode,
  kInput,
  kOutput,
  kRetryCount,
  kModel,
  kCost,
  kCostAlias,
  kTokens,
  kTokensAlias1,
  kTokensAlias2,
  kTokensAlias3,
  kUsage,
  kUsageTokens,
  kUsageAlias1,
  kUsageAlias2,
  kUsageAlias3,
  kHttpStatus,
  kHttpAlias1,
  kHttpAlias2,
  kHttpAlias3,
};

constexpr Field kUsageFields[] = {
    {"inputTokens", Want::lenient_count, kUsageTokens},
    {"promptTokens", Want::lenient_count, kUsageAlias1},
    {"input_tokens", Want::lenient_count, kUsageAlias2},
    {"prompt_tokens", Want::lenient_count, kUsageAlias3},
};
constexpr Shape kUsageShape{kUsageFields, "usage"};

constexpr Field kRunMetadataFields[] = {
    {"model", Want::text, kModel},
    {"costUsd", Want::amount, kCost},
    {"inputTokens", Want::count, kTokens},
    {"cost_usd", Want::lenient_amount, kCostAlias},
    {"promptTokens", Want::lenient_count, kTokensAlias1},
    {"input_tokens", Want::lenient_count, kTokensAlias2},
    {"prompt_tokens", Want::lenient_count, kTokensAlias3},
    {"usage", Want::lenient_object, kUsage, &kUsageShape},
    {"onlyModelSpan", Want::ignored, kServerMark},
};
constexpr Shape kRunMetadataShape{kRunMetadataFields, "metadata", {}, kMetadataWords};

constexpr Field kStepMetadataFields[] = {
    {"model", Want::text, kModel},
    {"costUsd", Want::amount, kCost},
    {"inputTokens", Want::count, kTokens},
    {"httpStatus", Want::lenient_count_held, kHttpStatus},
    {"http_status", Want::lenient_count, kHttpAlias1},
    {"statusCode", Want::lenient_count, kHttpAlias2},
    {"status_code", Want::lenient_count, kHttpAlias3},
    {"cost_usd", Want::lenient_amount, kCostAlias},
    {"promptTokens", Want::lenient_count, kTokensAlias1},
    {"input_tokens", Want::lenient_count, kTokensAlias2},
    {"prompt_tokens", Want::lenient_count, kTokensAlias3},
    {"usage", Want::lenient_object, kUsage, &kUsageShape},
};
constexpr Shape kStepMetadataShape{kStepMetadataFields, "metadata", {}, kMetadataWords};

constexpr Field kStepFields[] = {
    {"stepKind", Want::text, kStepKind},
    {"stepName", Want::text, kStepName},
    {"status", Want::text, kStatus},
    {"inputSummary", Want::text_or_json, kInput},
    {"outputSummary", Want::text_or_json_null, kOutput},
    {"errorMessage", Want::text, kErrorMessage},
    {"errorCode", Want::code, kErrorCode},
    {"retryCount", Want::count, kRetryCount},
    {"stepId", Want::text, kStepId},
    {"metadata", Want::object, kMetadata, &kStepMetadataShape},
    {"startedAt", Want::time, kStarted},
    {"endedAt", Want::time, kEnded},
    {"at", Want::time, kAt},
};
constexpr Alias kStepAliases[] = {
    {"id", "stepId"},
    {"type", "stepKind"},
    {"kind", "stepKind"},
    {"name", "stepName"},
    {"tool", "stepName"},
    {"toolName", "stepName"},
    {"input", "inputSummary"},
    {"args", "inputSummary"},
    {"arguments", "inputSummary"},
    {"parameters", "inputSummary"},
    {"output", "outputSummary"},
    {"result", "outputSummary"},
    {"response", "outputSummary"},
    {"error", "errorMessage"},
    {"retries", "retryCount"},
};
constexpr Shape kStepShape{kStepFields, "a step", kStepAliases};

constexpr Field kRunFields[] = {
    {"runId", Want::text, kRunId},
    {"userRequestText", Want::text, kUserRequest},
    {"outcomeSummary", Want::text, kOutcome},
    {"success", Want::boolean, kSuccess},
    {"metadata", Want::object, kMetadata, &kRunMetadataShape},
    {"steps", Want::array_of_objects, kSteps, &kStepShape},
    {"startedAt", Want::time, kStarted},
    {"endedAt", Want::time, kEnded},
    {"at", Want::time, kAt},
    {"state", Want::ignored, kServerOwned},
    {"resolution", Want::ignored, kServerOwned},
    {"revision", Want::ignored, kServerOwned},
    {"receivedAt", Want::ignored, kServerOwned},
    {"bufferedEvents", Want::ignored, kServerOwned},
    {"failures", Want::ignored, kServerOwned},
    {"detectors", Want::ignored, kServerOwned},
    {"policies", Want::ignored, kServerOwned},
    {"stepCount", Want::ignored, kServerOwned},  // these are of shortened reads
    {"leftOut", Want::ignored, kServerOwned},
    {"cut", Want::ignored, kServerOwned},
};
constexpr Alias kRunAliases[] = {
    {"id", "runId"},
    {"userRequest", "userRequestText"},
    {"request", "userRequestText"},
    {"requestText", "userRequestText"},
    {"prompt", "userRequestText"},
    {"outcome", "outcomeSummary"},
    {"outcomeText", "outcomeSummary"},
    {"successful", "success"},
    {"succeeded", "success"},
    {"events", "steps"},
};
constexpr Elsewhere kRunElsewhere[] = {
    {"model", "/metadata/model"},
    {"costUsd", "/metadata/costUsd"},
    {"inputTokens", "/metadata/inputTokens"},
};
constexpr Shape kRunShape{kRunFields, "a run", kRunAliases, {}, kRunElsewhere};

// The value from the best-ranked of several names; rank 0 is the primary name.
template <class T>
struct Ranked {
  std::optional<T> value;
  int rank = 0;
  void offer(T candidate, int candidate_rank) {
    if (value && rank <= candidate_rank) return;
    value = candidate;
    rank = candidate_rank;
  }
  bool from_alias() const { return value && rank > 0; }
  void clear() { *this = {}; }
};

constexpr std::size_t kUsualSteps = 16;

class RunReader final : public ShapeReader {
 public:
  RunReader(Run& run, const RunLimits& limits, std::string_view id_if_absent, std::vector<Warning>* warnings)
      : ShapeReader(kRunShape, run.arena, warnings), run_(run), limits_(limits), id_if_absent_(id_if_absent) {}

  Status run(std::string_view json) {
    if (Status status = read(json, limits_.max_json_depth); !status.ok()) return status;
    run_.document = std::move(document_text());
    const std::string_view document = run_.document;
    for (std::size_t i = 0; i < run_.steps.size(); ++i) run_.steps[i].raw_json = document.substr(spans_[i].first, spans_[i].second);
    return Nothing{};
  }

 private:
  void begin() override {
    run_ = Run{};
    spans_.clear();
    too_many_ = false;
  }

  bool knows(const Field& field) const override { return field.slot != kServerMark || limits_.marks == ServerMarks::dropped; }

  bool may_repeat(const Field& field) const override {
    return field.slot == kHttpStatus && limits_.statuses == Statuses::may_repeat && !held_http_.empty();
  }

  void enter(const Shape& shape) override {
    if (&shape == &kStepShape) begin_step();
    if (&shape == &kRunMetadataShape || &shape == &kStepMetadataShape) begin_metadata();
  }

  void take(const Shape& shape, const Field& field, const FieldValue& value) override {
    if (&shape == &kRunShape) return take_run(field, value);
    if (&shape == &kStepShape) return take_step(field, value);
    take_metadata(field, value);
  }

  void leave(const Shape& shape) override {
    if (&shape == &kStepShape) end_step();
    if (&shape == &kRunMetadataShape) end_run_metadata();
    if (&shape == &kStepMetadataShape) end_step_metadata();
    if (&shape == &kRunShape) end_run();
  }

  // JSON can express NUL (\u0000). The document keeps it; detectors see U+FFFD instead, because the ABI promises text without NUL.
  model::Text shown(model::Text text) {
    if (text.find('\0') == model::Text::npos) return text;
    std::string without;
    for (const char c : text) c == '\0' ? without.append("\xEF\xBF\xBD") : without.append(1, c);
    return run_.arena.copy(without);
  }

  void take_run(const Field& field, const FieldValue& value) {
    switch (field.slot) {
      case kRunId: return take_run_id(field, value.text);
      case kUserRequest: run_.user_request = shown(value.text); return;
      case kOutcome: run_.outcome = shown(value.text); return;
      case kSuccess: run_.success = value.boolean ? model::Flag::yes : model::Flag::no; return;
      case kStarted: run_.started_ms = value.integer; return;
      case kEnded: run_.ended_ms = value.integer; return;
      default: return;
    }
  }

  void take_run_id(const Field& field, std::string_view id) {
    if (auto wrong = run_id_fault(id)) fault(field.name, wrong->code, wrong->detail);
    run_.id = id;
  }

  void begin_step() {
    if (run_.steps.empty()) run_.steps.reserve(kUsualSteps);
    if (run_.steps.size() < limits_.max_steps) {
      run_.steps.emplace_back();
      spans_.emplace_back(document_text().size() - 1, 0);
    } else if (!std::exchange(too_many_, true)) {
      fault("", "too_many",
            "is one too many: a run may contain at most " + std::to_string(limits_.max_steps) + " steps; send the rest as a separate run");
    }
  }

  void take_step(const Field& field, const FieldValue& value) {
    if (run_.steps.empty()) return;
    Step& step = run_.steps.back();
    switch (field.slot) {
      case kStepId: step.id = shown(value.text); return;
      case kStepKind: step.kind_text = shown(value.text); return;
      case kStepName: step.name = shown(value.text); return;
      case kStatus: step.status = shown(value.text); return;
      case kErrorMessage:
        if (!value.text.empty()) step.error_message = shown(value.text);
        return;
      case kErrorCode:
        if (!is_no_error(value.text)) step.error_code = shown(value.text);
        return;
      case kInput: step.input = shown(value.text); return;
      case kOutput: step.output = shown(value.text); return;
      case kRetryCount: step.retry_count = value.integer; return;
      case kStarted: step.started_ms = value.integer; return;
      case kEnded: step.ended_ms = value.integer; return;
      case kAt:
        if (step.started_ms == model::kNoTime) step.started_ms = value.integer;
        return;
      default: return;
    }
  }

  void end_step() {
    Step& step = run_.steps.back();
    if (!model::present(step.id)) {
      step.id = run_.arena.copy("step_" + std::to_string(run_.steps.size()));
      document().key("stepId").string(step.id);
    }
    step.kind = step_kind(step.kind_text);
    step.outcome = status_outcome(step.status);
    if (warns()) warn_of_words(step);
    const bool http_failed = step.http_status && *step.http_status >= 400;
    if (model::present(step.error_code) || model::present(step.error_message) || http_failed) step.outcome = model::Outcome::failed;
    auto& [start, length] = spans_.back();
    length = document_text().size() + 1 - start;
  }

  void warn_of_words(const Step& step) {
    if (step.kind == model::StepKind::other && !step.kind_text.empty()) warn_of_value("stepKind", step.kind_text, step_kind_words());
    if (step.outcome == model::Outcome::unknown && !step.status.empty()) warn_of_value("status", step.status, status_words());
  }

  void begin_metadata() {
    model_ = {};
    cost_.clear();
    tokens_.clear();
    http_.clear();
    held_http_ = {};
  }

  void take_metadata(const Field& field, const FieldValue& value) {
    switch (field.slot) {
      case kModel: model_ = shown(value.text); return;
      case kCost: cost_.offer(value.number, 0); return;
      case kCostAlias: cost_.offer(value.number, 1); return;
      case kTokens: tokens_.offer(value.integer, 0); return;
      case kTokensAlias1:
      case kTokensAlias2:
      case kTokensAlias3: tokens_.offer(value.integer, 1 + field.slot - kTokensAlias1); return;
      case kUsageTokens:
      case kUsageAlias1:
      case kUsageAlias2:
      case kUsageAlias3: tokens_.offer(value.integer, 4 + field.slot - kUsageTokens); return;
      case kHttpStatus:
        held_http_ = value.text;
        if (!held_http_.empty()) return;
        [[fallthrough]];
      case kHttpAlias1:
      case kHttpAlias2:
      case kHttpAlias3: http_.offer(value.integer, field.slot - kHttpStatus); return;
      default: return;
    }
  }

  void write_canonical() {
    if (cost_.from_alias()) document().key("costUsd").number(*cost_.value);
    if (tokens_.from_alias()) document().key("inputTokens").integer(*tokens_.value);
    if (http_.from_alias()) {
      document().key("httpStatus").integer(*http_.value);
    } else if (!http_.value && !held_http_.empty() && held_http_ != "null") {
      document().key("httpStatus").raw(held_http_);
    }
  }

  void end_run_metadata() {
    write_canonical();
    run_.model = model_;
    run_.cost_usd = cost_.value;
    run_.input_tokens = tokens_.value;
  }

  void end_step_metadata() {
    write_canonical();
    if (run_.steps.empty()) return;
    Step& step = run_.steps.back();
    step.model = model_;
    step.cost_usd = cost_.value;
    step.input_tokens = tokens_.value;
    step.http_status = http_.value;
  }

  void end_run() {
    if (model::present(run_.id) || id_if_absent_.empty()) return;
    run_.id = run_.arena.copy(id_if_absent_);
    document().key("runId").string(run_.id);
  }

  Run& run_;
  const RunLimits& limits_;
  std::string_view id_if_absent_;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // start and length of each step in the document
  bool too_many_ = false;
  model::Text model_;
  Ranked<double> cost_;
  Ranked<std::int64_t> tokens_;
  Ranked<std::int64_t> http_;
  std::string_view held_http_;  // JSON text of an httpStatus that is not a count
};

}  // namespace

Result<Run> read_run(std::string_view json, const RunLimits& limits, std::string_view id_if_absent, std::vector<Warning>* warnings) {
  Run run;
  RunReader reader(run, limits, id_if_absent, warnings);
  if (Status status = reader.run(json); !status.ok()) return std::move(status.error());
  return run;
}

}  // namespace runwarden::intake
