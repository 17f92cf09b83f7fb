#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/content.h"
#include "common/facts.h"
#include "common/hash_set.h"
#include "common/lexicon.h"
#include "common/run_view.h"
#include "common/tools.h"

namespace runwarden::plugins {

/// One value in the arguments of a tool call.
struct CallValue {
  std::string_view key;   // member name; empty in text and in arrays of plain values
  std::string_view text;  // as written in the input
  std::uint64_t normal = 0;
  bool names_object = false;  // has a digit, or its key says id, name or mail: it identifies what the call is about
};

/// The values in a tool's input: the leaves of JSON, or the words with digits of plain text. Linear; replaces `out`.
void collect_values(std::string_view input, const CallNames& names, std::vector<CallValue>& out);

/// True when the arguments of a call give one value for another: "old_string" and "new_string". Not "from_date" and "to_date" of a range.
[[nodiscard]] bool replaces_one(const std::vector<CallValue>& values, const CallNames& names);

/// True when the values name a thing and its replacement ("item" and "new_item", "from_x" and "to_x") and each pair is equal.
[[nodiscard]] bool changes_nothing(const std::vector<CallValue>& values, const CallNames& names);

/// True when the arguments of two calls name things by ids, dates or names of one word, and none that both name. Linear, except for the
/// few things.
[[nodiscard]] bool name_different_things(const StepView& one, const StepView& other, const CallNames& names);

/// True when a call's only arguments are what to look for: a query, with at most some numbers ("limit"), whatever the tool's name. A query
/// that begins like a statement that changes a database ("DELETE FROM", "mutation") does not count.
[[nodiscard]] bool only_asks(const std::vector<CallValue>& values, const ToolWords& words);

/// What a tool's name implies.
struct ToolMeaning {
  std::uint16_t group = 0;            // of its first known verb; 0 without one
  bool reads = false;                 // it only looks things up
  bool queries = false;               // it runs the statements that it is given: "read_query"
  bool any_purpose = false;           // a terminal, a browser, a generic API call, or an unknown kind: it may have done anything
  bool meaningless = false;           // the name contains no word at all: "x1", "tool_3"
  bool may_look = false;              // what it does may change nothing: "resolve_group"
  bool unknown = false;               // no word of the name says what it does: "fx_rate", "checkin"
  std::vector<std::uint16_t> groups;  // of all its verbs
  std::vector<std::uint64_t> nouns;   // hash_noun() of its other words

  /// True for a tool known to run anything: a shell, a database console, a browser.
  [[nodiscard]] bool runs_anything() const { return any_purpose && !unknown; }
};

/// A hash that is the same for a noun and its plural.
[[nodiscard]] std::uint64_t hash_noun(std::string_view word);

/// Adds the nouns of a label ("Guest rating"), hashed as in ToolMeaning. Words of fewer than four letters are skipped.
void add_label_nouns(std::string_view label, std::vector<std::uint64_t>& nouns);

/// True for a look-up whose name contains one of the nouns: "get_rating" for "Guest rating".
[[nodiscard]] bool looks_up_any(const ToolMeaning& tool, const std::vector<std::uint64_t>& nouns);

/// Answers whether a later call made up for a failed one, for a run walked from its end to its start. One pass, linear; one owner.
class Recovery {
 public:
  Recovery(const Lexicon& lexicon, const ToolWords& words) : lexicon_(&lexicon), words_(&words) {}

  void clear();

  /// Adds a call that succeeded with a result.
  void add(const StepView& step);

  /// True when a call added so far (so a later one) did what this failed one was for: the same tool, or one with the same verb and object;
  /// and, where inputs are known, on the same object. Any later look-up of the same kind makes up for a failed look-up.
  [[nodiscard]] bool recovered(const StepView& failed);

  [[nodiscard]] const ToolMeaning& meaning(std::string_view tool);

  /// True for a verb's base form with an "s" at its end: "contacts".
  [[nodiscard]] bool is_plural(std::string_view word, const WordEntry& entry) const;

  [[nodiscard]] const ToolWords& words() const { return *words_; }

 private:
  struct Done {
    bool unknown_input = false;
    bool objects = false;  // it named an object
  };

  [[nodiscard]] bool goes_on_to_change(const std::vector<std::string>& words) const;
  [[nodiscard]] bool shows_only(const std::vector<std::string>& words, bool named_within) const;
  [[nodiscard]] ToolMeaning read_tool(std::string_view tool) const;
  [[nodiscard]] bool is_any_purpose(const std::vector<std::string>& words, const std::string& word, const ToolMeaning& meaning) const;
  void read_name(const std::vector<std::string>& words, bool named_within, ToolMeaning& meaning) const;
  [[nodiscard]] bool has_telling_word(const std::vector<std::string>& words) const;
  void keys_of(const StepView& step);
  [[nodiscard]] bool looked_up_since(const ToolMeaning& tool) const;

  const Lexicon* lexicon_;
  const ToolWords* words_;
  std::unordered_map<std::uint64_t, Done> done_;
  HashSet objects_;                                    // which actions were done to which objects
  std::vector<std::vector<std::uint64_t>> looked_up_;  // nouns of the look-ups, each distinct set once
  struct HashName {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return hash_text(name); }
  };
  std::unordered_map<std::string, ToolMeaning, HashName, std::equal_to<>> meanings_;
  std::array<const std::pair<const std::string, ToolMeaning>*, 64> recent_{};  // by where the name is: a run's names stay in place
  std::vector<std::uint64_t> keys_;
  std::vector<CallValue> values_;
};

}  // namespace runwarden::plugins
