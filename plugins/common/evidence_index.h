#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/facts.h"
#include "common/hash_set.h"

namespace runwarden::plugins {

/// An index of everything said earlier in a run: words, ids, numbers, dates. It grows step by step as the run is walked, so indexing a run
/// takes one pass. One owner; clear() keeps the memory.
class EvidenceIndex {
 public:
  explicit EvidenceIndex(const FactWords& words = FactWords::shipped()) : words_(&words) {}

  void clear();

  /// Adds the words with digits of a text, and what they form together ("2026-06-28", "12.50"). Linear, and much faster than add_facts():
  /// most of what an answer states appears verbatim in the run.
  void add_spelled(std::string_view text);

  /// Adds the facts of a text, to find what is stated in another form. Linear.
  void add_facts(std::string_view text);

  /// Adds the codes that a speech reads out: "BZIW48" of "B Z I W four eight". Linear.
  void add_spoken(std::string_view text);

  /// Adds a figure that follows from others, such as the result of a calculation.
  void add_number(double value);

  /// Adds only the words of a text.
  void add_words(std::string_view text);

  /// True when add_spelled() has added the fact as it is spelled, ignoring case and signs, or each of its words with digits.
  [[nodiscard]] bool holds_spelled(const Fact& fact) const;

  /// True when the fact was added in the same normal form or as it is spelled. Works nothing out.
  [[nodiscard]] bool holds_as_stated(const Fact& fact) const { return known_.contains(fact.normal) || holds_spelled(fact); }

  /// True when the fact was added in the same normal form or as part of an id, follows from two grounded numbers by a sum, difference,
  /// product or share, is the sum or the mean of one text's amounts, or an amount's stated percentage, with or without the amount.
  [[nodiscard]] bool holds(const Fact& fact);

  [[nodiscard]] bool holds_word(std::string_view word) const { return known_.contains(normal_id(word)); }

 private:
  [[nodiscard]] bool follows(double value);
  [[nodiscard]] bool is_share(std::string_view text) const;
  [[nodiscard]] bool is_day(std::string_view text) const;
  [[nodiscard]] bool converts(double value) const;
  [[nodiscard]] bool is_percentage(double value) const;
  void add_joined(std::string_view span);
  void add_moments(std::string_view text);

  const FactWords* words_;
  HashSet known_;                // normal forms
  std::vector<double> numbers_;  // distinct, the newest kMostNumbers
  std::vector<double> percents_;  // the first kMostPercents: "15" of "15%"
  std::vector<double> by_size_;  // numbers_ in ascending order, valid while sorted_
  bool sorted_ = false;
  std::vector<Fact> facts_;
  std::string plain_;
};

}  // namespace runwarden::plugins
