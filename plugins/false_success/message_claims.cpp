#include "false_success/message_claims.h"

#include <algorithm>
#include <optional>

#include "common/tools.h"
#include "common/words.h"
#include "evidence/artifacts.h"
#include "evidence/call_entities.h"
#include "evidence/program_end.h"
#include "false_success/call_texts.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

/// True for a word within a text that is part of a JSON member's name: "request" in {"request_id": 7}.
bool in_member_name(std::string_view text, std::string_view word) {
  auto at = static_cast<std::size_t>(word.data() - text.data()) + word.size();
  while (at < text.size() && (is_word_byte(text[at]) || text[at] == '_' || text[at] == '-')) ++at;
  return at + 1 < text.size() && text[at] == '"' && text[at + 1] == ':';
}

/// "refund" of "your refund's been sent".
std::string_view without_possessive(std::string_view word) {
  constexpr std::string_view kPossessive = "'s";
  if (word.ends_with(kPossessive)) word.remove_suffix(kPossessive.size());
  return word;
}

/// True for a word of a closed class, which names nothing: "your", "now".
bool is_small(const WordEntry& word) {
  constexpr std::uint64_t kOfNouns = kCueTextProduct | kCueAnyPurpose | kCueSequenceNoun | kCueNounModal;
  return word.verb == kNoVerb && has(word.cues, ~kOfNouns);
}

/// True when the first 4 KiB of the output of an earlier call have the word with a capital.
bool named_before(const RunView& run, const StepView& step, std::string_view word) {
  constexpr std::size_t kMostBytes = 4096;
  std::string name(word);
  if (is_lower(name[0])) name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return std::any_of(run.steps.data(), &step, [&](const StepView& before) {
    if (before.kind != Kind::kTool) return false;
    const auto output = before.output.substr(0, kMostBytes);
    run.pace(output.size());
    return output.find(name) != std::string_view::npos;
  });
}

/// Folds what tells the purpose of a call: its arguments, the user's request and its tool.
void fold_purpose(const RunView& run, const StepView& step, std::string& out) {
  run.pace(step.input.size() + run.user_request.size());
  std::string part;
  fold(step.input, out);
  fold(run.user_request, part);
  out.append("\n").append(part);
  fold(step.name, part);
  out.append("\n").append(part);
}

}  // namespace

bool MessageClaims::names_undone(const StepView& step) {
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    return value.names_object && !scene_.done_values.contains(value.normal) && value.text.size() <= kLongestValue &&
           mentioned(value.text, false);
  });
}

void MessageClaims::index_message() {
  if (scene_.indexed) return;
  scene_.indexed = true;
  scene_.said.clear();
  scene_.claimed.clear();
  for (const auto& word : scene_.reading.words) {
    scene_.said.insert(hash_bytes(word.text));
    scene_.said.insert(hash_bytes(without_possessive(word.text)));
  }
  for (std::size_t i = 0; i < scene_.reading.claims.size(); ++i) {
    const auto number = scene_.reading.claims[i].sentence;
    if (i > 0 && scene_.reading.claims[i - 1].sentence == number) continue;
    const auto& sentence = scene_.reading.sentences[number];
    for (auto k = sentence.begin; k < sentence.end; ++k) scene_.claimed.insert(hash_bytes(scene_.reading.words[k].text));
  }
}

bool MessageClaims::mentioned(std::string_view value, bool in_claims) {
  index_message();
  return all_words_in(value, in_claims ? scene_.claimed : scene_.said);
}

bool MessageClaims::all_words_in(std::string_view value, const HashSet& words) {
  fold(value, scene_.folded);
  std::replace(scene_.folded.begin(), scene_.folded.end(), '_', ' ');
  WordCursor cursor(scene_.folded);
  std::size_t count = 0;
  for (RawWord word; cursor.next(word); ++count) {
    if (!words.contains(hash_bytes(word.text))) return false;
  }
  return count > 0;
}

bool MessageClaims::mentions_undone_value(const StepView& step, bool words_only) {
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  std::size_t tried = 0;
  return std::any_of(scene_.values.begin(), scene_.values.end(), [&](const CallValue& value) {
    if (scene_.done_values.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || tried >= kMostValues)
      return false;
    if (is_placeholder(value) || is_small_word(value.text) || (words_only && all_words_in(value.text, scene_.done_words))) return false;
    const auto digits = std::any_of(value.text.begin(), value.text.end(), is_digit);
    // Only kinds ("business") count here, not addresses or names of things.
    if (words_only && (digits || value.names_object || value.text.find_first_of(" @./") != std::string_view::npos)) return false;
    ++tried;
    return mentioned(value.text, true);
  });
}

