#include "common/short_output.h"

#include <algorithm>
#include <initializer_list>

#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kMostLines = 2;
constexpr std::size_t kLongestJson = 1000;
constexpr std::size_t kLongestLabel = 16;
constexpr std::size_t kOpeningReach = 80;  // where a phrase such as "does not exist" must begin, in bytes

/// The folded beginning of a text, which is all that is read. Most texts are ASCII and need no allocation.
class Beginning {
 public:
  std::string_view fold(std::string_view text) {
    text = text.substr(0, plain_.size());
    unsigned char all = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      all |= static_cast<unsigned char>(c);
      const char low = to_lower(c);
      plain_[i] = low == '_' ? ' ' : low;
    }
    if (all >= 0x80) {
      plugins::fold(cut(text), folded_);
      std::replace(folded_.begin(), folded_.end(), '_', ' ');
      return folded_;
    }
    return {plain_.data(), text.size()};
  }

 private:
  std::array<char, 160> plain_;
  std::string folded_;
};

std::size_t word_end(std::string_view folded, std::size_t at) {
  while (at < folded.size() && is_word_byte(folded[at])) ++at;
  return at;
}

/// "timeout: 30 s", "access denied: 14": a number after a name, unless it is an HTTP error status.
bool counts(std::string_view rest) {
  rest = trim(rest);
  if (rest.empty() || !is_digit(rest[0])) return false;
  const auto digits = rest.substr(0, word_end(rest, 0));
  if (is_failed_status(digits)) return false;
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return false;
  rest = trim(rest.substr(digits.size()));
  const auto unit = word_end(rest, 0);
  return trim(rest.substr(unit)).empty();
}

/// "HTTP/1.1 422 Unprocessable Entity", whatever follows it.
bool is_status_line(std::string_view text) {
  constexpr std::string_view kProtocol = "HTTP/";
  if (!text.starts_with(kProtocol)) return false;
  const auto blank_at = text.find(' ');
  if (blank_at == std::string_view::npos) return false;
  const auto rest = text.substr(blank_at + 1);
  return is_failed_status(rest.substr(0, 3)) && (rest.size() == 3 || !is_digit(rest[3]));
}

/// "<html><head><title>503 Service Unavailable</title>": the error page of a server or proxy instead of an answer.
bool is_error_page(std::string_view text) {
  constexpr std::string_view kTitle = "<title>";
  if (!text.starts_with('<')) return false;
  const auto at = text.substr(0, ShortSigns::kLongest).find(kTitle);
  if (at == std::string_view::npos) return false;
  const auto title = trim(text.substr(at + kTitle.size()));
  return is_failed_status(title.substr(0, 3)) && title.size() > 3 && !is_digit(title[3]);
}

/// "ValueError: ...", "ValueError(...)", "java.io.IOException: ...".
bool opens_with_class(std::string_view text, const std::vector<std::string>& endings) {
  std::size_t end = 0;
  while (end < text.size() && (is_word_byte(static_cast<char>(text[end] | 0x20)) || text[end] == '.' || text[end] == '_')) ++end;
  const auto name = text.substr(0, end);
  const auto last = name.substr(name.rfind('.') + 1);
  if (last.size() < 7 || last[0] < 'A' || last[0] > 'Z') return false;
  if (std::none_of(endings.begin(), endings.end(), [&](const auto& ending) { return last.ends_with(ending); })) return false;
  return end == text.size() || text[end] == '(' || (text[end] == ':' && !counts(text.substr(end + 1)));
}

/// "<soap:Fault>", `<response status="error">`: an answer in XML that reports a fault at its beginning.
bool is_xml_fault(std::string_view text) {
  constexpr std::size_t kReach = 200;
  if (!text.starts_with('<')) return false;
  text = text.substr(0, kReach);
  return text.find("Fault>") != std::string_view::npos || text.find("<fault") != std::string_view::npos ||
         text.find("status=\"error\"") != std::string_view::npos;
}

