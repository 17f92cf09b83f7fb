#include "missing_tool_call/missing_tool_call.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/json_scan.h"
#include "common/shared_rules.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "evidence/written_call.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

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
AgentMessage last_said(const RunView& run) {
  const auto speaks = [](const StepView& step) { return step.kind == Kind::kModel && !trim(step.output).empty(); };
  const auto last = std::find_if(run.steps.rbegin(), run.steps.rend(), speaks);
  if (!trim(run.outcome).empty() || last == run.steps.rend()) return {run.outcome, "/outcomeSummary", kNoStep};
  const auto step = static_cast<std::size_t>(run.steps.rend() - last) - 1;
  return {last->output, pointer_to(step, Field::kOutput), step};
}

}  // namespace

MissingToolCall::MissingToolCall(std::string_view settings_json) : MissingToolCall(settings_json, Settings(settings_json, kForm)) {}

MissingToolCall::MissingToolCall(std::string_view settings_json, const Settings& settings)
    : rules_held_(shared_rules<DeedRules>(settings_json, settings)), scene_(settings, rules_) {}

std::string MissingToolCall::schema() {
  return kForm.schema();
}

void MissingToolCall::judge_without_tools(const RunView& run, Verdict& verdict) {
  if (!asked_deeds_.asks_for_any()) return;
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || scene_.reading.claims.empty() || holds_letter(message.text)) return;
  if (scene_.reading.admits() && rules_.admission) {
    verdict.suppress("admission", message.step, "the final message admits that something did not work");
    return;
  }
  asked_deeds_.resolve_light_verbs();
  const auto said = said_in(message);
  const bool brief = scene_.reading.words.size() <= kFewWords;
  std::string_view rule = "about_action";
  const Request* request = rules_.about_action ? nullptr : asked_deeds_.any_request(false, run, said, rule);
  for (const auto& claim : scene_.reading.claims) {
    if (request != nullptr) break;
    if (claim.finding) continue;
    const bool general = claim.verb == kNoVerb || rules_.lexicon.verb(claim.verb).group == rules_.finish_group;
    const auto* asked = asked_deeds_.request_for(claim);
    if (asked != nullptr && asked_deeds_.counts(*asked, claim)) request = asked_deeds_.real_request_for(claim, run, said, rule);
    if (request == nullptr && general) request = asked_deeds_.any_request(brief, run, said, rule);
  }
  if (request != nullptr) {
    verdict.findings.push_back(asked_deeds_.finding(run, *request, said, AskedDeeds::kNoToolScore));
  } else if (asked_deeds_.asks_for_listed() || rule != "about_action") {
    suppress(rule, message.step, verdict);
  }
}

void MissingToolCall::suppress(std::string_view rule, std::size_t step, Verdict& verdict) {
  std::string_view reason = "the final message's claim is not what the user asked for";
  if (rule == "text_product") reason = "the user asked for text, which the conversation itself contains";
  if (rule == "make_believe") reason = "the user asked to make something up or to play a part";
  verdict.suppress(rule, step, std::string(reason));
}

/// `remember(fact="...") I have updated my preferences`: the call is text, nothing ran, and the agent says that it is done.
void MissingToolCall::judge_written_call(const RunView& run, Verdict& verdict) {
  if (!rules_.written_calls || !verdict.findings.empty() || !may_end_in_call(run)) return;
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || (rules_.admission && scene_.reading.admits())) return;
  const auto call = written_call(message.text);
  if (!call) return;
  const auto ran = [&](const StepView& step) { return step.kind == Kind::kTool && base_name(step.name) == base_name(*call); };
  if (std::any_of(run.steps.begin(), run.steps.end(), ran)) return;
  const auto deed = std::find_if(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    return claim.by_agent && !claim.finding && claim.verb != kNoVerb && !tools_ran_.did_it(claim) &&
           (scene_.requests.listed(claim.verb) || scene_.requests.open(claim.verb));
  });
  if (deed == scene_.reading.claims.end()) return;
  const Request meant{deed->verb, Thing::kUnknown, false, false, false, kNoStep, run.user_request};
  if (asked_deeds_.asks_for_text(run)) {
    suppress("text_product", message.step, verdict);
  } else if (scene_.requests.make_believe(run)) {
    suppress("make_believe", message.step, verdict);
  } else {
    verdict.findings.push_back(
        asked_deeds_.finding(run, meant, said_in(message), scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore));
  }
}