bool MessageClaims::is_small_word(std::string_view value) {
  fold(value, scene_.folded);
  const auto* entry = rules_.lexicon.find(scene_.folded);
  return entry != nullptr && is_small(*entry);
}

bool MessageClaims::verb_claimed(const ToolMeaning& tool, Claimed how) const {
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    const bool unnamed = claim.verb == kNoVerb || rules_.lexicon.verb(claim.verb).group == rules_.finish_group;
    if (how == Claimed::by_name && (unnamed || tool.group == 0)) return false;
    if (unnamed || tool.group == 0 || tool.any_purpose || (how == Claimed::any_state && !claim.state)) return true;
    return std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(claim.verb).group) != tool.groups.end();
  });
}

bool MessageClaims::counts_all(const RunView& run, std::size_t failed, std::string_view word) const {
  constexpr std::ptrdiff_t kFewest = 2, kMost = 9;
  const bool digit = word.size() == 1 && is_digit(word[0]);
  const char number = digit ? word[0] : rules_.fact_words.spoken(word);
  if (!is_digit(number)) return false;
  const auto is_turn = [](const StepView& step) { return step.kind == Kind::kUser; };
  const auto at = run.steps.begin() + static_cast<std::ptrdiff_t>(failed);
  const auto begin = std::find_if(std::make_reverse_iterator(at), run.steps.rend(), is_turn).base();
  const auto calls = std::count_if(begin, std::find_if(at, run.steps.end(), is_turn),
                                   [&](const StepView& step) { return step.kind == Kind::kTool && step.name == at->name; });
  // "2 seats" may count what one call was about.
  return calls >= (digit ? kFewest + 1 : kFewest) && calls <= kMost && number == static_cast<char>('0' + calls);
}

bool MessageClaims::claims_all(const RunView& run, const FailedStep& failed) {
  const auto& step = run.steps[failed.step];
  if (scene_.recovery.meaning(step.name).runs_anything() || user_replied(run, failed.step, std::min(scene_.told_place, run.steps.size())))
    return false;
  if (names_undone(step) || !outcomes_.worked_in_turn(run, failed.step)) return false;
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (claim.finding) return false;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    return std::any_of(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end,
                       [&](const ReadWord& word) {
                         if (has(word.cues, kCueFinished)) return false;
                         return among(word.text, rules_.all_words) || counts_all(run, failed.step, word.text);
                       });
  });
}

bool MessageClaims::tells_undone_value(const StepView& step) {
  collect_values(step.input, rules_.content.tools.calls, scene_.values);
  std::size_t tried = 0;
  for (const auto& value : scene_.values) {
    if (scene_.done_values.contains(value.normal) || value.text.size() < 3 || value.text.size() > kLongestValue || ++tried > kMostValues)
      continue;
    fold(value.text.substr(std::min(value.text.find_first_not_of("#$"), value.text.size())), scene_.folded);
    for (const auto& sentence : scene_.reading.sentences) {
      const bool claims = has_claim(scene_.reading, static_cast<std::size_t>(&sentence - scene_.reading.sentences.data()));
      if (!negates_anything(scene_.reading, sentence)) continue;
      for (auto i = sentence.begin; i < sentence.end; ++i) {
        if (scene_.reading.words[i].text == scene_.folded && (!claims || negated_before(scene_.reading, sentence, i))) return true;
      }
    }
  }
  return false;
}

bool MessageClaims::tells_failure(const RunView& run, const StepView& step) {
  fold(quote(failure_text(step)) + "\n" + quote(step.output), scene_.folded);
  fold(step.input, scene_.folded_value);
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    if (word.text.size() < 3 || !std::any_of(word.text.begin(), word.text.end(), is_digit)) continue;
    if (scene_.folded_value.find(word.text) != std::string_view::npos || run.user_request.find(word.text) != std::string_view::npos)
      continue;  // names the object, not the failure
    const auto repeats = [&](const ReadWord& said) { return said.text == word.text; };
    if (std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), repeats)) return true;
  }
  return false;
}

