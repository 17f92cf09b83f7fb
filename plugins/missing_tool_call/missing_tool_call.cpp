#include "missing_tool_call/missing_tool_call.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/fold.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "evidence/commands.h"
#include "evidence/written_call.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {
namespace {

constexpr double kAsked = 0.85;  // confidences
constexpr double kBesideWrites = 0.7;
constexpr double kUnasked = 0.65;
constexpr double kPromised = 0.65;
constexpr double kTakenBack = 0.4;
constexpr double kDescribes = 0.3;  // subtracted when a claim may describe a thing rather than report a deed

constexpr SettingSchema kProperties[] = {FiringLine::kProperty};

constexpr Rule kRules[] = {
    {"request_grammar", {"nouns", "subject_clauses", "quoted_turns"}},
    {"any_action", {"same_action", "later_turns"}},
    {"about_action"},
    {"admission"},
    {"other_tools", {"reads_only", "other_writes", "reported_state"}},
    {"text_product"},
    {"written_calls"},
};

constexpr SettingsForm kForm{kProperties, kRules};

Lexicon make_actions_lexicon(const Settings& settings) {
  auto lexicon = make_lexicon(settings);
  add_actions(settings.vocabulary(), lexicon);
  return lexicon;
}

/// True when the outcome or one of the agent's last two messages contains a written call. A cheap check that spares most runs a full
/// reading.
bool may_end_in_call(const RunView& run) {
  constexpr int kLastWords = 2;
  if (written_call(run.outcome)) return true;
  int looked = 0;
  for (auto step = run.steps.rbegin(); step != run.steps.rend() && looked < kLastWords; ++step) {
    if (step->kind != Kind::kModel || trim(step->output).empty()) continue;
    if (step->output != run.outcome && written_call(step->output)) return true;
    ++looked;
  }
  return false;
}

/// Where the agent's last two messages begin: the very last may be a goodbye.
std::size_t last_words(const RunView& run) {
  std::size_t left = 2;
  for (auto i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kModel && !trim(step.output).empty() && --left == 0) return i;
  }
  return 0;
}

constexpr std::size_t kFewWords = 12;  // most words of a message that only says that it is done

std::string pointer_of(const RunView& run, const Request& request) {
  if (request.step == kNoStep) return "/userRequestText";
  return pointer_to(request.step, run.steps[request.step].output.empty() ? Field::kInput : Field::kOutput);
}

/// The member of a JSON text, complete or truncated, whose value contains position `at`: `content` of {"content":"... a.pdf ..."};
/// empty for none.
std::string_view member_before(std::string_view json, std::size_t at) {
  auto end = json.rfind("\":", at);
  while (end != std::string_view::npos && end > 0 && json[end - 1] == '\\') end = json.rfind("\":", end - 1);
  if (end == std::string_view::npos || end == 0) return {};
  const auto begin = json.rfind('"', end - 1);
  return begin == std::string_view::npos ? std::string_view{} : json.substr(begin + 1, end - begin - 1);
}

/// The agent's very last message, even if it is a goodbye.
std::string_view last_said(const RunView& run) {
  const auto speaks = [](const StepView& step) { return step.kind == Kind::kModel && !trim(step.output).empty(); };
  const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(), speaks);
  return trim(run.outcome).empty() && last != run.steps.rend() ? last->output : run.outcome;
}

const char* end_of(std::string_view text) {
  return text.data() + text.size();
}

}  // namespace

MissingToolCall::MissingToolCall(std::string_view settings_json) : MissingToolCall(Settings(settings_json, kForm)) {}

MissingToolCall::MissingToolCall(const Settings& settings)
    : lexicon_(make_actions_lexicon(settings)),
      line_(settings.text("sensitivity")),
      tool_words_(settings.vocabulary()),
      about_action_(settings.rule("about_action")),
      admission_(settings.rule("admission")),
      other_tools_(settings.rule("other_tools")),
      text_product_(settings.rule("text_product")),
      written_calls_(settings.rule("written_calls")),
      text_work_(settings.vocabulary(), lexicon_),
      requests_(settings, lexicon_, text_work_),
      tools_(lexicon_, tool_words_) {
  const auto& vocabulary = settings.vocabulary();
  answer_members_ = vocabulary.words(Key::kAnswerMembers);
  effects_.assign(lexicon_.last_group() + 1, 0);
  only_asked_.assign(lexicon_.verb_count(), false);
  for (const auto verb : lexicon_.verbs_named(vocabulary.words(Key::kOnlyAskedVerbs))) only_asked_[verb] = true;
  for (const auto verb : lexicon_.verbs_named(vocabulary.words(Key::kOwnToolVerbs))) effects_[lexicon_.verb(verb).group] = 1;
  settling_.assign(lexicon_.verb_count(), false);
  for (const auto verb : lexicon_.verbs_named(vocabulary.words(Key::kSettlingVerbs))) settling_[verb] = true;
  read_done_by(vocabulary);
  collect_relevant();
  finish_group_ = group_of(vocabulary, Key::kFinishingVerbs, lexicon_);
  send_group_ = group_of(vocabulary, Key::kSendingVerbs, lexicon_);
  const auto sending = lexicon_.verbs_named(vocabulary.words(Key::kSendingVerbs));
  send_verb_ = sending.empty() ? kNoVerb : sending.front();
  passing_on_ = Phrases(vocabulary.words(Key::kPassingOn));
  follow_ups_ = Phrases(vocabulary.words(Key::kFollowUps));
}

