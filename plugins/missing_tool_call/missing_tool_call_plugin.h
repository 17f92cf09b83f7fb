#pragma once

#include "adapter/plugin.h"
#include "missing_tool_call/missing_tool_call.h"

namespace runwarden::plugins {

/// Abstains when the record would not show a tool call even if there was one.
class MissingToolCallPlugin final : public Plugin<MissingToolCall> {
 public:
  void evaluate(const rw::Run& run, rw::Call& call) override {
    if (!is_one_model_span(run)) return Plugin<MissingToolCall>::evaluate(run, call);
    call.abstain("the trace has a single model span, so tools that ran are not in it; instrument the agent and its tools, too");
  }

 private:
  /// True when metadata.onlyModelSpan, which only the host writes, says that the record was made from a single model call. Such a record
  /// cannot show a tool.
  static bool is_one_model_span(const rw::Run& run) {
    return run.size() == 1 && run.find("/metadata/onlyModelSpan").boolean().value_or(false);
  }
};

}  // namespace runwarden::plugins
