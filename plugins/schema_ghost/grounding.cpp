#include "schema_ghost/grounding.h"

#include <algorithm>
#include <iterator>

#include "common/json_scan.h"
#include "common/words.h"
#include "evidence/stated_values.h"
#include "evidence/units.h"
#include "schema_ghost/made_up.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr int kScore = 82;
constexpr std::size_t kMostTokens = 8;
constexpr std::size_t kNewWordsOfATitle = 5;
constexpr std::size_t kWordOfName = 3;
constexpr std::size_t kMostStepsBetween = 64;
constexpr std::ptrdiff_t kMostWorkedOut = 64;

/// "Until the 1st" of "1 December": the request gives only the day, and the month follows from it.
bool names_day(std::string_view request, std::string_view date) {
  const auto begin = std::find_if(date.begin(), date.end(), is_digit);
  const std::string day(begin, std::find_if_not(begin, date.end(), is_digit));
  if (day.empty() || day.size() > 2) return false;
  for (auto at = request.find(day); at != std::string_view::npos; at = request.find(day, at + 1)) {
    const auto end = at + day.size();
    const bool whole = (at == 0 || !is_letter_or_digit(request[at - 1])) && (end == request.size() || !is_digit(request[end]));
    if (whole) return true;
  }
  return false;
}

}  // namespace

bool Grounding::looked_by_hand(std::string_view text) {
  if (!rules_.names || !scene_.by_hand_words.finds(text)) return false;
  read(text, rules_.lexicon, scene_.reading);
  return says_by_hand(scene_.reading);
}

Finding Grounding::finding(const RunView& run, std::size_t hollow, const std::string& pointer) const {
  const auto& step = run.steps[hollow];
  const std::string name(step_name(step));
  const bool failed = failure_of(step, rules_.content) != Failure::kNone;
  const auto returned = failed ? quote(failure_text(step)) : quote(step.output);
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kContext;
  out.score = kScore;
  out.title = "Schema ghost: model fabricated data after \"" + name + "\" returned nothing";
  out.summary =
      "Tool \"" + name + "\" returned an empty/null/error result (\"" + returned +
      "\"), yet the next model step produced specific, detailed output. The agent is likely hallucinating data the tool never provided.";
  out.primary_step = hollow;
  out.evidence.push_back({pointer_to(hollow, failed ? failure_field(step) : Field::kOutput), returned});
  for (const auto token : scene_.ungrounded) {
    if (out.evidence.size() > kMostTokens) break;
    out.evidence.push_back({pointer, quote(token)});
  }
  out.fingerprint_parts = {name, returned};
  return out;
}

void Grounding::read_answer(std::string_view text, Hollow hollow, bool by_hand) {
  constexpr std::string_view kFence = "```";
  text = with_plain_signs(told_of(text, scene_.told), scene_.plain);
  if (text.find(kFence) != std::string_view::npos) {
    scene_.prose.clear();
    while (!text.empty()) {
      const auto open = text.find(kFence);
      scene_.prose.append(text.substr(0, open)).append("\n");
      if (open == std::string_view::npos) break;
      const auto close = text.find(kFence, open + kFence.size());
      text = close == std::string_view::npos ? std::string_view{} : text.substr(close + kFence.size());
    }
    text = scene_.prose;
  }
  scene_.answer = text;
  collect_facts(text, scene_.facts, rules_.fact_words);
  scene_.names.clear();
  scene_.titles.clear();
  if (hollow.ids_only || hollow.apart || !rules_.names || looks_like_json(text)) return;
  collect_names(text, scene_.names, scene_.titles);
  if (by_hand) collect_items(text, scene_.names);
}

/// Adds everything said before a step that was not added yet.
template <class Add>
void Grounding::catch_up(const RunView& run, std::size_t step, std::size_t& upto, Add add) {
  if (upto == 0) add(run.user_request);
  for (; upto < step; ++upto) {
    const auto& before = run.steps[upto];
    run.pace(before.error_message.size() + before.input.size() + before.output.size());
    add(before.error_message);
    add(before.input);
    if (std::find(scene_.withheld.begin(), scene_.withheld.end(), upto) == scene_.withheld.end()) add(before.output);
  }
}

void Grounding::release(const RunView& run) {
  for (const auto step : scene_.withheld) {
    const auto& said = run.steps[step].output;
    if (step < scene_.spelled_upto) scene_.evidence.add_spelled(said);
    if (step < scene_.facts_upto) scene_.evidence.add_facts(said);
    if (step < scene_.words_upto) scene_.words.add_words(said);
  }
  scene_.withheld.clear();
}