/// Collects the relevant verbs (request verbs, verbs that need a tool of their own, and their synonyms) and the verbs of any action.
void MissingToolCall::collect_relevant() {
  std::unordered_set<std::uint16_t> groups;
  std::unordered_set<std::uint16_t> open_groups;
  relevant_.assign(lexicon_.verb_count(), false);
  actions_.assign(lexicon_.verb_count(), false);
  for (std::size_t verb = 0; verb < relevant_.size(); ++verb) {
    const auto index = static_cast<std::uint16_t>(verb);
    const auto group = lexicon_.verb(index).group;
    if (requests_.listed(index) || effects_[group]) groups.insert(group);
    if (requests_.open(index)) open_groups.insert(group);
  }
  for (const auto& word : lexicon_.words()) {
    if (word.verb == kNoVerb) continue;
    const auto group = lexicon_.verb(word.verb).group;
    const bool relevant = groups.count(group) != 0;
    if (!relevant && open_groups.count(group) == 0 && !requests_.light(word.verb)) continue;
    actions_[word.verb] = true;
    action_words_.add(word.word);
    if (!relevant) continue;
    relevant_[word.verb] = true;
    if (word.forms != kFormNoun) relevant_words_.add(word.word);
  }
  able_words_.add_all(lexicon_, kCueAble);
  self_words_.add_all(lexicon_, kCueSelf);
  for (const auto& phrase : lexicon_.phrases()) {
    if (has(phrase.cues, kCueFinished | kCueFinding)) finished_words_.insert(phrase.words.begin(), phrase.words.end());
  }
  for (const auto& word : lexicon_.words()) {
    if (has(word.cues, kCueFinished | kCueFinding)) finished_words_.insert(word.word);
  }
  requests_.set_relevant(relevant_, relevant_words_, actions_, action_words_);
}

std::string MissingToolCall::schema() {
  return kForm.schema();
}

void MissingToolCall::read_done_by(const Vocabulary& vocabulary) {
  for (const auto& line : vocabulary.words(Key::kDoneBy)) {
    const std::string_view text = line;
    const auto equals = text.find('=');
    const auto lemma = trim(text.substr(0, equals));
    const auto claimed = lexicon_.verb_named(lemma);
    if (claimed == kNoVerb) {
      throw std::invalid_argument("/vocabulary: done_by: no verb has the lemma \"" + std::string(lemma) + "\"; add it under `verbs`");
    }
    DoneBy entry{lexicon_.verb(claimed).group, {}};
    for_each_word(text.substr(equals + 1), [&](std::string_view word) {
      if (const auto verb = lexicon_.verb_named(word); verb != kNoVerb) entry.tools.push_back(lexicon_.verb(verb).group);
      return true;
    });
    done_by_.push_back(std::move(entry));
  }
}

void MissingToolCall::collect_ran(const RunView& run) {
  ran_.clear(lexicon_.last_group());
  gives_records_.clear();
  done_by_user_.clear();
  named_by_user_.clear();
  user_read_ = false;
  tools_.clear();
  std::array<const ToolMeaning*, 64> taken{};  // a small cache: most runs call few tools many times
  for (const auto& step : run.steps) {
    if (step.kind != Kind::kTool) continue;
    const auto& tool = tools_.meaning(step.name);
    ran_.any = true;
    if (step.outcome != Outcome::kFailed) add_told_deeds(step.output);
    auto& place = taken[reinterpret_cast<std::uintptr_t>(&tool) / sizeof(ToolMeaning) % taken.size()];
    if (place == &tool || only_looks_up(run, tool, step.name)) continue;
    if (tool.runs_anything() && only_look(step.input, tool_words_.calls)) continue;
    place = &tool;
    ran_.any_write = true;
    ran_.any_purpose |= tool.any_purpose;
    for (const auto group : tool.groups) ran_.groups[group] = 1;
    add_named_action(step.name);
    for (const auto noun : tool.nouns) ran_.nouns.insert(noun);
  }
  if (!ran_.any_write) return;
  std::vector<std::uint16_t> done;
  for (const auto& entry : done_by_) {
    if (std::any_of(entry.tools.begin(), entry.tools.end(), [&](auto tool) { return ran_.groups[tool] != 0; })) done.push_back(entry.group);
  }
  for (const auto group : done) ran_.groups[group] = 1;
}

/// "The invoice has been sent to your inbox.": a tool that says in a sentence that it did something did it, whatever its name.
void MissingToolCall::add_told_deeds(std::string_view output) {
  constexpr std::size_t kLongest = 200;
  output = trim(output);
  if (output.empty() || output.size() > kLongest || looks_like_json(output) || !action_words_.finds(output)) return;
  read(output, lexicon_, reading_);
  if (reading_.denies || reading_.admits()) return;
  for (const auto& claim : reading_.claims) {
    if (!claim.finding && claim.verb != kNoVerb && tells_deed(reading_, claim)) ran_.groups[lexicon_.verb(claim.verb).group] = 1;
  }
  for (const auto& sentence : reading_.sentences) {
    if (const auto verb = told_of_user(sentence); verb != kNoVerb) ran_.groups[lexicon_.verb(verb).group] = 1;
  }
}

/// The action that a tool reports to have done: "You have successfully accepted the invitation."
std::uint16_t MissingToolCall::told_of_user(const Sentence& sentence) const {
  auto i = sentence.begin;
  if (sentence.question || !has(reading_.words[i].cues, kCueAddressee)) return kNoVerb;
  bool done = false;
  for (++i; i < sentence.end && has(reading_.words[i].cues, kCueAuxiliary | kCueAdverb); ++i)
    done |= has(reading_.words[i].cues, kCueAuxiliary);
  const auto* entry = i < sentence.end ? reading_.words[i].entry : nullptr;
  return done && entry != nullptr && (entry->forms & kFormDone) != 0 ? entry->verb : kNoVerb;
}

/// "start_booking" books, "make_payment" pays; "cancel_reservation" reserves nothing.
void MissingToolCall::add_named_action(std::string_view tool) {
  std::vector<std::string> words;
  split_tool_name(base_name(tool), words);
  bool light = false;
  for (const auto& word : words) {
    const auto* entry = lexicon_.find(word);
    if (entry == nullptr || entry->verb == kNoVerb) continue;
    if ((entry->forms & kFormBase) != 0) {
      light = requests_.light(entry->verb);
    } else if (light) {
      ran_.groups[lexicon_.verb(entry->verb).group] = 1;
    }
  }
}

/// The request that a claim answers, including text work; nullptr for none.
const Request* MissingToolCall::request_for(const Claim& claim) const {
  if (claim.verb == kNoVerb) return nullptr;
  const auto group = lexicon_.verb(claim.verb).group;
  const Request* first = nullptr;
  for (const auto& request : requests_.found()) {
    if (lexicon_.verb(request.verb).group != group) continue;
    if (counts(request, claim)) return &request;
    if (first == nullptr) first = &request;
  }
  return first;
}

