#pragma once

#include <string>

namespace runwarden::test {

// A run that says it did what a tool could not do: false_success finds one failure in it.
inline std::string failing_run(const std::string& id) {
  return R"({"runId":")" + id + R"(","success":true,"outcomeSummary":"Your refund has been processed.",)" +
         R"("steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})";
}

}  // namespace runwarden::test
