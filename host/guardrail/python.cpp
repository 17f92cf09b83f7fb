#include "guardrail/python.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "base/json_text.h"
#include "common/words.h"
#include "guardrail/signs.h"
#include "text/fold.h"

namespace runwarden::embedded {
std::string_view guardrail_check();
}

namespace runwarden::guardrail {
namespace {

// JSON as a Python literal. Both write strings and numbers the same way.
void append_literal(std::string& out, std::string_view json) {
  if (json == "true" || json == "false" || json == "null") {
    out += json == "true" ? "True" : json == "false" ? "False" : "None";
  } else if (json.starts_with('{')) {
    out += '{';
    for (const JsonMember& member : json_members(json)) {
      if (out.back() != '{') out += ", ";
      append_json_string(out, member.name);
      append_literal(out += ": ", member.json);
    }
    out += '}';
  } else if (json.starts_with('[')) {
    out += '[';
    for (const std::string& item : json_elements(json)) {
      if (out.back() != '[') out += ", ";
      append_literal(out, item);
    }
    out += ']';
  } else {
    out += json;
  }
}

// An object with one member per line.
std::string literal_by_line(std::string_view object) {
  std::string text = "{";
  for (const JsonMember& member : json_members(object)) {
    text += "\n    ";
    append_json_string(text, member.name);
    append_literal(text += ": ", member.json);
    text += ',';
  }
  return text + "\n}";
}

std::string draft_literal(const Draft& draft) {
  std::string json;
  JsonWriter out(json);
  out.begin_object();
  write_draft(out, draft);
  out.end_object();
  return literal_by_line(json);
}

// Writes a phrase that begins outputs: the text, what it means, and whether any word may follow.
void write_opening(JsonWriter& out, std::string_view text, std::string_view sign) {
  constexpr std::string_view kAnyWord = " ...";
  const bool any_word = text.ends_with(kAnyWord);
  if (any_word) text.remove_suffix(kAnyWord.size());
  std::string folded;
  plugins::fold(plugins::trim(text), folded);
  if (folded.size() < 2 || !plugins::is_word_byte(folded[0])) return;
  out.begin_array().string(folded).string(sign).boolean(any_word).end_array();
}

constexpr std::pair<const char*, plugins::Key> kSignLists[] = {
    {"error_openings", plugins::Key::kErrorOpenings},
    {"error_reports", plugins::Key::kErrorReportWords},
    {"continuations", plugins::Key::kFailureContinuations},
    {"stops", plugins::Key::kFailureStops},
    {"failed_statuses", plugins::Key::kFailedStatuses},
    {"refusing", plugins::Key::kRefusingWords},
    {"denying", plugins::Key::kDenyingCodeWords},
    {"outcomes", plugins::Key::kOutcomeMembers},
    {"read_prefixes", plugins::Key::kReadPrefixes},
    {"any_purpose", plugins::Key::kAnyPurposeWords},
    {"machines", plugins::Key::kMachines},
    {"reasons", plugins::Key::kReasonPhrases},
    {"status_labels", plugins::Key::kStatusLabels},
    {"about_calls", plugins::Key::kCallMembers},
    {"codes", plugins::Key::kCodeMembers},
    {"messages", plugins::Key::kMessageMembers},
    {"envelopes", plugins::Key::kEnvelopeMembers},
    {"text_envelopes", plugins::Key::kTextEnvelopeMembers},
    {"metadata", plugins::Key::kMetadataMembers},
    {"telling_when_empty", plugins::Key::kTellingWhenEmpty},
    {"existence", plugins::Key::kExistenceMembers},
    {"id_names", plugins::Key::kIdNames},
    {"paging", plugins::Key::kPagingMembers},
    {"found", plugins::Key::kFoundWords},
};

struct Openings {
  const char* name;
  plugins::Key key;
  const char* sign;
};

// Those of one name are next to each other.
constexpr Openings kOpenings[] = {
    {"openings", plugins::Key::kFailureOpenings, "failed"},
    {"openings", plugins::Key::kRefusalOpenings, "refused"},
    {"openings", plugins::Key::kActionFailureOpenings, "action_failed"},
    {"not_there", plugins::Key::kNotThere, "not_there"},
    {"machine_failures", plugins::Key::kMachineFailures, "refused"},
    {"refused_states", plugins::Key::kRefusedStates, "action_failed"},
};

void write_openings(JsonWriter& out, const plugins::Vocabulary& vocabulary) {
  std::string_view open;
  for (const auto& [name, key, sign] : kOpenings) {
    if (name != open) {
      if (!open.empty()) out.end_array();
      out.key(name).begin_array();
      open = name;
    }
    vocabulary.each(key, [&, sign = sign](std::string_view text, std::size_t) { write_opening(out, text, sign); });
  }
  out.end_array();
}

void write_words_of(JsonWriter& out, const std::string& phrase) {
  std::vector<std::string> words;
  std::string folded;
  plugins::fold(phrase, folded);
  plugins::WordCursor cursor(folded);
  for (plugins::RawWord word; cursor.next(word);) words.emplace_back(word.text);
  out.strings(words);
}

// The words by which the detectors recognize failures and empty outputs, folded to ASCII except in scripts that have no ASCII form.
std::string signs_literal() {
  const plugins::Vocabulary& vocabulary = shipped_signs().settings.vocabulary();
  std::string json;
  JsonWriter out(json);
  out.begin_object();
  for (const auto& [name, key] : kSignLists) out.key(name).strings(vocabulary.words(key));
  write_openings(out, vocabulary);
  out.key("empty").begin_array();
  for (const std::string& phrase : vocabulary.words(plugins::Key::kEmptyWords)) write_words_of(out, phrase);
  out.end_array();
  std::vector<std::string> troubles;
  for (const plugins::Key key : {plugins::Key::kTrouble, plugins::Key::kAdmissions}) {
    for (const std::string& phrase : vocabulary.words(key)) {
      if (phrase.find(' ') == std::string::npos) troubles.push_back(phrase);
    }
  }
  out.key("troubles").strings(troubles).end_object();
  return literal_by_line(json);
}

const char* hook_of(Point point) {
  switch (point) {
    case Point::before_model: return "Hook: LangChain before_model, OpenAI Agents input guardrail; before each call of the model.";
    case Point::before_tool:
      return "Hook: LangChain wrap_tool_call, OpenAI Agents tool input guardrail; with the call about to be made as the last step.";
    case Point::after_tool: return "Hook: LangChain wrap_tool_call, OpenAI Agents tool output guardrail; after each call.";
    case Point::before_reply: return "Hook: LangChain after_model, OpenAI Agents output guardrail; before a reply goes to the user.";
  }
  return "";
}

// Makes the text safe in a docstring: no triple quotes, no escapes, and none of the template's marks.
std::string in_docstring(std::string text) {
  std::replace(text.begin(), text.end(), '@', ' ');
  std::replace(text.begin(), text.end(), '\\', '/');
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

bool has_call(const Condition& condition, bool only_with_outcome) {
  const CallCondition& call = condition.call;
  if (condition.kind == Condition::Kind::call && (!only_with_outcome || call.same_input || call.outcome != CallOutcome::any)) return true;
  return std::any_of(condition.inner.begin(), condition.inner.end(),
                     [&](const Condition& inner) { return has_call(inner, only_with_outcome); });
}

// The template without the sections ("#: NAME" to "#: end") that the draft does not need.
std::string needed_lines(const Draft& draft) {
  std::set<std::string_view> wanted;
  if (has_call(draft.condition, false)) wanted.insert("calls");
  if (has_call(draft.condition, true)) wanted.insert("outcome");
  constexpr std::string_view kMark = "#: ";
  std::string text;
  bool keep = true;
  for (std::string_view rest = embedded::guardrail_check(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (!line.starts_with(kMark)) {
      if (keep) text += line;
      continue;
    }
    const std::string_view name = line.substr(kMark.size(), line.size() - kMark.size() - 1);
    keep = name == "end" || wanted.contains(name);
  }
  return text;
}

void put(std::string& text, std::string_view mark, const std::string& value) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) text.replace(at, mark.size(), value);
}

}  // namespace

std::string python_of(const Draft& draft) {
  std::string text = needed_lines(draft);
  put(text, "@@HOOK@@", hook_of(draft.point));
  put(text, "@@ABOUT@@", in_docstring(draft.title.empty() ? draft.name : draft.title) + ".");
  if (text.find("@@SIGNS@@") != std::string::npos) put(text, "@@SIGNS@@", signs_literal());
  // The draft contains client text. Insert it last, so that marks in it are not replaced.
  if (const auto at = text.find("@@DRAFT@@"); at != std::string::npos)
    text.replace(at, std::string_view("@@DRAFT@@").size(), draft_literal(draft));
  return text;
}

}  // namespace runwarden::guardrail
