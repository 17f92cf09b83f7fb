#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/run_view.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// Collects the calls, among several calls of one tool, whose answer reports another outcome than nearly all others: {"status":"locked"}
/// among {"status":"cancelled"}. Needs at least three calls with the same member. Two thirds of them must agree on an outcome that reports
/// something done, which the odd one does not. An outcome that repeats the call's own arguments does not count. Replaces `odd`. Linear; any
/// thread.
void collect_odd_calls(const RunView& run, std::span<const std::size_t> calls, const OutcomeWords& words, const Lexicon& lexicon,
                       std::vector<std::size_t>& odd);

/// One of several things that an answer reports on.
struct OddRow {
  std::string_view id;      // names the thing: the row's first member, or its key; may be empty
  std::string_view value;   // its outcome
  std::size_t of = 0;       // the number of things in its list
  std::string_view beside;  // the id of one of these that went well; empty when it is not known
};

/// Collects the things for which one answer reports another outcome than for nearly all others, as above, and those listed under a member
/// for failures: [{"id":"B-81","result":"paid"},{"id":"B-84","result":"paid"},{"id":"B-90","result":"held"}], "failed":["B-90"]. A flag,
/// such as a participle, or a code is an outcome, too. At most 16. Replaces `rows`; the views point into `output`. Linear; any thread.
void collect_odd_rows(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon, std::vector<OddRow>& rows);

/// How many of several things an answer counts, and whether some of them failed.
struct CountedOnes {
  bool failed = false;
  std::size_t all = 0;
};

/// What an answer counts as failed beside others that were done: {"inserted": 41, "rejected": 2} failed for some of 43, as did
/// {"accepted": 4, "rejected": ["D-5"]} for one of 5; {"inserted": 43, "rejected": 0} for none. Nothing for an answer without such counts.
/// Reads the members at the first level of the object, and the items of its lists of failures. Linear; any thread.
[[nodiscard]] std::optional<CountedOnes> counts_failed_ones(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon);

}  // namespace runwarden::plugins
