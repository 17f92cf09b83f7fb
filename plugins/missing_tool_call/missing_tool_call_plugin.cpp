#include "common/plugin.h"
#include "missing_tool_call/missing_tool_call.h"

namespace runwarden::plugins {
namespace {

/// True where metadata.onlyModelSpan says that the record was made from one call of a model: it would show no tool. The text cannot
/// stand inside a string of the document, whose quotes would be escaped.
bool is_one_model_span(const rw::Run& run) {
  return run.size() == 1 && run.raw_json().find(R"("onlyModelSpan":true)") != std::string_view::npos;
}

}  // namespace

/// Abstains where a call that is missing from the record says nothing.
class MissingToolCallPlugin final : public Plugin<MissingToolCall> {
 public:
  void evaluate(const rw::Run& run, rw::Call& call) override {
    if (!is_one_model_span(run)) return Plugin<MissingToolCall>::evaluate(run, call);
    call.abstain("the trace holds one model span and nothing around it: tools that ran are not in it; instrument the agent and its tools, too");
  }
};

}  // namespace runwarden::plugins

using MissingToolCall = runwarden::plugins::MissingToolCallPlugin;

RW_DETECTORS(MissingToolCall);
