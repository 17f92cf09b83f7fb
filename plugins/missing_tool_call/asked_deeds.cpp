#include "missing_tool_call/asked_deeds.h"

#include <algorithm>

#include "common/tools.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "missing_tool_call/told_deeds.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

template <class Take>
void each_turn(const RunView& run, Take take) {
  const auto pass_on = [&](std::string_view turn) {
    run.pace(turn.size());
    take(turn);
  };
  pass_on(run.user_request);
  for (const auto& step : run.steps) {
    if (step.kind == Kind::kUser) pass_on(step.said());
  }
}

/// Passes on the verbs of a text, and the group of each.
template <class Take>
void each_verb(std::string_view text, const Lexicon& lexicon, Take take) {
  std::string folded;
  fold(text, folded);
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word);) {
    const auto* entry = lexicon.find(word.text);
    if (entry != nullptr && entry->verb != kNoVerb) take(*entry, lexicon.verb(entry->verb).group);
  }
}

}  // namespace

const Request* AskedDeeds::request_for(const Claim& claim) const {
  if (claim.verb == kNoVerb) return nullptr;
  const auto group = rules_.lexicon.verb(claim.verb).group;
  const Request* first = nullptr;
  for (const auto& request : scene_.requests.found()) {
    if (rules_.lexicon.verb(request.verb).group != group) continue;
    if (counts(request, claim)) return &request;
    if (first == nullptr) first = &request;
  }
  return first;
}

bool AskedDeeds::counts(const Request& request, const Claim& claim) const {
  return request.listed || (request.open && (claim.state || is_deed(scene_.reading, claim)));
}

const Request* AskedDeeds::real_request_for(const Claim& claim, const RunView& run, const AgentMessage& said, std::string_view& rule) {
  const auto group = rules_.lexicon.verb(claim.verb).group;
  for (const auto& request : scene_.requests.found()) {
    if (rules_.lexicon.verb(request.verb).group != group || !(scene_.ran.any || counts(request, claim))) continue;
    if (is_real(request, run, said, rule)) return &request;
  }
  return nullptr;
}

const Request* AskedDeeds::any_request(bool open, const RunView& run, const AgentMessage& said, std::string_view& rule) {
  for (const auto& request : scene_.requests.found()) {
    if ((request.listed || (open && request.open)) && is_real(request, run, said, rule)) return &request;
  }
  return nullptr;
}

bool AskedDeeds::is_later(const Request& request, const AgentMessage& said) {
  return request.step != kNoStep && request.step > said.step;
}

bool AskedDeeds::is_real(const Request& request, const RunView& run, const AgentMessage& said, std::string_view& rule) {
  if (is_text_work(request, run, said)) {
    rule = "text_product";
  } else if (request.open && !request.listed && scene_.requests.make_believe(run)) {
    rule = "make_believe";
  } else {
    return true;
  }
  return false;
}

bool AskedDeeds::is_talk(const Verdict& verdict) {
  return std::any_of(verdict.suppressed.begin(), verdict.suppressed.end(),
                     [](const Suppression& told) { return told.rule == "text_product" || told.rule == "make_believe"; });
}

bool AskedDeeds::asks_for_any() const {
  return std::any_of(scene_.requests.found().begin(), scene_.requests.found().end(),
                     [](const Request& request) { return request.listed || request.open; });
}

void AskedDeeds::resolve_light_verbs() {
  constexpr std::uint32_t kReach = 10;
  for (auto& claim : scene_.reading.claims) {
    if (claim.verb == kNoVerb || !scene_.requests.light(claim.verb)) continue;
    const auto names = [&](const ReadWord& word) {
      if (word.entry == nullptr || !scene_.requests.is_action_noun(*word.entry)) return false;
      Claim meant = claim;
      meant.verb = word.entry->verb;
      if (request_for(meant) == nullptr) return false;
      claim = meant;
      scene_.reading.source.clear();
      return true;
    };
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    const auto end = std::min(sentence.end, claim.word + 1 + kReach);
    auto i = claim.word + 1;
    const auto goes_on = [&] { return i < end && scene_.reading.words[i].before == Break::kNone; };
    const auto denied = [&] { return has(scene_.reading.words[i].cues, kCueNegation); };
    while (goes_on() && !denied() && !names(scene_.reading.words[i])) ++i;
    if (claim.by_agent || goes_on()) continue;
    const auto begin = claim.word - std::min(claim.word - sentence.begin, kReach);
    for (auto k = claim.word; k > begin && scene_.reading.words[k].before == Break::kNone && !names(scene_.reading.words[k - 1]);) --k;
  }
}