/// True when such a claim answers the request: for an open verb, the claim must report a deed, not a state.
bool MissingToolCall::counts(const Request& request, const Claim& claim) const {
  return request.listed || (request.open && !claim.state && is_deed(reading_, claim));
}

/// The first request that the claim answers and that is neither text work nor make-believe. Sets `rule` to what suppressed the others.
const Request* MissingToolCall::real_request_for(const Claim& claim, const RunView& run, const Said& said, std::string_view& rule) {
  const auto group = lexicon_.verb(claim.verb).group;
  for (const auto& request : requests_.found()) {
    if (lexicon_.verb(request.verb).group != group || !(ran_.any || counts(request, claim))) continue;
    if (is_real(request, run, said, rule)) return &request;
  }
  return nullptr;
}

/// The first real request for any action; with `open`, requests with open verbs count, too.
const Request* MissingToolCall::any_request(bool open, const RunView& run, const Said& said, std::string_view& rule) {
  for (const auto& request : requests_.found()) {
    if ((request.listed || (open && request.open)) && is_real(request, run, said, rule)) return &request;
  }
  return nullptr;
}

/// True for a request of a user turn after the message.
bool MissingToolCall::is_later(const Request& request, const Said& said) {
  return request.step != kNoStep && request.step > said.step;
}

bool MissingToolCall::is_real(const Request& request, const RunView& run, const Said& said, std::string_view& rule) {
  if (is_text_work(request, run, said)) {
    rule = "text_product";
  } else if (request.open && !request.listed && requests_.make_believe(run)) {
    rule = "make_believe";
  } else {
    return true;
  }
  return false;
}

bool MissingToolCall::asks_for_any() const {
  return std::any_of(requests_.found().begin(), requests_.found().end(),
                     [](const Request& request) { return request.listed || request.open; });
}

/// "I've initiated the process for your refund" and "your refund request has been submitted" claim the refund if the user asked for one.
void MissingToolCall::resolve_light_verbs() {
  constexpr std::uint32_t kReach = 10;
  for (auto& claim : reading_.claims) {
    if (claim.verb == kNoVerb || !requests_.light(claim.verb)) continue;
    const auto names = [&](const ReadWord& word) {
      if (word.entry == nullptr || !requests_.is_action_noun(*word.entry)) return false;
      Claim meant = claim;
      meant.verb = word.entry->verb;
      if (request_for(meant) == nullptr) return false;
      claim = meant;
      return true;
    };
    const auto& sentence = reading_.sentences[claim.sentence];
    const auto end = std::min(sentence.end, claim.word + 1 + kReach);
    auto i = claim.word + 1;
    const auto goes_on = [&] { return i < end && reading_.words[i].before == Break::kNone; };
    const auto denied = [&] { return has(reading_.words[i].cues, kCueNegation); };
    while (goes_on() && !denied() && !names(reading_.words[i])) ++i;
    if (claim.by_agent || goes_on()) continue;
    const auto begin = claim.word - std::min(claim.word - sentence.begin, kReach);
    for (auto k = claim.word; k > begin && reading_.words[k].before == Break::kNone && !names(reading_.words[k - 1]);) --k;
  }
}

bool MissingToolCall::asks_for_listed() const {
  return std::any_of(requests_.found().begin(), requests_.found().end(), [](const Request& request) { return request.listed; });
}

/// "Create a poem", "update this paragraph: ...": the answer itself is what the user asks for.
bool MissingToolCall::is_text_work(const Request& request, const RunView& run, const Said& said) {
  if (!text_product_ || !text_work_.shapes(request.verb)) return false;
  // When tools that write ran, when the agent proposed it after look-ups, or when "order" means a purchase, the request must name a text.
  if (ran_.any_write || (request.accepted && ran_.any) || (text_work_.sorts(request.verb) && !request.sorting))
    return request.thing == Thing::kText;
  const auto thing = request.sorting && request.thing != Thing::kText ? Thing::kEither : request.thing;
  return text_work_.holds(run, thing, effects_[lexicon_.verb(request.verb).group] != 0, said.text, said.step);
}

/// True when a tool that ran may have done what is claimed: by its verb, or by the thing it works on ("your return has been submitted" and
/// "return_items"). For sending verbs only the words after the verb count: the thing sent differs from the thing that it is about.
bool MissingToolCall::could_have(const Claim& claim) const {
  const auto group = lexicon_.verb(claim.verb).group;
  if (ran_.groups[group]) return true;
  const auto& sentence = reading_.sentences[claim.sentence];
  constexpr std::uint32_t kObjectReach = 6;
  const auto end = std::min(sentence.end, claim.word + 1 + kObjectReach);
  for (auto i = claim.word + 1; i < end; ++i) {
    if (reading_.words[i].before >= Break::kClause) break;
    if (!ran_.nouns.contains(hash_noun(reading_.words[i].text))) continue;
    // "Sent the order confirmation": only the last noun names the thing sent.
    const auto next = i + 1;
    const bool modifies = group == send_group_ && next < sentence.end && reading_.words[next].before == Break::kNone &&
                          !has(reading_.words[next].cues, kCuePreposition | kCueConjunction | kCueAdverb | kCueAuxiliary);
    if (!modifies) return true;
  }
  if (group == send_group_ || !ran_.any_write) return false;
  for (auto i = claim.word; i > sentence.begin && claim.word - i < kObjectReach && reading_.words[i].before < Break::kClause; --i) {
    const auto& subject = reading_.words[i - 1];
    const bool names_verb = subject.entry != nullptr && subject.entry->verb != kNoVerb;
    if (names_verb && ran_.groups[lexicon_.verb(subject.entry->verb).group]) return true;
  }
  return false;
}

/// True when a tool reported this very state (the agent repeats what it read), or the claim quotes an id that a tool that writes
/// returned. Reads outputs only once a claim is in doubt.
bool MissingToolCall::reported_state(const RunView& run, const Claim& claim) {
  if (!outputs_read_) {
    outputs_.clear();
    written_.clear();
    for (const auto& step : run.steps) {
      if (step.kind != Kind::kTool) continue;
      run.pace(step.output.size());
      outputs_.add_words(step.output);
      if (step.outcome != Outcome::kFailed && !tools_.meaning(step.name).reads) written_.add_spelled(step.output);
    }
    outputs_read_ = true;
  }
  return outputs_.holds_word(reading_.words[claim.word].text) || quotes_id(reading_.sentences[claim.sentence]);
}