bool few_lines(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines += trim(text.substr(at, end - at)).empty() ? 0u : 1u;
    at = end + 1;
  }
  return lines <= kMostLines;
}

void skip(JsonScanner& cursor, Token token) {
  if (token == Token::kObject || token == Token::kArray) (void)cursor.leave();
}

bool is_flag(std::string_view member) {
  return equal_ignoring_case(member, "success") || equal_ignoring_case(member, "ok");
}

/// A text that says no. The number 0 may count what succeeded.
bool is_no(Token value, std::string_view content) {
  return value == Token::kString && (equal_ignoring_case(content, "false") || equal_ignoring_case(content, "no") || content == "0");
}

/// The sign that counts of two: the first, unless it says nothing or the other says failure.
ShortSign surer(ShortSign sign, ShortSign other) {
  return sign == ShortSign::kNone || other == ShortSign::kFailed ? other : sign;
}

}  // namespace

bool ends_with_class(std::string_view text, const std::vector<std::string>& endings) {
  text = trim(text);
  return opens_with_class(trim(text.substr(text.rfind('\n') + 1)), endings);
}

/// True for the report of an exception that one of the last lines names, although a runner adds a line of its own behind it.
bool ShortSigns::is_traceback(std::string_view text) const {
  constexpr int kLines = 5;
  text = trim(text);
  if (std::none_of(tracebacks_.begin(), tracebacks_.end(), [&](const auto& opening) { return text.starts_with(opening); })) return false;
  for (int i = 0; i < kLines && !text.empty(); ++i) {
    const auto line = text.rfind('\n');
    if (opens_with_class(trim(text.substr(line + 1)), exceptions_)) return true;
    text = line == std::string_view::npos ? std::string_view{} : trim(text.substr(0, line));
  }
  return false;
}

bool is_failed_status(std::string_view digits) {
  return digits.size() == 3 && (digits[0] == '4' || digits[0] == '5') && is_digit(digits[1]) && is_digit(digits[2]);
}

void ShortSigns::set_words(const Vocabulary& vocabulary) {
  continuations_ = vocabulary.words(Key::kFailureContinuations);
  stops_ = vocabulary.words(Key::kFailureStops);
  refused_by_ = vocabulary.words(Key::kRefusedBy);
  exceptions_ = vocabulary.words(Key::kExceptionEndings);
  tracebacks_ = vocabulary.words(Key::kTracebackOpenings);
  absent_statuses_ = NameSet(vocabulary.words(Key::kAbsentStatuses));
  failed_statuses_ = NameSet(vocabulary.words(Key::kFailedStatuses));
  refusing_words_ = NameSet(vocabulary.words(Key::kRefusingWords));
  denying_code_words_ = NameSet(vocabulary.words(Key::kDenyingCodeWords));
  reason_phrases_ = vocabulary.words(Key::kReasonPhrases);
  status_labels_ = vocabulary.words(Key::kStatusLabels);
  for (const auto& label : status_labels_) status_letters_ |= std::uint32_t{1} << (label[0] & 31);
  const auto joined = [&](std::initializer_list<Key> keys) { return NameSet(vocabulary.words_of(keys)); };
  call_members_ = joined({Key::kCallMembers});
  code_members_ = joined({Key::kCodeMembers});
  outcome_members_ = joined({Key::kOutcomeMembers, Key::kCodeMembers});
  message_members_ = joined({Key::kMessageMembers});
  machines_ = joined({Key::kMachines});
  text_envelopes_ = joined({Key::kEnvelopeMembers, Key::kTextEnvelopeMembers});
  known_members_ = joined(
      {Key::kCallMembers, Key::kCodeMembers, Key::kOutcomeMembers, Key::kMessageMembers, Key::kEnvelopeMembers, Key::kTextEnvelopeMembers});
  done_statuses_ = joined({Key::kDoneStatuses});
}