/// A name is ungrounded when all its words are new, a title when several of its words, and most of them, are new.
bool Grounding::is_ungrounded(std::string_view name, std::size_t least_unknown) const {
  std::size_t unknown = 0;
  std::size_t known = 0;
  std::string folded;
  for (std::size_t i = 0; i < name.size();) {
    const auto end = std::min(name.find_first_of(" -'", i), name.size());
    const auto word = name.substr(i, end - i);
    fold(word, folded);
    const bool spelled = rules_.fact_words.spoken(folded) != '\0';  // "Sierra Kilo"
    if (word.size() >= kWordOfName && !spelled) ++(scene_.words.holds_word(word) ? known : unknown);
    i = end + 1;
  }
  return unknown >= least_unknown && (least_unknown == 1 ? known == 0 : unknown > known);
}

/// First drops the facts that occur in the run exactly as spelled. Only if some are left does it read the run for facts, and for the
/// results of calculations in the arguments of calls.
void Grounding::find_ungrounded_facts(const RunView& run, bool ids_only, std::size_t step) {
  const auto dismiss = [&](auto holds) { std::erase_if(scene_.facts, holds); };
  dismiss([&](const Fact& fact) { return !fact.strong || (ids_only && fact.kind != FactKind::kId); });
  if (rules_.grounding && !scene_.facts.empty()) {
    catch_up(run, step, scene_.spelled_upto, [&](std::string_view text) { scene_.evidence.add_spelled(text); });
    dismiss([&](const Fact& fact) { return scene_.evidence.holds_spelled(fact); });
  }
  if (rules_.grounding && !scene_.facts.empty()) {
    if (scene_.facts_upto == 0) hear_codes(run, scene_.evidence);
    catch_up(run, step, scene_.facts_upto, [&](std::string_view text) { scene_.evidence.add_facts(text); });
    dismiss([&](const Fact& fact) { return scene_.evidence.holds(fact); });
  }
  dismiss([&](const Fact& fact) { return fact.kind == FactKind::kDate && names_day(run.user_request, fact.text); });
  if (rules_.grounding) strike_dates(run);
  if (rules_.grounding) strike_times(run, step);
  const auto is_number = [](const Fact& fact) { return fact.kind == FactKind::kNumber; };
  if (rules_.grounding && std::any_of(scene_.facts.begin(), scene_.facts.end(), is_number)) {
    for (; scene_.worked_upto < step; ++scene_.worked_upto) {
      run.pace(run.steps[scene_.worked_upto].input.size());
      if (run.steps[scene_.worked_upto].kind != Kind::kTool) continue;
      work_out(run.steps[scene_.worked_upto].input, scene_.results);
      scene_.worked_out.insert(scene_.worked_out.end(), scene_.results.begin(), scene_.results.end());
      if (std::ssize(scene_.worked_out) > kMostWorkedOut)
        scene_.worked_out.erase(scene_.worked_out.begin(), scene_.worked_out.end() - kMostWorkedOut);
    }
    dismiss([&](const Fact& fact) { return is_number(fact) && comes_to(scene_.worked_out, fact.number, fact.text); });
    strike_worked_out();
    read_request(run);
    dismiss([&](const Fact& fact) { return is_number(fact) && asked_in_another_unit(fact); });
    scene_.rough_work.hear(run, step);
    dismiss([&](const Fact& fact) { return is_number(fact) && scene_.rough_work.holds(fact.text); });
  }
}

/// Drops the times that follow from others, each of which may lead on to the next: "leave at 9:30, arrive 11:11".
void Grounding::strike_times(const RunView& run, std::size_t step) {
  const auto is_time = [](const Fact& fact) { return fact.kind == FactKind::kTime; };
  if (std::none_of(scene_.facts.begin(), scene_.facts.end(), is_time)) return;
  catch_up(run, step, scene_.clock_upto, [&](std::string_view text) { scene_.clock.add(text); });
  std::erase_if(scene_.facts, [&](const Fact& fact) {
    if (!is_time(fact) || !scene_.clock.reaches_time(fact.number)) return false;
    scene_.clock.add(fact.text);
    return true;
  });
}

/// Drops the dates that follow from what the user says, in any turn: "10 business days from 6 October".
void Grounding::strike_dates(const RunView& run) {
  const auto is_date = [](const Fact& fact) { return fact.kind == FactKind::kDate; };
  if (std::none_of(scene_.facts.begin(), scene_.facts.end(), is_date)) return;
  if (!scene_.calendar_read) {
    scene_.calendar_read = true;
    scene_.calendar.clear();
    scene_.calendar.add(run.user_request);
    for (const auto& turn : run.steps) {
      if (turn.kind != Kind::kUser) continue;
      run.pace(turn.said().size());
      scene_.calendar.add(turn.said());
    }
  }
  std::erase_if(scene_.facts, [&](const Fact& fact) { return is_date(fact) && scene_.calendar.reaches_date(fact); });
}