/// True when the sentence quotes an id from written_. An id has letters and digits: plain numbers occur in too many outputs.
bool MissingToolCall::quotes_id(const Sentence& sentence) const {
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    // A reading splits "r-19" into two words.
    const auto& word = reading_.words[i].text;
    const auto begin = i > sentence.begin && word.data() == end_of(reading_.words[i - 1].text) + 1 && word.data()[-1] == '-'
                           ? reading_.words[i - 1].text.data()
                           : word.data();
    const std::string_view id(begin, static_cast<std::size_t>(end_of(word) - begin));
    const auto digit = std::any_of(id.begin(), id.end(), is_digit);
    const auto letter = std::any_of(id.begin(), id.end(), is_lower);
    if (digit && letter && id.size() > 3 && written_.holds_word(id)) return true;
  }
  return false;
}

Finding MissingToolCall::finding(const RunView& run, const Request& request, const Said& said, int score) const {
  const auto& verb = lexicon_.verb(request.verb).lemma;
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kCoordination;
  out.score = score;
  const bool asked = !request.turn.empty();
  const auto opening =
      asked ? "The user asked the agent to \"" + verb + "\", the agent claimed success" : "The agent claimed to \"" + verb + "\"";
  out.summary = opening + " (\"" + quote(said.text) + "\"), but ";
  if (score == kNoToolScore) {
    out.title = "Missing action: agent claimed to \"" + verb + "\" but called no tool";
    out.summary += "no tool/action step ever executed.";
  } else {
    out.title = "Missing action: agent claimed to \"" + verb + "\" but called no tool that could do it";
    out.summary += "none of the tool/action steps that executed could have done it.";
  }
  out.summary += " The side effect almost certainly never happened.";
  out.primary_step = said.step;
  if (asked) out.evidence.push_back({pointer_of(run, request), quote(request.turn)});
  out.evidence.push_back({said.pointer, quote(said.text)});
  out.fingerprint_parts = {verb, ""};
  return out;
}

void MissingToolCall::judge_without_tools(const RunView& run, Verdict& verdict) {
  if (!asks_for_any()) return;
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found || reading_.claims.empty() || holds_letter(message.text)) return;
  if (reading_.admits() && admission_) {
    verdict.suppress("admission", message.step, "the final message admits that something did not work");
    return;
  }
  resolve_light_verbs();
  const Said said{message.text, message.pointer(), message.step};
  const bool brief = reading_.words.size() <= kFewWords;
  std::string_view rule = "about_action";
  const Request* request = about_action_ ? nullptr : any_request(false, run, said, rule);
  for (const auto& claim : reading_.claims) {
    if (request != nullptr) break;
    if (claim.finding) continue;
    const bool general = claim.verb == kNoVerb || lexicon_.verb(claim.verb).group == finish_group_;
    const auto* asked = request_for(claim);
    if (asked != nullptr && counts(*asked, claim)) request = real_request_for(claim, run, said, rule);
    if (request == nullptr && general) request = any_request(brief, run, said, rule);
  }
  if (request != nullptr) {
    verdict.findings.push_back(finding(run, *request, said, kNoToolScore));
  } else if (asks_for_listed() || rule != "about_action") {
    suppress(rule, message.step, verdict);
  }
}

void MissingToolCall::suppress(std::string_view rule, std::size_t step, Verdict& verdict) {
  std::string_view reason = "the final message's claim is not what the user asked for";
  if (rule == "text_product") reason = "the user asked for text, which the conversation itself contains";
  if (rule == "make_believe") reason = "the user asked to make something up or to play a part";
  verdict.suppress(rule, step, std::string(reason));
}

/// True when a user turn mentions text or code: the user may have asked for a written-out call.
bool MissingToolCall::asks_for_text(const RunView& run) {
  const auto names_text = [&](std::string_view turn) {
    run.pace(turn.size());
    if (turn.find("```") != std::string_view::npos) return true;
    read_words(turn, lexicon_, reading_);
    return std::any_of(reading_.words.begin(), reading_.words.end(),
                       [&](const ReadWord& word) { return text_work_.is_text(word.text, reading_.language); });
  };
  if (names_text(run.user_request)) return true;
  return std::any_of(run.steps.begin(), run.steps.end(),
                     [&](const StepView& step) { return step.kind == Kind::kUser && names_text(step.said()); });
}

/// `remember(fact="...") I have updated my preferences`: the call is text, nothing ran, and the agent says that it is done.
void MissingToolCall::judge_written_call(const RunView& run, Verdict& verdict) {
  if (!written_calls_ || !verdict.findings.empty() || !may_end_in_call(run)) return;
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found || (admission_ && reading_.admits())) return;
  const auto call = written_call(message.text);
  if (!call) return;
  const auto ran = [&](const StepView& step) { return step.kind == Kind::kTool && base_name(step.name) == base_name(*call); };
  if (std::any_of(run.steps.begin(), run.steps.end(), ran)) return;
  const auto deed = std::find_if(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    return claim.by_agent && !claim.finding && claim.verb != kNoVerb && !did_it(claim) &&
           (requests_.listed(claim.verb) || requests_.open(claim.verb));
  });
  if (deed == reading_.claims.end()) return;
  const Request meant{deed->verb, Thing::kUnknown, false, false, false, kNoStep, run.user_request};
  if (asks_for_text(run)) {
    suppress("text_product", message.step, verdict);
  } else if (requests_.make_believe(run)) {
    suppress("make_believe", message.step, verdict);
  } else {
    verdict.findings.push_back(
        finding(run, meant, {message.text, message.pointer(), message.step}, ran_.any ? kNoWriteScore : kNoToolScore));
  }
}