/// True when the text after an opening still describes a failure.
bool ShortSigns::goes_on(std::string_view rest, bool any_word) const {
  if (rest.empty()) return true;
  if (is_word_byte(rest[0])) return false;
  if (rest[0] == ':') return !counts(rest.substr(1));
  if (rest[0] != ' ') return rest[0] != '-' && rest[0] != '/' && rest[0] != '_';
  rest = trim(rest);
  if (rest.empty() || !is_word_byte(rest[0])) return true;
  const auto word = rest.substr(0, word_end(rest, 0));
  return any_word ? !among(word, stops_) : among(word, continuations_);
}

/// "409 - version mismatch": a status with a reason of the tool's own. It may be any number, so it counts only for a tool that acts.
bool ShortSigns::opens_with_number(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  if (text.size() < kDigits || !is_failed_status(text.substr(0, kDigits))) return false;
  const auto rest = text.substr(kDigits);
  const bool marked = rest.starts_with(" - ") || rest.starts_with(": ");
  const auto reason = trim(rest.substr(std::min<std::size_t>(rest.size(), 2)));
  return marked && !reason.empty() && is_lower(reason[0]);
}

/// "HTTP 404", "http error: 502 bad gateway", "404 not found"; the text is folded.
bool ShortSigns::opens_with_status(std::string_view text) const {
  if (text.empty() || !(is_digit(text[0]) || (status_letters_ >> (text[0] & 31) & 1) != 0)) return false;
  const bool http = text.starts_with("http");
  bool named = false;
  int labels = 0;
  for (const auto& word : status_labels_) {
    if (!text.starts_with(word)) continue;
    text = trim(text.substr(word.size()));
    if (text.starts_with(':')) text = trim(text.substr(1));
    // "status 404" alone may be anything, "status code 404" is not.
    named |= !code_members_.contains(word) || ++labels > 1;
  }
  const auto digits = text.substr(0, word_end(text, 0));
  if (!is_failed_status(digits)) return false;
  text = text.substr(digits.size());
  if (const auto body = trim(text); body.size() < text.size() && (body.starts_with('{') || body.starts_with('['))) return true;
  if (text.empty()) return named;
  if (text[0] != ' ' && text[0] != ':') return named && text[0] != '.' && text[0] != '-';
  if (http && text[0] == ':') return true;
  text = trim(text.substr(1));
  // "550 5.1.1 recipient rejected": an SMTP reply with its enhanced status code (RFC 3463).
  if (text.size() > 2 && text[0] == digits[0] && text[1] == '.' && is_digit(text[2])) return true;
  if (text.starts_with('-') || text.starts_with(':')) text = trim(text.substr(1));
  return std::any_of(reason_phrases_.begin(), reason_phrases_.end(),
                     [&](const auto& reason) { return text.starts_with(reason) && goes_on(text.substr(reason.size()), false); });
}

ShortSigns::Opening ShortSigns::opening(std::string_view text, ShortSign sign) {
  constexpr std::string_view kAnyWord = " ...";
  Opening opening;
  opening.sign = sign;
  opening.any_word = text.ends_with(kAnyWord);
  if (opening.any_word) text.remove_suffix(kAnyWord.size());
  fold(trim(text), opening.text);
  return opening;
}

void ShortSigns::Phrases::add(Opening opening) {
  const auto& text = opening.text;
  if (text.size() < 2 || !is_word_byte(text[0])) return;
  const auto letter = static_cast<std::size_t>(text[0] & 31);
  seconds[letter] |= 1u << (text[1] & 31);
  by_letter[letter].push_back(std::move(opening));
}