/// Marks the groups of verbs whose claims must be checked: the user asked for them or they need a tool of their own, and no tool that ran
/// performs them.
void MissingToolCall::collect_in_doubt() {
  scene_.asked.assign(rules_.effects.size(), 0);
  for (const auto& request : scene_.requests.found()) scene_.asked[rules_.lexicon.verb(request.verb).group] = 1;
  scene_.in_doubt.resize(rules_.effects.size());
  std::transform(rules_.effects.begin(), rules_.effects.end(), scene_.ran.groups.begin(), scene_.in_doubt.begin(),
                 [](std::uint8_t effect, std::uint8_t ran) { return static_cast<std::uint8_t>(effect & (ran ^ 1)); });
  scene_.wide = false;
  if (scene_.ran.any_write) return;
  for (const auto& request : scene_.requests.found()) {
    const auto group = rules_.lexicon.verb(request.verb).group;
    scene_.in_doubt[group] = scene_.ran.groups[group] ^ 1;
    scene_.wide |= request.open || scene_.requests.has_noun(request);
  }
}

/// Reads only the parts of a message with a word whose claim could be a finding: the verb of a claim is always a word of the message.
/// A base form is a claim only if the message says "able to" or the like.
void MissingToolCall::judge_message(const RunView& run, const AgentMessage& said, Verdict& verdict) {
  if (holds_letter(said.text)) return;
  std::string buffer;
  const auto prose = prose_of(said.text, buffer);
  const auto claims = [&, able = std::optional<bool>(), self = std::optional<bool>()](const WordEntry& word) mutable {
    if (word.verb == kNoVerb || word.forms == kFormNoun) return false;
    const auto group = rules_.lexicon.verb(word.verb).group;
    const bool light = scene_.requests.light(word.verb);
    if (!scene_.in_doubt[group] && (scene_.ran.any_write || !light || word.forms == kFormBase)) return false;
    // After look-ups only, what nobody asked for counts where the agent says that it did it.
    if (!scene_.ran.any_write && !light && !scene_.asked[group] && (word.forms & kFormDoing) == 0) {
      if (!self) self = scene_.self_words.finds(prose);
      if (!*self) return false;
    }
    if ((word.forms & (kFormDone | kFormDoing)) != 0 || rules_.finished_words.count(word.word) != 0) return true;
    if (!able) able = scene_.able_words.finds(prose);
    return *able;
  };
  auto& words = scene_.wide ? scene_.action_words : scene_.relevant_words;
  TextLanguage language(prose, rules_.lexicon);
  words.each_passage(prose, rules_.lexicon, claims, [&](std::string_view passage) {
    read(passage, rules_.lexicon, scene_.reading, language.of_part(passage));
    if (scene_.wide) asked_deeds_.resolve_light_verbs();
    const auto doubtful = [&](const Claim& claim) { return is_doubtful(claim); };
    if (std::none_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), doubtful)) return true;
    if (scene_.requests_pending) {
      scene_.requests_pending = false;
      scene_.requests.collect(run, {!scene_.ran.any_write, scene_.ran.any_write}, scene_.reading);
      read(passage, rules_.lexicon, scene_.reading, language.of_part(passage));
    }
    return judge_passage(run, said, verdict);
  });
}

/// True for a claim that no tool supports, whatever the user asked for.
bool MissingToolCall::is_doubtful(const Claim& claim) const {
  if (claim.verb == kNoVerb || claim.finding || asked_deeds_.needs_no_tool(claim)) return false;
  const auto group = rules_.lexicon.verb(claim.verb).group;
  if (scene_.ran.any_write && !rules_.effects[group]) return false;
  return !tells_of_before(scene_.reading, claim) && !tools_ran_.could_have(claim);
}

/// True when the passage claims more than a state: "Done", "all set", "I've ...".
bool MissingToolCall::says_done() const {
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(),
                     [](const Claim& claim) { return !claim.state && !claim.finding && (claim.verb == kNoVerb || claim.by_agent); });
}

