// Decides whether calls failed or returned nothing, with the detectors' own functions and the words they ship with. Any thread.
#pragma once

#include "common/content.h"
#include "common/lexicon.h"
#include "common/run_view.h"
#include "common/settings.h"
#include "guardrail/draft.h"
#include "model/run.h"

namespace runwarden::guardrail {

struct Signs {
  Signs();

  plugins::Settings settings;
  plugins::Lexicon lexicon;
  plugins::ContentRules content;
};

// Created on first use.
const Signs& shipped_signs();

// A step as the detectors see it; views into the run.
plugins::StepView view_of(const model::Step& step);

// A step that is neither the model's nor the user's.
bool is_call(const model::Step& step);
bool call_failed(const model::Step& step);
bool call_gave_nothing(const model::Step& step);
bool has_outcome(const model::Step& step, CallOutcome outcome);

}  // namespace runwarden::guardrail