const ShortSigns::Opening* ShortSigns::at_beginning(const Phrases& among_these, std::string_view folded) const {
  if (folded.size() < 2 || !is_word_byte(folded[0])) return nullptr;
  const auto letter = static_cast<std::size_t>(folded[0] & 31);
  if ((among_these.seconds[letter] >> (folded[1] & 31) & 1) == 0) return nullptr;
  const auto& phrases = among_these.by_letter[letter];
  const auto stands = [&](const Opening& phrase) {
    return folded.starts_with(phrase.text) && goes_on(folded.substr(phrase.text.size()), phrase.any_word);
  };
  const auto found = std::find_if(phrases.begin(), phrases.end(), stands);
  return found == phrases.end() ? nullptr : &*found;
}

void ShortSigns::add_opening(std::string_view text, ShortSign sign) {
  openings_.add(opening(text, sign));
}

void ShortSigns::add_not_there(std::string_view text) {
  not_there_.add(opening(text, ShortSign::kNotThere));
}

void ShortSigns::add_machine_failure(std::string_view text) {
  machine_failures_.add(opening(text, ShortSign::kRefused));
}

void ShortSigns::add_refused_state(std::string_view text) {
  refused_states_.add(opening(text, ShortSign::kActionFailed));
}

/// "weather api timed out", "the lookup service is currently unavailable".
bool ShortSigns::machine_fails(std::string_view folded) const {
  constexpr int kMostBefore = 4, kMostBetween = 3;  // words
  int between = -1;                                 // words since the machine; -1 before it
  std::size_t at = 0;
  for (int words = 0; words <= kMostBefore + kMostBetween; ++words) {
    if (between >= 0 && at_beginning(machine_failures_, folded.substr(at)) != nullptr) return true;
    const auto end = word_end(folded, at);
    if (end == at || end >= folded.size() || folded[end] != ' ' || between == kMostBetween) return false;
    if (machines_.contains(folded.substr(at, end - at))) {
      between = 0;
    } else if (between >= 0) {
      ++between;
    } else if (words >= kMostBefore) {
      return false;
    }
    at = end + 1;
  }
  return false;
}

/// The offset of the first of the phrases near the beginning; the text's length when there is none.
std::size_t ShortSigns::near_beginning(const Phrases& phrases, std::string_view folded) const {
  const auto end = std::min(folded.size(), kOpeningReach);
  for (std::size_t at = 0; at < end; at = word_end(folded, at)) {
    while (at < end && !is_word_byte(folded[at])) ++at;
    if (at_beginning(phrases, folded.substr(at)) != nullptr) return at;
  }
  return folded.size();
}

ShortSign ShortSigns::sign_of(std::string_view folded) const {
  const auto absent = near_beginning(not_there_, folded);
  if (opens_with_status(folded)) return absent < folded.size() ? ShortSign::kNotThere : ShortSign::kFailed;
  if (opens_with_number(folded)) return ShortSign::kActionFailed;
  // "Could not find the page", as opposed to "connection error: no such host".
  if (absent == 0 && !folded.empty()) return ShortSign::kNotThere;
  const auto* opening = at_beginning(openings_, folded);
  if (opening != nullptr) return opening->sign;
  if (absent < folded.size()) return ShortSign::kNotThere;
  if (machine_fails(folded)) return ShortSign::kRefused;
  if (is_refusal(folded)) return ShortSign::kActionFailed;
  // "Seat 12A is already taken": behind a subject.
  const auto refused = near_beginning(refused_states_, folded);
  return refused > 0 && refused < folded.size() ? ShortSign::kActionFailed : ShortSign::kNone;
}

/// "Upload rejected: virus scan pending": a few words, the last of which refuses.
bool ShortSigns::is_refusal(std::string_view folded) const {
  constexpr int kMostBefore = 3;  // words
  std::size_t at = 0;
  for (int words = 0; words <= kMostBefore; ++words) {
    const auto end = word_end(folded, at);
    if (words > 0 && refusing_words_.contains(folded.substr(at, end - at))) {
      const auto rest = folded.substr(end);
      if (rest.empty() || rest[0] == '.' || (rest[0] == ':' && !counts(rest.substr(1)))) return true;
      return rest[0] == ' ' && std::any_of(refused_by_.begin(), refused_by_.end(), [&](const auto& by) {
               return rest.substr(1).starts_with(by) && rest.substr(1 + by.size()).starts_with(' ');
             });
    }
    if (end == at || end >= folded.size() || folded[end] != ' ') return false;
    at = end + 1;
  }
  return false;
}