/// True when the agent admits in a later message that something did not or cannot work, or hands over to a person.
bool MissingToolCall::taken_back_after(const RunView& run, std::size_t step) {
  const auto takes_back = [&](std::string_view message) {
    run.pace(message.size());
    read_words(message, rules_.lexicon, scene_.reading);
    read_meaning(rules_.lexicon, scene_.reading, false);
    return scene_.reading.admits() || scene_.reading.hands_over();
  };
  for (auto i = step; i != kNoStep && ++i < run.steps.size();) {
    if (run.steps[i].kind == Kind::kModel && takes_back(run.steps[i].output)) return true;
  }
  return false;
}

/// "Tell Ulrike", and "Ulrike has been informed": no call since then carried a text, and none that changed something was about her.
bool MissingToolCall::is_told_to_nobody(const RunView& run, const Claim& claim, const Request& request) {
  return scene_.requests.telling(request.verb) && rules_.lexicon.verb(claim.verb).group == rules_.lexicon.verb(request.verb).group &&
         !beside_.may_be_told(run, claim, request) && !call_words_.is_about_changed(run, claim);
}

/// What a claim answers; nothing when it may not be a deed of the agent's.
std::optional<MissingToolCall::MatchedClaim> MissingToolCall::matched_claim(const RunView& run, const AgentMessage& said,
                                                                            const Claim& claim) {
  if (!is_doubtful(claim)) return std::nullopt;
  MatchedClaim matched{&claim, asked_deeds_.request_for(claim), false};
  if (matched.request != nullptr && asked_deeds_.is_later(*matched.request, said)) matched.request = nullptr;
  matched.asked = matched.request != nullptr && asked_deeds_.counts(*matched.request, claim);
  const auto group = rules_.lexicon.verb(claim.verb).group;
  // Other tools send notices of their own: unless the agent says that it sent one, the user must have asked for it since.
  const bool notice = scene_.ran.any_write && group == rules_.send_group && !claim.by_agent;
  if (notice && !(matched.asked && (tools_ran_.nothing_ran_between(run, matched.request->step, said.step) ||
                                    is_told_to_nobody(run, claim, *matched.request))))
    return std::nullopt;
  // In the middle of a conversation "is booked" describes a state, unless the agent also says that something is done.
  if (claim.state && said.step < scene_.last_words && !says_done()) return std::nullopt;
  // When no tool that writes ran, the claim may be mere talk: it does not count unless the user asked for it.
  if (!scene_.ran.any_write && !matched.asked && !(scene_.ran.any && rules_.effects[group] && claim.by_agent)) return std::nullopt;
  if (matched.request == nullptr && (!claim.by_agent || rules_.only_asked[claim.verb])) return std::nullopt;
  if (call_words_.names_made(run, claim)) return std::nullopt;
  return matched;
}

/// What is subtracted from the confidence when a claim may describe a thing, or what the tools that ran did by themselves.
double MissingToolCall::doubt_about(const RunView& run, const AgentMessage& said, const MatchedClaim& matched) {
  const auto& [reported, request, asked] = matched;
  const Claim& claim = *reported;
  const bool sends = rules_.lexicon.verb(claim.verb).group == rules_.send_group;
  // A tool that writes may send a notice itself, even if the agent says that it sent one.
  const bool notice_of_done =
      request != nullptr && asked &&
      (beside_.is_notice_of_done(run, claim, *request, said.step) || (scene_.ran.any_write && beside_.may_be_told(run, claim, *request)));
  if (notice_of_done || (scene_.ran.any_write && !asked && sends)) return kDescribes;
  // "I've recorded the booking", next to the call that booked, describes what that call did.
  if (scene_.ran.any_write && request == nullptr && call_words_.concerns(run, claim)) return kDescribes;
  // At the end, after look-ups only, "is booked" answers the request.
  const bool answers = claim.state && asked && !scene_.ran.any_write;
  return answers || plainly_done(scene_.reading, claim) ? 0 : kDescribes;
}

/// Judges the claims of one passage. Returns true when the rest of the message must still be judged.
bool MissingToolCall::judge_passage(const RunView& run, const AgentMessage& said, Verdict& verdict) {
  for (const auto& claim : scene_.reading.claims) {
    auto matched = matched_claim(run, said, claim);
    if (!matched) continue;
    if (call_words_.reported_state(run, claim)) {
      verdict.suppress("reported_state", said.step, "a tool reported this state");
      continue;
    }
    std::string_view rule;
    if (matched->request != nullptr) {
      matched->request = asked_deeds_.real_request_for(claim, run, said, rule);
    } else if (!scene_.ran.any_write && scene_.requests.make_believe(run)) {
      rule = "make_believe";
    }
    if (matched->request == nullptr && !rule.empty()) {
      suppress(rule, said.step, verdict);
      continue;
    }
    fire_claim(run, said, *matched, verdict);
    return false;
  }
  return true;
}