bool MessageClaims::tells_hindrance(const ToolMeaning& tool) const {
  const auto hinders = [&](const Claim& claim) {
    if (claim.by_agent || claim.verb == kNoVerb || !rules_.hindering[claim.verb]) return false;
    const auto group = rules_.lexicon.verb(claim.verb).group;
    return std::find(tool.groups.begin(), tool.groups.end(), group) == tool.groups.end();
  };
  return !scene_.reading.claims.empty() && std::all_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), hinders);
}

void MessageClaims::index_told() {
  constexpr std::uint64_t kUntold = kCueHypothesis | kCueNegation | kCueOffer | kCuePlan | kCueSimulated | kCueExample;
  scene_.told.clear();
  for (const auto& sentence : scene_.reading.sentences) {
    const auto begin = scene_.reading.words.begin() + sentence.begin;
    if (sentence.question || sentence.nonfactual || negates_anything(scene_.reading, sentence) || has(sentence.cues, kUntold)) continue;
    // The part before "will" or "once" states something only if it has a verb.
    const auto opens = std::find_if(begin, begin + (sentence.end - sentence.begin),
                                    [](const ReadWord& word) { return has(word.cues, kCueModal | kCueCondition); });
    const auto told_to = static_cast<std::uint32_t>(opens - scene_.reading.words.begin());
    if (told_to < sentence.end &&
        std::none_of(begin, opens, [](const ReadWord& word) { return has(word.cues, kCueAuxiliary | kCuePassive); }))
      continue;
    for (auto i = sentence.begin; i < told_to; ++i) {
      const auto word = scene_.reading.words[i].text;
      scene_.told.insert(hash_bytes(word));
      scene_.told.insert(hash_bytes(without_possessive(word)));
    }
  }
}

bool MessageClaims::tells_word_of(std::string_view text) {
  constexpr std::size_t kTelling = 4, kMostBytes = 2048;
  fold(text.substr(0, kMostBytes), scene_.folded);
  std::replace(scene_.folded.begin(), scene_.folded.end(), '_', ' ');
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    if (word.text.size() < kTelling || !scene_.told.contains(hash_bytes(word.text))) continue;
    const auto* entry = rules_.lexicon.find(word.text);
    if (entry == nullptr || !is_small(*entry)) return true;
  }
  return false;
}

bool MessageClaims::denies_of(const StepView& step) {
  constexpr std::size_t kMostBytes = 2048;
  std::vector<std::string> words;
  split_tool_name(step.name, words);
  std::string text(step.input.substr(0, kMostBytes));
  for (const auto& word : words) text.append(" ").append(word);
  return denies_word_of(text);
}

bool MessageClaims::denies_tool(const StepView& step) {
  return denies_word_of(step.name);
}

bool MessageClaims::denies_word_of(std::string_view text) {
  constexpr std::size_t kTelling = 4;
  fold(text, scene_.folded);
  std::replace(scene_.folded.begin(), scene_.folded.end(), '_', ' ');
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    if (!negates_anything(scene_.reading, sentence)) return false;
    return std::any_of(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end,
                       [&](const ReadWord& word) {
                         return word.text.size() >= kTelling && (word.entry == nullptr || !is_small(*word.entry)) &&
                                scene_.folded.find(word.text) != std::string::npos;
                       });
  });
}

bool MessageClaims::tells_deed_of(std::string_view arguments) {
  constexpr std::size_t kMost = 4, kMostBytes = 2048;
  arguments = arguments.substr(0, kMostBytes);
  collect_artifacts(arguments, kMost, scene_.artifacts);
  const auto told = [&](std::string_view file) { return all_words_in(file.substr(file.rfind('/') + 1), scene_.told); };
  if (std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), told)) return true;
  fold(arguments, scene_.folded);
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    const auto* entry = rules_.lexicon.find(word.text);
    if (entry == nullptr || entry->verb == kNoVerb || (entry->forms & kFormBase) == 0) continue;
    const auto group = rules_.lexicon.verb(entry->verb).group;
    if (std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
          return !claim.finding && claim.verb != kNoVerb && rules_.lexicon.verb(claim.verb).group == group;
        }))
      return true;
  }
  return false;
}

bool MessageClaims::claims_deed_of(const StepView& step) {
  const auto& groups = scene_.recovery.meaning(step.name).groups;
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (claim.finding) return false;
    const auto group = claim.verb == kNoVerb ? rules_.finish_group : rules_.lexicon.verb(claim.verb).group;
    if (group == rules_.finish_group) return true;
    // What was sent may have been sent by another tool.
    return group != rules_.send_group && std::find(groups.begin(), groups.end(), group) != groups.end();
  });
}

