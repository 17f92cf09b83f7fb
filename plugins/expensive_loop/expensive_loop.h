#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/findings.h"
#include "common/hash_set.h"
#include "common/recovery.h"
#include "common/settings.h"
#include "evidence/touched_files.h"

namespace runwarden::plugins {

/// The words of expensive_loop. Loaded once, then read-only: any thread may read.
struct LoopRules {
  /// Throws std::invalid_argument that names the fault.
  explicit LoopRules(const Settings& settings)
      : lexicon(make_lexicon(settings)),
        content(make_content_rules(settings)),
        cosmetic_members(settings.vocabulary().words(Key::kCosmeticMembers)),
        fresh_members(settings.vocabulary().words(Key::kFreshMembers)),
        command_members(settings.vocabulary().words(Key::kCommandMembers)),
        under_way_words(settings.vocabulary().words(Key::kUnderWayWords)),
        pausing_words(settings.vocabulary().words(Key::kPausingWords)) {}

  Lexicon lexicon;
  ContentRules content;
  std::vector<std::string> cosmetic_members;
  std::vector<std::string> fresh_members;
  std::vector<std::string> command_members;
  std::vector<std::string> under_way_words;
  std::vector<std::string> pausing_words;
};

/// Finds calls that were repeated with the same input while the agent learned nothing new, and cycles of such calls. One owner, one thread
/// at a time: keeps scratch memory between runs.
class ExpensiveLoop {
 public:
  static constexpr std::string_view kKey = "expensive_loop";
  static constexpr std::string_view kTitle = "Expensive loop";

  explicit ExpensiveLoop(std::string_view settings_json);

  [[nodiscard]] static std::string schema();

  [[nodiscard]] Verdict evaluate(const RunView& run);

 private:
  ExpensiveLoop(std::string_view settings_json, const Settings& settings);

  /// One tool call, reduced to what is compared.
  struct Call {
    std::size_t step = 0;
    std::uint64_t tool = 0;
    std::uint64_t key = 0;      // hash of tool and input; unique when the tool has too few calls for a loop
    std::uint64_t output = 0;   // hash; 0 when none is recorded; computed on first use
    std::uint64_t refusal = 0;  // hash of a failure's output without counters; 0 when it must be compared unchanged; computed on first use
    bool output_made = false;
    bool refusal_made = false;
    bool known = false;  // tool and input are recorded
    bool failed = false;
    bool reads = false;
    std::uint32_t user_turns = 0;    // before this call
    std::uint32_t changes = 0;       // in its series: earlier calls after which a file that it names was changed
    std::uint32_t writes = 0;        // successful calls before it that may have changed something
    std::uint32_t new_work = 0;      // of those, calls that did what no earlier call had done; computed on first use
    std::uint32_t own_new_work = 0;  // of those, calls of the same tool
  };

  /// A run of equal calls, as indexes into order_.
  struct Series {
    std::size_t first = 0;
    std::size_t second = 0;
    std::int64_t repeats = 1;
  };

  void collect(const RunView& run);
  [[nodiscard]] bool names_only_look_up(std::string_view tool) const;
  [[nodiscard]] bool only_looks_for(const StepView& step);
  [[nodiscard]] bool pauses_between(const RunView& run, std::size_t at) const;
  [[nodiscard]] std::uint64_t input_hash(const Call& call, const StepView& step) const;
  void key_calls(const RunView& run);
  [[nodiscard]] std::uint64_t output_of(const RunView& run, Call& call);
  [[nodiscard]] std::uint64_t answer_hash(std::string_view text) const;
  [[nodiscard]] bool found_nothing(const StepView& step);
  [[nodiscard]] bool changed_between(const RunView& run, std::size_t before, std::size_t after);
  [[nodiscard]] std::uint64_t refusal_of(const RunView& run, Call& call);
  void count_new_work(const RunView& run);
  [[nodiscard]] bool runs_on_other_work(const RunView& run, std::size_t before, std::size_t after);
  [[nodiscard]] bool changes_what_is_looked_up(const RunView& run, std::size_t before, std::size_t after);
  [[nodiscard]] bool under_way(std::string_view output);
  [[nodiscard]] std::uint32_t changes_before(const RunView& run, const Call& call);
  [[nodiscard]] bool same_refusal(const RunView& run, Call& before, Call& after);
  [[nodiscard]] bool learned(const RunView& run, Call& before, Call& after, std::string_view& rule);
  void find_cycles(const RunView& run, Verdict& verdict);
  [[nodiscard]] std::size_t cycle_rounds(const RunView& run, std::size_t at, std::size_t length);
  void find_series(const RunView& run, Verdict& verdict);
  [[nodiscard]] bool moved_on(const RunView& run, std::size_t before, std::size_t after);
  [[nodiscard]] std::vector<std::size_t> same_answers(const RunView& run, std::size_t begin, std::size_t end);
  [[nodiscard]] Finding loop_of(const RunView& run, const std::vector<std::size_t>& members, std::size_t primary);
  [[nodiscard]] bool put_right_after(const RunView& run, const std::vector<std::size_t>& members);
  [[nodiscard]] bool is_about_the_same(const RunView& run, const Call& one, const Call& other);
  [[nodiscard]] bool asked_each_time(const RunView& run, const std::vector<std::size_t>& members) const;
  void judge_group(const RunView& run, std::size_t begin, std::size_t end, Verdict& verdict);
  void find_retries(const RunView& run, Verdict& verdict);
  [[nodiscard]] Finding finding(const RunView& run, const std::string& name, std::int64_t repeats, std::size_t primary);
  void estimate_waste(const RunView& run, Verdict& verdict) const;
  [[nodiscard]] std::string cannot_tell(const RunView& run) const;

  std::shared_ptr<const LoopRules> rules_;
  const ContentRules& content_;
  std::int64_t threshold_;
  bool progress_;
  bool user_turn_;
  bool fresh_ids_;
  bool json_inputs_;
  bool cycles_;
  bool counters_;
  std::vector<Call> calls_;
  std::vector<std::uint64_t> tools_;    // of all calls, sorted
  std::vector<std::size_t> order_;      // indexes into calls_, with equal keys adjacent
  std::vector<bool> taken_;             // per call: part of a reported cycle
  std::vector<std::uint32_t> changes_;  // per step: earlier calls that changed something; computed on first use
  TouchedFiles touches_;                // filled on first use
  bool touches_made_ = false;
  HashSet done_;  // keys of successful calls that may have changed something
  bool new_work_made_ = false;
  std::vector<CallValue> values_;
  std::vector<CallValue> changed_;
  std::vector<std::int64_t> repeats_;  // of each finding, in the order in which they were found
  std::string masked_;
  std::string body_;
  Reading reading_;
  std::string folded_;
};

}  // namespace runwarden::plugins