/// Fires unless the whole message, or a later one, admits that something did not work. Reads the message again.
void MissingToolCall::fire_claim(const RunView& run, const AgentMessage& said, const MatchedClaim& matched, Verdict& verdict) {
  const auto& [reported, request, asked] = matched;
  const Claim claim = *reported;
  const Request unasked{claim.verb, Thing::kUnknown, false, false, false, kNoStep, {}};
  const auto found = asked_deeds_.finding(run, request != nullptr ? *request : unasked, said,
                                          scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore);
  const double doubt = doubt_about(run, said, matched);
  const bool own_tool = rules_.effects[rules_.lexicon.verb(claim.verb).group];
  const bool plain = claim.by_agent && own_tool && !has(scene_.reading.sentences[claim.sentence].cues, kCueAdmission);
  read(said.text, rules_.lexicon, scene_.reading);
  if (request == nullptr && !scene_.reading.understood(said.text)) return;
  if (scene_.reading.admits() && rules_.admission) {
    if (plain) scene_.told_beside = said.step;
    verdict.suppress("admission", said.step, "the message admits that something did not work");
    return;
  }
  if (asked_deeds_.is_taken_back(run, said.step, claim.verb)) {
    verdict.suppress("admission", said.step, "a later message says that it was not done");
    return;
  }
  const bool taken_back = rules_.admission && taken_back_after(run, said.step);
  if (taken_back &&
      !rules_.line.fires(kTakenBack, {"admission", said.step, "a later message admits that something cannot be done"}, verdict))
    return;
  const double sure = (scene_.ran.any_write ? kBesideWrites : asked ? kAsked : kUnasked) - doubt;
  if (rules_.line.fires(sure, {"other_writes", said.step, "a tool that changes things ran, or nobody asked for this"}, verdict)) {
    verdict.fire(found, taken_back ? std::min(sure, kTakenBack) : sure);
  }
}

/// "All set!" after look-ups only: the final message claims whatever the user asked for.
void MissingToolCall::judge_general_claim(const RunView& run, Verdict& verdict) {
  if (!asked_deeds_.asks_for_any()) return;
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || (rules_.admission && scene_.reading.admits()) || (scene_.reading.cues & (kCueNothingFound | kCueHandover)) != 0)
    return;
  const auto claim = std::find_if(scene_.reading.claims.begin(), scene_.reading.claims.end(),
                                  [](const Claim& said) { return said.verb == kNoVerb && !said.finding; });
  // After other words it may be about those: "the check went through".
  if (claim == scene_.reading.claims.end() || claim->word != 0) return;
  const auto said = said_in(message);
  std::string_view rule;
  if (const auto* asked = asked_deeds_.any_request(scene_.reading.words.size() <= kFewWords, run, said, rule); asked != nullptr) {
    verdict.findings.push_back(
        asked_deeds_.finding(run, *asked, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore));
  }
}

/// The request of the user's last turn that the message in scene_.reading promises to fulfil: "I'll have it emailed to you".
const Request* MissingToolCall::promised(const RunView& run, std::size_t message) {
  if (scene_.requests_pending) {
    scene_.requests_pending = false;
    Reading scratch;
    scene_.requests.collect(run, {true, scene_.ran.any_write}, scratch);
  }
  for (const auto& sentence : scene_.reading.sentences) {
    bool by_agent = false;
    bool to_come = false;
    for (auto i = sentence.begin; i < sentence.end && !sentence.question; ++i) {
      const auto& word = scene_.reading.words[i];
      if (has(word.cues, kCueCondition | kCueNegation | kCueOffer)) break;
      by_agent |= has(word.cues, kCueSelf);
      to_come |= has(word.cues, kCueModal);
      if (!by_agent || !to_come || word.entry == nullptr || word.entry->verb == kNoVerb) continue;
      const auto group = rules_.lexicon.verb(word.entry->verb).group;
      if (!rules_.effects[group] || scene_.ran.groups[group]) continue;
      for (const auto& request : scene_.requests.found()) {
        if (!request.listed || rules_.lexicon.verb(request.verb).group != group || request.step == kNoStep) continue;
        if (tools_ran_.nothing_ran_between(run, asked_deeds_.begin_of(run, request.step), message)) return &request;
      }
    }
  }
  return nullptr;
}

