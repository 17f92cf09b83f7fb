#include "missing_tool_call/deed_scene.h"

#include <vector>

namespace runwarden::plugins {

DeedScene::DeedScene(const Settings& settings, const DeedRules& rules)
    : text_work(settings.vocabulary(), rules.lexicon),
      requests(settings, rules.lexicon, text_work),
      tools(rules.lexicon, rules.tool_words) {
  collect_relevant(rules);
}

/// Collects the relevant verbs (request verbs, verbs that need a tool of their own, and their synonyms) and the verbs of any action.
void DeedScene::collect_relevant(const DeedRules& rules) {
  std::vector<bool> groups(rules.lexicon.last_group() + 1);
  std::vector<bool> open_groups(rules.lexicon.last_group() + 1);
  std::vector<bool> relevant(rules.lexicon.verb_count());  // by verb: can cause a finding when tools that write ran
  actions.assign(rules.lexicon.verb_count(), false);
  for (std::size_t verb = 0; verb < relevant.size(); ++verb) {
    const auto index = static_cast<std::uint16_t>(verb);
    const auto group = rules.lexicon.verb(index).group;
    if (requests.listed(index) || rules.effects[group]) groups[group] = true;
    if (requests.open(index)) open_groups[group] = true;
  }
  for (const auto& word : rules.lexicon.words()) {
    if (word.verb == kNoVerb) continue;
    const auto group = rules.lexicon.verb(word.verb).group;
    const bool wanted = groups[group];
    if (!wanted && !open_groups[group] && !requests.light(word.verb)) continue;
    actions[word.verb] = true;
    action_words.add(word.word);
    if (!wanted) continue;
    relevant[word.verb] = true;
    if (word.forms != kFormNoun) relevant_words.add(word.word);
  }
  able_words.add_all(rules.lexicon, kCueAble);
  self_words.add_all(rules.lexicon, kCueSelf);
  requests.set_relevant(relevant, relevant_words, actions, action_words);
}

}  // namespace runwarden::plugins
