#include "guardrail/drafting.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/json_members.h"
#include "common/reading.h"
#include "common/tools.h"
#include "common/words.h"
#include "guardrail/evaluator.h"
#include "guardrail/phrases.h"
#include "guardrail/signs.h"
#include "text/fold.h"

namespace runwarden::guardrail {
namespace {

constexpr std::size_t kMostWords = 12;
constexpr std::size_t kMostTools = 8;
constexpr std::size_t kMostModels = 8;
constexpr std::size_t kMostContentWords = 5;
constexpr std::size_t kShortestContentWord = 4;  // bytes
constexpr std::size_t kMostDoneForms = 5;
constexpr std::int64_t kUsualDigits = 4;
constexpr std::size_t kMostReported = 120;  // characters
constexpr std::size_t kLongestSlug = 80;

Error no_draft(std::string why) {
  return {Code::conflict, "no draft for this " + std::move(why), {}, {}};
}

struct EvidenceItem {
  std::string pointer;
  std::string value;
};

// What a detector reported in a Failure.
struct StoredFailure {
  std::string detector_key;
  std::string title;
  std::string primary_step_id;
  std::vector<EvidenceItem> evidence;
};

StoredFailure read_failure(std::string_view failure) {
  StoredFailure told;
  for (const JsonMember& member : json_members(failure)) {
    if (member.name == "detectorKey") told.detector_key = json_string_value(member.json);
    if (member.name == "title") told.title = json_string_value(member.json);
    if (member.name == "primaryStepId") told.primary_step_id = json_string_value(member.json);
    if (member.name != "evidence") continue;
    for (const std::string& item : json_elements(member.json)) {
      EvidenceItem& one = told.evidence.emplace_back();
      for (const JsonMember& part : json_members(item)) {
        if (part.name == "pointer") one.pointer = json_string_value(part.json);
        if (part.name == "value") one.value = json_string_value(part.json);
      }
    }
  }
  return told;
}

// The step that a JSON Pointer leads into; null if there is none.
const model::Step* step_at(const model::Run& run, std::string_view pointer) {
  constexpr std::string_view kSteps = "/steps/";
  if (!pointer.starts_with(kSteps)) return nullptr;
  pointer.remove_prefix(kSteps.size());
  std::size_t index = 0;
  const auto end = std::from_chars(pointer.data(), pointer.data() + pointer.size(), index);
  return end.ec == std::errc() && index < run.steps.size() ? &run.steps[index] : nullptr;
}

// The whole text that the evidence points to; the quoted part if it points to none.
std::string_view text_at(const model::Run& run, const EvidenceItem& item) {
  if (item.pointer == "/outcomeSummary" && model::present(run.outcome)) return run.outcome;
  if (item.pointer == "/userRequestText" && model::present(run.user_request)) return run.user_request;
  const model::Step* const step = step_at(run, item.pointer);
  if (step != nullptr && item.pointer.ends_with("/outputSummary") && model::present(step->output)) return step->output;
  if (step != nullptr && item.pointer.ends_with("/inputSummary") && model::present(step->input)) return step->input;
  return item.value;
}

const model::Step* primary_step(const model::Run& run, const StoredFailure& told) {
  const auto found = std::find_if(run.steps.begin(), run.steps.end(), [&](const auto& step) { return step.id == told.primary_step_id; });
  return found == run.steps.end() ? nullptr : &*found;
}

// The text on one line, truncated.
std::string in_short(std::string_view text) {
  std::string line(plugins::trim(plugins::cut(plugins::trim(text), kMostReported)));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

void add_word(std::vector<std::string>& words, std::string_view word, std::size_t most = kMostWords) {
  if (word.empty() || word.size() > kLongestName || words.size() >= most || std::find(words.begin(), words.end(), word) != words.end())
    return;
  words.emplace_back(word);
}

// Passes on each word of a text with its entry in the lexicon, which may be null.
template <class Take>
void each_entry(std::string_view text, const Take& take) {
  std::string folded;
  plugins::fold(text, folded);
  plugins::for_each_word(folded, [&](std::string_view word) {
    take(word, shipped_signs().lexicon.find(word));
    return true;
  });
}

std::uint16_t group_of(const plugins::WordEntry* entry) {
  const plugins::Lexicon& lexicon = shipped_signs().lexicon;
  return entry == nullptr || entry->verb == plugins::kNoVerb ? std::uint16_t{0} : lexicon.verb(entry->verb).group;
}

bool tells_done(const plugins::WordEntry* entry) {
  constexpr std::uint8_t kDone = plugins::kFormDone | plugins::kFormDoing;
  constexpr std::uint64_t kOfClaims = plugins::kCueFinished | plugins::kCueChecked;
  return entry != nullptr && entry->verb != plugins::kNoVerb && (entry->forms & kDone) != 0 && (entry->cues & ~kOfClaims) == 0;
}

// `said`: a text as words_of() returns it.
bool has_phrase(std::string_view said, std::string_view phrase) {
  return said.find(words_of(phrase)) != std::string_view::npos;
}

// Leaves out phrases that contain another one: "did not work" beside "did not".
void drop_longer_phrases(std::vector<std::string>& phrases) {
  std::stable_sort(phrases.begin(), phrases.end(), [](const auto& one, const auto& other) { return one.size() < other.size(); });
  std::vector<std::string> kept;
  std::erase_if(phrases, [&](const std::string& phrase) {
    std::string words = words_of(phrase);
    const bool has_another = std::any_of(kept.begin(), kept.end(), [&](const auto& one) { return words.find(one) != std::string::npos; });
    if (!has_another) kept.push_back(std::move(words));
    return has_another;
  });
}

// Words of the reply that claim a deed: finished forms, otherwise what claims by itself, "taken care of".
std::vector<std::string> claim_words(std::string_view reply) {
  std::vector<std::string> words;
  each_entry(reply, [&](std::string_view word, const plugins::WordEntry* entry) {
    if (tells_done(entry)) add_word(words, word, kMostDoneForms);
  });
  if (!words.empty()) return words;
  const std::string said = words_of(reply);
  shipped_signs().settings.vocabulary().each(plugins::Key::kFinished, [&](std::string_view phrase, std::size_t) {
    if (has_phrase(said, phrase)) add_word(words, phrase, kMostDoneForms);
  });
  drop_longer_phrases(words);
  return words;
}

// Words of the reply that match the tool's name.
void add_words_of_tool(std::vector<std::string>& words, std::string_view reply, std::string_view tool) {
  const std::string named = words_of_name(tool);
  std::vector<std::uint16_t> groups;
  each_entry(named, [&](std::string_view, const plugins::WordEntry* entry) {
    if (group_of(entry) != 0) groups.push_back(group_of(entry));
  });
  each_entry(reply, [&](std::string_view word, const plugins::WordEntry* entry) {
    constexpr std::size_t kShortest = 3;
    const bool in_name = word.size() >= kShortest && named.find(" " + std::string(word) + " ") != std::string::npos;
    const bool same_deed = group_of(entry) != 0 && std::find(groups.begin(), groups.end(), group_of(entry)) != groups.end();
    if (in_name || same_deed) add_word(words, word);
  });
}

// The languages that a reply may be in, one bit each. A reply that does not show its own is taken to be in that of the request.
std::uint32_t languages_of(std::string_view reply, std::string_view request) {
  const plugins::Lexicon& lexicon = shipped_signs().lexicon;
  std::uint8_t language = plugins::language_of(reply, lexicon);
  if (language == plugins::kAnyLanguage) language = plugins::language_of(request, lexicon);
  return language == plugins::kAnyLanguage ? ~std::uint32_t{0} : std::uint32_t{1} << language;
}

// Everything with which detectors hear that a reply admits something.
constexpr std::initializer_list<plugins::Key> kAllAdmissions = {plugins::Key::kDraftAdmissions, plugins::Key::kDraftNothingFound,
                                                                plugins::Key::kAdmissions, plugins::Key::kTrouble,
                                                                plugins::Key::kNothingFound};

// The admissions that a text contains.
std::vector<std::string> admissions_in(std::string_view text) {
  std::vector<std::string> found;
  const std::string said = words_of(text);
  for (const plugins::Key key : kAllAdmissions) {
    shipped_signs().settings.vocabulary().each(key, [&](std::string_view phrase, std::size_t) {
      if (has_phrase(said, phrase)) found.emplace_back(phrase);
    });
  }
  return found;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What replies in those languages admit with, except what they contain anyway.
std::vector<std::string> admission_words(std::initializer_list<plugins::Key> keys, const Facts& facts) {
  std::vector<std::string> words;
  for (const plugins::Key key : keys) {
    shipped_signs().settings.vocabulary().each(key, [&](std::string_view word, std::size_t language) {
      const bool spoken = (facts.languages >> language & 1) != 0;
      if (spoken && !contains(facts.admitted, word) && !contains(words, word)) words.emplace_back(word);
    });
  }
  return words;
}

// Words that are in none of the detectors' lists: mostly names of things.
std::vector<std::string> content_words(std::string_view text) {
  std::vector<std::string> words;
  each_entry(text, [&](std::string_view word, const plugins::WordEntry* entry) {
    if (entry == nullptr && word.size() >= kShortestContentWord) add_word(words, word, kMostContentWords);
  });
  return words;
}

CallOutcome outcome_of(const model::Step& step) {
  if (call_gave_nothing(step) && !call_failed(step)) return CallOutcome::empty;
  return call_failed(step) ? CallOutcome::failed : CallOutcome::any;
}

void name_call(Facts& facts, const model::Step& step) {
  add_word(facts.tools, step.name);
  facts.step = in_short(step.name.empty() ? step.id : step.name);
}

bool is_reply(const model::Run& run, const EvidenceItem& item) {
  const model::Step* const step = step_at(run, item.pointer);
  return item.pointer == "/outcomeSummary" ||
         (step != nullptr && step->kind == model::StepKind::model && item.pointer.ends_with("/outputSummary"));
}

// The reply that the evidence quotes; otherwise the last one of the run. Empty if there is none.
std::string_view reply_of(const StoredFailure& told, const model::Run& run) {
  const auto quoted = std::find_if(told.evidence.rbegin(), told.evidence.rend(), [&](const auto& item) { return is_reply(run, item); });
  if (quoted != told.evidence.rend()) return text_at(run, *quoted);
  if (!plugins::trim(run.outcome).empty()) return run.outcome;
  const auto said = [](const model::Step& step) { return step.kind == model::StepKind::model && !plugins::trim(step.output).empty(); };
  const auto last_call = std::find_if(run.steps.rbegin(), run.steps.rend(), is_call);
  const auto last = std::find_if(run.steps.rbegin(), last_call, said);
  return last == last_call ? std::string_view() : std::string_view(last->output);
}

// What the failed step returned, as the evidence quotes it; otherwise what another call tells of it.
std::string reported_by(const StoredFailure& told, const model::Run& run, const model::Step& failed) {
  const EvidenceItem* found = nullptr;
  for (const EvidenceItem& item : told.evidence) {
    const model::Step* const step = step_at(run, item.pointer);
    if (step == &failed) return in_short(item.value);
    if (found == nullptr && step != nullptr && is_call(*step)) found = &item;
  }
  return found == nullptr ? std::string() : in_short(found->value);
}

void read_reply(Facts& facts, std::string_view reply, const model::Run& run) {
  facts.languages = languages_of(reply, run.user_request);
  facts.admitted = admissions_in(reply);
}

Result<Facts> false_success(const StoredFailure& told, const model::Run& run) {
  const model::Step* const failed = primary_step(run, told);
  if (failed == nullptr || !is_call(*failed)) return no_draft("failure: the failed step is not a call, so no condition can name it");
  Facts facts;
  name_call(facts, *failed);
  facts.outcome = outcome_of(*failed);
  facts.reported = reported_by(told, run, *failed);
  const std::string_view reply = reply_of(told, run);
  read_reply(facts, reply, run);
  const bool by_flag = std::any_of(told.evidence.begin(), told.evidence.end(), [](const auto& item) { return item.pointer == "/success"; });
  if (by_flag) return facts;  // whatever the reply is about, only the flag claims success
  facts.reply_words = claim_words(reply);
  facts.words_claim = !facts.reply_words.empty();
  add_words_of_tool(facts.reply_words, reply, failed->name);
  if (facts.reply_words.empty()) facts.reply_words = content_words(reply);
  return facts;
}

Result<Facts> schema_ghost(const StoredFailure& told, const model::Run& run) {
  const model::Step* const hollow = primary_step(run, told);
  if (hollow == nullptr || !is_call(*hollow))
    return no_draft("failure: the step that returned nothing is not a call, so no condition can name it");
  Facts facts;
  name_call(facts, *hollow);
  facts.outcome = call_gave_nothing(*hollow) ? CallOutcome::empty : outcome_of(*hollow);
  facts.reported = reported_by(told, run, *hollow);
  const std::string_view reply = reply_of(told, run);
  facts.digits = std::min(kUsualDigits, digits_in(reply));
  read_reply(facts, reply, run);
  return facts;
}

// The positive number at that position of a detector's title.
std::optional<std::int64_t> number_at(std::string_view title, std::size_t at) {
  std::int64_t number = 0;
  const auto end = std::from_chars(title.data() + std::min(at, title.size()), title.data() + title.size(), number);
  return end.ec == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

Result<Facts> expensive_loop(const StoredFailure& told, const model::Run& run) {
  constexpr std::string_view kRepeated = "\" repeated ";
  Facts facts;
  for (const EvidenceItem& item : told.evidence) {
    const model::Step* const step = step_at(run, item.pointer);
    if (step != nullptr && is_call(*step) && !step->name.empty()) add_word(facts.tools, step->name, kMostTools);
  }
  const auto mark = told.title.rfind(kRepeated);
  const auto repeats = mark == std::string::npos ? std::nullopt : number_at(told.title, mark + kRepeated.size());
  facts.repeats = std::clamp<std::int64_t>(repeats.value_or(static_cast<std::int64_t>(told.evidence.size())), 2, kMostCount);
  for (const std::string& tool : facts.tools) facts.step.append(facts.step.empty() ? "" : ", ").append(tool);
  if (facts.step.empty()) {
    const model::Step* const repeated = primary_step(run, told);
    if (repeated == nullptr || !is_call(*repeated))
      return no_draft("failure: the repeated step is not a call, so no condition can name it");
    facts.step = "a tool";
  }
  return facts;
}

// The quoted verb in `agent claimed to "cancel" but called no tool`.
std::string verb_of(std::string_view title) {
  const auto begin = std::min(title.find('"'), title.size());
  const auto end = std::min(title.find('"', begin + 1), title.size());
  return std::string(begin < end ? title.substr(begin + 1, end - begin - 1) : std::string_view());
}

// The verb and the verbs of its group: tools that do it have one of them in their names.
std::vector<std::string> names_of_deed(std::string_view verb, std::uint16_t group, const model::Run& run) {
  std::vector<std::string> words;
  add_word(words, verb);
  const plugins::Lexicon& lexicon = shipped_signs().lexicon;
  for (std::size_t i = 0; group != 0 && i < lexicon.verb_count(); ++i) {
    const plugins::Verb& one = lexicon.verb(static_cast<std::uint16_t>(i));
    if (one.group == group) add_word(words, one.lemma);
  }
  // A tool that was called without doing it may also have such a word in its name.
  std::erase_if(words, [&](const std::string& word) {
    const Phrases phrase({word});
    return std::any_of(run.steps.begin(), run.steps.end(),
                       [&](const model::Step& step) { return is_call(step) && phrase.stand_in(words_of_name(step.name)); });
  });
  return words;
}

Result<Facts> missing_tool_call(const StoredFailure& told, const model::Run& run) {
  Facts facts;
  facts.verb = verb_of(told.title);
  if (facts.verb.empty() || told.evidence.empty()) return no_draft("failure: it does not name the requested action");
  const std::uint16_t group = group_of(shipped_signs().lexicon.find(facts.verb));
  const auto same_deed = [&](std::string_view word, const plugins::WordEntry* entry) {
    return word == facts.verb || (group != 0 && group_of(entry) == group);
  };
  if (told.evidence.size() > 1) {
    const std::string_view request = text_at(run, told.evidence[0]);
    each_entry(request, [&](std::string_view word, const plugins::WordEntry* entry) {
      if (same_deed(word, entry)) add_word(facts.request_words, word);
    });
    if (facts.request_words.empty()) facts.request_words = content_words(request);
  }
  const std::string_view reply = text_at(run, told.evidence.back());
  read_reply(facts, reply, run);
  each_entry(reply, [&](std::string_view word, const plugins::WordEntry* entry) {
    if (same_deed(word, entry) && tells_done(entry)) add_word(facts.reply_words, word);
  });
  if (facts.reply_words.empty()) {
    facts.reply_words = claim_words(reply);
    add_words_of_tool(facts.reply_words, reply, facts.verb);
  }
  if (facts.reply_words.empty()) facts.reply_words = content_words(reply);
  facts.tool_words = names_of_deed(facts.verb, group, run);
  if (facts.tool_words.empty())
    return no_draft("failure: a tool whose name has \"" + facts.verb + "\" was called, so no tool name distinguishes it");
  return facts;
}

Result<Facts> context_overflow(const StoredFailure& told, const model::Run& run) {
  constexpr std::string_view kExceed = " input tokens exceed ";
  constexpr std::string_view kOf = "'s ";
  constexpr std::string_view kWindow = "-token window";
  const auto begin = told.title.find(kExceed);
  const auto end = told.title.rfind(kWindow);
  const auto middle = end == std::string::npos ? end : told.title.rfind(kOf, end);
  if (begin == std::string::npos || middle == std::string::npos || middle < begin) {
    return no_draft("failure: it has no token count to use as a limit; send metadata.inputTokens on model steps");
  }
  Facts facts;
  Facts::Window window{told.title.substr(begin + kExceed.size(), middle - begin - kExceed.size()),
                       number_at(told.title, middle + kOf.size()).value_or(0)};
  // If the known name is only a part of a word of the model's name, use the full name.
  const model::Step* const step = primary_step(run, told);
  const std::string_view sent = step != nullptr && !step->model.empty() ? step->model : run.model;
  if (!sent.empty() && !Phrases({window.model}).stand_in(words_of(sent))) window.model = std::string(sent);
  if (window.model.size() > kLongestName)
    return no_draft("failure: the model's name is longer than " + std::to_string(kLongestName) + " bytes");
  facts.windows.push_back(std::move(window));
  return facts;
}

Condition of_kind(Condition::Kind kind) {
  Condition condition;
  condition.kind = kind;
  return condition;
}

Condition call_condition(const Facts& facts) {
  Condition condition = of_kind(Condition::Kind::call);
  condition.call.tools = facts.tools;
  condition.call.outcome = facts.outcome;
  condition.call.last = facts.last;
  return condition;
}

Condition words_condition(Condition::Kind kind, const std::vector<std::string>& words) {
  Condition condition = of_kind(kind);
  condition.words = words;
  return condition;
}

// Replies that admit it are let through. A few words do beside a condition on what the reply claims; without one, every way that detectors
// know to admit something counts, so that no honest reply is caught.
void add_admissions(Condition& all, const Facts& facts, plugins::Key few) {
  std::vector<std::string> words = admission_words({few}, facts);
  if (!facts.words_claim && facts.digits == 0) {
    words = admission_words(kAllAdmissions, facts);
    drop_longer_phrases(words);
  }
  for (auto from = words.begin(); from != words.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(words.end() - from, kMostNames);
    Condition unless = of_kind(Condition::Kind::negation);
    unless.inner.push_back(words_condition(Condition::Kind::reply, {from, to}));
    all.inner.push_back(std::move(unless));
    from = to;
  }
}

// "issue_refund" as a part of a draft's name.
std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestSlug)) {
    const char low = ascii::to_lower(c);
    const bool plain = ascii::is_lower(low) || ascii::is_digit(low);
    if (plain)
      out += low;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

void draft_false_success(const Facts& facts, Draft& draft) {
  draft.title = "No success claim after " + facts.step + " failed";
  draft.action = Action::retry_reply;
  draft.say = facts.step + " failed" + in_brackets(facts.reported) + ": say so, do not claim success.";
  draft.condition.inner.push_back(call_condition(facts));
  if (!facts.reply_words.empty()) draft.condition.inner.push_back(words_condition(Condition::Kind::reply, facts.reply_words));
  add_admissions(draft.condition, facts, plugins::Key::kDraftAdmissions);
}

void draft_schema_ghost(const Facts& facts, Draft& draft) {
  draft.title = "No data made up after " + facts.step + " returned nothing";
  draft.action = Action::retry_reply;
  draft.say = facts.step + " returned nothing" + in_brackets(facts.reported) + ": say so, do not make up what it did not return.";
  draft.condition.inner.push_back(call_condition(facts));
  if (facts.digits > 0) {
    draft.condition.inner.push_back(of_kind(Condition::Kind::reply));
    draft.condition.inner.back().digits = facts.digits;
  }
  add_admissions(draft.condition, facts, plugins::Key::kDraftNothingFound);
}

void draft_expensive_loop(const Facts& facts, Draft& draft) {
  const std::string times = std::to_string(facts.repeats - 1);
  draft.title = "No more than " + times + " calls of " + facts.step + " with the same input";
  draft.point = Point::before_tool;
  draft.action = Action::stop_run;
  draft.say = facts.step + " was called " + times + " times with the same input: stop, or do something else.";
  draft.condition = of_kind(Condition::Kind::call);
  draft.condition.call.tools = facts.tools;
  draft.condition.call.same_input = true;
  draft.condition.call.at_least = facts.repeats - 1;
}

void draft_missing_tool_call(const Facts& facts, Draft& draft) {
  draft.title = "No claim to \"" + facts.verb + "\" without a call that does it";
  draft.action = Action::block;
  draft.say = "No tool was called that could \"" + facts.verb + "\": call it, or say that it was not done.";
  if (!facts.request_words.empty()) draft.condition.inner.push_back(words_condition(Condition::Kind::request, facts.request_words));
  if (facts.reply_words.empty())
    add_admissions(draft.condition, facts, plugins::Key::kDraftAdmissions);
  else
    draft.condition.inner.push_back(words_condition(Condition::Kind::reply, facts.reply_words));
  draft.condition.inner.push_back(words_condition(Condition::Kind::no_call, facts.tool_words));
}

void draft_context_overflow(const Facts& facts, Draft& draft) {
  std::string windows;
  draft.condition.kind = Condition::Kind::any;
  for (const Facts::Window& window : facts.windows) {
    windows.append(windows.empty() ? "" : ", ").append(window.model + ": " + std::to_string(window.tokens) + " tokens");
    Condition& one = draft.condition.inner.emplace_back(of_kind(Condition::Kind::model));
    one.model = window.model;
    one.input_tokens_over = window.tokens;
  }
  if (draft.condition.inner.size() == 1) draft.condition = Condition(draft.condition.inner[0]);
  draft.title = "No prompt larger than the model's window (" + windows + ")";
  draft.point = Point::before_model;
  draft.action = Action::block;
  draft.say = "The prompt is larger than the model's window (" + windows + "): shorten it first.";
}

struct Kind {
  std::string_view key;
  Result<Facts> (*read)(const StoredFailure&, const model::Run&);
  void (*draft)(const Facts&, Draft&);
};

constexpr Kind kKinds[] = {
    {"false_success", false_success, draft_false_success},
    {"expensive_loop", expensive_loop, draft_expensive_loop},
    {"schema_ghost", schema_ghost, draft_schema_ghost},
    {"missing_tool_call", missing_tool_call, draft_missing_tool_call},
    {"context_overflow", context_overflow, draft_context_overflow},
};

const Kind* kind_of(std::string_view detector_key) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return kind.key == detector_key; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::string replies_of(const model::Run& run) {
  std::string replies(run.outcome);
  for (const model::Step& step : run.steps) {
    if (step.kind == model::StepKind::model) replies.append("\n").append(step.output);
  }
  return replies;
}

bool catches(const Facts& facts, const model::Run& run) {
  return Evaluator(draft_of(facts)).catches(run).value_or(false);
}

}  // namespace

Result<Facts> read_facts(std::string_view failure, const model::Run& run) {
  const StoredFailure told = read_failure(failure);
  const Kind* const kind = kind_of(told.detector_key);
  if (kind == nullptr) {
    return no_draft("detector: \"" + told.detector_key +
                    "\"; drafts exist for false_success, expensive_loop, schema_ghost, missing_tool_call and context_overflow");
  }
  auto facts = kind->read(told, run);
  if (facts.ok()) facts->detector_key = told.detector_key;
  return facts;
}

Draft draft_of(const Facts& facts) {
  const Kind& kind = *kind_of(facts.detector_key);
  Draft draft;
  draft.condition.kind = Condition::Kind::all;
  kind.draft(facts, draft);
  const std::string about = slug(!facts.verb.empty() ? facts.verb : !facts.windows.empty() ? facts.windows[0].model : facts.step);
  draft.name = slug(facts.detector_key) + (about.empty() ? "" : "-" + about);
  return draft;
}

Result<Facts> facts_that_catch(std::string_view failure, const model::Run& run) {
  auto facts = read_facts(failure, run);
  if (!facts.ok() || catches(*facts, run)) return facts;
  // Loosen conditions until the run meets the rest, the narrowest last.
  Facts wider = *facts;
  wider.last = false;
  if (catches(wider, run)) return wider;
  wider.admitted = admissions_in(replies_of(run));
  if (catches(wider, run)) return wider;
  wider.request_words.clear();
  if (catches(wider, run)) return wider;
  wider.outcome = CallOutcome::any;
  return catches(wider, run) ? Result<Facts>(std::move(wider)) : std::move(facts);
}

void widen(Facts& facts, const Facts& other) {
  const auto join = [](std::vector<std::string>& words, const std::vector<std::string>& more, std::size_t most) {
    if (words.empty()) return;  // already matches anything
    if (more.empty()) return words.clear();
    for (const std::string& word : more) add_word(words, word, most);
  };
  const auto common = [](std::vector<std::string>& words, const std::vector<std::string>& others) {
    std::erase_if(words, [&](const std::string& word) { return std::find(others.begin(), others.end(), word) == others.end(); });
  };
  join(facts.tools, other.tools, kMostTools);
  join(facts.request_words, other.request_words, kMostWords);
  join(facts.reply_words, other.reply_words, kMostWords);
  facts.words_claim = facts.words_claim && other.words_claim;
  facts.languages |= other.languages;
  facts.admitted.insert(facts.admitted.end(), other.admitted.begin(), other.admitted.end());
  common(facts.tool_words, other.tool_words);
  if (facts.outcome != other.outcome) facts.outcome = CallOutcome::any;
  facts.last = facts.last && other.last;
  facts.digits = std::min(facts.digits, other.digits);
  facts.repeats = std::min(facts.repeats, other.repeats);
  for (const Facts::Window& window : other.windows) {
    const bool there = std::find(facts.windows.begin(), facts.windows.end(), window) != facts.windows.end();
    if (!there && facts.windows.size() < kMostModels) facts.windows.push_back(window);
  }
}

}  // namespace runwarden::guardrail
