#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/lexicon.h"
#include "common/reading.h"
#include "common/run_view.h"
#include "common/settings.h"
#include "common/verdict.h"
#include "common/word_filter.h"
#include "missing_tool_call/text_work.h"

namespace runwarden::plugins {

/// An action that the user asked for.
struct Request {
  std::uint16_t verb = kNoVerb;
  Thing thing = Thing::kUnknown;
  bool sorting = false;                     // "order these"
  bool listed = false;                      // its verb is one of `request_verbs` or a synonym
  bool open = false;                        // another verb, but an imperative or a wish: a deed of the agent answers it
  std::size_t step = kNoStep;               // the user turn; kNoStep for `userRequestText`
  std::string_view turn;                    // valid as long as the run
  LanguageSet languages = ~LanguageSet{0};  // the turn may be in any of these
  bool conditional = false;                 // "order one if it is low"
  bool accepted = false;                    // the agent proposed it, and the user agreed
};

/// The JSON Pointer of the turn that the request is of.
[[nodiscard]] std::string pointer_of(const RunView& run, const Request& request);

/// The word behind "could you" or "would you" in a sentence of the agent; the sentence's end for none.
[[nodiscard]] std::uint32_t behind_would_you(const Reading& reading, const Sentence& sentence);

/// Adds the detector's own verbs and nouns to its lexicon: those under `action_verbs`, `action_nouns` and `action_groups`.
void add_actions(const Vocabulary& vocabulary, Lexicon& lexicon);

/// Finds what the user asked for in the turns of a run. One owner, one thread at a time; the lexicon outlives it.
class Requests {
 public:
  Requests(const Settings& settings, const Lexicon& lexicon, const TextWork& text_work);

  /// True for a verb of `request_verbs` or a synonym.
  [[nodiscard]] bool listed(std::uint16_t verb) const { return listed_[verb]; }

  /// True for any other verb that can ask for an action.
  [[nodiscard]] bool open(std::uint16_t verb) const { return open_[verb]; }

  /// True for a verb whose action is named by the noun after it: "initiated your refund".
  [[nodiscard]] bool light(std::uint16_t verb) const { return light_[verb]; }

  /// True for a verb that only says something to somebody: "tell".
  [[nodiscard]] bool telling(std::uint16_t verb) const { return telling_[verb]; }

  /// True for a verb that always means a deed: it is not text work and needs no particle.
  [[nodiscard]] bool acts_alone(std::uint16_t verb) const { return !text_work_.shapes(verb) && !with_particle_[verb]; }

  /// True for a request whose action has a noun in its language.
  [[nodiscard]] bool has_noun(const Request& request) const { return (nouns_of_[request.verb] & request.languages) != 0; }

  /// The text that a turn gives the agent to work on: "translate: ..."; empty for none.
  [[nodiscard]] std::string_view given_text(std::string_view turn);

  /// True for a word that names an action as a noun: "cancellation", "refund".
  [[nodiscard]] bool is_action_noun(const WordEntry& word) const;

  /// Sets the verbs to look for, and filters of their words: `relevant` for runs with tools that write, `actions` for all other runs.
  void set_relevant(const std::vector<bool>& relevant, const WordFilter& words, const std::vector<bool>& actions,
                    const WordFilter& action_words);

  struct Scope {
    bool any_action = false;  // requests with open verbs, too
    bool changed = false;     // calls changed something: the user does not ask for work on texts
  };
  /// Finds the requests of a run. Overwrites the reading.
  void collect(const RunView& run, Scope scope, Reading& reading);

  /// The first request for each verb and kind of thing, in the order of the run.
  [[nodiscard]] const std::vector<Request>& found() const { return found_; }

  /// True when a user turn asks the agent to play a role or make something up: its deeds are then only words. Reads the turns once per run.
  [[nodiscard]] bool make_believe(const RunView& run);

 private:
  /// The context of a word in its sentence.
  struct WordContext {
    bool told = false;   // the text reports what others do
    bool asked = false;  // something was asked for in the sentence
  };

  void read_vocabulary(const Vocabulary& vocabulary);
  void forget();
  void add_same_actions();
  [[nodiscard]] bool may_part_verbs(std::string_view prose, TextLanguage& language);
  void collect_of(std::string_view turn, std::size_t step, Reading& reading);
  void collect_read(Reading& reading, std::string_view turn, std::size_t step);
  void collect_accepted(std::string_view offer, std::string_view turn, std::size_t step, Reading& reading);
  [[nodiscard]] bool accepts(std::string_view turn, Reading& reading) const;
  void collect_in(const Reading& reading, const Sentence& sentence, std::string_view turn, std::size_t step);
  void add(Request request, std::size_t word, const Reading& reading, const Sentence& sentence);
  [[nodiscard]] bool is_request(const Reading& reading, const Sentence& sentence, std::size_t word) const;
  [[nodiscard]] bool is_asked(const Reading& reading, const Sentence& sentence, std::size_t word, WordContext context) const;
  [[nodiscard]] bool asks_for_action(const Reading& reading, const Sentence& sentence, std::size_t word, WordContext context) const;
  [[nodiscard]] std::uint16_t noun_behind(const Reading& reading, const Sentence& sentence, std::size_t word) const;
  [[nodiscard]] static bool begins_compound(const Reading& reading, const Sentence& sentence, std::size_t at);
  [[nodiscard]] bool is_wished(const Reading& reading, const Sentence& sentence, std::size_t word) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> quoted_part(std::string_view prose);

  const Lexicon& lexicon_;
  const TextWork& text_work_;
  std::vector<bool> listed_;                  // by verb
  std::vector<bool> open_;                    // by verb
  std::vector<bool> light_;                   // by verb
  std::vector<bool> with_particle_;           // by verb
  std::vector<bool> telling_;                 // by verb
  std::vector<std::string> asker_;            // "me"
  std::vector<std::string> object_pronouns_;  // "it"
  std::vector<LanguageSet> nouns_of_;         // by verb: in these languages its base form is also the noun of the action
  std::vector<bool> relevant_;                // by verb
  std::vector<bool> actions_;                 // by verb
  std::uint16_t make_group_ = 0;
  WordFilter relevant_words_;
  WordFilter action_words_;
  WordFilter retracting_words_;
  WordFilter quoting_;
  WordFilter parted_prefixes_;
  std::vector<std::string> make_believe_;
  bool grammar_;
  bool any_action_rule_;
  bool any_action_ = false;          // for the current run
  bool changed_ = false;             // likewise: calls changed something
  bool gives_text_ = false;          // the turn that is read gives the text to work on
  bool tools_ran_ = false;           // likewise: "move it" then means a thing rather than a text
  int believed_ = -1;                // make_believe(): 1 true, 0 false, -1 not computed yet
  std::vector<std::uint8_t> asked_;  // by verb, one bit per kind of thing
  std::vector<Request> found_;
};

}  // namespace runwarden::plugins
