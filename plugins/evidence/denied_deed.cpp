#include "evidence/denied_deed.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "common/json_scan.h"
#include "common/short_output.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kInnermost = 3;  // objects within each other

/// The number that a text begins with; 0 for none.
double number_in(std::string_view text) {
  double number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Answer {
 public:
  Answer(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words, const Lexicon& lexicon)
      : groups_(groups), words_(words), lexicon_(lexicon) {
    fold(call.name, tool_);
    fold(call.input, input_);
  }

  /// Records what a member says about the action.
  void add(std::string_view key, Token token, std::string_view value) {
    taken_ |= token == Token::kTrue && among(key, words_.taken);
    done_ |= token == Token::kTrue && is_own_deed(key);
    none_ |= token == Token::kNumber && value == "0" && among(key, words_.counts);
    if (token == Token::kNumber && value != "0" && !value.starts_with('-') &&
        (among(key, words_.counts) || is_own_deed(key) || ends_with_any(key, words_.done_endings)) && !among(key, words_.failures)) {
      counted_ = true;
    }
    denied_ |= token == Token::kArrayEnd && (is_own_deed(key) || counts_first(key));  // "archived": [], "changed_fields": []
    if (tells_of_before(key)) return;
    const bool against = denies(key, token, value);
    denied_ |= against;
    if (token == Token::kString && among(last_word_of(key), words_.members)) {
      settled_at_ = 0;
      refused_ |= against;
    }
    // {"status": 409, "title": "Conflict"}, as RFC 9457 has it: a number alone may count anything.
    fails_by_number_ |= token == Token::kNumber && among(key, words_.members) && is_failed_status(value);
    explained_ |= token == Token::kString && among(key, words_.explaining) && !trim(value).empty();
    denied_ |= fails_by_number_ && explained_;
    // {"refund_issued": false, "reason": "over the limit"}: a flag alone may tell a state.
    left_out_ |= token == Token::kFalse && names_deed(key);
    reasoned_ |= token == Token::kString && (among(last_word_of(key), words_.reasons) || among(key, words_.reasons)) && !is_given(value);
  }

  [[nodiscard]] bool lists_errors(std::string_view key) const { return among(key, words_.errors) || among(key, words_.failures); }

  /// Records that a list of errors has an item.
  void add_error() { reasoned_ = true; }

  /// Records what a member of an object within the answer says, `depth` objects in. It may tell of a thing rather than of the action, so
  /// only flags of the action and outcomes that refuse count, and of outcomes only the outermost.
  void add_inner(std::string_view key, Token token, std::string_view value, std::size_t depth) {
    done_ |= token == Token::kTrue && (among(key, words_.taken) || is_own_deed(key));
    if (token == Token::kFalse && (among(key, words_.taken) || is_own_deed(key))) refused_at_ = std::min(refused_at_, depth);
    if (token != Token::kString || !among(last_word_of(key), words_.members) || tells_of_before(key)) return;
    auto& at = is_refused(key, value) ? refused_at_ : settled_at_;
    at = std::min(at, depth);
  }

  /// True for a member that holds an outcome or an error.
  [[nodiscard]] bool tells_outcome(std::string_view key) const {
    return among(last_word_of(key), words_.members) || among(key, words_.errors) || among(key, words_.error_members);
  }

  /// True for a member that says whether the action was done.
  [[nodiscard]] bool is_flag(std::string_view key) { return among(key, words_.taken) || among(key, words_.good) || is_own_deed(key); }

  /// True for a member whose value is a refusal.
  [[nodiscard]] bool is_refused(std::string_view key, std::string_view value) {
    if (!among(last_word_of(key), words_.members)) return false;
    fold(value, value_);
    if (is_opposite(value_)) return true;
    return (refuses(value_, words_) || is_undone(value_)) && !is_meant(value_);
  }

  /// "previous_state", "history": what such a member holds is past.
  [[nodiscard]] bool tells_of_before(std::string_view key) const {
    std::size_t at = 0;
    return among(next_tool_word(key, at), words_.former);
  }

  /// Records that each of the things `depth` objects in was refused.
  void refuse(std::size_t depth) { refused_at_ = std::min(refused_at_, depth); }

  /// True when some member says that the action was not done, and none says that it was. Beside an outcome that refuses and its reason, a
  /// number counts other things: {"status": "rejected", "reason": "full", "booked": 14}.
  [[nodiscard]] bool denied() const {
    const bool left_out = left_out_ && reasoned_ && settled_at_ == std::string::npos;
    const bool denied = denied_ || refused_at_ < settled_at_ || left_out;
    // {"acknowledged": true, "modifiedCount": 0}: it was taken, and changed nothing.
    return denied && !done_ && (!taken_ || none_) && (!counted_ || (refused_ && explained_));
  }

 private:
  bool denies(std::string_view key, Token token, std::string_view value) {
    if (token == Token::kFalse) return among(key, words_.taken) || among(key, words_.counts) || is_own_deed(key) || is_own_outcome(key);
    if (token == Token::kTrue) return among(key, words_.failures) && !is_meant(folded_key(key));
    if (token == Token::kNumber) {
      if (among(key, words_.status_codes)) return is_failed_status(value);
      if (among(key, words_.error_members)) return is_error_number(key, value);
      return value == "0" && (among(key, words_.counts) || among(key, words_.taken) || is_own_deed(key));
    }
    if (token == Token::kString && (among(key, words_.error_members) || among(key, words_.errors))) {
      fold(trim(value), value_);
      return !value_.empty() && !among(value_, words_.untroubled);
    }
    if (token == Token::kObject) return among(key, words_.error_members);
    if (token != Token::kString) return false;
    fold(value, value_);
    const std::string_view told = value_;
    if (!among(last_word_of(key), words_.members))
      return ends_in_refusal(told) || (is_no(told) && (among(key, words_.taken) || is_own_deed(key)));
    if (!behind_denial(told).empty()) return is_undone(told) && !is_meant(told);
    const bool code = told.find('_') != std::string_view::npos;  // "SEAT_TAKEN", not a photo's "taken"
    return ((tells_failure(told, words_) || (code && refuses(told, words_))) && !is_meant(told)) || is_opposite(told);
  }

  /// What an outcome denies: "sent" of "not_sent"; empty for none.
  [[nodiscard]] std::string_view behind_denial(std::string_view told) const {
    const auto& denying = words_.denying;
    const auto found = std::find_if(denying.begin(), denying.end(), [&](const auto& prefix) { return told.starts_with(prefix); });
    return found == denying.end() ? std::string_view{} : told.substr(found->size());
  }

  /// "NOT_APPLIED", "not_sent" from a tool that sends.
  bool is_undone(std::string_view told) {
    const auto deed = behind_denial(told);
    if (deed.empty()) return false;
    return among(deed, words_.counts) || among(deed, words_.taken) || among(told, words_.failures) || is_own_deed(deed);
  }

  /// "no", "nein": the value of a member that says whether something was done.
  [[nodiscard]] bool is_no(std::string_view told) const {
    const auto* entry = lexicon_.find(told);
    return entry != nullptr && has(entry->cues, kCueDenial);
  }

  /// True for an outcome that the call was made for: "rejected" of reject_offer, or among the arguments.
  bool is_meant(std::string_view outcome) {
    return is_own_deed(outcome) || names_stem(outcome) || input_.find(outcome) != std::string::npos;
  }

  /// "unlocked" from a tool that locks, "locked" from one that unlocks, "stopped" from one that starts.
  bool is_opposite(std::string_view outcome) {
    const bool opposite = std::any_of(words_.opposites.begin(), words_.opposites.end(), [&](const std::string& prefix) {
      return (outcome.starts_with(prefix) && is_own_deed(outcome.substr(prefix.size()))) || is_own_deed(prefix + std::string(outcome));
    });
    return (opposite && !is_own_deed(outcome)) || is_contradicted_by(outcome);
  }

  [[nodiscard]] bool is_contradicted_by(std::string_view outcome) const {
    return std::any_of(words_.contradicted.begin(), words_.contradicted.end(), [&](const std::string_view pair) {
      const auto blank = pair.find(' ');
      if (pair.substr(blank + 1) != outcome) return false;
      std::size_t at = 0;
      auto word = next_tool_word(tool_, at);
      while (!word.empty() && word != pair.substr(0, blank)) word = next_tool_word(tool_, at);
      return !word.empty();
    });
  }

  /// "download failed": the last of a few words. Not "0 errors", "no problem".
  bool ends_in_refusal(std::string_view told) const {
    constexpr std::ptrdiff_t kMostBlanks = 2;
    const auto blank = told.rfind(' ');
    const auto first = told.substr(0, told.find(' '));
    const auto* entry = lexicon_.find(first);
    if (first == "0" || (entry != nullptr && has(entry->cues, kCueNegation))) return false;
    return blank != std::string_view::npos && std::count(told.begin(), told.end(), ' ') <= kMostBlanks &&
           among(told.substr(blank + 1), words_.failures) && input_.find(told) == std::string::npos;
  }

  /// "rejected" for "reject_offer", a verb that is not in the lexicon.
  bool names_stem(std::string_view word) const {
    constexpr std::size_t kEnding = 2, kShortest = 4;
    return word.size() >= kEnding + kShortest && tool_.find(word.substr(0, word.size() - kEnding)) != std::string::npos;
  }

  /// True for a member whose first word counts what a call did.
  [[nodiscard]] bool counts_first(std::string_view key) const {
    std::size_t at = 0;
    const auto first = next_tool_word(key, at);
    return first.size() < key.size() && among(first, words_.counts);
  }

  /// True for a text that the call was given, or for none.
  bool is_given(std::string_view value) {
    fold(trim(value), value_);
    return value_.empty() || is_in_input(value_);
  }

  /// True for a number that a member for errors holds, but not for one that says that all is well.
  bool is_error_number(std::string_view key, std::string_view value) {
    constexpr double kFine = 200, kNotFine = 300;
    const double number = number_in(value);
    return opens_with_any(key, words_.error_numbers) && number != 0 && !(number >= kFine && number < kNotFine) && !is_in_input(value);
  }

  /// True when the arguments hold a text. False after some searches.
  bool is_in_input(std::string_view text) {
    constexpr int kMostSearches = 64;
    return ++searches_ <= kMostSearches && input_.find(text) != std::string::npos;
  }

  /// True for a member that holds the outcome of the whole call, or of what the tool is named after: "result", "cancel_status". A "state"
  /// that is false is that of a device.
  [[nodiscard]] bool is_own_outcome(std::string_view key) {
    std::size_t at = 0;
    if (among(key, words_.devices) || !among(last_word_of(key), words_.members)) return false;
    const auto first = next_tool_word(key, at);
    return (first.size() == key.size() || tool_.find(first) != std::string::npos) && !is_in_input(key);
  }

  /// True for a member named after a deed of any kind: "submitted", "invitesSent".
  bool names_deed(std::string_view key) {
    fold(last_word_of(key), word_);
    return is_participle(lexicon_.find(word_));
  }

  bool is_own_deed(std::string_view participle) {
    std::size_t at = 0;
    const auto first = next_tool_word(participle, at);
    const auto* auxiliary = first.size() < participle.size() ? lexicon_.find(first) : nullptr;
    // "is_cancelled"
    if (auxiliary != nullptr && has(auxiliary->cues, kCueAuxiliary)) participle = last_word_of(participle);
    fold(participle, word_);
    const auto* entry = lexicon_.find(word_);
    if (!is_participle(entry)) return false;
    const auto group = std::find(groups_.begin(), groups_.end(), lexicon_.verb(entry->verb).group);
    if (group == groups_.end()) return false;
    // After the first verb in a name, another may be a noun: "write_file" does not create a file that exists.
    return group == groups_.begin() || names_verb(entry->verb);
  }

  /// True when a word of the tool's name is a form of the verb, in any language.
  bool names_verb(std::uint16_t verb) const {
    std::size_t at = 0;
    for (auto word = next_tool_word(tool_, at); !word.empty(); word = next_tool_word(tool_, at)) {
      const auto* entry = lexicon_.find(word);
      if (entry != nullptr && entry->verb == verb) return true;
    }
    return false;
  }

  const std::string& folded_key(std::string_view key) {
    fold(key, word_of_key_);
    return word_of_key_;
  }

  std::span<const std::uint16_t> groups_;
  const OutcomeWords& words_;
  const Lexicon& lexicon_;
  bool done_ = false;
  bool taken_ = false;
  bool none_ = false;     // a count of what was done is 0
  bool counted_ = false;  // a number counts what was done
  bool denied_ = false;
  bool refused_ = false;                        // an outcome of the whole answer refuses
  std::size_t refused_at_ = std::string::npos;  // how many objects in an outcome refuses, at the least
  std::size_t settled_at_ = std::string::npos;  // how many objects in an outcome does not
  bool fails_by_number_ = false;
  bool explained_ = false;
  int searches_ = 0;
  bool left_out_ = false;  // a flag says that something was not done
  bool reasoned_ = false;  // a member says why, or lists errors
  std::string tool_;
  std::string input_;
  std::string word_;
  std::string word_of_key_;
  std::string value_;
};

/// Passes on what is in an object of the answer, whose beginning the cursor has just read, down to kInnermost. Lists are skipped: their
/// items are things of their own. False for a broken text.
bool add_object(JsonScanner& cursor, Answer& answer) {
  const auto level = cursor.depth();
  std::string_view key;
  while (cursor.depth() >= level) {
    const auto token = cursor.next();
    if (token == Token::kBad || token == Token::kEnd) return false;
    const bool opens = token == Token::kArray || token == Token::kObject;
    if (token == Token::kKey) {
      key = cursor.text();
    } else if (opens) {
      const bool closed = token == Token::kArray || cursor.depth() > kInnermost || answer.tells_of_before(key);
      if (closed && !cursor.leave()) return false;
    } else if (token != Token::kObjectEnd) {
      answer.add_inner(key, token, token == Token::kString ? cursor.text() : std::string_view{}, cursor.depth());
    }
  }
  return true;
}

/// Passes on a list, whose beginning the cursor has just read, when all of its items are refused. False for a broken text.
bool add_list(JsonScanner& cursor, std::string_view name, Answer& answer) {
  const auto level = cursor.depth();
  std::size_t refused = 0, items = 0;
  bool counted = false;  // the item is among the refused
  std::string_view key;
  auto token = cursor.next();
  if (token == Token::kArrayEnd) answer.add(name, token, {});
  if (token != Token::kArrayEnd && answer.lists_errors(name)) answer.add_error();
  for (; cursor.depth() >= level; token = cursor.next()) {
    if (token == Token::kBad || token == Token::kEnd) return false;
    const bool own = cursor.depth() == level + 1;
    if (token == Token::kObject && own) {
      ++items;
      counted = false;
    }
    if (token == Token::kKey) key = cursor.text();
    const bool refuses =
        own && ((token == Token::kString && answer.is_refused(key, cursor.text())) || (token == Token::kFalse && answer.is_flag(key)));
    if (refuses && !counted) {
      ++refused;
      counted = true;
    }
    if (token == Token::kArray && !cursor.leave()) return false;
  }
  if (items > 0 && refused == items) answer.refuse(level);
  return true;
}

/// True for HTML: its elements are not JSON members.
bool is_page(std::string_view text) {
  constexpr std::string_view kSigns[] = {"<html", "<!doctype", "<!DOCTYPE", "<body",  "<div",  "<p",
                                         "<h1",   "<h2",       "<span",     "<table", "<form", "<label"};
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](auto sign) {
    const auto at = text.find(sign);
    const auto next = at == std::string_view::npos ? at : at + sign.size();
    return next < text.size() && (text[next] == '>' || text[next] == ' ');
  });
}

