#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/lexicon.h"

namespace runwarden::plugins {

/// One list of the shipped vocabulary: the name it has in a detector's settings, what its words mean, and the words.
struct WordList {
  std::string_view name;
  Cue cue;
  std::span<const std::string_view> words;
};

/// The shipped lists, English and Spanish together; a setting of the same name replaces one, `extra_<name>` adds to it.
[[nodiscard]] std::span<const WordList> shipped_lists();

/// The shipped verbs, each "lemma = base forms | done forms | doing forms".
[[nodiscard]] std::span<const std::string_view> shipped_verbs();

/// Verbs that do one thing, a line a group: a claim of one is backed by a tool of another.
[[nodiscard]] std::span<const std::string_view> shipped_verb_groups();

}  // namespace runwarden::plugins
