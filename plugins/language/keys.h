#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "language/cues.h"
#include "language/key.h"

namespace runwarden::plugins {

/// The form of the texts under a key.
enum class KeyForm : std::uint8_t {
  kTexts,    // a list of words and phrases
  kMonths,   // a list of twelve, each with one or more names
  kGrammar,  // a list of traits from kGrammarTraits
  kVerbs,    // a mapping: "lemma: base forms | done forms | doing forms"
  kNouns,    // a mapping: "lemma: nouns"
  kLemmas,   // a list of lemmas, or of lines of lemmas
  kDoneBy,   // a mapping: "lemma: lemmas"
  kNames,    // a list of names that belong to no language
  kPrinted,  // a list of texts that belong to no language, with the case of letters and the blanks at their ends
};

/// How the lexicon uses a text: not at all, as a cue that leaves a word as unknown as it was, or as a cue of a known word.
enum class KeyUse : std::uint8_t { kNone, kMark, kCue };

struct KeyInfo {
  Key key;
  std::string_view name;
  KeyForm form = KeyForm::kTexts;
  std::uint64_t cue = 0;
  KeyUse use = KeyUse::kNone;
};

inline constexpr std::array<KeyInfo, static_cast<std::size_t>(Key::kCount)> kKeys = [] {
  using enum Key;
  constexpr auto cue = [](Key key, std::string_view name, Cue bit) { return KeyInfo{key, name, KeyForm::kTexts, bit, KeyUse::kCue}; };
  constexpr auto mark = [](Key key, std::string_view name, Cue bit) { return KeyInfo{key, name, KeyForm::kTexts, bit, KeyUse::kMark}; };
  constexpr auto texts = [](Key key, std::string_view name) { return KeyInfo{key, name}; };
  constexpr auto names = [](Key key, std::string_view name) { return KeyInfo{key, name, KeyForm::kNames}; };
  constexpr auto printed = [](Key key, std::string_view name) { return KeyInfo{key, name, KeyForm::kPrinted}; };
  constexpr auto lemmas = [](Key key, std::string_view name) { return KeyInfo{key, name, KeyForm::kLemmas}; };
  return std::array<KeyInfo, static_cast<std::size_t>(kCount)>{
      cue(kFinished, "finished", kCueFinished),
      cue(kAuxiliaries, "auxiliaries", kCueAuxiliary),
      cue(kPassives, "passives", kCuePassive),
      mark(kPastPassives, "past_passives", kCuePastPassive),
      mark(kAlready, "already", kCueAlready),
      mark(kNow, "now", kCueNow),
      cue(kNegations, "negations", kCueNegation),
      texts(kNegationEndings, "negation_endings"),
      mark(kDenials, "denials", kCueDenial),
      cue(kConditions, "conditions", kCueCondition),
      cue(kHypotheses, "hypotheses", kCueHypothesis),
      cue(kModals, "modals", kCueModal),
      cue(kModalNounWords, "modal_noun_words", kCueNounModal),
      mark(kHelpingModals, "helping_modals", kCueHelpingModal),
      cue(kAble, "able", kCueAble),
      cue(kFindings, "findings", kCueFinding),
      cue(kChecked, "checked", kCueChecked),
      cue(kPlans, "plans", kCuePlan),
      texts(kPlanHeadings, "plan_headings"),
      cue(kOffers, "offers", kCueOffer),
      mark(kForYou, "for_you", kCueForYou),
      cue(kAdmissions, "admissions", kCueAdmission),
      texts(kDraftAdmissions, "draft_admissions"),
      texts(kDraftNothingFound, "draft_nothing_found"),
      cue(kTrouble, "trouble", kCueTrouble),
      cue(kNothingFound, "nothing_found", kCueNothingFound),
      cue(kGoodbyes, "goodbyes", kCueGoodbye),
      cue(kClosingQuestions, "closing_questions", kCueClosingQuestion),
      cue(kHandovers, "handovers", kCueHandover),
      cue(kSimulations, "simulations", kCueSimulated),
      cue(kExamples, "examples", kCueExample),
      cue(kByHandWords, "by_hand_words", kCueByHand),
      mark(kOwnDeeds, "own_deeds", kCueOwnDeed),
      cue(kDeterminers, "determiners", kCueDeterminer),
      cue(kSelves, "selves", kCueSelf),
      cue(kOthers, "others", kCueOther),
      mark(kAddressees, "addressees", kCueAddressee),
      cue(kAdverbs, "adverbs", kCueAdverb),
      texts(kAdverbEndings, "adverb_endings"),
      texts(kDroppedEndings, "dropped_endings"),
      texts(kOwnPastEndings, "own_past_endings"),
      texts(kOthersPastEndings, "others_past_endings"),
      texts(kImpersonals, "impersonals"),
      cue(kPrepositions, "prepositions", kCuePreposition),
      cue(kConjunctions, "conjunctions", kCueConjunction),
      cue(kAsking, "asking", kCueAsking),
      mark(kInfinitiveMarks, "infinitive_marks", kCueInfinitive),
      mark(kNotObjects, "not_objects", kCueNotObject),
      KeyInfo{kCommonWords, "common_words", KeyForm::kTexts, 0, KeyUse::kMark},
      mark(kForeignWords, "foreign_words", kCueForeign),
      texts(kAllWords, "all_words"),
      texts(kContrastWords, "contrast_words"),
      texts(kPassingReports, "passing_reports"),
      texts(kRefusals, "refusals"),
      texts(kAbbreviations, "abbreviations"),
      KeyInfo{kGrammar, "grammar", KeyForm::kGrammar},
      mark(kWishes, "wishes", kCueWish),
      mark(kPlease, "please", kCuePlease),
      mark(kGoAhead, "go_ahead", kCueGoAhead),
      mark(kConsents, "consents", kCueConsent),
      mark(kRelatives, "relatives", kCueRelative),
      mark(kOpeners, "openers", kCueOpener),
      mark(kOwn, "own", kCueOwn),
      mark(kParticles, "particles", kCueParticle),
      cue(kNounSigns, "noun_signs", kCueNounSign),
      mark(kTopicPrepositions, "topic_prepositions", kCueTopicPreposition),
      mark(kPlaces, "places", kCuePlace),
      mark(kPointing, "pointing", kCuePointing),
      mark(kSequenceNouns, "sequence_nouns", kCueSequenceNoun),
      texts(kObjectPronouns, "object_pronouns"),
      mark(kReasons, "reasons", kCueReason),
      mark(kPromises, "promises", kCuePromise),
      cue(kRetractions, "retractions", kCueRetracted),
      texts(kAsker, "asker"),
      texts(kQuotingVerbs, "quoting_verbs"),
      texts(kMakeBelieve, "make_believe"),
      cue(kTextProducts, "text_products", kCueTextProduct),
      texts(kRecords, "records"),
      cue(kEmptyWords, "empty_words", kCueEmptyWord),
      texts(kFoundWords, "found_words"),
      texts(kErrorOpenings, "error_openings"),
      texts(kErrorReportWords, "error_report_words"),
      texts(kFailureOpenings, "failure_openings"),
      texts(kRefusalOpenings, "refusal_openings"),
      texts(kActionFailureOpenings, "action_failure_openings"),
      texts(kNotThere, "not_there"),
      texts(kMachines, "machines"),
      texts(kMachineFailures, "machine_failures"),
      texts(kRefusedStates, "refused_states"),
      texts(kFailureContinuations, "failure_continuations"),
      texts(kFailureStops, "failure_stops"),
      texts(kRefusedBy, "refused_by"),
      texts(kOutcomeMembers, "outcome_members"),
      texts(kFailedStatuses, "failed_statuses"),
      texts(kAbsentStatuses, "absent_statuses"),
      texts(kRefusingWords, "refusing_words"),
      texts(kGoodStatuses, "good_statuses"),
      texts(kWaitingStatuses, "waiting_statuses"),
      texts(kErrorMembers, "error_members"),
      texts(kTakenMembers, "taken_members"),
      texts(kCountMembers, "count_members"),
      texts(kStatusCodeMembers, "status_code_members"),
      texts(kExplainingMembers, "explaining_members"),
      texts(kFormatComplaints, "format_complaints"),
      texts(kUntroubledTexts, "untroubled_texts"),
      texts(kContentMembers, "content_members"),
      texts(kReasonMembers, "reason_members"),
      texts(kAskedMembers, "asked_members"),
      texts(kMovingMembers, "moving_members"),
      texts(kAnswerMembers, "answer_members"),
      texts(kAnswerLabels, "answer_labels"),
      texts(kApproximations, "approximations"),
      texts(kHowMany, "how_many"),
      texts(kPassingOn, "passing_on"),
      texts(kFollowUps, "follow_ups"),
      texts(kContacts, "contacts"),
      texts(kPutThrough, "put_through"),
      texts(kPuttingThrough, "putting_through"),
      texts(kGuesses, "guesses"),
      texts(kOwnKnowledge, "own_knowledge"),
      texts(kKnowledgeSources, "knowledge_sources"),
      texts(kSpokenSigns, "spoken_signs"),
      texts(kHardWords, "hard_words"),
      texts(kWithheldWords, "withheld_words"),
      texts(kProgramTrouble, "program_trouble"),
      texts(kUnderWayWords, "under_way_words"),
      texts(kPromptRefusals, "prompt_refusals"),
      texts(kOtherLimits, "other_limits"),
      texts(kReadPrefixes, "read_prefixes"),
      cue(kAnyPurposeWords, "any_purpose_words", kCueAnyPurpose),
      texts(kAnyPurposeNames, "any_purpose_names"),
      texts(kToolLabels, "tool_labels"),
      texts(kThingWords, "thing_words"),
      texts(kNounWords, "noun_words"),
      texts(kHandoverToolWords, "handover_tool_words"),
      texts(kQueryWords, "query_words"),
      texts(kGettingWords, "getting_words"),
      texts(kShowingNouns, "showing_nouns"),
      texts(kThingVerbs, "thing_verbs"),
      texts(kChangingWords, "changing_words"),
      texts(kChangingNouns, "changing_nouns"),
      texts(kJoiningWords, "joining_words"),
      texts(kChangingPrefixes, "changing_prefixes"),
      texts(kQueryMembers, "query_members"),
      texts(kCosmeticMembers, "cosmetic_members"),
      texts(kThinkingWords, "thinking_words"),
      texts(kPausingWords, "pausing_words"),
      KeyInfo{kMonths, "months", KeyForm::kMonths},
      texts(kDateJoiners, "date_joiners"),
      texts(kUnits, "units"),
      KeyInfo{kVerbs, "verbs", KeyForm::kVerbs},
      KeyInfo{kActionVerbs, "action_verbs", KeyForm::kVerbs},
      texts(kClitics, "clitics"),
      texts(kNoCliticEndings, "no_clitic_endings"),
      KeyInfo{kActionNouns, "action_nouns", KeyForm::kNouns},
      KeyInfo{kResults, "results", KeyForm::kNouns},
      lemmas(kVerbGroups, "verb_groups"),
      lemmas(kActionGroups, "action_groups"),
      lemmas(kFinishingVerbs, "finishing_verbs"),
      lemmas(kFindingVerbs, "finding_verbs"),
      lemmas(kRemovingVerbs, "removing_verbs"),
      lemmas(kSendingVerbs, "sending_verbs"),
      lemmas(kMakingVerbs, "making_verbs"),
      lemmas(kParticleVerbs, "particle_verbs"),
      lemmas(kRequestVerbs, "request_verbs"),
      lemmas(kOwnToolVerbs, "own_tool_verbs"),
      lemmas(kOnlyAskedVerbs, "only_asked_verbs"),
      lemmas(kTellingVerbs, "telling_verbs"),
      lemmas(kLightVerbs, "light_verbs"),
      lemmas(kSettlingVerbs, "settling_verbs"),
      lemmas(kHinderingVerbs, "hindering_verbs"),
      lemmas(kLookingVerbs, "looking_verbs"),
      lemmas(kAnswerVerbs, "answer_verbs"),
      lemmas(kTextVerbs, "text_verbs"),
      lemmas(kSortingVerbs, "sorting_verbs"),
      KeyInfo{kDoneBy, "done_by", KeyForm::kDoneBy},
      lemmas(kCommandVerbs, "command_verbs"),
      names(kStatusLabels, "status_labels"),
      names(kReasonPhrases, "reason_phrases"),
      names(kCallMembers, "call_members"),
      names(kCodeMembers, "code_members"),
      names(kMessageMembers, "message_members"),
      names(kDoneStatuses, "done_statuses"),
      names(kEnvelopeMembers, "envelope_members"),
      names(kTextEnvelopeMembers, "text_envelope_members"),
      names(kMetadataMembers, "metadata_members"),
      names(kFreshMembers, "fresh_members"),
      names(kPagingMembers, "paging_members"),
      names(kTellingWhenEmpty, "telling_when_empty"),
      names(kExistenceMembers, "existence_members"),
      names(kDenyingCodeWords, "denying_code_words"),
      names(kCountNames, "count_names"),
      names(kErrorDetailMembers, "error_detail_members"),
      names(kObjectEndings, "object_endings"),
      names(kNewPrefixes, "new_prefixes"),
      names(kOldPrefixes, "old_prefixes"),
      names(kFormerWords, "former_words"),
      names(kContradictedDeeds, "contradicted_deeds"),
      names(kAlertClasses, "alert_classes"),
      names(kIdNames, "id_names"),
      names(kAmountNames, "amount_names"),
      names(kClientIdWords, "client_id_words"),
      names(kMeaninglessToolWords, "meaningless_tool_words"),
      names(kWrapperWords, "wrapper_words"),
      names(kWrappedNameMembers, "wrapped_name_members"),
      names(kWrappedArgumentMembers, "wrapped_argument_members"),
      names(kOrderingWords, "ordering_words"),
      names(kOrderingMembers, "ordering_members"),
      names(kWrittenMembers, "written_members"),
      names(kQuietCommands, "quiet_commands"),
      names(kReadingCommands, "reading_commands"),
      names(kIdleCommands, "idle_commands"),
      names(kCommandingPrograms, "commanding_programs"),
      names(kReadingSubcommands, "reading_subcommands"),
      names(kLookingForms, "looking_forms"),
      names(kDryRunOptions, "dry_run_options"),
      names(kWritingOptions, "writing_options"),
      names(kPictureEndings, "picture_endings"),
      names(kMoneySigns, "money_signs"),
      names(kDenyingPrefixes, "denying_prefixes"),
      names(kOppositePrefixes, "opposite_prefixes"),
      names(kDoneEndings, "done_endings"),
      names(kErrorNumberPrefixes, "error_number_prefixes"),
      names(kErrorPrefixes, "error_prefixes"),
      names(kDeviceMembers, "device_members"),
      names(kPluralEndings, "plural_endings"),
      names(kSingularEndings, "singular_endings"),
      names(kFormulaNames, "formula_names"),
      names(kLeadingCommands, "leading_commands"),
      names(kCommandMembers, "command_members"),
      names(kSiteEndings, "site_endings"),
      names(kSystemErrors, "system_errors"),
      names(kFailedVerdicts, "failed_verdicts"),
      names(kNoRowReports, "no_row_reports"),
      names(kExitCodeLabels, "exit_code_labels"),
      names(kExitCodeMembers, "exit_code_members"),
      names(kPrintMembers, "print_members"),
      printed(kFailureLines, "failure_lines"),
      printed(kErrorMarks, "error_marks"),
      printed(kPostscripts, "postscripts"),
      printed(kTestLabels, "test_labels"),
      printed(kFailedCounts, "failed_counts"),
      printed(kTestCounts, "test_counts"),
      printed(kErrorTallies, "error_tallies"),
      printed(kExceptionEndings, "exception_endings"),
      printed(kTracebackOpenings, "traceback_openings"),
      printed(kCutMarks, "cut_marks"),
      printed(kCurrencyCodes, "currency_codes"),
  };
}();

static_assert([] {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (static_cast<std::size_t>(kKeys[i].key) != i) return false;
  }
  return true;
}());

[[nodiscard]] constexpr const KeyInfo& info(Key key) {
  return kKeys[static_cast<std::size_t>(key)];
}

/// True for a key of actions.yaml, which belongs to no language.
[[nodiscard]] constexpr bool is_of_actions(Key key) {
  const auto form = info(key).form;
  return form == KeyForm::kLemmas || form == KeyForm::kDoneBy || form == KeyForm::kNames || form == KeyForm::kPrinted;
}

/// The key with that name; null when there is none.
[[nodiscard]] constexpr const KeyInfo* key_named(std::string_view name) {
  for (const auto& known : kKeys) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

/// Traits of a language that are not words. verb_last: a participle or infinitive may end a clause, far from its auxiliary.
inline constexpr std::array<std::string_view, 1> kGrammarTraits = {"verb_last"};

}  // namespace runwarden::plugins