/// Passes on the elements of an XML answer that hold only text, <status>REJECTED</status>, as members: those within the outermost one, and
/// those deeper in as members of objects.
void add_elements(std::string_view xml, Answer& answer) {
  constexpr std::size_t kMost = 256;
  std::size_t depth = 0, read = 0;
  std::size_t text = std::string_view::npos;  // where the text of an element without others begins
  std::string_view name;
  for (auto open = xml.find('<'); open != std::string_view::npos && read < kMost; open = xml.find('<', open + 1), ++read) {
    const auto close = xml.find('>', open);
    if (close == std::string_view::npos) return;
    const auto tag = xml.substr(open + 1, close - open - 1);
    if (tag.empty() || tag[0] == '?' || tag[0] == '!' || tag.ends_with('/')) continue;
    if (tag[0] != '/') {
      ++depth;
      name = tag.substr(0, tag.find(' '));
      text = close + 1;
      continue;
    }
    if (text != std::string_view::npos && answer.tells_outcome(name)) {
      const auto value = xml.substr(text, open - text);
      constexpr std::size_t kMember = 2;
      depth <= kMember ? answer.add(name, Token::kString, value) : answer.add_inner(name, Token::kString, value, depth);
    }
    text = std::string_view::npos;
    depth -= depth > 0 ? 1 : 0;
  }
}

}  // namespace

