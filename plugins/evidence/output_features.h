#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/content.h"
#include "common/hash_set.h"
#include "common/reading.h"
#include "common/recovery.h"
#include "common/run_view.h"
#include "evidence/feature_set.h"

namespace runwarden::plugins {

/// How many features there are; see kSentenceFeatures.
inline constexpr std::size_t kOutputFeatures = std::size_t{1} << 16;

/// Measures what a learned reader sees of a call's output. One owner, one thread at a time.
class OutputFeatures {
 public:
  /// Keeps both by reference.
  OutputFeatures(const Lexicon& lexicon, const ContentRules& content) : lexicon_(&lexicon), content_(&content) {}

  /// Replaces `out`, which is of kOutputFeatures, by the indexes of the features: the output's words, pairs of near ones, beginnings and
  /// ends of long ones, the roles that the lexicon gives them, members of JSON with flags, counts and nothing, and members that repeat an
  /// argument or differ from it. Words that the call has already are all one, and those of its own verb two: said as done or not. `groups`
  /// are the groups of the tool's verbs. Reads the first kilobyte. Linear.
  void collect(const StepView& call, std::span<const std::uint16_t> groups, FeatureSet& out);

 private:
  enum class Kind : std::uint8_t;

  void add(Kind kind, std::uint64_t hash);
  [[nodiscard]] bool is_own(std::string_view folded) const;
  void add_member(std::string_view key, std::string_view value, bool text);
  void add_json(std::string_view output);
  void add_words(std::span<const std::uint16_t> groups);
  void add_reading(const StepView& call, std::span<const std::uint16_t> groups);
  [[nodiscard]] std::uint64_t hash_of(const ReadWord& word, std::span<const std::uint16_t> groups) const;

  const Lexicon* lexicon_;
  const ContentRules* content_;
  FeatureSet* out_ = nullptr;
  std::vector<CallValue> arguments_;
  std::vector<std::string> key_words_, value_words_;
  std::string text_;  // the output in words
  std::string folded_, inner_;
  HashSet own_;  // words of the call
  Reading reading_;
};

}  // namespace runwarden::plugins