bool MessageClaims::speaks_of(const RunView& run, const StepView& step) {
  if (claims_deed_of(step)) return true;
  const auto turn = std::find_if(run.steps.rbegin(), run.steps.rend(), [](const StepView& other) { return other.kind == Kind::kUser; });
  return tells_word_of(turn == run.steps.rend() ? run.user_request : turn->said()) || tells_word_of(step.input);
}

bool MessageClaims::gives(std::string_view number) const {
  const auto same = [&](const ReadWord& word) {
    return word.text == number || (number.size() == 1 && rules_.fact_words.spoken(word.text) == number[0]);
  };
  return !number.empty() && std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), same);
}

bool MessageClaims::tells_what_failed(const RunView& run, std::size_t failed, std::string_view message) {
  constexpr std::size_t kMost = 8, kReach = 4096;  // files, and bytes of the output
  const auto output = run.steps[failed].output;
  if (gives(failed_test_count(output, rules_.program_words))) return true;
  collect_artifacts(output.substr(0, kReach), kMost, scene_.artifacts);
  return std::any_of(scene_.artifacts.begin(), scene_.artifacts.end(), [&](std::string_view file) {
    if (!names_entity(message, file)) return false;
    const auto known = [&](const StepView& step) { return step.kind == Kind::kTool && step.input.find(file) != std::string_view::npos; };
    return run.user_request.find(file) == std::string_view::npos && std::none_of(run.steps.begin(), run.steps.end(), known);
  });
}

bool MessageClaims::only_ran() const {
  return std::all_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    return claim.finding || (claim.verb != kNoVerb && among(rules_.lexicon.verb(claim.verb).lemma, rules_.content.any_purpose));
  });
}

bool MessageClaims::tells_own_trouble(const RunView& run, std::size_t place) {
  constexpr std::size_t kMost = 4;
  if (!has(scene_.reading.cues, kCueTrouble)) return false;
  std::vector<std::string_view> words;
  for (const auto& word : scene_.reading.words) {
    if (!has(word.cues, kCueTrouble) || among(word.text, words)) continue;
    if (words.size() == kMost) return true;
    words.push_back(word.text);
  }
  const auto hear = [&](std::string_view text) {
    if (words.empty()) return;
    run.pace(text.size());
    fold(text, scene_.folded);
    std::erase_if(words, [&](std::string_view word) { return scene_.folded.find(word) != std::string::npos; });
  };
  hear(run.user_request);
  for (std::size_t i = 0; i < std::min(place, run.steps.size()); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool) {
      hear(step.name);
      hear(step.input);
    }
    if (step.kind == Kind::kUser) hear(step.said());
  }
  return !words.empty();
}

bool MessageClaims::gives_its_reason(const StepView& step) {
  constexpr std::size_t kTelling = 4, kMost = 16;
  std::size_t words = 0;
  std::size_t repeated = 0;
  fold(quote(failure_text(step)), scene_.folded);
  WordCursor cursor(scene_.folded);
  for (RawWord word; words < kMost && cursor.next(word);) {
    if (word.text.size() < kTelling || step.input.find(word.text) != std::string_view::npos) continue;
    ++words;
    const auto repeats = [&](const ReadWord& said) { return said.text == word.text; };
    repeated += std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), repeats) ? 1u : 0u;
  }
  return words > 0 && repeated * 2 >= words;
}

/// "Filled up to its capacity": the clause before a word reports the tool's own action as done.
bool MessageClaims::tells_own_deed_before(const Sentence& sentence, std::uint32_t word, const ToolMeaning& tool) const {
  constexpr std::uint32_t kReach = 8;
  const auto* claim = claim_before(scene_.reading, sentence, word);
  if (claim == nullptr || claim->verb == kNoVerb || claim->state || word - claim->word > kReach) return false;
  for (auto i = claim->word + 1; i <= word; ++i) {
    if (scene_.reading.words[i].before >= Break::kComma || has(scene_.reading.words[i].cues, kCueConjunction)) return false;
  }
  return std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(claim->verb).group) != tool.groups.end();
}

/// True when a later call was given a word: "none left; try the aisle", and a call that took the aisle.
bool MessageClaims::used_since(const RunView& run, const StepView& step, std::string_view word) {
  return std::any_of(run.steps.begin() + (&step - run.steps.data()) + 1, run.steps.end(), [&](const StepView& later) {
    if (later.kind != Kind::kTool) return false;
    run.pace(later.input.size());
    fold(later.input, scene_.folded_call);
    return scene_.folded_call.find(word) != std::string::npos;
  });
}

