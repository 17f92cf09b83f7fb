#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/lexicon.h"
#include "common/reading.h"
#include "common/run_view.h"
#include "evidence/outcome_words.h"

namespace runwarden::plugins {

/// True for a call whose statement (SQL's UPDATE, DELETE, INSERT or MERGE) changed no row, as its short output counts: "(0 rows affected)",
/// "UPDATE 0", `{"rowCount": 0}`; or that was rolled back: "ROLLBACK", of COMMIT. Linear; any thread.
[[nodiscard]] bool changed_no_row(const StepView& call);

/// True when a cell of a one-line output ends in a word for failure: "15118 | ECON 3100 | Add Failed | requisite not met". Linear; any
/// thread.
[[nodiscard]] bool has_failed_cell(std::string_view output, const OutcomeWords& words);

/// True when an output reports a deed of one of the groups of verbs as done, by a participle ahead of any negation, modal or condition in
/// its sentence: "Order 5 cancelled. Refund is not included." Linear; any thread.
[[nodiscard]] bool reports_done(const Reading& output, std::span<const std::uint16_t> groups, const Lexicon& lexicon);

/// True when a short output says in a sentence that a deed of the call's own kind was not done: "Your order has not been placed", as text,
/// as HTML, or in a member of JSON that explains the outcome and repeats no argument. `groups` are the groups of the tool's verbs.
/// Overwrites `scratch`. Linear; any thread.
[[nodiscard]] bool denies_own_deed(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words,
                                   const Lexicon& lexicon, Reading& scratch);

/// True when the last of several lines, a short one, tells success, and no trouble: "Waiting for the rollout to finish\nworker successfully
/// rolled out". Overwrites `scratch`. Linear; any thread.
[[nodiscard]] bool ends_well(std::string_view output, const Lexicon& lexicon, Reading& scratch);

/// True when the short prose of an agent that was called says that it could not do its work: "I was not able to place this job".
/// Overwrites `scratch`. Linear; any thread.
[[nodiscard]] bool owns_up(std::string_view output, const Lexicon& lexicon, Reading& scratch);

/// True when an answer's outcome, the first such member at its first level, is a failure by its first or last word: {"state":
/// "VALIDATION_FAILED"}; or when one in an object within it refuses: {"order": {"state": "rejected"}}. Linear; any thread.
[[nodiscard]] bool tells_failed_state(std::string_view output, const OutcomeWords& words);

}  // namespace runwarden::plugins
