#include "opinion/answer.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json_check.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "opinion/answer_json.h"
#include "opinion/marked_text.h"
#include "opinion/run_text.h"
#include "opinion/usage.h"

namespace runwarden::opinion {
namespace {

constexpr int kMostBodyDepth = 64;
constexpr int kMostAnswerDepth = 8;
constexpr std::size_t kMostShownBytes = 80;  // of the model's text in an error
constexpr std::string_view kThinkingEnd = "</think>";
constexpr std::array kAllVerdicts{OpinionVerdict::present, OpinionVerdict::absent, OpinionVerdict::unclear};

Error fault(std::string detail) {
  return {Code::unavailable, std::move(detail), {}, {}};
}

std::string cut(std::string_view text, std::size_t most) {
  const std::string_view kept = utf8_prefix(text, most);
  return std::string(kept) + (kept.size() < text.size() ? "\u2026" : "");
}

bool is_string(std::string_view json) {
  return json.starts_with('"');
}

// The model's text, or why there is none.
Result<std::string> content_of(const std::vector<JsonMember>& body) {
  const auto choices = json_elements(json_member(body, "choices"));
  if (choices.empty())
    return fault("the answer has no choices[0].message.content: the endpoint does not implement the chat completions API");
  const auto choice = json_members(choices.front());
  const auto message = json_members(json_member(choice, "message"));
  std::string content = json_member_text(message, "content");
  if (!content.empty()) return content;
  const std::string refusal = json_member_text(message, "refusal");
  if (!refusal.empty()) return fault("the model refused: " + cut(refusal, kMostShownBytes));
  const std::string reason = json_member_text(choice, "finish_reason");
  return fault("the model's answer is empty" + (reason.empty() ? std::string() : " (finish_reason " + cut(reason, kMostShownBytes) + ")"));
}

// Models that print their reasoning do so before the answer.
std::string_view without_thoughts(std::string_view content) {
  const std::size_t end = content.starts_with('{') ? std::string_view::npos : content.find(kThinkingEnd);
  return end == std::string_view::npos ? content : content.substr(end + kThinkingEnd.size());
}

struct Names {
  std::vector<JsonMember> members;
  std::optional<Error> wrong;
};
Names only(std::string_view object, const std::vector<std::string_view>& known) {
  Names out{json_members(object), std::nullopt};
  for (const JsonMember& one : out.members) {
    const auto same = [&](const JsonMember& other) { return other.name == one.name; };
    if (std::find(known.begin(), known.end(), one.name) == known.end()) {
      out.wrong = fault("the model's answer has an unknown member \"" + cut(one.name, kMostShownBytes) + "\"");
    } else if (std::count_if(out.members.begin(), out.members.end(), same) > 1) {
      out.wrong = fault("the model's answer has the member \"" + one.name + "\" twice");
    }
    if (out.wrong) break;
  }
  return out;
}

Result<Quote> quote_of(std::string_view json) {
  const Names names = only(json, {"pointer", "quote"});
  if (names.wrong) return *names.wrong;
  const std::string pointer = json_member(names.members, "pointer");
  const std::string text = json_member(names.members, "quote");
  if (!is_string(pointer) || !is_string(text))
    return fault("evidence in the model's answer is not an object of two strings, {\"pointer\", \"quote\"}");
  Quote quote{json_string_value(pointer), json_string_value(text)};
  if (quote.pointer.size() > kMostPointerBytes || quote.text.size() > kMostQuoteBytes) {
    return fault("a pointer or quote in the model's answer is longer than " + std::to_string(kMostPointerBytes) + " or " +
                 std::to_string(kMostQuoteBytes) + " bytes");
  }
  return quote;
}

Result<ParsedAnswer> answer_of(std::string_view object) {
  const Names names = only(object, {"verdict", "reason", "evidence"});
  if (names.wrong) return *names.wrong;
  ParsedAnswer answer;
  const std::string verdict = json_member_text(names.members, "verdict");
  const auto known = std::find_if(kAllVerdicts.begin(), kAllVerdicts.end(), [&](OpinionVerdict one) { return verdict == name(one); });
  if (known == kAllVerdicts.end()) return fault("the verdict in the model's answer is not present, absent or unclear");
  answer.verdict = *known;
  const std::string reason = json_member(names.members, "reason");
  if (!is_string(reason)) return fault("the reason in the model's answer is not a string");
  answer.reason = cut(json_string_value(reason), kMostReasonBytes);
  const std::string evidence = json_member(names.members, "evidence");
  if (!evidence.starts_with('[')) return fault("the evidence in the model's answer is not an array");
  const auto quotes = json_elements(evidence);
  if (quotes.size() > kMostQuotes) return fault("the model's answer has more than " + std::to_string(kMostQuotes) + " quotes");
  for (const std::string& one : quotes) {
    auto quote = quote_of(one);
    if (!quote.ok()) return std::move(quote.error());
    answer.evidence.push_back(std::move(*quote));
  }
  return answer;
}

// The length of the white space at `at`, or 0.
std::size_t space_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ' ' || c == '\t') return 1;
  if (const std::size_t length = line_break_at(text, at); length > 0) return length;
  for (const std::string_view space : {"\u00A0", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
                                       "\u2009", "\u200A", "\u202F", "\u205F", "\u3000"}) {
    if (c == space[0] && text.substr(at).starts_with(space)) return space.size();
  }
  return 0;
}