/// The verb of a deed that the agent promises for now in the message in scene_.reading, and that no tool did: "I will now process the
/// refund". kNoVerb for none.
std::uint16_t MissingToolCall::promised_for_now() const {
  for (const auto& sentence : scene_.reading.sentences) {
    if (sentence.question || has(sentence.cues, kCueCondition | kCueNegation | kCueOffer) || !has(sentence.cues, kCueNow)) continue;
    bool promised = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto& word = scene_.reading.words[i];
      const auto next = i + 1 < sentence.end ? scene_.reading.words[i + 1].cues : 0;
      promised |= has(word.cues, kCuePromise) || (has(word.cues | next, kCueSelf) && has(word.cues | next, kCueModal));
      const auto verb = !promised || word.entry == nullptr ? kNoVerb : word.entry->verb;
      if (verb != kNoVerb && scene_.actions[verb] && !scene_.requests.light(verb) &&
          scene_.ran.groups[rules_.lexicon.verb(verb).group] == 0)
        return verb;
    }
  }
  return kNoVerb;
}

/// What the user has just agreed to and the message in scene_.reading, `said`, promises for now, if no call ran since and the conversation
/// ends or moves on: "I will now process the refund. Have a great day!"
std::optional<Request> MissingToolCall::agreed_and_promised(const RunView& run, const AgentMessage& said) {
  if (scene_.reading.has_code) return std::nullopt;
  auto turn = std::min(said.step, run.steps.size());
  const bool replied = turn < run.steps.size() && std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(turn), run.steps.end(),
                                                              [](const StepView& step) { return step.kind == Kind::kUser; });
  if (!replied && !has(scene_.reading.cues, kCueGoodbye | kCueClosingQuestion)) return std::nullopt;
  const auto verb = promised_for_now();
  if (verb == kNoVerb || !asked_deeds_.agreed_before(run, said)) return std::nullopt;
  while (turn > 0 && run.steps[turn - 1].kind != Kind::kUser) --turn;
  if (turn == 0 || !tools_ran_.nothing_ran_between(run, turn - 1, std::min(said.step, run.steps.size()))) return std::nullopt;
  Request request{verb, Thing::kUnknown, false, false, true, turn - 1, run.steps[turn - 1].said()};
  request.accepted = true;
  return request;
}

/// The request that a message promises to fulfill while it also says that all is done.
std::optional<Request> MissingToolCall::promised_at_close(const RunView& run, const FinalMessage& message) {
  const auto closes = [](const Claim& claim) { return claim.verb == kNoVerb && !claim.finding; };
  if (std::none_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), closes)) return std::nullopt;
  const auto* request = promised(run, std::min(message.step, run.steps.size()));
  return request == nullptr ? std::nullopt : std::optional(*request);
}

/// "I'll have the summary emailed. You're all set.": the conversation ends on a promise, and nothing ran since the request.
void MissingToolCall::judge_promise(const RunView& run, Verdict& verdict) {
  const auto leaves_open = [&] { return scene_.reading.asks() || scene_.reading.admits() || scene_.reading.hands_over(); };
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found) return;
  auto said = said_in(message);
  auto request = leaves_open() ? std::nullopt : agreed_and_promised(run, said);
  if (!request && !leaves_open()) request = promised_at_close(run, message);
  // A goodbye, which is not the final message, may promise, too.
  if (const auto last = last_said(run); !request && trim(last.text) != trim(message.text)) {
    read(last.text, rules_.lexicon, scene_.reading);
    if (!leaves_open()) request = agreed_and_promised(run, last);
    said = last;
  }
  std::string_view rule;
  if (!request || !asked_deeds_.is_real(*request, run, said, rule)) return;
  if (rules_.line.fires(kPromised, {"promise", said.step, "the agent only promises it"}, verdict)) {
    verdict.fire(asked_deeds_.finding(run, *request, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore),
                 kPromised);
  }
}