bool denies_deed(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words, const Lexicon& lexicon) {
  if (trim(call.output).starts_with('<')) {
    if (is_page(call.output)) return false;
    Answer answer(call, groups, words, lexicon);
    add_elements(trim(call.output), answer);
    return answer.denied();
  }
  JsonScanner cursor(trim(call.output));
  auto first = cursor.next();
  if (first == Token::kArray) first = cursor.next();  // in a list, the first object decides
  if (first != Token::kObject) return false;
  const auto level = cursor.depth();
  Answer answer(call, groups, words, lexicon);
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    if (token == Token::kArray && among(key, words.taken)) {  // "accepted": []
      if (cursor.next() == Token::kArrayEnd) return true;
      while (cursor.depth() > level) {
        if (!cursor.leave()) return answer.denied();
      }
      continue;
    }
    if (token == Token::kObject || token == Token::kArray) {
      if (token == Token::kObject) answer.add(key, token, {});
      const bool whole = answer.tells_of_before(key) ? cursor.leave()
                         : token == Token::kObject   ? add_object(cursor, answer)
                                                     : add_list(cursor, key, answer);
      if (!whole) break;
      continue;
    }
    if (token == Token::kBad || token == Token::kEnd) break;
    answer.add(key, token, token == Token::kString || token == Token::kNumber ? cursor.text() : std::string_view{});
  }
  return answer.denied();
}

