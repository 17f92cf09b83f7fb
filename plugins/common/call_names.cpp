#include "common/call_names.h"

namespace runwarden::plugins {

CallNames::CallNames(const Vocabulary& vocabulary)
    : object_endings(vocabulary.words(Key::kObjectEndings)),
      new_prefixes(vocabulary.words(Key::kNewPrefixes)),
      old_prefixes(vocabulary.words(Key::kOldPrefixes)),
      id_names(vocabulary.words(Key::kIdNames)),
      amount_names(vocabulary.words(Key::kAmountNames)),
      client_id_words(vocabulary.words(Key::kClientIdWords)),
      wrapper_words(vocabulary.words(Key::kWrapperWords)),
      wrapped_name_members(vocabulary.words(Key::kWrappedNameMembers)),
      wrapped_argument_members(vocabulary.words(Key::kWrappedArgumentMembers)),
      ordering_words(vocabulary.words(Key::kOrderingWords)),
      ordering_members(vocabulary.words(Key::kOrderingMembers)),
      error_detail_members(vocabulary.words(Key::kErrorDetailMembers)),
      error_prefixes(vocabulary.words(Key::kErrorPrefixes)),
      formula_names(vocabulary.words(Key::kFormulaNames)),
      written_members(vocabulary.words(Key::kWrittenMembers)),
      command_members(vocabulary.words(Key::kCommandMembers)),
      leading_commands(vocabulary.words(Key::kLeadingCommands)),
      quiet_commands(vocabulary.words(Key::kQuietCommands)),
      reading_commands(vocabulary.words(Key::kReadingCommands)),
      idle_commands(vocabulary.words(Key::kIdleCommands)),
      commanding_programs(vocabulary.words(Key::kCommandingPrograms)),
      reading_subcommands(vocabulary.words(Key::kReadingSubcommands)),
      looking_forms(vocabulary.words(Key::kLookingForms)),
      dry_run_options(vocabulary.words(Key::kDryRunOptions)),
      writing_options(vocabulary.words(Key::kWritingOptions)),
      picture_endings(vocabulary.words(Key::kPictureEndings)),
      site_endings(vocabulary.words(Key::kSiteEndings)) {}

const CallNames& CallNames::shipped() {
  static const CallNames kNames{Vocabulary()};
  return kNames;
}

}  // namespace runwarden::plugins