/// "(2,480 - 560) / 80 = 24": drops the results of what the answer works out before its reader, whose figures need a source themselves, and
/// what follows from the results.
void Grounding::strike_worked_out() {
  work_out_told(scene_.answer, scene_.results);
  if (scene_.results.empty()) return;
  for (const auto result : scene_.results) scene_.evidence.add_number(result);
  std::erase_if(scene_.facts, [&](const Fact& fact) {
    return fact.kind == FactKind::kNumber && (comes_to(scene_.results, fact.number, fact.text) || scene_.evidence.holds(fact));
  });
}

/// Collects the first figures of the request, once per run.
void Grounding::read_request(const RunView& run) {
  constexpr std::size_t kMostFigures = 32;
  if (scene_.request_read) return;
  scene_.request_read = true;
  collect_facts(run.user_request, scene_.asked, rules_.fact_words);
  std::erase_if(scene_.asked, [](const Fact& fact) { return fact.kind != FactKind::kNumber; });
  if (scene_.asked.size() > kMostFigures) scene_.asked.resize(kMostFigures);
}

/// "10 pounds is 4.54 kilograms": a figure of the request in another unit, or the conversion factor itself.
bool Grounding::asked_in_another_unit(const Fact& fact) const {
  const auto point = fact.text.rfind('.');
  const auto decimals = point == std::string_view::npos ? 0 : fact.text.size() - point - 1;
  if (decimals > 0 && is_conversion(1, fact.number, decimals)) return true;
  return std::any_of(scene_.asked.begin(), scene_.asked.end(),
                     [&](const Fact& asked) { return is_conversion(asked.number, fact.number, decimals); });
}

void Grounding::find_ungrounded(const RunView& run, Hollow hollow, std::size_t step) {
  find_ungrounded_facts(run, hollow.ids_only, step);
  if (rules_.grounding) strike_rough_figures(run, hollow.step);
  if (rules_.grounding) strike_reckoned(run, hollow.step, step);
  if (scene_.names.size() >= kNamesThatTell || !scene_.titles.empty()) {
    catch_up(run, step, scene_.words_upto, [&](std::string_view text) { scene_.words.add_words(text); });
    std::erase_if(scene_.names, [&](auto name) { return !is_ungrounded(name, 1); });
    std::erase_if(scene_.titles, [&](auto title) { return !is_ungrounded(title, kNewWordsOfATitle); });
  }
  list_ungrounded();
}

/// "It comes to about $364": a calculation failed, and the agent did it in its head and says so.
void Grounding::strike_rough_figures(const RunView& run, std::size_t hollow) {
  const auto is_rough = [&](const Fact& fact) {
    return fact.kind == FactKind::kNumber && scene_.disclaimers.told_roughly(scene_.answer, fact.text);
  };
  if (std::none_of(scene_.facts.begin(), scene_.facts.end(), is_rough)) return;
  work_out(run.steps[hollow].input, scene_.results);
  if (!scene_.results.empty()) std::erase_if(scene_.facts, is_rough);
}

