#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/evidence_index.h"
#include "common/findings.h"
#include "common/hash_set.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "common/word_filter.h"
#include "missing_tool_call/deed_rules.h"
#include "missing_tool_call/requests.h"
#include "missing_tool_call/text_work.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {

/// A message in which the agent says that something was done.
struct AgentMessage {
  std::string_view text;
  std::string pointer;
  std::size_t step = kNoStep;
};

[[nodiscard]] inline AgentMessage said_in(const FinalMessage& message) {
  return {message.text, message.pointer(), message.step};
}

/// What the tools that ran could have done.
struct Ran {
  bool any = false;
  bool any_write = false;
  bool any_purpose = false;
  std::vector<std::uint8_t> groups;  // by group: 1 when a tool that writes performs it
  HashSet nouns;
  std::vector<std::uint8_t> may_change;  // by step: 1 for a call that may have changed something

  void clear(std::size_t last_group, std::size_t steps) {
    any = any_write = any_purpose = false;
    groups.assign(last_group + 1, 0);
    nouns.clear();
    may_change.assign(steps, 0);
  }
};

/// What is known of the run under evaluation, and scratch memory kept between runs. One owner, one thread at a time.
struct DeedScene {
  DeedScene(const Settings& settings, const DeedRules& rules);
  DeedScene(const DeedScene&) = delete;  // its parts refer to each other
  DeedScene& operator=(const DeedScene&) = delete;

  // Which verbs to look for; the same for all runs
  TextWork text_work;
  Requests requests;
  std::vector<bool> actions;  // by verb: can cause a finding when no tool that writes ran
  WordFilter relevant_words;
  WordFilter action_words;
  WordFilter self_words;  // "I", "we"
  WordFilter able_words;  // "able", "managed": next to these a base form may be a claim

  // The calls
  Recovery tools;
  Ran ran;
  EvidenceIndex outputs;  // words of the tools' outputs
  EvidenceIndex written;  // ids in the outputs of tools that write
  bool outputs_read = false;
  EvidenceIndex changes;  // words of the calls that may have changed something
  bool changes_read = false;
  std::set<std::string, std::less<>> changed_things;  // words in the names of these calls and of their arguments
  bool things_read = false;
  EvidenceIndex calls;  // words of all calls
  bool calls_read = false;
  std::unordered_map<const ToolMeaning*, bool> gives_records;  // for tools whose name says nothing
  std::optional<std::size_t> last_text;                        // the last call that carries a text, kNoStep for none; empty until first use

  // The user
  HashSet named_by_user;  // groups of the verbs in the user's turns
  HashSet done_by_user;   // of these, mentioned as done
  HashSet given_by_user;  // of these, in a text to work on: "translate: ..."
  bool user_read = false;
  bool given_read = false;
  bool requests_pending = false;
  bool wide = false;  // the request has an open verb or a noun: any action counts as a claim
  struct {
    bool asked = false;
    std::size_t step = kNoStep;
    bool answer = false;
  } agreed;                            // the last answer of DeedsBeside::goes_ahead(), for the turn at that step
  int searches = 0;                    // by DeedsBeside::spoken_of_before() in this run
  std::vector<std::uint8_t> asked;     // by group: 1 when the user asked for a verb of it
  std::vector<std::uint8_t> in_doubt;  // by group: 1 when a claim of it must be checked

  // The messages
  Reading reading;
  std::size_t last_words = 0;  // the step where the agent's last messages begin
  std::vector<ToldDeed> deeds;
  std::optional<std::size_t> told_beside;  // a message that admits something, but not in the sentence that reports a deed

 private:
  void collect_relevant(const DeedRules& rules);
};

}  // namespace runwarden::plugins
