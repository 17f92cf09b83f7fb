#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/lexicon.h"
#include "common/run_view.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// Collects those of several calls of one tool whose answer tells another outcome than nearly all others do: {"status":"locked"} among
/// {"status":"cancelled"}. At least three calls with the same member are needed, two of three must agree on one that
/// tells that something was done, which the odd one does not, and what an answer repeats of
/// the call's own arguments tells nothing. Replaces `odd`. Linear; any thread.
void collect_odd_calls(const RunView& run, std::span<const std::size_t> calls, const OutcomeWords& words, const Lexicon& lexicon,
                       std::vector<std::size_t>& odd);

/// One of several things that an answer tells of.
struct OddRow {
  std::string_view id;     // what it is told by: the row's first member, or its name
  std::string_view value;  // what came of it
};

/// Collects the things of which one answer tells another outcome than of nearly all others, as above, and those under a member for what
/// failed:
/// [{"id":"B-81","result":"paid"},{"id":"B-84","result":"paid"},{"id":"B-90","result":"held"}], "failed":["B-90"]. At most 16.
/// Replaces `rows`; the views point into `output`. Linear; any thread.
void collect_odd_rows(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon, std::vector<OddRow>& rows);

}  // namespace runwarden::plugins
