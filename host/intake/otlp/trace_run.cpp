#include "intake/otlp/trace_run.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "base/time_text.h"
#include "intake/otlp/trace.h"

namespace runwarden::intake::otlp {
namespace {

using model::SpanField;
using model::SpanKind;

constexpr std::size_t kMostIgnored = 200;  // spans that a mapping lists

// The source of a field of a run.
struct Source {
  std::size_t span = kNoSpan;
  std::string_view member;  // of the span's facts; empty: the span's name
};

std::optional<Source> source_in(const Trace& trace, const std::vector<std::size_t>& spans, std::string_view member) {
  for (const std::size_t span : spans) {
    if (trace.spans()[span].json(member) != nullptr) return Source{span, member};
  }
  return std::nullopt;
}

// The model steps: those of the turns first.
std::vector<std::size_t> model_steps(const Trace& trace) {
  std::vector<std::size_t> models;
  for (const auto* const steps : {&trace.steps_of_turns(), &trace.other_steps()}) {
    std::copy_if(steps->begin(), steps->end(), std::back_inserter(models),
                 [&](std::size_t step) { return trace.spans()[step].kind == SpanKind::model; });
  }
  return models;
}

// The spans whose own messages count for that turn, the first that has any.
std::vector<std::size_t> speakers_and(const Trace& trace, std::size_t turn) {
  std::vector<std::size_t> spans = trace.speakers(turn);
  if (turn != kNoSpan) spans.push_back(turn);
  return spans;
}

std::optional<Source> request_source(const Trace& trace) {
  std::vector<std::size_t> spans = speakers_and(trace, trace.first_turn());
  const auto models = model_steps(trace);
  if (!models.empty()) spans.push_back(models.front());
  if (auto source = source_in(trace, spans, "userRequestText")) return source;
  if (trace.root() != kNoSpan && !trace.spans()[trace.root()].name.empty()) return Source{trace.root(), {}};
  return std::nullopt;
}

// The span whose failure fails the run: the agent in its last turn, otherwise the root, otherwise the last step if it is a model's.
std::size_t failed_speaker(const Trace& trace) {
  for (const std::size_t span : trace.speakers(trace.last_turn())) {
    if (trace.spans()[span].failed) return span;
  }
  if (trace.steps_of_turns().empty()) return kNoSpan;
  const std::size_t last = trace.steps_of_turns().back();
  return trace.spans()[last].failed && trace.spans()[last].kind == SpanKind::model ? last : kNoSpan;
}

bool is_answer(const SpanInTrace& span) {
  return span.kind == SpanKind::model && !span.failed && span.spoke && span.json("outputSummary") != nullptr;
}

// The agent's last message to the user. In a failed run, what a model said before further steps does not count.
std::optional<Source> answer_source(const Trace& trace, bool run_failed) {
  if (auto source = source_in(trace, speakers_and(trace, trace.last_turn()), "outcomeSummary")) return source;
  for (const auto* const steps : {&trace.steps_of_turns(), &trace.other_steps()}) {
    for (auto step = steps->rbegin(); step != steps->rend(); ++step) {
      if (is_answer(trace.spans()[*step])) return Source{*step, "outputSummary"};
      if (run_failed) return std::nullopt;
    }
  }
  return std::nullopt;
}

// An answer takes precedence over an error, because the user has read it even if the run failed. The run's metadata has the error too.
std::optional<Source> outcome_source(const Trace& trace) {
  const std::size_t failed = failed_speaker(trace);
  if (auto answer = answer_source(trace, failed != kNoSpan)) return answer;
  if (failed != kNoSpan && trace.spans()[failed].json("errorMessage") != nullptr) return Source{failed, "errorMessage"};
  return std::nullopt;
}

const std::string* value_of(const Trace& trace, const Source& source) {
  return trace.spans()[source.span].json(source.member);
}

// The sum of a metadata member, and the spans that it was taken from.
struct Sum {
  double value = 0;
  std::vector<std::size_t> spans;
};

// Sums the model steps. The spans around them repeat that sum, so they count only if no step has the member.
Sum sum_of(const Trace& trace, std::string_view member) {
  Sum sum;
  const auto add = [&](std::size_t at) {
    const std::string* const json = trace.spans()[at].meta(member);
    if (json == nullptr) return;
    double value = 0;
    std::from_chars(json->data(), json->data() + json->size(), value);
    sum.value += value;
    sum.spans.push_back(at);
  };
  for (const std::size_t step : trace.steps()) {
    if (trace.spans()[step].kind == SpanKind::model) add(step);
  }
  if (!sum.spans.empty()) return sum;
  for (const std::size_t turn : trace.turns()) add(turn);
  if (sum.spans.empty() && trace.root() != kNoSpan) add(trace.root());
  return sum;
}

// A name that an attribute gives says more than the name of a span, which is the last row of the mapping.
std::optional<std::size_t> name_source(const Trace& trace, const std::vector<std::size_t>& spans) {
  const auto has_name = [&](std::size_t span) { return trace.spans()[span].meta("name") != nullptr; };
  const auto was_given = [&](std::size_t span) { return trace.spans()[span].has_given_name(); };
  auto found = std::find_if(spans.begin(), spans.end(), was_given);
  if (found == spans.end()) found = std::find_if(spans.begin(), spans.end(), has_name);
  return found == spans.end() ? std::nullopt : std::optional(*found);
}

// The first span that has the member: those that speak for the run, then the steps.
std::optional<std::size_t> metadata_source(const Trace& trace, std::string_view member) {
  std::vector<std::size_t> spans = speakers_and(trace, trace.first_turn());
  if (member == "name") return name_source(trace, spans);
  spans.insert(spans.end(), trace.steps().begin(), trace.steps().end());
  for (const std::size_t span : spans) {
    if (trace.spans()[span].meta(member) != nullptr) return span;
  }
  return std::nullopt;
}

constexpr std::string_view kTextsOfRun[] = {"sessionId", "name", "service", "serviceVersion", "environment", "project"};
constexpr std::string_view kModelTexts[] = {"model", "responseModel"};
constexpr std::string_view kErrorTexts[] = {"errorCode", "errorMessage"};  // of the span whose failure fails the run

std::optional<std::size_t> model_source(const Trace& trace, std::string_view member) {
  for (const std::size_t step : model_steps(trace)) {
    if (trace.spans()[step].meta(member) != nullptr) return step;
  }
  return std::nullopt;
}

std::int64_t ms_of(std::uint64_t ns) {
  return static_cast<std::int64_t>(ns / 1'000'000);
}

void write_times(JsonWriter& out, const SpanInTrace& span) {
  if (span.start_ns != 0) out.key("startedAt").string(format_time(ms_of(span.start_ns)));
  if (span.end_ns != 0) out.key("endedAt").string(format_time(ms_of(span.end_ns)));
}

bool same_call(const SpanInTrace& a, const SpanInTrace& b) {
  const auto same = [](const std::string* one, const std::string* other) { return one != nullptr && other != nullptr && *one == *other; };
  return a.kind == b.kind && same(a.json("stepName"), b.json("stepName")) && same(a.json("inputSummary"), b.json("inputSummary"));
}

class RunWriter {
 public:
  explicit RunWriter(const Trace& trace) : trace_(trace) {}