/// Marks the groups of verbs whose claims must be checked: the user asked for them or they need a tool of their own, and no tool that ran
/// performs them.
void MissingToolCall::collect_in_doubt() {
  asked_.assign(effects_.size(), 0);
  for (const auto& request : requests_.found()) asked_[lexicon_.verb(request.verb).group] = 1;
  in_doubt_.resize(effects_.size());
  std::transform(effects_.begin(), effects_.end(), ran_.groups.begin(), in_doubt_.begin(),
                 [](std::uint8_t effect, std::uint8_t ran) { return static_cast<std::uint8_t>(effect & (ran ^ 1)); });
  wide_ = false;
  if (ran_.any_write) return;
  for (const auto& request : requests_.found()) {
    const auto group = lexicon_.verb(request.verb).group;
    in_doubt_[group] = ran_.groups[group] ^ 1;
    wide_ |= request.open || requests_.has_noun(request);
  }
}

/// Reads only the parts of a message with a word whose claim could be a finding: the verb of a claim is always a word of the message.
/// A base form is a claim only if the message says "able to" or the like.
void MissingToolCall::judge_message(const RunView& run, const Said& said, Verdict& verdict) {
  if (holds_letter(said.text)) return;
  std::string buffer;
  const auto prose = prose_of(said.text, buffer);
  const auto claims = [&, able = std::optional<bool>(), self = std::optional<bool>()](const WordEntry& word) mutable {
    if (word.verb == kNoVerb || word.forms == kFormNoun) return false;
    const auto group = lexicon_.verb(word.verb).group;
    const bool light = requests_.light(word.verb);
    if (!in_doubt_[group] && (ran_.any_write || !light || word.forms == kFormBase)) return false;
    // After look-ups only, what nobody asked for counts where the agent says that it did it.
    if (!ran_.any_write && !light && !asked_[group] && (word.forms & kFormDoing) == 0) {
      if (!self) self = self_words_.finds(prose);
      if (!*self) return false;
    }
    if ((word.forms & (kFormDone | kFormDoing)) != 0 || finished_words_.count(word.word) != 0) return true;
    if (!able) able = able_words_.finds(prose);
    return *able;
  };
  auto& words = wide_ ? action_words_ : relevant_words_;
  std::optional<std::uint8_t> language;
  words.each_passage(prose, lexicon_, claims, [&](std::string_view passage) {
    if (!language) language = language_of(prose, lexicon_);
    read(passage, lexicon_, reading_, *language);
    if (wide_) resolve_light_verbs();
    const auto doubtful = [&](const Claim& claim) { return is_doubtful(claim); };
    if (std::none_of(reading_.claims.begin(), reading_.claims.end(), doubtful)) return true;
    if (requests_pending_) {
      requests_pending_ = false;
      requests_.collect(run, !ran_.any_write, reading_);
      read(passage, lexicon_, reading_, *language);
    }
    return judge_passage(run, said, verdict);
  });
}

/// True for a claim that no tool supports, whatever the user asked for.
bool MissingToolCall::is_doubtful(const Claim& claim) const {
  if (claim.verb == kNoVerb || claim.finding || needs_no_tool(claim)) return false;
  const auto group = lexicon_.verb(claim.verb).group;
  if (ran_.any_write && !effects_[group]) return false;
  return !tells_of_before(reading_, claim) && !could_have(claim);
}

/// True when the passage claims more than a state: "Done", "all set", "I've ...".
bool MissingToolCall::says_done() const {
  return std::any_of(reading_.claims.begin(), reading_.claims.end(),
                     [](const Claim& claim) { return !claim.state && !claim.finding && (claim.verb == kNoVerb || claim.by_agent); });
}

/// True when the agent admits in a later message that something did not or cannot work, or hands over to a person.
bool MissingToolCall::taken_back_after(const RunView& run, std::size_t step) {
  const auto takes_back = [&](std::string_view message) {
    run.pace(message.size());
    read_words(message, lexicon_, reading_);
    read_meaning(lexicon_, reading_, false);
    return reading_.admits() || reading_.hands_over();
  };
  for (auto i = step; i != kNoStep && ++i < run.steps.size();) {
    if (run.steps[i].kind == Kind::kModel && takes_back(run.steps[i].output)) return true;
  }
  return false;
}

/// True when no tool ran between a user's turn and a message of the agent.
bool MissingToolCall::nothing_ran_between(const RunView& run, std::size_t turn, std::size_t message) {
  if (turn == kNoStep || message == kNoStep || turn >= message) return false;
  return std::none_of(run.steps.begin() + static_cast<std::ptrdiff_t>(turn), run.steps.begin() + static_cast<std::ptrdiff_t>(message),
                      [](const StepView& step) { return step.kind == Kind::kTool; });
}

/// True for "I've sent it", "it has been sent" and the notes "Receipt sent.", "Timer set for ten". "Timing: credited back in 5 days" and
/// "the airline canceled a segment" may report a deed of others, or none.
bool MissingToolCall::plainly_done(const Claim& claim) const {
  constexpr std::uint32_t kNoteWords = 3;
  if (claim.by_agent) return true;
  if (!tells_deed(reading_, claim)) return false;
  const auto& sentence = reading_.sentences[claim.sentence];
  const auto next = claim.word + 1;
  if (next >= sentence.end || reading_.words[next].before != Break::kNone || has_auxiliary(reading_, claim)) return true;
  if (claim.word - sentence.begin > kNoteWords || has(reading_.words[sentence.begin].cues, kCueDeterminer)) return false;
  return std::all_of(reading_.words.begin() + sentence.begin + 1, reading_.words.begin() + claim.word + 1,
                     [](const ReadWord& word) { return word.before == Break::kNone; });
}

/// What a claim answers; nothing when it may not be a deed of the agent's.
std::optional<MissingToolCall::Answered> MissingToolCall::answered_by(const RunView& run, const Said& said, const Claim& claim) {
  if (!is_doubtful(claim)) return std::nullopt;
  Answered answered{&claim, request_for(claim), false};
  if (answered.request != nullptr && is_later(*answered.request, said)) answered.request = nullptr;
  answered.asked = answered.request != nullptr && counts(*answered.request, claim);
  const auto group = lexicon_.verb(claim.verb).group;
  // Other tools send notices of their own: unless the agent says that it sent one, the user must have asked for it since.
  const bool notice = ran_.any_write && group == send_group_ && !claim.by_agent;
  if (notice && !(answered.asked && nothing_ran_between(run, answered.request->step, said.step))) return std::nullopt;
  // In the middle of a conversation "is booked" describes a state, unless the agent also says that something is done.
  if (claim.state && said.step < last_words_ && !says_done()) return std::nullopt;
  // When no tool that writes ran, the claim may be mere talk: it does not count unless the user asked for it.
  if (!ran_.any_write && !answered.asked && !(ran_.any && effects_[group] && claim.by_agent)) return std::nullopt;
  if (answered.request == nullptr && (!claim.by_agent || only_asked_[claim.verb])) return std::nullopt;
  if (names_made(run, claim)) return std::nullopt;
  return answered;
}