void MissingToolCall::judge_with_tools(const RunView& run, Verdict& verdict) {
  scene_.outputs_read = scene_.changes_read = false;
  scene_.last_words = last_words(run);
  collect_in_doubt();
  for (std::size_t i = 0; i < run.steps.size() && verdict.findings.empty(); ++i) {
    const auto& step = run.steps[i];
    run.pace(step.output.size());
    if (step.kind == Kind::kModel) judge_message(run, {step.output, pointer_to(i, Field::kOutput), i}, verdict);
  }
  if (verdict.findings.empty()) judge_message(run, {run.outcome, "/outcomeSummary", kNoStep}, verdict);
  if (verdict.findings.empty() && !scene_.ran.any_write) judge_general_claim(run, verdict);
  if (verdict.findings.empty()) judge_promise(run, verdict);
}

/// True when the last message announces what the agent is going to do although nothing changed anything; if any tool ran, the announced
/// action must be one that none of them performs.
bool MissingToolCall::closes_on_promise(const RunView& run, std::string_view read_already) {
  constexpr std::uint64_t kNoPromise = kCueCondition | kCueHypothesis | kCueNegation | kCueOffer;
  if (const auto last = last_said(run).text; last != read_already) read(last, rules_.lexicon, scene_.reading);
  if (scene_.reading.asks() || scene_.reading.admits() || scene_.reading.hands_over()) return false;
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (sentence.question || has(sentence.cues, kNoPromise)) return false;
    bool promised = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto& word = scene_.reading.words[i];
      const auto next = i + 1 < sentence.end ? scene_.reading.words[i + 1].cues : 0;
      const bool will = has(word.cues | next, kCueSelf) && has(word.cues | next, kCueModal);  // "I will", "werde ich", "I'll"
      promised |= will || has(word.cues, kCuePromise);
      if (!promised) continue;
      if (!scene_.ran.any && has(word.cues, kCueAdverb)) return true;
      const auto verb = word.entry == nullptr ? kNoVerb : word.entry->verb;
      if (verb != kNoVerb && scene_.actions[verb] && scene_.ran.groups[rules_.lexicon.verb(verb).group] == 0) return true;
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
      if (scene_.tools.meaning(step.name).any_purpose && !rules_.tool_words.calls.written_members.contains(member_before(step.input, at)))
        return true;
      collect_values(step.input, rules_.tool_words.calls, values);
      return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
        return value.text.size() <= kLongestArgument && value.text.find(file) != std::string_view::npos;
      });
    });
  };
  return std::any_of(files.begin(), files.end(), [&](std::string_view file) { return asked_for(file) && !made(file); });
}

/// The verb with which the message in scene_.reading says that something was made, if it names files and shows no code: text work leaves no
/// file. kNoVerb for none.
std::uint16_t MissingToolCall::made_file(std::string_view text) const {
  constexpr std::size_t kMost = 4;
  // Beside look-ups, code shows what the file is to hold.
  if ((scene_.reading.has_code && !scene_.ran.any) || has(scene_.reading.cues, kCueSimulated)) return kNoVerb;
  const auto made = std::find_if(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    const bool told = !claim.finding && claim.verb != kNoVerb && (claim.by_agent || has_auxiliary(scene_.reading, claim));
    return told && scene_.text_work.shapes(claim.verb) && rules_.lexicon.verb(claim.verb).group != rules_.finish_group;
  });
  if (made == scene_.reading.claims.end()) return kNoVerb;
  std::vector<std::string_view> files;
  collect_artifacts(text, kMost, files);
  const bool any =
      std::any_of(files.begin(), files.end(), [](std::string_view file) { return file.find("://") == std::string_view::npos; });
  return any ? made->verb : kNoVerb;
}

