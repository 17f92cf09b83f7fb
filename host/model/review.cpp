#include "model/review.h"

#include "base/json_text.h"
#include "base/time_text.h"

namespace runwarden::model {

const char* name(ReviewVerdict verdict) {
  switch (verdict) {
    case ReviewVerdict::none: break;
    case ReviewVerdict::right: return "right";
    case ReviewVerdict::false_alarm: return "false_alarm";
    case ReviewVerdict::unsure: return "unsure";
    case ReviewVerdict::missed: return "missed";
    case ReviewVerdict::clean: return "clean";
  }
  return "none";
}

std::optional<ReviewVerdict> review_verdict(std::string_view text) {
  for (const auto verdict :
       {ReviewVerdict::right, ReviewVerdict::false_alarm, ReviewVerdict::unsure, ReviewVerdict::missed, ReviewVerdict::clean}) {
    if (text == name(verdict)) return verdict;
  }
  return std::nullopt;
}

std::string write_document(const Review& review, std::string_view note) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (review.failure_id.empty()) out.key("detector").string(review.detector_key);
  out.key("verdict");
  review.verdict == ReviewVerdict::none ? out.null() : out.string(name(review.verdict));
  if (!note.empty()) out.key("note").string(note);
  out.key("author").string(review.author).key("at").string(format_time(review.key.time_ms)).end_object();
  return text;
}

std::string write_document(const Review& review, const ModelAnswer& answer) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (review.failure_id.empty()) out.key("detector").string(review.detector_key);
  out.key("verdict").string(name(review.verdict)).key("opinion").string(answer.opinion).key("reason").string(answer.reason);
  out.key("evidence").raw(answer.evidence_json).key("author").string(review.author).key("at").string(format_time(review.key.time_ms));
  out.key("promptVersion").string(answer.prompt_version).key("tokens").integer(static_cast<std::int64_t>(answer.tokens));
  out.key("milliseconds").integer(answer.elapsed_ms).end_object();
  return text;
}

ReviewVerdict counted_verdict(const Review& review) {
  if (!review.of_candidate) return review.verdict;
  if (review.verdict == ReviewVerdict::right) return ReviewVerdict::missed;
  return review.verdict == ReviewVerdict::false_alarm ? ReviewVerdict::clean : review.verdict;
}

std::string review_subject(const Review& review) {
  return review.failure_id.empty() ? "detector\n" + review.detector_key : review.failure_id;
}

std::uint64_t& ReviewCounts::of(ReviewVerdict verdict) {
  switch (verdict) {
    case ReviewVerdict::right: return right;
    case ReviewVerdict::false_alarm: return false_alarm;
    case ReviewVerdict::missed: return missed;
    case ReviewVerdict::clean: return clean;
    case ReviewVerdict::none:
    case ReviewVerdict::unsure: break;
  }
  return unsure;
}

ReviewCounts& ReviewCounts::operator+=(const ReviewCounts& other) {
  right += other.right;
  false_alarm += other.false_alarm;
  unsure += other.unsure;
  missed += other.missed;
  clean += other.clean;
  return *this;
}

}  // namespace runwarden::model