bool AskedDeeds::asks_for_listed() const {
  return std::any_of(scene_.requests.found().begin(), scene_.requests.found().end(), [](const Request& request) { return request.listed; });
}

/// True when the message names a file that a call had among its arguments: "Updated `config.yaml`".
bool AskedDeeds::names_seen_file(const RunView& run, const AgentMessage& said) {
  constexpr std::size_t kMost = 4;
  if (!scene_.ran.any) return false;
  std::vector<std::string_view> files;
  collect_artifacts(said.text, kMost, files);
  std::erase_if(files, [](std::string_view file) { return file.find("://") != std::string_view::npos; });
  return !files.empty() && std::any_of(run.steps.begin(), run.steps.end(), [&](const StepView& step) {
    if (step.kind != Kind::kTool) return false;
    run.pace(step.input.size());
    return std::any_of(files.begin(), files.end(), [&](std::string_view file) { return step.input.find(file) != std::string_view::npos; });
  });
}

/// "Create a poem", "update this paragraph: ...": the answer itself is what the user asks for.
bool AskedDeeds::is_text_work(const Request& request, const RunView& run, const AgentMessage& said) {
  if (!rules_.text_product || !scene_.text_work.shapes(request.verb)) return false;
  // When tools that write ran, when the agent proposed it after look-ups, or when "order" means a purchase, the request must name a text.
  if (scene_.ran.any_write || (request.accepted && scene_.ran.any) || (scene_.text_work.sorts(request.verb) && !request.sorting))
    return request.thing == Thing::kText;
  if (names_seen_file(run, said)) return request.thing == Thing::kText;
  // After look-ups, "move it" means a text only where there was one.
  if (scene_.ran.any && request.thing == Thing::kUnknown && !request.sorting) {
    auto turn = std::min(said.step, run.steps.size());
    while (turn > 0 && run.steps[turn - 1].kind != Kind::kUser) --turn;
    return scene_.text_work.given_by(run, turn);
  }
  const auto thing = request.sorting && request.thing != Thing::kText ? Thing::kEither : request.thing;
  return scene_.text_work.holds(run, thing, rules_.effects[rules_.lexicon.verb(request.verb).group] != 0, said.text, said.step);
}

Finding AskedDeeds::finding(const RunView& run, const Request& request, const AgentMessage& said, int score) const {
  const auto& verb = rules_.lexicon.verb(request.verb).lemma;
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

bool AskedDeeds::asks_for_text(const RunView& run) {
  const auto names_text = [&](std::string_view turn) {
    run.pace(turn.size());
    if (turn.find("```") != std::string_view::npos) return true;
    read_words(turn, rules_.lexicon, scene_.reading);
    return std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(),
                       [&](const ReadWord& word) { return scene_.text_work.is_text(word.text, scene_.reading.language); });
  };
  if (names_text(run.user_request)) return true;
  return std::any_of(run.steps.begin(), run.steps.end(),
                     [&](const StepView& step) { return step.kind == Kind::kUser && names_text(step.said()); });
}

/// True for a user turn that agrees to what the agent proposed to do: "shall I put you down for 9:20?" and "yes please".
bool AskedDeeds::agrees(const RunView& run, std::size_t turn) const {
  constexpr std::uint32_t kOpening = 3;
  const auto offer = begin_of(run, turn);
  if (offer == 0) return false;
  run.pace(run.steps[offer - 1].output.size() + run.steps[turn].said().size());
  Reading reading;
  read_words(run.steps[offer - 1].output, rules_.lexicon, reading);
  read_meaning(rules_.lexicon, reading, false);
  // "Could you confirm" proposes nothing, and what "would you like me to book it" proposes is a request.
  const auto proposes = [&](const Sentence& sentence) {
    const auto next = behind_would_you(reading, sentence);
    return sentence.question && (next == sentence.end || has(reading.words[next].cues, kCueWish));
  };
  if (std::none_of(reading.sentences.begin(), reading.sentences.end(), proposes)) return false;
  read_words(run.steps[turn].said(), rules_.lexicon, reading);
  read_meaning(rules_.lexicon, reading, false);
  return std::any_of(reading.sentences.begin(), reading.sentences.end(), [&](const Sentence& sentence) {
    const auto begin = reading.words.begin() + sentence.begin;
    const auto end = begin + std::min(kOpening, sentence.end - sentence.begin);
    return std::any_of(begin, end, [](const ReadWord& word) { return has(word.cues, kCueConsent); }) &&
           std::none_of(begin, end, [&](const ReadWord& word) { return negates(reading, word); });
  });
}

bool AskedDeeds::agreed_before(const RunView& run, const AgentMessage& said) const {
  auto turn = std::min(said.step, run.steps.size());
  while (turn > 0 && run.steps[turn - 1].kind != Kind::kUser) --turn;
  return turn > 0 && agrees(run, turn - 1);
}