/// A promise or file in the agent's last message that no known call accounts for: weak evidence, but a candidate.
void MissingToolCall::find_unmatched(const RunView& run, const FinalMessage& message, Verdict& verdict) {
  constexpr double kOwnsUpToOther = 0.35, kUnmade = 0.3, kOnlyPromised = 0.3, kFileOfNoTool = 0.65;
  if (scene_.told_beside && verdict.findings.empty()) {
    (void)rules_.line.fires(
        kOwnsUpToOther, {"admission", *scene_.told_beside, "the message admits something, but not where it reports this action"}, verdict);
    return;
  }
  if (!message.found || scene_.reading.admits() || scene_.reading.hands_over()) return;
  const bool acted = scene_.ran.any_write || scene_.ran.any_purpose;
  const auto add_candidate = [&](double confidence, std::string_view rule, std::string_view why) {
    if (verdict.has_candidate) return;
    (void)rules_.line.fires(confidence, {rule, message.step, why}, verdict);
  };
  if (!scene_.reading.understood(message.text)) return;
  const auto deed = [](const Claim& claim) { return !claim.finding && !claim.state; };
  const auto made = acted ? kNoVerb : made_file(message.text);
  if (made != kNoVerb && (!scene_.ran.any || names_unmade_file(run, message.text))) {
    const Request meant{made, Thing::kUnknown, false, false, false, kNoStep, {}};
    const FiringLine::Doubt doubt{"unmade_file", message.step,
                                  "the final message mentions a file, and no tool ran that could have made it"};
    if (!rules_.line.fires(kFileOfNoTool, doubt, verdict)) return;
    const int score = scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore;
    verdict.fire(asked_deeds_.finding(run, meant, said_in(message), score), kFileOfNoTool);
  } else if (!acted && closes_on_promise(run, message.text)) {
    add_candidate(kOnlyPromised, "promise", "the final message promises what no call did, and the conversation ends");
  } else if (acted && std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), deed) &&
             names_unmade_file(run, message.text)) {
    add_candidate(kUnmade, "unmade_file", "the final message names a requested file that no call created");
  }
}

/// Judges what the agent says at the end and no known call accounts for.
void MissingToolCall::judge_last_words(const RunView& run, Verdict& verdict) {
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (scene_.ran.any_write) beside_.judge(run, message, verdict);
  if (scene_.ran.any_purpose && verdict.findings.empty()) commands_.judge(run, message, verdict);
  const bool admits = scene_.reading.admits();
  if (verdict.findings.empty()) find_unmatched(run, message, verdict);
  if (verdict.findings.empty() && scene_.ran.any_write && !admits) beside_.judge_earlier(run, message, verdict);
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
  if (rules_.other_tools && scene_.ran.any_write && verdict.findings.empty()) exchanges_.judge(run, verdict);
  if (rules_.other_tools && verdict.findings.empty()) passed_on_.judge_handover(run, verdict);
  if (rules_.written_calls && scene_.ran.any && verdict.findings.empty()) unmade_calls_.judge(run, verdict);
  if (rules_.other_tools && verdict.findings.empty()) unreached_.judge(run, verdict);
  if (rules_.any_action && rules_.other_tools && verdict.findings.empty()) learned_.judge(run, verdict);
  if (rules_.any_action && rules_.other_tools && verdict.findings.empty()) weighed_.judge(run, verdict);
  drop_done_by_user(run, verdict);
  if (run.explanation != nullptr) explain(run);
  return verdict;
}

/// Drops a finding whose message only repeats what the user did: "Cancel my class", "I've cancelled it in the app", "Good, it's cancelled".
void MissingToolCall::drop_done_by_user(const RunView& run, Verdict& verdict) {
  if (verdict.findings.empty()) return;
  const auto step = verdict.findings.front().primary_step;
  if (step != kNoStep && run.steps[step].kind != Kind::kModel) return;
  read(step == kNoStep ? run.outcome : run.steps[step].output, rules_.lexicon, scene_.reading);
  const auto group_of = [&](std::uint16_t verb) { return rules_.lexicon.verb(verb).group; };
  std::set<std::uint16_t> claimed;
  for (const auto& claim : scene_.reading.claims) {
    if (claim.verb != kNoVerb && !claim.finding) claimed.insert(group_of(claim.verb));
  }
  // "The 4 pm is off your calendar" names no verb.
  const auto& lemma = verdict.findings.front().fingerprint_parts.front();
  if (claimed.empty()) {
    for (const auto verb : rules_.lexicon.verbs_named({lemma})) claimed.insert(group_of(verb));
  }
  if (claimed.empty()) return;
  // From the last turn back: what was asked for since, or along with it, was wanted all the same.
  std::set<std::uint16_t> asked;
  std::set<std::uint32_t> of_user;  // sentences
  for (auto i = std::min(step, run.steps.size()); i-- > 0 && !claimed.empty();) {
    if (run.steps[i].kind != Kind::kUser) continue;
    run.pace(run.steps[i].said().size());
    read(run.steps[i].said(), rules_.lexicon, scene_.reading);
    for (const auto& word : scene_.reading.words) {
      const bool verb = word.entry != nullptr && word.entry->verb != kNoVerb;
      if (verb && (word.entry->forms & (kFormBase | kFormDone)) == kFormBase) asked.insert(group_of(word.entry->verb));
    }
    of_user.clear();
    for (const auto& told : scene_.reading.claims) {
      if (told.by_agent) of_user.insert(told.sentence);
    }
    if (tells_own_deed(scene_.reading, {})) std::erase_if(claimed, [&](std::uint16_t group) { return !asked.contains(group); });
    // "I've sent it and booked the room": of the second deed, too.
    for (const auto& told : scene_.reading.claims) {
      if (told.verb != kNoVerb && of_user.contains(told.sentence) && !asked.contains(group_of(told.verb)))
        claimed.erase(group_of(told.verb));
    }
  }
  if (!claimed.empty()) return;
  verdict.findings.clear();
  verdict.suppress("done_by_user", step, "the user said that they did what the message reports");
}