bool MessageClaims::tells_status(const RunView& run, const StepView& step) {
  constexpr std::size_t kDigits = 3;
  std::string told = std::to_string(step.http_status) + " " + std::string(quote(failure_text(step)));
  fold(told, scene_.folded);
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    const bool status = word.text.size() == kDigits && (word.text[0] == '4' || word.text[0] == '5') &&
                        std::all_of(word.text.begin(), word.text.end(), is_digit);
    if (!status || step.input.find(word.text) != std::string_view::npos || run.user_request.find(word.text) != std::string_view::npos)
      continue;
    const auto repeats = [&](const ReadWord& said) { return said.text == word.text; };
    if (std::any_of(scene_.reading.words.begin(), scene_.reading.words.end(), repeats)) return true;
  }
  return false;
}

bool MessageClaims::has_word_of_reason(const RunView& run, const StepView& step) {
  constexpr std::size_t kTelling = 6, kBesideTool = 4;
  std::vector<std::string> tool;
  split_tool_name(step.name, tool);
  scene_.folded_value.clear();
  fold(quote(failure_text(step)), scene_.folded);
  WordCursor cursor(scene_.folded);
  for (RawWord word; cursor.next(word);) {
    // The id or an amount of a refused record says nothing of why.
    const bool figure = looks_like_json(step.output) && std::all_of(word.text.begin(), word.text.end(), is_digit);
    if (word.text.size() < kBesideTool || figure || in_member_name(scene_.folded, word.text)) continue;
    const auto* known = rules_.lexicon.find(word.text);
    const bool telling = word.text.size() >= kTelling;
    if (!telling && known != nullptr && (known->verb != kNoVerb || is_small(*known))) continue;
    const auto& meaning = scene_.recovery.meaning(step.name);
    std::optional<bool> used;
    const auto used_later = [&] {
      if (!used) used = used_since(run, step, word.text);
      return *used;
    };
    // A short word tells beside what the tool is named after: "their fax was busy".
    const auto told = [&](const Sentence& sentence) {
      const auto begin = scene_.reading.words.begin() + sentence.begin, end = scene_.reading.words.begin() + sentence.end;
      const auto said = [&](const ReadWord& other) { return other.text == word.text; };
      const auto first = std::find_if(begin, end, said);
      if (first == end) return false;
      const auto at = static_cast<std::uint32_t>(first - scene_.reading.words.begin());
      if (tells_own_deed_before(sentence, at, meaning) && !used_later()) return false;
      return telling || std::any_of(begin, end, [&](const ReadWord& other) {
               return std::any_of(tool.begin(), tool.end(), [&](const auto& name) { return hash_noun(name) == hash_noun(other.text); });
             });
    };
    if (std::none_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), told)) continue;
    // A name that the run gave before says nothing of the reason.
    if (named_before(run, step, word.text)) continue;
    if (scene_.folded_value.empty()) fold_purpose(run, step, scene_.folded_value);
    const bool deed =
        known != nullptr && known->verb != kNoVerb && scene_.folded_value.find(rules_.lexicon.verb(known->verb).lemma) != std::string::npos;
    if (!deed && scene_.folded_value.find(word.text) == std::string::npos) return true;
  }
  return false;
}

bool MessageClaims::counts_part() const {
  constexpr std::size_t kDigits = 6;
  const auto number = [&](const ReadWord& word) {
    const bool digits = word.text.size() <= kDigits && std::all_of(word.text.begin(), word.text.end(), is_digit);
    if (digits) return std::stoi(std::string(word.text));
    const char spoken = rules_.fact_words.spoken(word.text);
    return is_digit(spoken) ? spoken - '0' : -1;
  };
  const auto& words = scene_.reading.words;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (!has(words[i + 1].cues, kCueTopicPreposition) || words[i + 1].before != Break::kNone) continue;
    // "Two of the three".
    auto last = i + 2;
    if (has(words[last].cues, kCueDeterminer) && last + 1 < words.size() && words[last].before == Break::kNone) ++last;
    if (words[last].before != Break::kNone) continue;
    const auto part = number(words[i]), whole = number(words[last]);
    if (part >= 0 && whole > part) return true;
  }
  return false;
}