AskedDeeds::Order AskedDeeds::order_before(const RunView& run, const AgentMessage& said, const Claim& claim) {
  Order best;
  std::string_view rule;
  for (const auto& request : scene_.requests.found()) {
    if (!(request.listed || request.open) || is_later(request, said)) continue;
    const bool telling = scene_.requests.telling(request.verb);
    const bool same = claim.verb != kNoVerb && rules_.lexicon.verb(request.verb).group == rules_.lexicon.verb(claim.verb).group;
    const auto match = same ? Order::kSame : request.conditional || telling ? Order::kConditional : Order::kOther;
    if (match <= best.match) continue;
    if (!is_real(request, run, said, rule)) {
      best.silenced = rule;
      continue;
    }
    best = {match, &request, false, {}};
  }
  return best;
}

Request AskedDeeds::meant(const Order& order, const Claim& claim) {
  return order.request != nullptr ? *order.request : Request{claim.verb, Thing::kUnknown, false, false, false, kNoStep, {}};
}

/// Reads which verbs the user's turns name, once per run.
void AskedDeeds::read_user(const RunView& run) {
  if (scene_.user_read) return;
  scene_.user_read = true;
  each_turn(run, [&](std::string_view turn) {
    each_verb(turn, rules_.lexicon, [&](const WordEntry& word, std::uint16_t group) {
      scene_.named_by_user.insert(group);
      if ((word.forms & kFormDone) != 0) scene_.done_by_user.insert(group);
    });
  });
}

/// Reads which verbs are in the texts that the user gave to work on, once per run.
void AskedDeeds::read_given(const RunView& run) {
  if (scene_.given_read) return;
  scene_.given_read = true;
  each_turn(run, [&](std::string_view turn) {
    each_verb(scene_.requests.given_text(turn), rules_.lexicon,
              [&](const WordEntry&, std::uint16_t group) { scene_.given_by_user.insert(group); });
  });
}

bool AskedDeeds::user_names(const RunView& run, const Claim& claim) {
  return claim.verb != kNoVerb && scene_.requests.acts_alone(claim.verb) && done_by_user(run, claim);
}

bool AskedDeeds::done_by_user(const RunView& run, const Claim& claim) {
  if (claim.verb == kNoVerb) return false;
  read_user(run);
  return scene_.done_by_user.contains(rules_.lexicon.verb(claim.verb).group);
}

bool AskedDeeds::in_given_text(const RunView& run, const Claim& claim) {
  if (claim.verb == kNoVerb) return false;
  read_given(run);
  return scene_.given_by_user.contains(rules_.lexicon.verb(claim.verb).group);
}

bool AskedDeeds::user_asked_about(const RunView& run, const Claim& claim) {
  read_user(run);
  return scene_.named_by_user.contains(rules_.lexicon.verb(claim.verb).group);
}

bool AskedDeeds::is_taken_back(const RunView& run, std::size_t step, std::uint16_t verb) const {
  if (!rules_.admission || verb == kNoVerb || step == kNoStep) return false;
  const auto group = rules_.lexicon.verb(verb).group;
  Reading reading;
  for (const auto& message : told_messages(run)) {
    if (message.place != kNoStep && message.place <= step) return false;
    run.pace(message.text.size());
    read_words(message.text, rules_.lexicon, reading);
    read_meaning(rules_.lexicon, reading, false);
    if (says_not_done(reading, group)) return true;
  }
  return false;
}

bool AskedDeeds::needs_no_tool(const Claim& claim) const {
  constexpr std::uint32_t kReach = 4;
  if (claim.verb == kNoVerb) return false;
  const auto next = claim.word + 1;
  const bool to_user = next < scene_.reading.sentences[claim.sentence].end && has(scene_.reading.words[next].cues, kCueAddressee);
  if (scene_.requests.telling(claim.verb) && to_user) return true;
  if (!scene_.requests.light(claim.verb)) return false;
  const auto end = std::min(scene_.reading.sentences[claim.sentence].end, claim.word + 1 + kReach);
  return std::any_of(scene_.reading.words.begin() + claim.word + 1, scene_.reading.words.begin() + end,
                     [&](const ReadWord& word) { return is_read_tool(word.text, rules_.tool_words); });
}

std::size_t AskedDeeds::begin_of(const RunView& run, std::size_t turn) {
  while (turn > 0 && (run.steps[turn - 1].kind != Kind::kModel || trim(run.steps[turn - 1].output).empty())) --turn;
  return turn;
}

}  // namespace runwarden::plugins
