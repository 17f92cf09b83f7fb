#include "detect/abi_run_view.h"

#include <new>

#include "detect/json_find.h"

namespace runwarden::detect {
namespace {

rw_str str(model::Text text) {
  return {text.data(), text.size()};
}

template <class T>
T or_absent(const std::optional<T>& value) {
  return value.value_or(static_cast<T>(RW_ABSENT));
}

std::uint32_t kind_of(model::StepKind kind) {
  switch (kind) {
    case model::StepKind::tool: return RW_STEP_TOOL;
    case model::StepKind::model: return RW_STEP_MODEL;
    case model::StepKind::user: return RW_STEP_USER;
    case model::StepKind::other: return RW_STEP_OTHER;
  }
  return RW_STEP_OTHER;
}

std::uint32_t outcome_of(model::Outcome outcome) {
  switch (outcome) {
    case model::Outcome::unknown: return RW_OUTCOME_UNKNOWN;
    case model::Outcome::ok: return RW_OUTCOME_OK;
    case model::Outcome::failed: return RW_OUTCOME_FAILED;
  }
  return RW_OUTCOME_UNKNOWN;
}

std::uint32_t flag_of(model::Flag flag) {
  switch (flag) {
    case model::Flag::unknown: return RW_FLAG_UNKNOWN;
    case model::Flag::no: return RW_FLAG_FALSE;
    case model::Flag::yes: return RW_FLAG_TRUE;
  }
  return RW_FLAG_UNKNOWN;
}

static_assert(model::kNoTime == RW_NO_TIME);

rw_step view_of(const model::Step& step) {
  rw_step view;
  view.struct_size = sizeof view;
  view.kind = kind_of(step.kind);
  view.outcome = outcome_of(step.outcome);
  view.flags = 0;
  view.retry_count = or_absent(step.retry_count);
  view.input_tokens = or_absent(step.input_tokens);
  view.http_status = or_absent(step.http_status);
  view.started_ms = step.started_ms;
  view.ended_ms = step.ended_ms;
  view.id = str(step.id);
  view.name = str(step.name);
  view.kind_text = str(step.kind_text);
  view.status_text = str(step.status);
  view.error_code = str(step.error_code);
  view.error_message = str(step.error_message);
  view.input = str(step.input);
  view.output = str(step.output);
  view.model = str(step.model);
  view.raw_json = str(step.raw_json);
  return view;
}

}  // namespace

AbiRunView::AbiRunView(const model::Run& run, std::string_view tenant) : run_(run) {
  steps_.reserve(run.steps.size());
  for (const model::Step& step : run.steps) steps_.push_back(view_of(step));
  raw_.struct_size = sizeof raw_;
  raw_.step_count = static_cast<std::uint32_t>(run.steps.size());
  raw_.success = flag_of(run.success);
  raw_.flags = 0;
  raw_.cost_usd = or_absent(run.cost_usd);
  raw_.input_tokens = or_absent(run.input_tokens);
  raw_.started_ms = run.started_ms;
  raw_.ended_ms = run.ended_ms;
  raw_.id = str(run.id);
  raw_.tenant = str(tenant);
  raw_.user_request = str(run.user_request);
  raw_.outcome = str(run.outcome);
  raw_.model = str(run.model);
  raw_.raw_json = str(run.document);
  raw_.ctx = this;
  raw_.step_at = &AbiRunView::step_at;
  raw_.find = &AbiRunView::find;
}

const rw_step* AbiRunView::step_at(void* ctx, std::uint32_t index) noexcept {
  const auto& steps = static_cast<AbiRunView*>(ctx)->steps_;
  return index < steps.size() ? &steps[index] : nullptr;
}

rw_status AbiRunView::find(void* ctx, std::int32_t step, rw_str pointer, rw_value* out) noexcept {
  auto& self = *static_cast<AbiRunView*>(ctx);
  const auto count = static_cast<std::int64_t>(self.steps_.size());
  if (out == nullptr || pointer.ptr == nullptr || step < RW_NO_STEP || step >= count) return RW_INVALID_ARGUMENT;
  const std::string_view where(pointer.ptr, pointer.len);
  if (!is_json_pointer(where)) return RW_INVALID_ARGUMENT;
  try {
    const model::Text json =
        step == RW_NO_STEP ? model::Text(self.run_.document) : self.run_.steps[static_cast<std::size_t>(step)].raw_json;
    *out = json_find(json, where, self.unescaped_);
    return RW_OK;
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

}  // namespace runwarden::detect
