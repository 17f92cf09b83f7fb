#include "missing_tool_call/deed_rules.h"

#include <stdexcept>
#include <utility>

#include "common/words.h"
#include "missing_tool_call/requests.h"

namespace runwarden::plugins {
namespace {

Lexicon make_actions_lexicon(const Settings& settings) {
  auto lexicon = make_lexicon(settings);
  add_actions(settings.vocabulary(), lexicon);
  return lexicon;
}

}  // namespace

DeedRules::DeedRules(const Settings& settings)
    : lexicon(make_actions_lexicon(settings)),
      line(settings.text("sensitivity")),
      tool_words(settings.vocabulary()),
      any_action(settings.rule("any_action")),
      about_action(settings.rule("about_action")),
      admission(settings.rule("admission")),
      other_tools(settings.rule("other_tools")),
      text_product(settings.rule("text_product")),
      written_calls(settings.rule("written_calls")) {
  const auto& vocabulary = settings.vocabulary();
  answer_members = vocabulary.words(Key::kAnswerMembers);
  effects.assign(lexicon.last_group() + 1, 0);
  only_asked.assign(lexicon.verb_count(), false);
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kOnlyAskedVerbs))) only_asked[verb] = true;
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kOwnToolVerbs))) effects[lexicon.verb(verb).group] = 1;
  by_command.assign(lexicon.verb_count(), false);
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kCommandVerbs))) by_command[verb] = true;
  settling.assign(lexicon.verb_count(), false);
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kSettlingVerbs))) settling[verb] = true;
  for (const auto& phrase : lexicon.phrases()) {
    if (has(phrase.cues, kCueFinished | kCueFinding)) finished_words.insert(phrase.words.begin(), phrase.words.end());
  }
  for (const auto& word : lexicon.words()) {
    if (has(word.cues, kCueFinished | kCueFinding)) finished_words.insert(word.word);
  }
  read_done_by(vocabulary);
  finish_group = group_of(vocabulary, Key::kFinishingVerbs, lexicon);
  const auto finishing = lexicon.verbs_named(vocabulary.words(Key::kFinishingVerbs));
  finish_verb = finishing.empty() ? kNoVerb : finishing.front();
  send_group = group_of(vocabulary, Key::kSendingVerbs, lexicon);
  const auto sending = lexicon.verbs_named(vocabulary.words(Key::kSendingVerbs));
  send_verb = sending.empty() ? kNoVerb : sending.front();
  passing_on = Phrases(vocabulary.words(Key::kPassingOn));
  contacts = Phrases(vocabulary.words(Key::kContacts));
  put_through = Phrases(vocabulary.words(Key::kPutThrough));
  putting_through = Phrases(vocabulary.words(Key::kPuttingThrough));
  handover_tool_words = vocabulary.words(Key::kHandoverToolWords);
  follow_ups = Phrases(vocabulary.words(Key::kFollowUps));
}

void DeedRules::read_done_by(const Vocabulary& vocabulary) {
  for (const std::string_view text : vocabulary.words(Key::kDoneBy)) {
    const auto equals = text.find('=');
    const auto lemma = trim(text.substr(0, equals));
    const auto claimed = lexicon.verb_named(lemma);
    if (claimed == kNoVerb) {
      throw std::invalid_argument("/vocabulary: done_by: no verb has the lemma \"" + std::string(lemma) + "\"; add it under `verbs`");
    }
    DoneBy entry{lexicon.verb(claimed).group, {}};
    for_each_word(text.substr(equals + 1), [&](std::string_view word) {
      if (const auto verb = lexicon.verb_named(word); verb != kNoVerb) entry.tools.push_back(lexicon.verb(verb).group);
      return true;
    });
    done_by.push_back(std::move(entry));
  }
}

}  // namespace runwarden::plugins