/// "rejected", "not_possible", "SEAT_TAKEN", "insufficient_funds": a code for an outcome that is a failure.
bool ShortSigns::refuses(std::string_view code) const {
  constexpr std::size_t kLongestCode = 40;
  if (failed_statuses_.contains(code)) return true;
  if (code.empty() || code.size() > kLongestCode) return false;
  const auto part = [](char c) { return is_word_byte(to_lower(c)) || c == '_' || c == '-'; };
  if (!std::all_of(code.begin(), code.end(), part)) return false;
  const auto first = code.substr(0, code.find_first_of("_-"));
  return refusing_words_.contains(first) || refusing_words_.contains(code.substr(code.find_last_of("_-") + 1));
}

/// "INVOICE_NOT_VOIDABLE": a code that denies something of the thing it names.
bool ShortSigns::denies_by_code(std::string_view code) const {
  if (code.find(' ') != std::string_view::npos) return false;
  for (auto at = code.find('_'); at != std::string_view::npos;) {
    const auto end = code.find('_', at + 1);
    if (end == std::string_view::npos) return false;
    const auto word = code.substr(at + 1, end - at - 1);
    if (std::none_of(word.begin(), word.end(), is_lower) && denying_code_words_.contains(word)) return true;
    at = end;
  }
  return false;
}

/// The text without brackets, tags, bold marks and pictures before its first word, and without "content:" or "result:".
std::string_view ShortSigns::without_marks(std::string_view text) const {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0xF0) {
      at += 4;
    } else if (byte == 0xE2 || byte == 0xEF) {
      at += 3;
    } else if (text[at] == '[' || text[at] == '(' || text[at] == '<' || text[at] == '*' || text[at] == '#' || text[at] == '`' ||
               text[at] == '"' || text[at] == '!' || blank(text[at])) {
      ++at;
    } else {
      break;
    }
  }
  text = text.substr(std::min(at, text.size()));
  const auto colon = text.substr(0, kLongestLabel).find(": ");
  if (colon != std::string_view::npos && text_envelopes_.contains(text.substr(0, colon))) text = trim(text.substr(colon + 2));
  return text;
}

ShortSign ShortSigns::read_text(std::string_view text) const {
  if (ends_with_class(text, exceptions_) || is_traceback(text) || is_status_line(text) || is_error_page(text) || is_xml_fault(text))
    return ShortSign::kFailed;
  const auto bare = without_marks(text);
  auto sign = ShortSign::kFailed;
  if (!opens_with_class(bare, exceptions_)) {
    Beginning beginning;
    sign = sign_of(beginning.fold(bare));
  }
  return sign != ShortSign::kNone && few_lines(text) ? sign : ShortSign::kNone;
}

/// Reads a plain member of an object that says how the call went. Nothing for one that settles that it went well, or is content.
std::optional<ShortSign> ShortSigns::read_member(std::string_view key, Token value, std::string_view content) const {
  const bool text = value == Token::kString && content.size() <= kLongest;
  const bool status = equal_ignoring_case(key, "status");
  if ((is_flag(key) && value == Token::kTrue) || (status && done_statuses_.contains(content))) return std::nullopt;
  auto sign = code_members_.contains(key) && is_failed_status(content) ? ShortSign::kFailed : ShortSign::kNone;
  if (value == Token::kString && outcome_members_.contains(key) && (refuses(content) || (!status && denies_by_code(content))))
    return surer(sign, ShortSign::kActionFailed);
  if (status && absent_statuses_.contains(content)) sign = surer(sign, ShortSign::kNotThere);
  if (text && message_members_.contains(key)) sign = surer(sign, read_text(content));
  if (text && text_envelopes_.contains(key)) {
    if (const auto inner = read_text(content); inner != ShortSign::kNone) return surer(sign, inner);
  }
  const bool nothing = value == Token::kNull || (value == Token::kString && content.empty());
  if (!call_members_.contains(key) && !nothing) return std::nullopt;
  return sign;
}