void MissingToolCall::judge(const RunView& run, Verdict& verdict) {
  scene_.text_work.clear();
  scene_.told_beside.reset();
  scene_.last_text.reset();
  scene_.searches = 0;
  scene_.agreed = {};
  tools_ran_.collect(run);
  // If a tool for any purpose ran, or the rule is off, only the last message is judged, if anything.
  if (scene_.ran.any && (scene_.ran.any_purpose || !rules_.other_tools)) {
    verdict.passed(scene_.ran.any_purpose ? "any_purpose"
                   : scene_.ran.any_write ? "other_writes"
                                          : "reads_only",
                   kNoStep, "a tool ran that may have done anything");
    if (scene_.ran.any_purpose) judge_last_words(run, verdict);
    return;
  }
  // When tools that write ran, the requests are needed only once a claim is in doubt.
  scene_.requests_pending = scene_.ran.any_write;
  if (!scene_.requests_pending) scene_.requests.collect(run, {!scene_.ran.any_write, scene_.ran.any_write}, scene_.reading);
  if (scene_.ran.any) {
    judge_with_tools(run, verdict);
  } else {
    judge_without_tools(run, verdict);
    // An earlier claim counts, too, unless the final message takes it back.
    const bool open = verdict.findings.empty() && verdict.suppressed.empty();
    if (rules_.other_tools && open && !scene_.requests.found().empty()) judge_with_tools(run, verdict);
  }
  if (!scene_.ran.any_write) {
    judge_written_call(run, verdict);
    if (verdict.findings.empty()) unchanged_.judge(run, verdict);
    if (verdict.findings.empty()) passed_on_.judge(run, verdict);
  }
  if (verdict.findings.empty()) judge_last_words(run, verdict);
}

/// Records the calls, the requests, and the final message with its claims. Call it last: it overwrites what was read before.
void MissingToolCall::explain(const RunView& run) {
  tools_ran_.collect(run);
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) continue;
    const auto outcome = step.outcome == Outcome::kFailed ? "failed" : step.outcome == Outcome::kOk ? "ok" : "unknown";
    run.explanation->action(run, i, effect_of(scene_.tools.meaning(step.name)), outcome);
  }
  scene_.requests.collect(run, {!scene_.ran.any_write, scene_.ran.any_write}, scene_.reading);
  for (const auto& request : scene_.requests.found()) {
    auto& item = run.explanation->add(ExplanationRecorder::Kind::kObligation, request.turn, "request");
    item.step = request.step;
    item.pointer = pointer_of(run, request);
    item.outcome = scene_.ran.groups[rules_.lexicon.verb(request.verb).group] != 0 ? "tried" : "open";
    item.reason = rules_.lexicon.verb(request.verb).lemma;
  }
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found) return;
  run.explanation->statements(message.text, scene_.reading, message.step);
  for (const auto& claim : scene_.reading.claims) {
    if (claim.verb == kNoVerb || claim.finding) continue;
    const bool done = tools_ran_.could_have(claim);
    auto& item =
        run.explanation->add(ExplanationRecorder::Kind::kMatch, scene_.reading.words[claim.word].text, done ? "agrees" : "differs");
    item.step = message.step;
    item.pointer = message.pointer();
    item.reason = done ? "a tool that ran could have done it" : "no tool that ran could have done it";
  }
}

}  // namespace runwarden::plugins
