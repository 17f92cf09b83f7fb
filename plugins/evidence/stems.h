#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// The words of texts by their stems, to tell whether two texts speak of the same things. Sorted, each once.
using Stems = std::vector<std::uint64_t>;

/// The stem of a folded word: its first four bytes, which most of its forms share, and all of a word with digits. "ae", "oe" and "ue" are
/// as "a", "o" and "u", to which fold() reduces the umlauts.
[[nodiscard]] std::uint64_t stem_of(std::string_view word);

/// Adds the stems of a text's words of three letters or more, of words with digits, of the words in names such as "threadId", and of
/// figures without the signs within them ("48.213", "2026-04-30"). JSON may be given as it is. The result is unsorted: call settle().
/// Linear.
void add_stems(std::string_view text, Stems& out);

/// Adds the figures of a text that have signs within them, without these. As add_stems().
void add_joined_figures(std::string_view text, Stems& out);

/// Sorts, and takes out what is there twice.
void settle(Stems& stems);

[[nodiscard]] inline bool holds(const Stems& stems, std::uint64_t stem) {
  return std::binary_search(stems.begin(), stems.end(), stem);
}

/// How many of `some` are also in `stems`.
[[nodiscard]] std::size_t count_shared(const Stems& some, const Stems& stems);

}  // namespace runwarden::plugins
