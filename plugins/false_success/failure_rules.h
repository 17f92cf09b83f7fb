#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/content.h"
#include "common/facts.h"
#include "common/lexicon.h"
#include "common/phrases.h"
#include "common/settings.h"
#include "evidence/confidence.h"
#include "evidence/disclaimers.h"
#include "evidence/outcome_words.h"
#include "evidence/program_end.h"
#include "text/other_language.h"

namespace runwarden::plugins {

/// The words, rules and firing line of false_success. Loaded once, then read-only: any thread may read.
struct FailureRules {
  /// Throws std::invalid_argument that names the fault.
  explicit FailureRules(const Settings& settings);

  /// The settings that there are.
  [[nodiscard]] static const SettingsForm& form();

  Lexicon lexicon;
  ContentRules content;
  FiringLine line{{}};
  FactWords fact_words = FactWords::shipped();
  OutcomeWords outcome_words;
  ProgramWords program_words;
  std::vector<std::string> format_complaints;  // folded: "date format"
  Disclaimers disclaimers;
  OtherLanguage other_language;
  std::vector<std::string> hard_words;
  std::vector<std::string> withheld_words;
  std::vector<std::string> alert_classes;
  std::vector<std::string> trouble_signs;
  std::vector<std::string> handover_tool_words;
  std::vector<std::string> all_words;
  std::vector<std::string> contrast_words;
  Phrases passing_reports;  // "all tests pass"
  Phrases refusals;         // "too late"
  std::vector<std::string> answer_labels;
  std::vector<bool> hindering;  // by verb
  std::uint16_t finish_group = 0;
  std::uint16_t find_group = 0;
  std::uint16_t remove_group = 0;
  std::uint16_t send_group = 0;
  bool soft_failures = true;
  bool recovery = true;
  bool admission = true;
  bool no_claim = true;
  bool unrelated_claim = true;
  bool standing_claim = true;
  bool weighed = true;
};

}  // namespace runwarden::plugins
