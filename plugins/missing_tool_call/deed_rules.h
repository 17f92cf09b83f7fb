#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/lexicon.h"
#include "common/phrases.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "evidence/confidence.h"

namespace runwarden::plugins {

/// The words, rules and firing line of missing_tool_call. Loaded once, then read-only: any thread may read.
struct DeedRules {
  /// A group of verbs, and the groups of tools that may do the same under a plainer name.
  struct DoneBy {
    std::uint16_t group = 0;
    std::vector<std::uint16_t> tools;
  };

  /// Throws std::invalid_argument that names the fault.
  explicit DeedRules(const Settings& settings);

  Lexicon lexicon;
  FiringLine line;
  ToolWords tool_words;
  std::vector<bool> only_asked;                         // by verb: small talk unless the user asked for it
  std::vector<bool> settling;                           // by verb: follows automatically from another deed
  std::unordered_set<std::string_view> finished_words;  // words of the phrases that are claims by themselves
  std::vector<DoneBy> done_by;
  std::vector<bool> by_command;       // by verb: a shell does it only where the command says so, by the lemma
  std::vector<std::uint8_t> effects;  // by group: 1 for verbs with a side effect of their own, checked even when other tools ran
  std::uint16_t finish_group = 0;
  std::uint16_t finish_verb = kNoVerb;
  std::uint16_t send_group = 0;
  std::uint16_t send_verb = kNoVerb;
  Phrases contacts;         // "a human"
  Phrases put_through;      // "transferred you to"
  Phrases putting_through;  // "transferring you to"
  std::vector<std::string> handover_tool_words;
  Phrases passing_on;                       // "taking a message"
  Phrases follow_ups;                       // "they will call you"
  std::vector<std::string> answer_members;  // names of members that report the outcome of a call
  bool any_action;
  bool about_action;
  bool admission;
  bool other_tools;
  bool text_product;
  bool written_calls;

 private:
  void read_done_by(const Vocabulary& vocabulary);
};

}  // namespace runwarden::plugins