// Replaces every stretch of white space with one space; none at the ends.
std::string with_equal_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = space_at(text, at); length > 0) {
      space = !out.empty();
      at += length;
      continue;
    }
    if (std::exchange(space, false)) out += ' ';
    out += text[at++];
  }
  return out;
}

// The model may have copied line marks with a quote of several lines.
std::string without_line_marks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = line_break_at(text, at);
    out += text[at];
    at += std::max<std::size_t>(length, 1);
    if (length > 0 && text.substr(at).starts_with(kLineMark)) at += kLineMark.size();
  }
  return out;
}

// The length of the omission mark at `at`, or 0: our own mark, or dots as people write them.
std::size_t cut_mark_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with(kCutBegin)) {
    const std::size_t end = rest.find_first_not_of("0123456789", kCutBegin.size());
    if (end != std::string_view::npos && rest.substr(end).starts_with(kCutEnd)) return end + kCutEnd.size();
  }
  for (const std::string_view mark : {"[...]", "[\u2026]", "...", "\u2026"}) {
    if (rest.starts_with(mark)) return mark.size();
  }
  return 0;
}

std::vector<std::string> parts_of(std::string_view quote) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < quote.size();) {
    if (const std::size_t length = cut_mark_at(quote, at); length > 0) {
      parts.emplace_back();
      at += length;
    } else {
      parts.back() += quote[at++];
    }
  }
  for (std::string& part : parts) part = with_equal_spaces(part);
  parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  return parts;
}

// The end of the part's first occurrence in the text. Linear in the text for any input.
std::size_t end_of(std::string_view part, std::string_view text, std::size_t from) {
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + part.size();
}

bool holds(std::string_view text, std::string_view quote) {
  const std::string whole = with_equal_spaces(quote);
  if (whole.empty() || whole == kEmptyText) return text.empty();
  if (end_of(whole, text, 0) != std::string_view::npos) return true;
  const auto parts = parts_of(quote);
  std::size_t from = 0;
  for (const std::string& part : parts) {
    from = end_of(part, text, from);
    if (from == std::string_view::npos) return false;
  }
  return !parts.empty();
}

bool stands_there(const Quote& quote, const model::Run& run) {
  const std::string unmarked = without_line_marks(quote.text);
  for (const std::string& text : texts_at(run, quote.pointer)) {
    const std::string equal = with_equal_spaces(text);
    if (holds(equal, quote.text) || holds(equal, unmarked)) return true;
  }
  return false;
}

}  // namespace

const char* name(OpinionVerdict verdict) {
  switch (verdict) {
    case OpinionVerdict::present: return "present";
    case OpinionVerdict::absent: return "absent";
    case OpinionVerdict::unclear: break;
  }
  return "unclear";
}

Result<ParsedAnswer> read_answer(std::string_view body) {
  if (body.size() > kMostAnswerBytes) return fault("the answer is longer than " + std::to_string(kMostAnswerBytes) + " bytes");
  if (!check_json(body, kMostBodyDepth).ok())
    return fault("the answer is not JSON: the endpoint does not implement the chat completions API");
  const auto members = json_members(body);
  const auto content = content_of(members);
  if (!content.ok()) return content.error();
  const std::string_view text = without_thoughts(*content);
  const auto found = find_object(text, kMostAnswerDepth);
  if (!found)
    return fault("the model did not answer with a complete JSON object: " +
                 cut(with_equal_spaces(utf8_prefix(text, 4 * kMostShownBytes)), kMostShownBytes));
  auto answer = answer_of(*found);
  if (answer.ok()) answer->tokens = read_usage(body).all();
  return answer;
}

ParsedAnswer with_checked_quotes(ParsedAnswer answer, const model::Run& run) {
  for (const Quote& quote : answer.evidence) {
    if (stands_there(quote, run)) continue;
    const std::string was = std::string("the model said ") + name(answer.verdict) + ", but quotes text that the run does not contain at " +
                            cut(quote.pointer, kMostShownBytes) + ": \"" + cut(quote.text, kMostShownBytes) + "\". Its reason: ";
    answer.verdict = OpinionVerdict::unclear;
    answer.reason = cut(was + answer.reason, kMostReasonBytes);
    answer.evidence.clear();
    break;
  }
  return answer;
}

model::ModelAnswer to_model_answer(const ParsedAnswer& answer, std::string prompt_version, std::int64_t elapsed_ms) {
  model::ModelAnswer out;
  out.opinion = name(answer.verdict);
  out.reason = answer.reason;
  out.prompt_version = std::move(prompt_version);
  out.tokens = answer.tokens;
  out.elapsed_ms = elapsed_ms;
  out.evidence_json.clear();
  JsonWriter json(out.evidence_json);
  json.begin_array();
  for (const Quote& quote : answer.evidence) {
    json.begin_object().key("pointer").string(quote.pointer).key("quote").string(quote.text).end_object();
  }
  json.end_array();
  return out;
}

}  // namespace runwarden::opinion
