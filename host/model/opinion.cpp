#include "model/opinion.h"

#include "base/json_text.h"

namespace runwarden::model {

const char* name(OpinionState state) {
  switch (state) {
    case OpinionState::waiting: break;
    case OpinionState::confirmed: return "confirmed";
    case OpinionState::denied: return "denied";
    case OpinionState::unclear: return "unclear";
    case OpinionState::dead: return "dead";
  }
  return "waiting";
}

std::optional<OpinionState> opinion_state(std::string_view text) {
  for (const auto state :
       {OpinionState::waiting, OpinionState::confirmed, OpinionState::denied, OpinionState::unclear, OpinionState::dead}) {
    if (text == name(state)) return state;
  }
  return std::nullopt;
}

std::string candidate_json(const Opinion& opinion) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("candidateId").string(opinion.id).key("runId").string(opinion.run_id);
  if (opinion.revision > 1) out.key("revision").integer(opinion.revision);
  out.key("detectorKey").string(opinion.detector_key).key("rule").string(opinion.rule).key("reason").string(opinion.reason);
  if (opinion.confidence) out.key("confidence").number(*opinion.confidence);
  if (!opinion.primary_step_id.empty()) out.key("primaryStepId").string(opinion.primary_step_id);
  out.key("state").string(name(opinion.state));
  if (!opinion.failure_id.empty()) out.key("failureId").string(opinion.failure_id);
  if (!opinion.last_error.empty()) out.key("attempts").integer(opinion.attempts).key("lastError").string(opinion.last_error);
  if (!opinion.review.empty()) out.key("review").raw(opinion.review);
  out.end_object();
  return text;
}

std::string opinion_author(std::string_view model) {
  return "model:" + std::string(model);
}

bool is_by_model(std::string_view author) {
  return author.starts_with(opinion_author({}));
}

}  // namespace runwarden::model