namespace {

/// A boolean, a number or a day: two of them cannot differ merely in spelling.
struct Scalar {
  enum class Kind : std::uint8_t { kNone, kYesOrNo, kNumber, kDay };
  Kind kind = Kind::kNone;
  double number = 0;
  std::string_view text;

  [[nodiscard]] bool differs(const Scalar& other) const {
    if (kind == Kind::kNone || kind != other.kind) return false;
    return kind == Kind::kDay ? text != other.text : number != other.number;
  }

  /// A number or day counts as requested only if the message states it.
  [[nodiscard]] bool is_told(std::string_view message) const {
    return kind == Kind::kYesOrNo || message.find(text) != std::string_view::npos;
  }
};

/// True for dates such as "2026-06-12".
bool is_day(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) { return form == '0' ? is_digit(c) : c == form; });
}

Scalar scalar_of(Token token, std::string_view text) {
  if (token == Token::kTrue || token == Token::kFalse) return {Scalar::Kind::kYesOrNo, token == Token::kTrue ? 1.0 : 0.0, {}};
  if (token == Token::kString && is_day(text)) return {Scalar::Kind::kDay, 0, text};
  if (token != Token::kNumber) return {};
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Scalar{Scalar::Kind::kNumber, number, text} : Scalar{};
}

/// Passes on the first-level members of an object: the key, the token and the value as it is spelled, whole for a list or an object, and
/// empty for null. Stops where the text is no JSON.
template <class Take>
void each_member(std::string_view text, Take take) {
  text = trim(text);
  JsonScanner cursor(text);
  if (cursor.next() != Token::kObject) return;
  for (auto next = cursor.next(); next == Token::kKey; next = cursor.next()) {
    const auto key = cursor.text();
    const auto token = cursor.next();
    if (token == Token::kBad || token == Token::kEnd) return;
    if (token == Token::kObject || token == Token::kArray) {
      const auto begin = cursor.offset();
      if (!cursor.leave()) return;
      take(key, token, text.substr(begin, cursor.offset() - begin));
      continue;
    }
    const bool plain = token == Token::kString || token == Token::kNumber;
    take(key, token, token == Token::kTrue ? "true" : token == Token::kFalse ? "false" : plain ? cursor.text() : std::string_view{});
  }
}