bool MessageClaims::in_general(const Claim& claim) const {
  return !claim.finding && (claim.verb == kNoVerb || rules_.lexicon.verb(claim.verb).group == rules_.finish_group);
}

bool MessageClaims::says_all_done() const {
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) { return in_general(claim); });
}

/// True when a value of the call has a word of the request, no small word and no figure, that no call that changed something has.
bool MessageClaims::names_what_is_left(const RunView& run, const StepView& call) {
  constexpr std::size_t kMost = 16, kShortest = 3;  // words; bytes of one
  if (!scene_.asked_words) {
    scene_.asked_words.emplace();
    run.pace(run.user_request.size());
    fold(run.user_request, scene_.folded);
    WordCursor request(scene_.folded);
    for (RawWord word; request.next(word);) scene_.asked_words->insert(hash_bytes(word.text));
  }
  collect_values(call.input, rules_.content.tools.calls, scene_.values);
  std::size_t looked = 0;
  for (const auto& value : scene_.values) {
    if (value.text.size() > kLongestValue) continue;
    fold(value.text, scene_.folded);
    WordCursor cursor(scene_.folded);
    for (RawWord word; cursor.next(word) && looked < kMost; ++looked) {
      const auto* entry = rules_.lexicon.find(word.text);
      if (word.text.size() < kShortest || has_digit(word.text) || (entry != nullptr && is_small(*entry))) continue;
      const auto hash = hash_bytes(word.text);
      if (scene_.asked_words->contains(hash) && !scene_.done_words.contains(hash)) return true;
    }
  }
  return false;
}

bool MessageClaims::says_done_of_what_is_left(const RunView& run, std::size_t failed) {
  constexpr std::uint64_t kDoubt = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCuePlan | kCueModal;
  const auto& reading = scene_.reading;
  const bool general = std::all_of(reading.claims.begin(), reading.claims.end(), [&](const Claim& claim) { return in_general(claim); });
  if (reading.claims.empty() || !general || negates_anything(reading) || has(reading.cues, kDoubt)) return false;
  return names_what_is_left(run, run.steps[failed]) && !user_replied(run, failed, run.steps.size());
}

bool MessageClaims::opens_with_all_done() const {
  constexpr std::uint64_t kDoubt = kCueTrouble | kCueNothingFound | kCueAdmission | kCueHandover | kCuePlan;
  const auto& claims = scene_.reading.claims;
  const bool opens = !claims.empty() && claims.front().sentence == 0 && claims.front().verb == kNoVerb && !claims.front().finding;
  if (!opens || scene_.reading.denies || has(scene_.reading.cues, kDoubt)) return false;
  // "You're all set with the refill" speaks of the refill.
  const auto end = scene_.reading.sentences[0].end;
  auto i = claims.front().word + 1;
  while (i < end && scene_.reading.words[i].before == Break::kNone && !has(scene_.reading.words[i].cues, kCuePreposition)) ++i;
  return i == end || scene_.reading.words[i].before != Break::kNone;
}

bool MessageClaims::tells_own_deed(std::uint64_t without) const {
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    const auto begin = scene_.reading.words.begin() + scene_.reading.sentences[claim.sentence].begin;
    const auto before = [&](std::uint64_t cues) {
      return std::any_of(begin, scene_.reading.words.begin() + claim.word, [&](const ReadWord& word) { return has(word.cues, cues); });
    };
    if (claim.finding || before(without)) return false;
    if (claim.verb == kNoVerb || claim.by_agent) return claim.verb == kNoVerb || rules_.lexicon.verb(claim.verb).group != rules_.find_group;
    if (rules_.lexicon.verb(claim.verb).group == rules_.find_group || !(claim.state || has_auxiliary(scene_.reading, claim)) ||
        tells_of_itself(claim))
      return false;
    return !before(kCueModal | kCuePastPassive);
  });
}

bool MessageClaims::tells_any_deed() const {
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (claim.finding) return false;
    if (claim.verb == kNoVerb) return true;
    return rules_.lexicon.verb(claim.verb).group != rules_.find_group && (claim.state || tells_deed(scene_.reading, claim));
  });
}

