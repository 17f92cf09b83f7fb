#pragma once

#include <string>
#include <vector>

#include "common/content.h"
#include "common/facts.h"
#include "common/lexicon.h"
#include "common/settings.h"
#include "evidence/confidence.h"

namespace runwarden::plugins {

inline constexpr std::size_t kNamesThatTell = 3;     // one or two unknown names are common knowledge more often than not
inline constexpr std::size_t kTellingWord = 4;       // bytes; shorter words occur in every text
inline constexpr std::size_t kMostUnrelated = 1024;  // bytes of other tools' outputs; more than that may contain anything

/// The words, rules and firing line of schema_ghost. Loaded once, then read-only: any thread may read.
struct GhostRules {
  /// Throws std::invalid_argument that names the fault.
  explicit GhostRules(const Settings& settings)
      : lexicon(make_lexicon(settings)),
        content(make_content_rules(settings)),
        fact_words(settings.vocabulary()),
        line(settings.text("sensitivity")),
        withheld_words(settings.vocabulary().words(Key::kWithheldWords)),
        cut_marks(settings.vocabulary().words(Key::kCutMarks)),
        answer_labels(settings.vocabulary().words(Key::kAnswerLabels)),
        find_group(group_of(settings.vocabulary(), Key::kFindingVerbs, lexicon)),
        grounding(settings.rule("grounding")),
        admission(settings.rule("admission")),
        by_design(settings.rule("empty_by_design")),
        later_answers(settings.rule("later_answers")),
        names(settings.rule("names")),
        weighed(settings.rule("weighed")) {}

  Lexicon lexicon;
  ContentRules content;
  FactWords fact_words;
  FiringLine line;
  std::vector<std::string> withheld_words;
  std::vector<std::string> cut_marks;
  std::vector<std::string> answer_labels;
  std::uint16_t find_group;
  bool grounding;
  bool admission;
  bool by_design;
  bool later_answers;
  bool names;
  bool weighed;
};

}  // namespace runwarden::plugins