/// False for a list or an object.
bool is_plain(Token token) {
  return token != Token::kObject && token != Token::kArray;
}

}  // namespace

bool answers_otherwise(std::string_view input, std::string_view output, std::string_view told, const OutcomeWords& words) {
  constexpr std::size_t kMost = 32;
  constexpr std::string_view kRemoteCall = "jsonrpc";
  std::vector<std::pair<std::string_view, Scalar>> asked;
  each_member(input, [&](std::string_view key, Token token, std::string_view text) {
    const auto value = scalar_of(token, text);
    if (value.kind != Scalar::Kind::kNone && asked.size() < kMost && !among(key, words.moving)) asked.emplace_back(key, value);
  });
  if (asked.empty()) return false;
  bool otherwise = false;
  each_member(output, [&](std::string_view key, Token token, std::string_view text) {
    const auto value = scalar_of(token, text);
    if (key == kRemoteCall) asked.clear();  // its "id" is of the message, not of the thing
    otherwise |= std::any_of(asked.begin(), asked.end(), [&](const auto& member) {
      return member.first == key && member.second.differs(value) && member.second.is_told(told);
    });
  });
  return otherwise;
}

bool shows_other_value(const StepView& call) {
  constexpr std::size_t kMost = 32, kShortest = 4;
  std::vector<std::pair<std::string_view, std::string_view>> asked;
  each_member(call.input, [&](std::string_view key, Token token, std::string_view value) {
    if (is_plain(token) && asked.size() < kMost && !value.empty()) asked.emplace_back(key, value);
  });
  if (asked.empty()) return false;
  bool other = false;
  each_member(call.output, [&](std::string_view key, Token token, std::string_view value) {
    if (other || !is_plain(token)) return;
    const bool of_argument = std::any_of(asked.begin(), asked.end(), [&](const auto& member) {
      return member.first.size() >= kShortest && (key == member.first || last_word_of(key) == member.first);
    });
    const bool of_tool = key.size() >= kShortest && !value.empty() && call.name.find(key) != std::string_view::npos;
    other = (of_argument || of_tool) &&
            std::none_of(asked.begin(), asked.end(), [&](const auto& member) { return equal_ignoring_case(member.second, value); });
  });
  return other;
}

