#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/content.h"
#include "common/facts.h"
#include "common/hash_set.h"
#include "common/lexicon.h"
#include "common/run_view.h"
#include "common/tools.h"

namespace runwarden::plugins {

/// One value that a tool was called with.
struct CallValue {
  std::string_view key;   // member name, empty in arrays of plain values and in text
  std::string_view text;  // as written in the input
  std::uint64_t normal = 0;
  bool names_object = false;  // has a digit, or its key says id, name or mail: what the call is about
};

/// The values in a tool's input: the leaves of JSON, else the words with digits of plain text. Linear; replaces `out`.
void collect_values(std::string_view input, std::vector<CallValue>& out);

/// True when the values name a thing and a new one in its place ("item" and "new_item", "from_x" and "to_x") and each pair is equal.
[[nodiscard]] bool changes_nothing(const std::vector<CallValue>& values);

/// True when a call was given nothing but what to look for: one query, beside numbers ("limit") at most, whatever the tool is called. A
/// query that begins like a statement which changes a database ("DELETE FROM", "mutation") is none.
[[nodiscard]] bool only_asks(const std::vector<CallValue>& values, const ToolWords& words);

/// What a tool's name says.
struct ToolMeaning {
  std::uint16_t group = 0;            // of its first known verb, 0 when no verb is known
  bool reads = false;                 // it only looks things up
  bool any_purpose = false;           // a terminal, a browser, a call of any API, or of unknown kind: it may have done anything
  bool meaningless = false;           // nor is there any word in it: "x1", "tool_3"
  bool unknown = false;               // no word of its name says what it does: "fx_rate", "checkin"
  std::vector<std::uint16_t> groups;  // of all its verbs
  std::vector<std::uint64_t> nouns;   // hash_noun() of its other words

  /// True for a tool that is known to run anything: a shell, a console of a database, a browser.
  [[nodiscard]] bool runs_anything() const { return any_purpose && !unknown; }
};

/// One hash for a noun and its plural.
[[nodiscard]] std::uint64_t hash_noun(std::string_view word);

/// Adds the nouns of a label ("Guest rating") as ToolMeaning has them. Words of less than four letters tell nothing.
void add_label_nouns(std::string_view label, std::vector<std::uint64_t>& nouns);

/// True for a look-up whose name speaks of one of the nouns: "get_rating" of "Guest rating".
[[nodiscard]] bool looks_up_any(const ToolMeaning& tool, const std::vector<std::uint64_t>& nouns);

/// Answers, for a run walked from its end to its start, whether a failed call was made good later. One pass, linear; one owner.
class Recovery {
 public:
  Recovery(const Lexicon& lexicon, const ToolWords& words) : lexicon_(&lexicon), words_(&words) {}

  void clear();

  /// Takes in a call that succeeded with a result.
  void add(const StepView& step);

  /// True when a call taken in so far (a later one) did what this failed one was for: the same tool, or one of the same verb and
  /// object; and, where inputs are known, for the same object. A look-up is made good by any later look-up of its kind.
  [[nodiscard]] bool recovered(const StepView& failed);

  [[nodiscard]] const ToolMeaning& meaning(std::string_view tool);

 private:
  struct Done {
    bool unknown_input = false;
    bool objects = false;  // it named one
  };

  [[nodiscard]] bool is_plural(std::string_view word, const WordEntry& entry) const;
  [[nodiscard]] bool has_telling_word(const std::vector<std::string>& words) const;
  void keys_of(const StepView& step);
  [[nodiscard]] bool looked_up_since(const ToolMeaning& tool) const;

  const Lexicon* lexicon_;
  const ToolWords* words_;
  std::unordered_map<std::uint64_t, Done> done_;
  HashSet objects_;                                    // what was done to which object
  std::vector<std::vector<std::uint64_t>> looked_up_;  // nouns of the look-ups, each set once
  struct HashName {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return hash_text(name); }
  };
  std::unordered_map<std::string, ToolMeaning, HashName, std::equal_to<>> meanings_;
  std::vector<std::uint64_t> keys_;
  std::vector<CallValue> values_;
};

}  // namespace runwarden::plugins
