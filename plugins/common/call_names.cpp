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
      written_members(vocabulary.words(Key::kWrittenMembers)),
      quiet_commands(vocabulary.words(Key::kQuietCommands)),
      reading_commands(vocabulary.words(Key::kReadingCommands)),
      idle_commands(vocabulary.words(Key::kIdleCommands)),
      commanding_programs(vocabulary.words(Key::kCommandingPrograms)),
      reading_subcommands(vocabulary.words(Key::kReadingSubcommands)),
      dry_run_options(vocabulary.words(Key::kDryRunOptions)),
      writing_options(vocabulary.words(Key::kWritingOptions)),
      picture_endings(vocabulary.words(Key::kPictureEndings)) {}

const CallNames& CallNames::shipped() {
  static const CallNames kNames{Vocabulary()};
  return kNames;
}

}  // namespace runwarden::plugins