bool is_record_before(std::string_view output, std::string_view before) {
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kFewest = 3;   // members that both show
  constexpr std::size_t kBracket = 1;  // of a list or an object without anything
  std::vector<std::pair<std::string_view, std::string_view>> known;
  each_member(before, [&](std::string_view key, Token, std::string_view value) {
    if (known.size() <= kMost) known.emplace_back(key, value);
  });
  if (known.size() < kFewest || known.size() > kMost) return false;
  bool same = true;
  std::size_t shown = 0;
  each_member(output, [&](std::string_view key, Token, std::string_view value) {
    const auto was = std::find_if(known.begin(), known.end(), [&](const auto& member) { return member.first == key; });
    same &= was == known.end() ? value.size() <= kBracket : was->second == value;
    shown += was != known.end();
  });
  return same && shown >= kFewest && shown * 4 >= known.size() * 3;
}

bool leaves_empty(std::string_view input, std::string_view output, std::string_view told, const Lexicon& lexicon) {
  constexpr std::size_t kMost = 16, kShortest = 4;
  std::vector<std::pair<std::string_view, std::string_view>> asked;
  each_member(input, [&](std::string_view key, Token token, std::string_view value) {
    if (is_plain(token) && asked.size() < kMost && value.size() >= kShortest) asked.emplace_back(key, value);
  });
  bool empty = false, took = false;
  each_member(output, [&](std::string_view key, Token token, std::string_view value) {
    const auto own = std::find_if(asked.begin(), asked.end(), [&](const auto& member) { return member.first == key; });
    if (!is_plain(token) || own == asked.end()) return;
    // {"remove": "urgent"} is to be empty; {"name": "final.txt"} shows that something was done.
    const auto* entry = lexicon.find(key);
    const bool orders = entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0;
    took |= own->second == value && std::none_of(value.begin(), value.end(), is_digit);
    empty |= value.empty() && !orders && told.find(own->second) != std::string_view::npos;
  });
  return empty && !took;
}