bool MessageClaims::claims_what_was_asked(const RunView& run, std::size_t before) {
  HashSet claimed;  // groups
  for (const auto& claim : scene_.reading.claims) {
    if (claim.finding || claim.verb == kNoVerb) continue;
    const auto group = rules_.lexicon.verb(claim.verb).group;
    if (group != rules_.finish_group && group != rules_.find_group) claimed.insert(group);
  }
  if (claimed.empty()) return false;
  const auto asks_for_claimed = [&](std::string_view turn) {
    run.pace(turn.size());
    read_words(turn, rules_.lexicon, scene_.scratch);
    return std::any_of(scene_.scratch.words.begin(), scene_.scratch.words.end(), [&](const ReadWord& word) {
      return word.entry != nullptr && word.entry->verb != kNoVerb && (word.entry->forms & kFormBase) != 0 &&
             claimed.contains(rules_.lexicon.verb(word.entry->verb).group);
    });
  };
  constexpr std::size_t kMostTurns = 4;  // the nearest
  std::size_t turns = 0;
  for (auto i = std::min(before, run.steps.size()); i-- > 0 && turns < kMostTurns;) {
    if (run.steps[i].kind != Kind::kUser) continue;
    ++turns;
    if (asks_for_claimed(run.steps[i].said())) return true;
  }
  return asks_for_claimed(run.user_request);
}

bool MessageClaims::goes_on_with(const ToolMeaning& tool) const {
  if (scene_.reading.sentences.empty() || scene_.reading.asks()) return false;
  const auto& last = scene_.reading.sentences.back();
  const auto begin = scene_.reading.words.begin() + last.begin;
  const auto end = scene_.reading.words.begin() + last.end;
  const auto promise = std::find_if(begin, end, [](const ReadWord& word) { return has(word.cues, kCueModal); });
  if (promise == end || !has(last.cues, kCueSelf)) return false;
  // "Please provide the id, and I'll do the rest." Not "I'll be here if you'd like to check."
  if (std::any_of(begin, promise, [](const ReadWord& word) { return has(word.cues, kCueOffer); })) return true;
  const auto is_verb = [](const ReadWord& word) { return word.entry != nullptr && word.entry->verb != kNoVerb; };
  const auto is_own = [&](const ReadWord& word) {
    return is_verb(word) &&
           std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(word.entry->verb).group) != tool.groups.end();
  };
  if (scene_.reading.verb_last()) return std::any_of(promise, end, is_own);
  const auto verb = std::find_if(promise, end, is_verb);
  return verb != end && is_own(*verb);
}

bool MessageClaims::names_action(const ToolMeaning& tool) const {
  const auto names = [&](const ReadWord& word) {
    const bool verb = word.entry != nullptr && word.entry->verb != kNoVerb;
    if (verb && std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(word.entry->verb).group) != tool.groups.end())
      return true;
    const auto name = without_possessive(word.text);
    return std::find(tool.nouns.begin(), tool.nouns.end(), hash_noun(name)) != tool.nouns.end();
  };
  return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
    if (tells_of_itself(claim)) return false;
    const auto& sentence = scene_.reading.sentences[claim.sentence];
    return std::any_of(scene_.reading.words.begin() + sentence.begin, scene_.reading.words.begin() + sentence.end, names);
  });
}

/// "The order has moved to another state": the sentence names no actor.
bool MessageClaims::tells_of_itself(const Claim& claim) const {
  if (claim.by_agent || claim.verb == kNoVerb || claim.state) return false;
  const auto begin = scene_.reading.sentences[claim.sentence].begin;
  for (auto i = claim.word; i > begin && scene_.reading.words[i].before == Break::kNone; --i) {
    const auto cues = scene_.reading.words[i - 1].cues;
    if (has(cues, kCuePassive)) return false;
    if (!has(cues, kCueAdverb)) return has(cues, kCueAuxiliary);
  }
  return false;
}

bool MessageClaims::leaves_it_to_user(const ToolMeaning& tool) const {
  return std::any_of(scene_.reading.sentences.begin(), scene_.reading.sentences.end(), [&](const Sentence& sentence) {
    bool asked = false;
    for (auto i = sentence.begin; i < sentence.end; ++i) {
      const auto& word = scene_.reading.words[i];
      asked |= has(word.cues, kCuePlease);
      const bool base = word.entry != nullptr && word.entry->verb != kNoVerb && (word.entry->forms & kFormBase) != 0;
      if (asked && base &&
          std::find(tool.groups.begin(), tool.groups.end(), rules_.lexicon.verb(word.entry->verb).group) != tool.groups.end())
        return true;
    }
    return false;
  });
}

}  // namespace runwarden::plugins