/// What is subtracted from the confidence when a claim may describe a thing, or what the tools that ran did by themselves.
double MissingToolCall::doubt_about(const RunView& run, const Said& said, const Answered& answered) {
  const auto& [reported, request, asked] = answered;
  const Claim& claim = *reported;
  const bool sends = lexicon_.verb(claim.verb).group == send_group_;
  // A tool that writes may send a notice itself, even if the agent says that it sent one.
  const bool notice_of_done = request != nullptr && asked &&
                              (is_notice_of_done(run, claim, *request, said.step) || (ran_.any_write && may_be_told(run, claim, *request)));
  if (notice_of_done || (ran_.any_write && !asked && sends)) return kDescribes;
  // "I've recorded the booking", next to the call that booked, describes what that call did.
  if (ran_.any_write && request == nullptr && concerns(run, claim)) return kDescribes;
  // At the end, after look-ups only, "is booked" answers the request.
  const bool answers = claim.state && asked && !ran_.any_write;
  return answers || plainly_done(claim) ? 0 : kDescribes;
}

/// Judges the claims of one passage. Returns true when the rest of the message must still be judged.
bool MissingToolCall::judge_passage(const RunView& run, const Said& said, Verdict& verdict) {
  for (const auto& claim : reading_.claims) {
    auto answered = answered_by(run, said, claim);
    if (!answered) continue;
    if (reported_state(run, claim)) {
      verdict.suppress("reported_state", said.step, "a tool reported this state");
      continue;
    }
    std::string_view rule;
    if (answered->request != nullptr) {
      answered->request = real_request_for(claim, run, said, rule);
    } else if (!ran_.any_write && requests_.make_believe(run)) {
      rule = "make_believe";
    }
    if (answered->request == nullptr && !rule.empty()) {
      suppress(rule, said.step, verdict);
      continue;
    }
    fire_claim(run, said, *answered, verdict);
    return false;
  }
  return true;
}

/// Fires unless the whole message, or a later one, admits that something did not work. Reads the message again.
void MissingToolCall::fire_claim(const RunView& run, const Said& said, const Answered& answered, Verdict& verdict) {
  const auto& [reported, request, asked] = answered;
  const Claim claim = *reported;
  const Request unasked{claim.verb, Thing::kUnknown, false, false, false, kNoStep, {}};
  const auto found = finding(run, request != nullptr ? *request : unasked, said, ran_.any ? kNoWriteScore : kNoToolScore);
  const double doubt = doubt_about(run, said, answered);
  const bool own_tool = effects_[lexicon_.verb(claim.verb).group];
  const bool plain = claim.by_agent && own_tool && !has(reading_.sentences[claim.sentence].cues, kCueAdmission);
  read(said.text, lexicon_, reading_);
  if (request == nullptr && !reading_.understood(said.text)) return;
  if (reading_.admits() && admission_) {
    if (plain) told_beside_ = said.step;
    verdict.suppress("admission", said.step, "the message admits that something did not work");
    return;
  }
  const bool taken_back = admission_ && taken_back_after(run, said.step);
  if (taken_back && !line_.fires(kTakenBack, {"admission", said.step, "a later message admits that something cannot be done"}, verdict))
    return;
  const double sure = (ran_.any_write ? kBesideWrites : asked ? kAsked : kUnasked) - doubt;
  if (line_.fires(sure, {"other_writes", said.step, "a tool that changes things ran, or nobody asked for this"}, verdict)) {
    verdict.fire(found, taken_back ? std::min(sure, kTakenBack) : sure);
  }
}

/// "All set!" after look-ups only: the final message claims whatever the user asked for.
void MissingToolCall::judge_general_claim(const RunView& run, Verdict& verdict) {
  if (!asks_for_any()) return;
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found || (admission_ && reading_.admits()) || (reading_.cues & (kCueNothingFound | kCueHandover)) != 0) return;
  const auto claim =
      std::find_if(reading_.claims.begin(), reading_.claims.end(), [](const Claim& said) { return said.verb == kNoVerb && !said.finding; });
  // After other words it may be about those: "the check went through".
  if (claim == reading_.claims.end() || claim->word != 0) return;
  const Said said{message.text, message.pointer(), message.step};
  std::string_view rule;
  if (const auto* asked = any_request(reading_.words.size() <= kFewWords, run, said, rule); asked != nullptr) {
    verdict.findings.push_back(finding(run, *asked, said, ran_.any ? kNoWriteScore : kNoToolScore));
  }
}

/// The request of the user's last turn that the message in reading_ promises to fulfil: "I'll have it emailed to you".
const Request* MissingToolCall::promised(const RunView& run, std::size_t message) {
  if (requests_pending_) {
    requests_pending_ = false;
    Reading scratch;
    requests_.collect(run, true, scratch);
  }
  for (const auto& sentence : reading_.sentences) {
    bool by_agent = false;
    bool to_come = false;
    for (auto i = sentence.begin; i < sentence.end && !sentence.question; ++i) {
      const auto& word = reading_.words[i];
      if (has(word.cues, kCueCondition | kCueNegation | kCueOffer)) break;
      by_agent |= has(word.cues, kCueSelf);
      to_come |= has(word.cues, kCueModal);
      if (!by_agent || !to_come || word.entry == nullptr || word.entry->verb == kNoVerb) continue;
      const auto group = lexicon_.verb(word.entry->verb).group;
      if (!effects_[group] || ran_.groups[group]) continue;
      for (const auto& request : requests_.found()) {
        if (!request.listed || lexicon_.verb(request.verb).group != group || request.step == kNoStep) continue;
        if (nothing_ran_between(run, begin_of(run, request.step), message)) return &request;
      }
    }
  }
  return nullptr;
}