  std::string write(std::string_view run_id) {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("runId").string(run_id);
    if (const auto source = request_source(trace_)) {
      out.key("userRequestText");
      if (source->member.empty()) {
        out.string(trace_.spans()[source->span].name);
      } else {
        out.raw(*value_of(trace_, *source));
      }
    }
    write_success(out);
    if (const auto source = outcome_source(trace_)) out.key("outcomeSummary").raw(*value_of(trace_, *source));
    if (trace_.root() != kNoSpan) write_times(out, trace_.spans()[trace_.root()]);
    write_metadata(out);
    out.key("steps").begin_array();
    std::int64_t failed_before = 0;
    for (std::size_t i = 0; i < trace_.steps().size(); ++i) {
      const SpanInTrace& span = trace_.spans()[trace_.steps()[i]];
      const SpanInTrace* const before = i == 0 ? nullptr : &trace_.spans()[trace_.steps()[i - 1]];
      failed_before = before != nullptr && before->failed && same_call(*before, span) ? failed_before + 1 : 0;
      span.request == kNoSpan ? write_step(out, span, failed_before) : write_user(out, span);
    }
    out.end_array().end_object();
    return text;
  }

 private:
  // Writes true or false only if the trace says so.
  void write_success(JsonWriter& out) {
    if (failed_speaker(trace_) != kNoSpan) {
      out.key("success").boolean(false);
      return;
    }
    const auto speakers = trace_.speakers(trace_.last_turn());
    const bool ok = std::any_of(speakers.begin(), speakers.end(), [&](std::size_t span) { return trace_.spans()[span].ok; });
    if (ok) out.key("success").boolean(true);
  }

