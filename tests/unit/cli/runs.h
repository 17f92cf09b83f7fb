// Runs that commands are tried on.
#pragma once

#include <string>

namespace runwarden::cli {

// A failed refund that the agent calls done: false_success, 95.
inline std::string refund_run(const std::string& id) {
  return R"({"runId":")" + id +
         R"(","userRequestText":"Please refund order 1234","success":true,"steps":[{"stepKind":"tool","stepName":"issue_refund",)"
         R"("status":"failed","errorMessage":"502 Bad Gateway","inputSummary":"order 1234"}],"outcomeSummary":"Your refund has been processed."})";
}

// Nothing is wrong with it.
inline std::string good_run(const std::string& id) {
  return R"({"runId":")" + id +
         R"(","userRequestText":"What is the time?","success":true,"steps":[{"stepKind":"tool","stepName":"clock","status":"completed",)"
         R"("inputSummary":"now","outputSummary":"12:00"},{"stepKind":"model","outputSummary":"It is 12:00."}],"outcomeSummary":"It is 12:00."})";
}

}  // namespace runwarden::cli