bool gives_reference(const StepView& call, const OutcomeWords& words) {
  JsonScanner cursor(trim(call.output));
  if (cursor.next() != Token::kObject) return false;
  bool taken = false, referred = false;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    taken |= token == Token::kTrue && among(key, words.taken);
    if (token != Token::kString) continue;
    const auto text = cursor.text();
    referred |= has_digit(text) && text.find(' ') == std::string_view::npos && call.input.find(text) == std::string_view::npos;
  }
  return taken && referred;
}

bool was_done_in_part(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon) {
  constexpr std::size_t kDeepest = 2;
  JsonScanner cursor(trim(output));
  if (cursor.next() != Token::kObject) return false;
  double asked = 0, done = -1;  // of an object; the most of what it counts as done: {"requested": 3, "moved": 3, "skipped": 0}
  std::string_view key;
  std::string folded;
  for (auto token = cursor.next(); token != Token::kEnd && token != Token::kBad; token = cursor.next()) {
    if (token == Token::kKey) {
      key = cursor.text();
    } else if (token == Token::kArray) {
      const bool errors = cursor.depth() == kDeepest && (among(key, words.errors) || among(key, words.failures));
      if (errors && cursor.next() != Token::kArrayEnd) return true;
      if (!errors && !cursor.leave()) return false;
    } else if (token == Token::kObject && cursor.depth() > kDeepest) {
      if (!cursor.leave()) return false;
    } else if (token == Token::kObject || token == Token::kObjectEnd) {
      if (done >= 0 && done < asked) return true;
      asked = 0, done = -1;
    } else if (token == Token::kNumber) {
      const double number = number_in(cursor.text());
      fold(last_word_of(key), folded);
      if (among(key, words.asked)) {
        asked = number;
      } else if (!among(key, words.failures) && (among(key, words.counts) || is_participle(lexicon.find(folded)))) {
        done = std::max(done, number);
      }
    }
  }
  return false;
}

}  // namespace runwarden::plugins