  void write_sum(JsonWriter& out, std::string_view member) {
    const Sum sum = sum_of(trace_, member);
    if (sum.spans.empty()) return;
    if (member == "costUsd") {
      out.key(member).number(sum.value);
    } else {
      out.key(member).integer(static_cast<std::int64_t>(std::min(sum.value, 9'007'199'254'740'992.0)));
    }
  }

  void write_metadata(JsonWriter& out) {
    out.key("metadata").begin_object().key("source").string("otlp");
    for (const std::string_view member : kModelTexts) {
      if (const auto source = model_source(trace_, member)) out.key(member).raw(*trace_.spans()[*source].meta(member));
    }
    for (const std::string_view member : {"inputTokens", "outputTokens", "costUsd"}) write_sum(out, member);
    for (const std::string_view member : kTextsOfRun) {
      if (const auto source = metadata_source(trace_, member)) out.key(member).raw(*trace_.spans()[*source].meta(member));
    }
    if (const std::size_t failed = failed_speaker(trace_); failed != kNoSpan) {
      for (const std::string_view member : kErrorTexts) {
        if (const std::string* const json = trace_.spans()[failed].json(member)) out.key(member).raw(*json);
      }
    }
    out.key("spans").integer(static_cast<std::int64_t>(trace_.spans().size()));
    if (trace_.root() == kNoSpan || !trace_.spans()[trace_.root()].is_root) out.key("rootArrived").boolean(false);
    if (trace_.has_only_model_span()) out.key("onlyModelSpan").boolean(true);
    out.end_object();
  }

  void write_user(JsonWriter& out, const SpanInTrace& agent) {
    out.begin_object().key("stepId").string(agent.id).key("stepKind").string("user");
    out.key("outputSummary").raw(*trace_.spans()[agent.request].json("userRequestText"));
    if (agent.start_ns != 0) out.key("startedAt").string(format_time(ms_of(agent.start_ns)));
    out.end_object();
  }

  static void write_step(JsonWriter& out, const SpanInTrace& span, std::int64_t failed_before) {
    const bool tool = span.kind == SpanKind::tool;
    out.begin_object().key("stepId").string(span.id).key("stepKind").string(tool ? "tool" : "model");
    const std::string* const model = span.meta("model");
    if (!tool) {
      out.key("stepName");
      if (model != nullptr) {
        out.raw(*model);
      } else {
        out.string(span.name);
      }
    }
    for (const std::string_view name : {"stepName", "status", "errorCode", "errorMessage", "inputSummary", "outputSummary"}) {
      if (const std::string* const json = span.json(name); json != nullptr && (tool || name != "stepName")) out.key(name).raw(*json);
    }
    if (failed_before > 0) out.key("retryCount").integer(failed_before);
    write_times(out, span);
    bool any = false;
    for (const std::string_view name : {"model", "responseModel", "inputTokens", "outputTokens", "costUsd"}) {
      const std::string* const json = span.meta(name);
      if (json == nullptr || tool) continue;
      if (!std::exchange(any, true)) out.key("metadata").begin_object();
      out.key(name).raw(*json);
    }
    if (any) out.end_object();
    out.end_object();
  }

  const Trace& trace_;
};

class MappingWriter {
 public:
  MappingWriter(const Trace& trace, const model::SpanMapping& mapping) : trace_(trace), mapping_(mapping) {}

  std::string write() {
    of_run();
    for (std::size_t i = 0; i < trace_.steps().size(); ++i) of_step("/steps/" + std::to_string(i), trace_.steps()[i]);
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("spans").integer(static_cast<std::int64_t>(trace_.spans().size()));
    out.key("onlyModelSpan").boolean(trace_.has_only_model_span());
    write_list(out, "fields", fields_);
    write_list(out, "missing", missing_);
    write_ignored(out);
    out.end_object();
    return text;
  }

 private:
  static void write_list(JsonWriter& out, std::string_view name, const std::vector<std::string>& items) {
    out.key(name).begin_array();
    for (const std::string& item : items) out.raw(item);
    out.end_array();
  }

  void found(std::string_view field, std::size_t span, std::string_view member) {
    const SpanInTrace& one = trace_.spans()[trace_.giver(span, member)];
    const std::string_view attribute = member.empty() ? "span.name" : one.attribute_of(member);
    JsonWriter out(fields_.emplace_back());
    out.begin_object().key("field").string(field).key("spanId").string(one.id);
    out.key("attribute").string(attribute.empty() ? "status" : attribute).end_object();
  }

  void missing(std::string_view field, std::size_t span, SpanField of) {
    JsonWriter out(missing_.emplace_back());
    out.begin_object().key("field").string(field);
    if (span != kNoSpan) out.key("spanId").string(trace_.spans()[span].id);
    out.key("expected").begin_array();
    for (const auto& row : mapping_.rows(of)) out.string(row.label());
    out.end_array().end_object();
  }

  void of_run() {
    const auto speakers = trace_.speakers(trace_.first_turn());
    const std::size_t speaker = speakers.empty() ? kNoSpan : speakers.front();
    const auto request = request_source(trace_);
    if (request) found("/userRequestText", request->span, request->member);
    if (!request || request->member.empty()) missing("/userRequestText", speaker, SpanField::user_request);
    const auto outcome = outcome_source(trace_);
    if (outcome) {
      found("/outcomeSummary", outcome->span, outcome->member);
    } else {
      missing("/outcomeSummary", speaker, SpanField::outcome);
    }
    if (const std::size_t failed = failed_speaker(trace_); failed != kNoSpan) {
      found("/success", failed, "status");
      for (const std::string_view member : kErrorTexts) {
        if (trace_.spans()[failed].json(member) != nullptr) found("/metadata/" + std::string(member), failed, member);
      }
    }
    for (const std::string_view member : kModelTexts) {
      if (const auto source = model_source(trace_, member)) found("/metadata/" + std::string(member), *source, member);
    }
    for (const std::string_view member : kTextsOfRun) {
      if (const auto source = metadata_source(trace_, member)) found("/metadata/" + std::string(member), *source, member);
    }
    for (const std::string_view member : {"inputTokens", "outputTokens", "costUsd"}) {
      for (const std::size_t span : sum_of(trace_, member).spans) found("/metadata/" + std::string(member), span, member);
    }
  }

  void of_step(const std::string& step, std::size_t at) {
    const SpanInTrace& span = trace_.spans()[at];
    if (span.request != kNoSpan) return found(step + "/outputSummary", span.request, "userRequestText");
    const bool tool = span.kind == SpanKind::tool;
    for (const std::string_view name : {"stepName", "errorCode", "errorMessage", "inputSummary", "outputSummary"}) {
      if (span.json(name) != nullptr && (tool || name != "stepName")) found(step + "/" + std::string(name), at, name);
    }
    if (span.json("inputSummary") == nullptr) missing(step + "/inputSummary", at, tool ? SpanField::tool_input : SpanField::user_request);
    if (span.json("outputSummary") == nullptr && !span.failed)
      missing(step + "/outputSummary", at, tool ? SpanField::tool_output : SpanField::outcome);
    if (tool) return;
    if (span.meta("model") != nullptr) {
      found(step + "/stepName", at, "model");
    } else {
      found(step + "/stepName", at, {});
      missing(step + "/metadata/model", at, SpanField::model);
    }
    for (const std::string_view name : {"inputTokens", "outputTokens", "costUsd"}) {
      if (span.meta(name) != nullptr) found(step + "/metadata/" + std::string(name), at, name);
    }
    if (span.meta("inputTokens") == nullptr) missing(step + "/metadata/inputTokens", at, SpanField::input_tokens);
  }

  // Spans that contribute nothing to the run.
  void write_ignored(JsonWriter& out) {
    out.key("ignoredSpans").begin_array();
    std::size_t named = 0;
    for (const SpanInTrace& span : trace_.spans()) {
      if (span.kind != SpanKind::none && span.kind != SpanKind::ignored) continue;
      if (++named > kMostIgnored) break;
      out.begin_object().key("spanId").string(span.id).key("name").string(span.name).key("scope").string(span.scope).end_object();
    }
    out.end_array();
  }

  const Trace& trace_;
  const model::SpanMapping& mapping_;
  std::vector<std::string> fields_;
  std::vector<std::string> missing_;
};

}  // namespace

std::string run_of_trace(std::string_view run_id, const std::vector<std::string>& spans) {
  const Trace trace(spans);
  return RunWriter(trace).write(run_id);
}

std::string mapping_of_trace(const std::vector<std::string>& spans, const model::SpanMapping& mapping) {
  const Trace trace(spans);
  return MappingWriter(trace, mapping).write();
}

}  // namespace runwarden::intake::otlp