/// A calculation failed, and the agent did it in its head: drops the figures that follow, one after the other, from those that the user or
/// a tool gave. "18 at 46.50 make 837.00, less 10% (83.70) that is 753.30."
void Grounding::strike_reckoned(const RunView& run, std::size_t hollow, std::size_t step) {
  constexpr std::size_t kMostGiven = 2000, kMostTold = 32;  // bytes of an output, and figures of an answer
  const auto is_number = [](const Fact& fact) { return fact.kind == FactKind::kNumber; };
  if (std::none_of(scene_.facts.begin(), scene_.facts.end(), is_number)) return;
  std::string reckoning(run.steps[hollow].input.substr(0, kMostGiven));
  for (auto at = reckoning.find('%'); at != std::string::npos; at = reckoning.find('%', at + 1)) reckoning.replace(at, 1, "/100");
  work_out(reckoning, scene_.results);
  if (scene_.results.empty()) return;
  Derivation known;
  known.add_worked_out(reckoning);
  known.add(run.user_request);
  for (std::size_t i = 0; i < std::min(step, run.steps.size()); ++i) {
    const auto& given = run.steps[i];
    run.pace(std::min(given.output.size(), kMostGiven));
    if (given.kind == Kind::kUser) known.add(given.said());
    if (given.kind == Kind::kTool && !scene_.hollow[i] && given.output.size() <= kMostGiven) known.add(given.output);
  }
  std::vector<Fact> told;
  collect_facts(scene_.answer, told, rules_.fact_words);
  std::erase_if(told, [&](const Fact& fact) { return !is_number(fact); });
  if (told.size() > kMostTold) return;
  std::vector<double> reckoned;
  for (bool more = true; more;) {
    more = false;
    for (const auto& fact : told) {
      if (std::find(reckoned.begin(), reckoned.end(), fact.number) != reckoned.end()) continue;
      const auto point = fact.text.rfind('.');
      if (!known.reaches(fact.number, point == std::string_view::npos ? 0 : fact.text.size() - point - 1)) continue;
      reckoned.push_back(fact.number);
      known.add(fact.text);
      more = true;
    }
  }
  std::erase_if(scene_.facts, [&](const Fact& fact) {
    return is_number(fact) && std::find(reckoned.begin(), reckoned.end(), fact.number) != reckoned.end();
  });
}

void Grounding::list_ungrounded() {
  scene_.ungrounded.clear();
  for (const auto& fact : scene_.facts) scene_.ungrounded.push_back(fact.text);
  if (scene_.names.size() >= kNamesThatTell) scene_.ungrounded.insert(scene_.ungrounded.end(), scene_.names.begin(), scene_.names.end());
  scene_.ungrounded.insert(scene_.ungrounded.end(), scene_.titles.begin(), scene_.titles.end());
}

void Grounding::strike_examples() {
  scene_.examples.read(scene_.answer, rules_.lexicon, scene_.ungrounded);
  std::erase_if(scene_.facts, [&](const Fact& fact) { return scene_.examples.hold(fact.text); });
  std::erase_if(scene_.names, [&](auto name) { return scene_.examples.hold(name); });
  std::erase_if(scene_.titles, [&](auto title) { return scene_.examples.hold(title); });
  list_ungrounded();
}

void Grounding::strike_proposed() {
  const auto is_time = [](const Fact& fact) { return fact.kind == FactKind::kDate || fact.kind == FactKind::kTime; };
  std::erase_if(scene_.facts, [&](const Fact& fact) {
    return fact.kind == FactKind::kNumber && stands_in_condition(scene_.answer, fact.text, rules_.lexicon);
  });
  scene_.examples.read_offers(scene_.answer, rules_.lexicon);
  std::erase_if(scene_.facts,
                [&](const Fact& fact) { return is_time(fact) ? scene_.examples.hold(fact.text) : scene_.examples.hold_aside(fact.text); });
  std::erase_if(scene_.names, [&](auto name) { return scene_.examples.hold(name); });
  list_ungrounded();
}

std::vector<GhostScene::Stated> Grounding::stated_specifics() const {
  constexpr std::string_view kTypes[] = {"number", "date", "time", "id", "name"};
  std::vector<Stated> stated;
  for (const auto& fact : scene_.facts) {
    if (fact.strong) stated.push_back({std::string(fact.text), fact.money ? "amount" : kTypes[static_cast<std::size_t>(fact.kind)]});
  }
  for (const auto name : scene_.names) stated.push_back({std::string(name), "name"});
  for (const auto title : scene_.titles) stated.push_back({std::string(title), "title"});
  return stated;
}

bool Grounding::takes_from_later(const RunView& run, Hollow hollow, std::string_view text, std::size_t step) {
  if (step - hollow.step > kMostStepsBetween) return true;
  const auto later = [&](auto take) {
    for (auto i = hollow.step + 1; i < step; ++i) {
      if (run.steps[i].kind == Kind::kTool && !scene_.hollow[i] && !take(run.steps[i].output)) return false;
    }
    return true;
  };
  std::size_t bytes = 0;
  if (!later([&](std::string_view output) { return (bytes += output.size()) <= kMostUnrelated; })) return true;
  const auto telling = [](std::string_view word) { return word.size() >= kTellingWord || std::any_of(word.begin(), word.end(), is_digit); };
  scene_.told_words.clear();
  for_each_word(text, [&](std::string_view word) {
    if (telling(word)) scene_.told_words.insert(normal_id(word));
    return true;
  });
  const auto apart = [&](std::string_view word) { return !telling(word) || !scene_.told_words.contains(normal_id(word)); };
  return !later([&](std::string_view output) { return for_each_word(output, apart); });
}

}  // namespace runwarden::plugins