/// Reads an object that says how the call went and contains nothing else.
ShortSign ShortSigns::read_json(std::string_view text) const {
  JsonScanner cursor(text);
  if (cursor.next() != Token::kObject) return ShortSign::kNone;
  auto sign = ShortSign::kNone;
  bool framed = false;   // holds a body
  bool refused = false;  // has the status of a failure
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    const auto value = cursor.next();
    const auto content = value == Token::kString || value == Token::kNumber ? cursor.text() : std::string_view{};
    if (value == Token::kBad) return ShortSign::kNone;
    if (!known_members_.contains(key)) {
      const bool nothing = value == Token::kNull || (value == Token::kString && content.empty());
      if (!nothing) return ShortSign::kNone;
      continue;
    }
    const bool many = value == Token::kArray || value == Token::kObject;
    if (many && (equal_ignoring_case(key, "errors") || equal_ignoring_case(key, "errormessages"))) {
      const auto first = cursor.next();
      if (first == Token::kArrayEnd || first == Token::kObjectEnd) continue;
      sign = surer(sign, ShortSign::kFailed);
      // A first item that is not a plain value is open at this point.
      while (cursor.depth() > 1) {
        if (!cursor.leave()) return ShortSign::kNone;
      }
      continue;
    }
    if (is_flag(key) && is_no(value, content)) return ShortSign::kFailed;
    // {"status": 422, "body": {...}}: by its status, an answer of HTTP failed whatever its body holds.
    if (many && text_envelopes_.contains(key)) {
      framed = true;
      if (!cursor.leave()) return ShortSign::kNone;
      continue;
    }
    const auto told = read_member(key, value, content);
    if (!told) return ShortSign::kNone;
    sign = surer(sign, *told);
    refused |= code_members_.contains(key) && is_failed_status(content);
    skip(cursor, value);
  }
  return framed && !refused ? ShortSign::kNone : sign;
}

bool ShortSigns::is_result_of(const ToolCall& call) const {
  constexpr std::size_t kEnding = 2, kShortest = 6;
  const auto output = trim(call.output);
  std::string name, asked, told;
  fold(call.tool, name);
  fold(cut(call.input, kLongest), asked);
  fold(cut(output, kLongest), told);
  const auto is_result = [&](const std::string& state) {
    if (state.size() < kShortest || told.find(state) == std::string::npos) return false;
    return name.find(std::string_view(state).substr(0, state.size() - kEnding)) != std::string::npos ||
           asked.find(state) != std::string::npos;
  };
  return std::any_of(failed_statuses_.begin(), failed_statuses_.end(), is_result) ||
         std::any_of(refusing_words_.begin(), refusing_words_.end(), is_result);
}

ShortSign ShortSigns::read(std::string_view output) const {
  if (!on_) return ShortSign::kNone;
  output = trim(output);
  if (output.empty() || output.size() > kLongestJson) return ShortSign::kNone;
  if (equal_ignoring_case(output, "false")) return ShortSign::kActionFailed;
  auto sign = ShortSign::kNone;
  if (output[0] == '{') {
    sign = read_json(output);
  } else if (output.size() <= kLongest) {
    sign = read_text(output);
  }
  if (sign != ShortSign::kNone) return sign;
  std::string buffer;
  const auto inner = inner_output(output, text_envelopes_, buffer);
  return inner.empty() ? sign : read(inner);
}

}  // namespace runwarden::plugins