/// The final message; leaves its reading in reading_. Reads it again only after last_read_ was reset.
FinalMessage MissingToolCall::last_message(const RunView& run) {
  if (!last_read_) last_ = find_final_message(run, lexicon_, reading_);
  last_read_ = true;
  return last_;
}

/// "I'll have the summary emailed. You're all set.": the conversation ends on a promise, and nothing ran since the request.
void MissingToolCall::judge_promise(const RunView& run, Verdict& verdict) {
  const auto message = last_message(run);
  if (!message.found || reading_.asks() || reading_.admits() || reading_.hands_over()) return;
  const auto closes = [](const Claim& claim) { return claim.verb == kNoVerb && !claim.finding; };
  if (std::none_of(reading_.claims.begin(), reading_.claims.end(), closes)) return;
  const auto* request = promised(run, std::min(message.step, run.steps.size()));
  if (request == nullptr) return;
  const Said said{message.text, message.pointer(), message.step};
  std::string_view rule;
  if (!is_real(*request, run, said, rule)) return;
  if (line_.fires(kPromised, {"promise", message.step, "the agent only promises it"}, verdict)) {
    verdict.fire(finding(run, *request, said, ran_.any ? kNoWriteScore : kNoToolScore), kPromised);
  }
}

void MissingToolCall::judge_with_tools(const RunView& run, Verdict& verdict) {
  outputs_read_ = changes_read_ = false;
  last_words_ = last_words(run);
  collect_in_doubt();
  for (std::size_t i = 0; i < run.steps.size() && verdict.findings.empty(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.output.size());
    if (step.kind == Kind::kModel) judge_message(run, {step.output, pointer_to(i, Field::kOutput), i}, verdict);
  }
  if (verdict.findings.empty()) judge_message(run, {run.outcome, "/outcomeSummary", kNoStep}, verdict);
  if (verdict.findings.empty() && !ran_.any_write) judge_general_claim(run, verdict);
  if (verdict.findings.empty()) judge_promise(run, verdict);
}

/// True when the last message announces what the agent is going to do although nothing changed anything; if any tool ran, the announced
/// action must be one that none of them performs.
bool MissingToolCall::closes_on_promise(const RunView& run, std::string_view read_already) {
  constexpr std::uint64_t kNoPromise = kCueCondition | kCueHypothesis | kCueNegation | kCueOffer;
  if (const auto last = last_said(run); last != read_already) read(last, lexicon_, reading_);
  if (reading_.asks() || reading_.admits() || reading_.hands_over()) return false;
  return std::any_of(reading_.sentences.begin(), reading_.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.question || has(sentence.cues, kNoPromise)) return false;
    bool promised = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto& word = reading_.words[i];
      const auto next = i + 1 < sentence.end ? reading_.words[i + 1].cues : 0;
      const bool will = has(word.cues | next, kCueSelf) && has(word.cues | next, kCueModal);  // "I will", "werde ich", "I'll"
      promised |= will || has(word.cues, kCuePromise);
      if (!promised) continue;
      if (!ran_.any && has(word.cues, kCueAdverb)) return true;
      const auto verb = word.entry == nullptr ? kNoVerb : word.entry->verb;
      if (verb != kNoVerb && actions_[verb] && ran_.groups[lexicon_.verb(verb).group] == 0) return true;
    }
    return false;
  });
}

/// True when a message names a file that the user asked for, but no output and no argument names it. Longer arguments count only when the
/// tool may run them.
bool MissingToolCall::names_unmade_file(const RunView& run, std::string_view text) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kLongestArgument = 300;
  std::vector<std::string_view> files;
  std::string buffer;
  collect_artifacts(told_of(text, buffer), kMost, files);
  const auto asked_for = [&](std::string_view file) {
    if (run.user_request.find(file) != std::string_view::npos) return true;
    return std::any_of(run.steps.begin(), run.steps.end(),
                       [&](const StepView& step) { return step.kind == Kind::kUser && step.said().find(file) != std::string_view::npos; });
  };
  std::vector<CallValue> values;
  const auto made = [&](std::string_view file) {
    const auto slash = file.rfind('/');
    if (slash != std::string_view::npos && slash + 1 < file.size()) file.remove_prefix(slash + 1);
    return std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
      if (step.kind != Kind::kTool) return false;
      run.pace(step.input.size() + step.output.size());
      if (step.output.find(file) != std::string_view::npos) return true;
      const auto at = step.input.find(file);
      if (at == std::string_view::npos) return false;
      if (tools_.meaning(step.name).any_purpose && !tool_words_.calls.written_members.contains(member_before(step.input, at))) return true;
      collect_values(step.input, tool_words_.calls, values);
      return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
        return value.text.size() <= kLongestArgument && value.text.find(file) != std::string_view::npos;
      });
    });
  };
  return std::any_of(files.begin(), files.end(), [&](std::string_view file) { return asked_for(file) && !made(file); });
}

/// The verb with which the message in reading_ says that something was made, if it names files and shows no code: text work leaves no
/// file. kNoVerb for none.
std::uint16_t MissingToolCall::made_file(std::string_view text) const {
  constexpr std::size_t kMost = 4;
  if (reading_.has_code || has(reading_.cues, kCueSimulated)) return kNoVerb;
  const auto made = std::find_if(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
    const bool told = !claim.finding && claim.verb != kNoVerb && (claim.by_agent || has_auxiliary(reading_, claim));
    return told && text_work_.shapes(claim.verb) && lexicon_.verb(claim.verb).group != finish_group_;
  });
  if (made == reading_.claims.end()) return kNoVerb;
  std::vector<std::string_view> files;
  collect_artifacts(text, kMost, files);
  const bool any =
      std::any_of(files.begin(), files.end(), [](std::string_view file) { return file.find("://") == std::string_view::npos; });
  return any ? made->verb : kNoVerb;
}

