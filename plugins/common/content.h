#pragma once

#include <string>
#include <string_view>

#include "common/lexicon.h"
#include "common/name_set.h"
#include "common/run_view.h"
#include "common/short_output.h"
#include "common/tools.h"

namespace runwarden::plugins {

/// Which soft signs of failure and emptiness count. All are on unless a setting turns them off.
struct ContentRules {
  bool zero_results_are_empty = true;
  std::vector<std::string> error_openings;
  std::vector<std::string> error_report_words;  // "rate": "error rate" opens a report
  NameSet metadata_members;                     // "page": not the content of an answer
  NameSet telling_when_empty;                   // "conflicts": that there are none is the answer
  NameSet message_members;                      // "message": may say that there is nothing
  NameSet paging_members;                       // "size": of the page, beside a list of results
  NameSet found_words;                          // "matched": "0 records matched" is nothing
  NameSet existence_members;                    // "found": false when there is nothing
  std::vector<std::string> count_names;         // "total"
  std::vector<std::string> plural_endings;      // "s": "sailings" holds several things
  std::vector<std::string> singular_endings;    // "ss": "address" does not
  NameSet envelope_members;                     // "result": holds a tool's answer
  ShortSigns short_signs;
  ToolWords tools;
  std::vector<std::string> any_purpose;  // words in the names of tools that may look up or do anything
};

/// True when a recorded output holds nothing: "", null, none, {}, [], or JSON that reports only zero results. Values that repeat `input`,
/// the call's arguments, do not count as content. An absent output is unknown, not empty. Linear, except for the few values of an answer
/// without content.
[[nodiscard]] bool is_empty_output(std::string_view output, const Lexicon& lexicon, const ContentRules& rules, std::string_view input = {});

/// True when the output says that the call failed although its status does not: a JSON object with `error` set, `success:false`,
/// `ok:false`, `isError:true` or `status:"error"`, or a text that begins with "Error"; also inside what inner_output() takes off.
[[nodiscard]] bool is_soft_failure(std::string_view output, const ContentRules& rules);

/// True when a word of the tool's name says that it may do anything: a terminal, a browser, a generic API call.
[[nodiscard]] bool is_any_purpose_tool(std::string_view tool, const ContentRules& rules);

/// True when a short output reports failure in other words, or through a status of its own. What a look-up returns counts as its answer
/// where it may be one.
[[nodiscard]] bool is_short_failure(const ToolCall& call, const ContentRules& rules);

/// The same for an output that was read already, with the sign that it gave.
[[nodiscard]] bool is_short_failure(const ToolCall& call, ShortSign sign, const ContentRules& rules);

/// The failure as a person would quote it: the error message, code, HTTP status, the text of a soft failure, or the status.
[[nodiscard]] std::string failure_text(const StepView& step);

/// The member of the step that failure_text() quotes.
[[nodiscard]] Field failure_field(const StepView& step);

}  // namespace runwarden::plugins
