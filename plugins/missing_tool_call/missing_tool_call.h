#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/evidence_index.h"
#include "common/findings.h"
#include "common/hash_set.h"
#include "common/phrases.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "common/word_filter.h"
#include "evidence/confidence.h"
#include "missing_tool_call/requests.h"
#include "missing_tool_call/text_work.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {

/// Finds runs where the user asked for an action, the agent said that it was done, and no tool that could have done it ran.
/// One owner, one thread at a time: keeps scratch memory between runs.
class MissingToolCall {
 public:
  static constexpr std::string_view kKey = "missing_tool_call";
  static constexpr std::string_view kTitle = "Missing tool call";

  explicit MissingToolCall(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

 private:
  static constexpr int kNoToolScore = 80;
  static constexpr int kNoWriteScore = 72;

  explicit MissingToolCall(const Settings& settings);

  /// A message in which the agent says that something was done.
  struct Said {
    std::string_view text;
    std::string pointer;
    std::size_t step = kNoStep;
  };

  /// What the tools that ran could have done.
  struct Ran {
    bool any = false;
    bool any_write = false;
    bool any_purpose = false;
    std::vector<std::uint8_t> groups;  // by group: 1 when a tool that writes performs it
    HashSet nouns;

    void clear(std::size_t last_group) {
      any = any_write = any_purpose = false;
      groups.assign(last_group + 1, 0);
      nouns.clear();
    }
  };

  /// A user turn and the steps up to the next one.
  struct Exchange {
    std::size_t begin = 0;  // steps
    std::size_t end = 0;
  };

  void judge(const RunView& run, Verdict& verdict);
  [[nodiscard]] static std::size_t begin_of(const RunView& run, std::size_t turn);
  void judge_exchanges(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool only_looks_up(const RunView& run, const ToolMeaning& tool, std::string_view name);
  [[nodiscard]] bool is_inconclusive(const RunView& run, const Exchange& exchange);
  void collect_ran(const RunView& run);
  void add_named_action(std::string_view tool);
  void add_told_deeds(std::string_view output);
  [[nodiscard]] std::uint16_t told_of_user(const Sentence& sentence) const;
  [[nodiscard]] std::string cannot_tell(const RunView& run) const;
  [[nodiscard]] const Request* request_for(const Claim& claim) const;
  [[nodiscard]] bool counts(const Request& request, const Claim& claim) const;
  [[nodiscard]] const Request* real_request_for(const Claim& claim, const RunView& run, const Said& said, std::string_view& rule);
  [[nodiscard]] const Request* any_request(bool open, const RunView& run, const Said& said, std::string_view& rule);
  [[nodiscard]] static bool is_later(const Request& request, const Said& said);
  [[nodiscard]] bool is_real(const Request& request, const RunView& run, const Said& said, std::string_view& rule);
  [[nodiscard]] bool is_text_work(const Request& request, const RunView& run, const Said& said);
  [[nodiscard]] bool asks_for_any() const;
  [[nodiscard]] bool asks_for_listed() const;
  void resolve_light_verbs();
  static void suppress(std::string_view rule, std::size_t step, Verdict& verdict);
  [[nodiscard]] bool could_have(const Claim& claim) const;
  [[nodiscard]] bool reported_state(const RunView& run, const Claim& claim);
  [[nodiscard]] bool quotes_id(const Sentence& sentence) const;
  void judge_without_tools(const RunView& run, Verdict& verdict);
  void collect_in_doubt();
  [[nodiscard]] bool is_doubtful(const Claim& claim) const;
  [[nodiscard]] bool says_done() const;
  [[nodiscard]] bool taken_back_after(const RunView& run, std::size_t step);
  [[nodiscard]] static bool nothing_ran_between(const RunView& run, std::size_t turn, std::size_t message);
  [[nodiscard]] bool plainly_done(const Claim& claim) const;
  struct Answered {
    const Claim* claim = nullptr;
    const Request* request = nullptr;  // made before the message
    bool asked = false;                // it asks for the very deed
  };
  [[nodiscard]] std::optional<Answered> answered_by(const RunView& run, const Said& said, const Claim& claim);
  [[nodiscard]] double doubt_about(const RunView& run, const Said& said, const Answered& answered);
  void fire_claim(const RunView& run, const Said& said, const Answered& answered, Verdict& verdict);
  [[nodiscard]] bool judge_passage(const RunView& run, const Said& said, Verdict& verdict);
  void collect_relevant();
  void judge_message(const RunView& run, const Said& said, Verdict& verdict);
  void judge_written_call(const RunView& run, Verdict& verdict);
  /// A call that the agent only wrote down.
  struct UnmadeCall {
    std::size_t step = kNoStep;  // of the message
    const ToolMeaning* tool = nullptr;
    std::uint16_t verb = kNoVerb;
  };
  [[nodiscard]] std::uint16_t verb_in(std::string_view tool) const;
  [[nodiscard]] bool was_made(const RunView& run, const UnmadeCall& call, std::string_view name);
  [[nodiscard]] std::optional<UnmadeCall> last_unmade_call(const RunView& run);
  void judge_unmade_call(const RunView& run, Verdict& verdict);
  void judge_passing_on(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool asks_for_text(const RunView& run);
  void judge_general_claim(const RunView& run, Verdict& verdict);
  [[nodiscard]] const Request* promised(const RunView& run, std::size_t message);
  [[nodiscard]] FinalMessage last_message(const RunView& run);
  void judge_promise(const RunView& run, Verdict& verdict);
  void judge_with_tools(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool closes_on_promise(const RunView& run, std::string_view read_already);
  [[nodiscard]] bool names_unmade_file(const RunView& run, std::string_view text);
  /// What the user had asked for before a message that reports a deed.
  struct Order {
    /// Nothing, something on a condition, something else, or the deed itself.
    enum How : std::uint8_t { kNone, kConditional, kOther, kSame };
    How how = kNone;
    const Request* request = nullptr;
    bool agreed = false;        // the message answers a turn that agrees to what the agent proposed
    std::string_view silenced;  // the rule that discarded such a request; empty for none
  };

  [[nodiscard]] bool only_gives_records(const RunView& run, const ToolMeaning& tool, std::string_view name);
  [[nodiscard]] bool agrees(const RunView& run, std::size_t turn) const;
  [[nodiscard]] bool agreed_before(const RunView& run, const Said& said) const;
  [[nodiscard]] Order order_before(const RunView& run, const Said& said, const Claim& claim);
  [[nodiscard]] static Request meant(const Order& order, const Claim& claim);
  [[nodiscard]] bool within_document(const Claim& claim) const;
  void read_user(const RunView& run);
  [[nodiscard]] bool user_names(const RunView& run, const Claim& claim);
  [[nodiscard]] bool done_by_user(const RunView& run, const Claim& claim);
  [[nodiscard]] bool user_asked_about(const RunView& run, const Claim& claim);
  [[nodiscard]] bool is_told_of_others(const RunView& run, const Said& said, const ToldDeed& deed, Order::How how);
  [[nodiscard]] bool needs_no_tool(const Claim& claim) const;
  [[nodiscard]] bool concerns(const RunView& run, const Claim& claim);
  void read_changes(const RunView& run);
  [[nodiscard]] bool names_made(const RunView& run, const Claim& claim);
  [[nodiscard]] bool is_about_changed(const RunView& run, const Claim& claim);
  void judge_beside(const RunView& run, const FinalMessage& message, Verdict& verdict);
  [[nodiscard]] double confidence(const RunView& run, const ToldDeed& deed, const Order& order);
  [[nodiscard]] bool closes_clean() const;
  [[nodiscard]] bool about_calls(const RunView& run, const Claim& claim);
  [[nodiscard]] bool did_it(const Claim& claim) const;
  [[nodiscard]] bool asked_with_done(const Request& request) const;
  [[nodiscard]] bool goes_ahead(const Request& request);
  [[nodiscard]] bool spoken_of_before(const RunView& run, const Claim& claim, const Request& request);
  [[nodiscard]] bool is_notice_of_done(const RunView& run, const Claim& claim, const Request& request, std::size_t message);
  [[nodiscard]] bool may_be_told(const RunView& run, const Claim& claim, const Request& request);
  [[nodiscard]] bool answered_since(const RunView& run, const Request& request);
  [[nodiscard]] static std::vector<Said> told_messages(const RunView& run);
  [[nodiscard]] bool tells_no_deeds(const Said& said, bool last) const;
  void judge_unchanged(const RunView& run, Verdict& verdict);
  [[nodiscard]] std::uint16_t made_file(std::string_view text) const;
  void find_unmatched(const RunView& run, const FinalMessage& message, Verdict& verdict);
  void judge_last_words(const RunView& run, Verdict& verdict);
  void explain(const RunView& run);
  [[nodiscard]] Finding finding(const RunView& run, const Request& request, const Said& said, int score) const;

  Lexicon lexicon_;
  FiringLine line_;
  ToolWords tool_words_;
  std::vector<bool> relevant_;              // by verb: can cause a finding when tools that write ran
  std::vector<bool> actions_;               // by verb: can cause a finding when none did
  std::vector<bool> only_asked_;            // by verb: small talk unless the user asked for it
  std::vector<bool> settling_;              // by verb: follows automatically from another deed
  std::optional<std::size_t> told_beside_;  // a message that admits something, but not in the sentence that reports a deed
  WordFilter relevant_words_;
  WordFilter action_words_;
  WordFilter self_words_;                                // "I", "we"
  WordFilter able_words_;                                // "able", "managed": next to these a base form may be a claim
  std::unordered_set<std::string_view> finished_words_;  // words of the phrases that are claims by themselves
  /// A group of verbs, and the groups of tools that may do the same under a plainer name.
  struct DoneBy {
    std::uint16_t group = 0;
    std::vector<std::uint16_t> tools;
  };

  void read_done_by(const Vocabulary& vocabulary);

  std::vector<DoneBy> done_by_;
  std::vector<std::uint8_t> effects_;  // by group: 1 for verbs with a side effect of their own, checked even when other tools ran
  std::uint16_t finish_group_ = 0;
  std::uint16_t send_group_ = 0;
  std::uint16_t send_verb_ = kNoVerb;
  Phrases passing_on_;  // "taking a message"
  Phrases follow_ups_;  // "they will call you"
  bool about_action_;
  bool admission_;
  bool other_tools_;
  bool text_product_;
  bool written_calls_;
  struct {
    bool asked = false;
    std::size_t step = kNoStep;
    bool answer = false;
  } agreed_;  // cached result of goes_ahead() for the turn at that step
  FinalMessage last_;
  bool last_read_ = false;  // reading_ holds last_
  int searches_ = 0;        // by spoken_of_before() in this run
  std::optional<std::size_t> last_text_;  // the last call that carries a text, kNoStep for none; empty until first use
  TextWork text_work_;
  Requests requests_;
  Recovery tools_;
  Reading reading_;
  EvidenceIndex outputs_;  // words of the tools' outputs
  EvidenceIndex written_;  // ids in the outputs of tools that write
  bool outputs_read_ = false;
  EvidenceIndex changes_;  // words of the calls that may have changed something
  bool changes_read_ = false;
  EvidenceIndex calls_;  // words of all calls
  bool calls_read_ = false;
  std::vector<ToldDeed> deeds_;
  std::vector<std::string> answer_members_;                     // names of members that report the outcome of a call
  std::unordered_map<const ToolMeaning*, bool> gives_records_;  // for tools whose name says nothing
  HashSet named_by_user_;                                       // groups of the verbs in the user's turns
  HashSet done_by_user_;                                        // of these, mentioned as done
  bool user_read_ = false;
  bool requests_pending_ = false;
  std::size_t last_words_ = 0;  // the step where the agent's last messages begin
  bool wide_ = false;           // the request has an open verb or a noun: any action counts as a claim
  Ran ran_;
  std::vector<std::uint8_t> asked_;     // by group: 1 when the user asked for a verb of it
  std::vector<std::uint8_t> in_doubt_;  // by group: 1 when a claim of it must be checked
};

}  // namespace runwarden::plugins
