#include "false_success/failure_rules.h"

namespace runwarden::plugins {
namespace {

constexpr SettingSchema kProperties[] = {FiringLine::kProperty};
constexpr Rule kRules[] = {
    {"soft_failures", {"short_failures", "zero_results_are_empty"}},
    {"recovery", {"contradiction", "no_op_retry"}},
    {"admission", {"handover", "plan"}},
    {"no_claim"},
    {"unrelated_claim"},
    {"standing_claim"},
    {"weighed"},
};
constexpr SettingsForm kForm{kProperties, kRules};

}  // namespace

FailureRules::FailureRules(const Settings& settings) : other_language(settings.vocabulary().languages()) {
  lexicon = make_lexicon(settings);
  settings.vocabulary().each(Key::kActionVerbs, [&](std::string_view verb, auto language) { (void)lexicon.add_verb(verb, language); });
  settings.vocabulary().each(Key::kActionGroups, [&](std::string_view group, auto) { lexicon.add_group(group); });
  // "Die Stornierung wurde vorgenommen": the noun names the deed.
  settings.vocabulary().each(Key::kActionNouns, [&](std::string_view nouns, auto language) { (void)lexicon.add_nouns(nouns, language); });
  lexicon.freeze();
  content = make_content_rules(settings, "soft_failures");
  line = FiringLine(settings.text("sensitivity"));
  hard_words = settings.vocabulary().words(Key::kHardWords);
  withheld_words = settings.vocabulary().words(Key::kWithheldWords);
  alert_classes = settings.vocabulary().words(Key::kAlertClasses);
  trouble_signs = settings.vocabulary().words(Key::kProgramTrouble);
  all_words = settings.vocabulary().words(Key::kAllWords);
  passing_reports = Phrases(settings.vocabulary().words(Key::kPassingReports));
  refusals = Phrases(settings.vocabulary().words(Key::kRefusals));
  contrast_words = settings.vocabulary().words(Key::kContrastWords);
  answer_labels = settings.vocabulary().words(Key::kAnswerLabels);
  outcome_words = OutcomeWords(settings.vocabulary());
  program_words = ProgramWords(settings.vocabulary());
  format_complaints = settings.vocabulary().words(Key::kFormatComplaints);
  fact_words = FactWords(settings.vocabulary());
  disclaimers = Disclaimers(settings.vocabulary());
  handover_tool_words = settings.vocabulary().words(Key::kHandoverToolWords);
  soft_failures = settings.rule("soft_failures");
  recovery = settings.rule("recovery");
  admission = settings.rule("admission");
  no_claim = settings.rule("no_claim");
  unrelated_claim = settings.rule("unrelated_claim");
  standing_claim = settings.rule("standing_claim");
  weighed = settings.rule("weighed");
  finish_group = group_of(settings.vocabulary(), Key::kFinishingVerbs, lexicon);
  hindering.assign(lexicon.verb_count(), false);
  for (const auto verb : lexicon.verbs_named(settings.vocabulary().words(Key::kHinderingVerbs))) hindering[verb] = true;
  find_group = group_of(settings.vocabulary(), Key::kFindingVerbs, lexicon);
  remove_group = group_of(settings.vocabulary(), Key::kRemovingVerbs, lexicon);
  send_group = group_of(settings.vocabulary(), Key::kSendingVerbs, lexicon);
}

const SettingsForm& FailureRules::form() {
  return kForm;
}

}  // namespace runwarden::plugins
