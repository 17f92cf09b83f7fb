#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/evidence_index.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "common/word_filter.h"
#include "evidence/derivation.h"
#include "evidence/disclaimers.h"
#include "evidence/expression.h"
#include "schema_ghost/examples.h"
#include "schema_ghost/ghost_rules.h"

namespace runwarden::plugins {

/// What is known of the run under evaluation, and scratch memory kept between runs. One owner, one thread at a time.
struct GhostScene {
  /// The step that returned nothing and has not been made good yet.
  struct Hollow {
    std::size_t step = kNoStep;
    bool ids_only = false;  // only unsupported ids count: the step is a write, or another source has answered since
    bool later = false;     // another tool has returned something since; it is a source if the answer uses any of it
    bool printed = false;   // it may have printed something before it failed; likewise a source, unless the agent says it looked by hand
    bool wrote = false;     // the step was meant to change something
    bool apart = false;     // its tool has answered for another thing since: names may come from there, values do not
  };
  struct AnswerText {
    std::string_view text;
    std::size_t step;  // the number of steps for outcomeSummary
  };
  struct Stated {
    std::string text;
    std::string_view type;
  };

  GhostScene(const Settings& settings, const GhostRules& rules);

  Recovery tools;
  Disclaimers disclaimers;
  WordFilter by_hand_words;
  WordFilter reason_words;

  // The tool steps
  std::vector<bool> hollow;                           // by step: a tool step that returned nothing
  std::vector<bool> nothing;                          // hollow without the tools that are silent by design
  std::unordered_map<std::string_view, bool> silent;  // tools that never return anything in this run
  std::size_t designed = kNoStep;                     // a step since the last answer that returned nothing by design
  std::size_t cut_upto = 0;                           // outputs before it were checked
  bool record_cut = false;                            // one of them is truncated: its full content is unknown
  std::size_t pictures_upto = 0;                      // calls before it were checked for a picture
  bool picture_shown = false;

  // What has a source
  EvidenceIndex evidence;  // spellings in the steps before spelled_upto, facts in those before facts_upto
  EvidenceIndex words;     // words of the steps before words_upto
  std::size_t spelled_upto = 0;
  std::size_t facts_upto = 0;
  std::size_t words_upto = 0;
  Derivation clock;  // times and figures in the steps before clock_upto
  std::size_t clock_upto = 0;
  Derivation calendar;  // dates and figures in what the user says, once calendar_read
  bool calendar_read = false;
  std::vector<std::size_t> withheld;  // answers that admit that their specifics are not real; they do not support later claims
  std::vector<std::size_t> admitted;  // answers that say that nothing was found, or that their specifics are examples
  RoughWork rough_work;
  std::size_t worked_upto = 0;
  std::vector<double> worked_out;  // the newest results of calculations in the arguments of calls before worked_upto
  std::vector<double> results;
  bool request_read = false;
  std::vector<Fact> asked;  // figures in the request

  // The answer
  std::string_view answer;  // the text that facts, names and titles point into
  Reading reading;
  std::string prose;
  std::string told;
  std::string plain;
  HashSet told_words;
  std::vector<Fact> facts;
  std::vector<std::string_view> names;
  std::vector<std::string_view> titles;
  std::vector<std::string_view> ungrounded;
  Examples examples;
  std::vector<CallValue> values;

 private:
  void collect_by_hand_words(const Lexicon& lexicon);
};

}  // namespace runwarden::plugins