/// A promise or file in the agent's last message that no known call accounts for: weak evidence, but a candidate.
void MissingToolCall::find_unmatched(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kOwnsUpToOther = 0.35, kUnmade = 0.3, kOnlyPromised = 0.3, kFileOfNoTool = 0.65;
  if (told_beside_ && verdict.findings.empty()) {
    (void)line_.fires(kOwnsUpToOther, {"admission", *told_beside_, "the message admits something, but not where it reports this action"},
                      verdict);
    return;
  }
  if (!message.found || reading_.admits() || reading_.hands_over()) return;
  const bool acted = ran_.any_write || ran_.any_purpose;
  const auto add_candidate = [&](double confidence, std::string_view rule, std::string_view why) {
    if (verdict.has_candidate) return;
    (void)line_.fires(confidence, {rule, message.step, why}, verdict);
  };
  if (!reading_.understood(message.text)) return;
  const auto deed = [](const Claim& claim) { return !claim.finding && !claim.state; };
  if (const auto made = ran_.any ? kNoVerb : made_file(message.text); made != kNoVerb) {
    const Request meant{made, Thing::kUnknown, false, false, false, kNoStep, {}};
    if (!line_.fires(kFileOfNoTool, {"unmade_file", message.step, "the final message mentions a file, and no tool ran"}, verdict)) return;
    verdict.fire(finding(run, meant, {message.text, message.pointer(), message.step}, kNoToolScore), kFileOfNoTool);
  } else if (!acted && closes_on_promise(run, message.text)) {
    add_candidate(kOnlyPromised, "promise", "the final message promises what no call did, and the conversation ends");
  } else if (acted && std::any_of(reading_.claims.begin(), reading_.claims.end(), deed) && names_unmade_file(run, message.text)) {
    add_candidate(kUnmade, "unmade_file", "the final message names a requested file that no call created");
  }
}

/// Judges what the agent says at the end and no known call accounts for. Reads the message once.
void MissingToolCall::judge_last_words(const RunView& run, Verdict& verdict) {
  const auto message = last_message(run);
  if (ran_.any_write) judge_beside(run, message, verdict);
  if (verdict.findings.empty()) find_unmatched(run, message, verdict);
}

std::string MissingToolCall::cannot_tell(const RunView& run) const {
  if (run.steps.empty()) return "no steps: send the run's steps, tool calls among them if there were any";
  const auto any = [&](Kind kind) {
    return std::any_of(run.steps.begin(), run.steps.end(), [&](const auto& step) { return step.kind == kind; });
  };
  if (trim(run.user_request).empty() && !any(Kind::kUser)) return "no user turn: send userRequestText or user steps";
  if (any(Kind::kOther))
    return "steps of unknown kind, one of which may have been the tool: send stepKind (\"tool\", \"model\" or \"user\")";
  return {};
}

Verdict MissingToolCall::evaluate(const RunView& run) {
  Verdict verdict(run.explanation);
  verdict.cannot_tell = cannot_tell(run);
  if (!verdict.cannot_tell.empty()) return verdict;
  judge(run, verdict);
  if (other_tools_ && ran_.any_write && verdict.findings.empty()) judge_exchanges(run, verdict);
  if (written_calls_ && ran_.any && verdict.findings.empty()) judge_unmade_call(run, verdict);
  if (run.explanation != nullptr) explain(run);
  return verdict;
}

void MissingToolCall::judge(const RunView& run, Verdict& verdict) {
  text_work_.clear();
  told_beside_.reset();
  last_text_.reset();
  last_read_ = false;
  searches_ = 0;
  agreed_ = {};
  collect_ran(run);
  // If a tool for any purpose ran, or the rule is off, only the last message is judged, if anything.
  if (ran_.any && (ran_.any_purpose || !other_tools_)) {
    verdict.passed(ran_.any_purpose ? "any_purpose"
                   : ran_.any_write ? "other_writes"
                                    : "reads_only",
                   kNoStep, "a tool ran that may have done anything");
    if (ran_.any_purpose) judge_last_words(run, verdict);
    return;
  }
  // When tools that write ran, the requests are needed only once a claim is in doubt.
  requests_pending_ = ran_.any_write;
  if (!requests_pending_) requests_.collect(run, !ran_.any_write, reading_);
  if (ran_.any) {
    judge_with_tools(run, verdict);
  } else {
    judge_without_tools(run, verdict);
    // An earlier claim counts, too, unless the final message takes it back.
    const bool open = verdict.findings.empty() && verdict.suppressed.empty();
    if (other_tools_ && open && !requests_.found().empty()) judge_with_tools(run, verdict);
  }
  if (!ran_.any_write) {
    last_read_ = false;
    judge_written_call(run, verdict);
    if (verdict.findings.empty()) judge_unchanged(run, verdict);
    if (verdict.findings.empty()) judge_passing_on(run, verdict);
  }
  if (verdict.findings.empty()) judge_last_words(run, verdict);
}

/// Records the calls, the requests, and the final message with its claims. Call it last: it overwrites what was read before.
void MissingToolCall::explain(const RunView& run) {
  collect_ran(run);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    const auto outcome = step.outcome == Outcome::kFailed ? "failed" : step.outcome == Outcome::kOk ? "ok" : "unknown";
    run.explanation->action(run, i, effect_of(tools_.meaning(step.name)), outcome);
  }
  requests_.collect(run, !ran_.any_write, reading_);
  for (const auto& request : requests_.found()) {
    auto& item = run.explanation->add(ExplanationRecorder::Kind::kObligation, request.turn, "request");
    item.step = request.step;
    item.pointer = pointer_of(run, request);
    item.outcome = ran_.groups[lexicon_.verb(request.verb).group] != 0 ? "tried" : "open";
    item.reason = lexicon_.verb(request.verb).lemma;
  }
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found) return;
  run.explanation->statements(message.text, reading_, message.step);
  for (const auto& claim : reading_.claims) {
    if (claim.verb == kNoVerb || claim.finding) continue;
    const bool done = could_have(claim);
    auto& item = run.explanation->add(ExplanationRecorder::Kind::kMatch, reading_.words[claim.word].text, done ? "agrees" : "differs");
    item.step = message.step;
    item.pointer = message.pointer();
    item.reason = done ? "a tool that ran could have done it" : "no tool that ran could have done it";
  }
}

}  // namespace runwarden::plugins
