#include "intake/event_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/json_members.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "intake/member_names.h"
#include "intake/run_id.h"
#include "intake/shape.h"
#include "intake/shape_reader.h"
#include "intake/step_rules.h"

namespace runwarden::intake {
namespace {

enum Slot : std::uint8_t { kRunId, kEvents, kFinal, kType, kEventId, kStatus, kStepKind, kSecondName, kOther };

constexpr Field kUsageFields[] = {
    {"inputTokens", Want::lenient_count, kOther},
    {"promptTokens", Want::lenient_count, kOther},
    {"input_tokens", Want::lenient_count, kOther},
    {"prompt_tokens", Want::lenient_count, kOther},
};
constexpr Shape kUsageShape{kUsageFields, "usage"};

// With the names that only the run reads: they are kept as they are, but each may come once.
constexpr Field kMetadataFields[] = {
    {"model", Want::text, kOther},
    {"costUsd", Want::amount, kOther},
    {"inputTokens", Want::count, kOther},
    {"httpStatus", Want::lenient_count, kOther},
    {"http_status", Want::lenient_count, kOther},
    {"statusCode", Want::lenient_count, kOther},
    {"status_code", Want::lenient_count, kOther},
    {"cost_usd", Want::lenient_amount, kOther},
    {"promptTokens", Want::lenient_count, kOther},
    {"input_tokens", Want::lenient_count, kOther},
    {"prompt_tokens", Want::lenient_count, kOther},
    {"usage", Want::lenient_object, kOther, &kUsageShape},
};
constexpr Shape kMetadataShape{kMetadataFields, "metadata", {}, kMetadataWords};

// One table for all event types: a member has the same type in every event.
constexpr Field kEventFields[] = {
    {"type", Want::text, kType},
    {"eventId", Want::text, kEventId},
    {"name", Want::text, kOther},
    {"status", Want::text, kStatus},
    {"error", Want::text, kOther},
    {"errorCode", Want::code, kOther},
    {"input", Want::text_or_json, kOther},
    {"output", Want::text_or_json_null, kOther},
    {"retryCount", Want::count, kOther},
    {"metadata", Want::object, kOther, &kMetadataShape},
    {"at", Want::time, kOther},
    {"text", Want::text, kOther},
    {"userRequestText", Want::text, kSecondName},
    {"success", Want::boolean, kOther},
    {"outcomeSummary", Want::text, kOther},
    {"stepId", Want::text, kOther},
    {"stepKind", Want::text, kStepKind},
    {"stepName", Want::text, kSecondName},
    {"errorMessage", Want::text, kSecondName},
    {"inputSummary", Want::text_or_json, kSecondName},
    {"outputSummary", Want::text_or_json_null, kSecondName},
    {"startedAt", Want::time, kSecondName},
    {"endedAt", Want::time, kSecondName},
};
constexpr Alias kEventAliases[] = {
    {"id", "eventId"},
    {"tool", "name"},
    {"toolName", "name"},
    {"args", "input"},
    {"arguments", "input"},
    {"result", "output"},
    {"response", "output"},
    {"content", "text"},
    {"message", "text"},
    {"userRequest", "userRequestText"},
    {"outcome", "outcomeSummary"},
    {"successful", "success"},
    {"succeeded", "success"},
    {"retries", "retryCount"},
    {"timestamp", "at"},
};
constexpr Shape kEventShape{kEventFields, "an event", kEventAliases};

constexpr Field kRequestFields[] = {
    {"runId", Want::text, kRunId},
    {"events", Want::array_of_objects, kEvents, &kEventShape},
    {"final", Want::boolean, kFinal},
};
constexpr Alias kRequestAliases[] = {{"finished", "final"}, {"finish", "final"}, {"isFinal", "final"}};
constexpr Shape kRequestShape{kRequestFields, "an events request", kRequestAliases};

constexpr std::size_t kMaxEventIdBytes = 256;
constexpr std::string_view kTypes[] = {"tool_call", "model_output", "user_request", "run_started", "run_finished"};

// Members that an event of this type does not read, and where it looks instead.
struct Misplaced {
  std::string_view type;
  std::string_view member;
  std::string_view read_from;
};
constexpr Misplaced kMisplaced[] = {
    {"model_output", "output", "text"},           {"user_request", "userRequestText", "text"}, {"user_request", "input", "text"},
    {"run_started", "text", "userRequestText"},   {"run_started", "input", "userRequestText"}, {"run_finished", "text", "outcomeSummary"},
    {"run_finished", "output", "outcomeSummary"},
};

// Members of an event that the assembled run has under another name.
struct Renamed {
  std::string_view of_event;
  std::string_view of_run;  // or of its step
};
using Names = std::span<const Renamed>;
constexpr Renamed kToolNames[] = {{"name", "stepName"}, {"error", "errorMessage"}, {"input", "inputSummary"}, {"output", "outputSummary"}};
constexpr Renamed kModelNames[] = {{"text", "outputSummary"}, {"name", "stepName"}, {"input", "inputSummary"}, {"error", "errorMessage"}};
constexpr Renamed kUserNames[] = {{"text", "outputSummary"}, {"name", "stepName"}};
constexpr Renamed kTextStepNames[] = {
    {"text", "outputSummary"}, {"output", "outputSummary"}, {"name", "stepName"}, {"input", "inputSummary"}, {"error", "errorMessage"}};
constexpr Renamed kFirstRequestNames[] = {{"text", "userRequestText"}, {"outputSummary", "userRequestText"}};
// The members that bring what a user or a model said, the first of them that an event has. A model that only calls tools says null.
constexpr std::string_view kSaid[] = {"text", "outputSummary"};
constexpr std::string_view kSaidNothing = R"("null")";
constexpr Renamed kStartNames[] = {{"at", "startedAt"}};
constexpr Renamed kEndNames[] = {{"at", "endedAt"}};

Names names_of(std::string_view type) {
  if (type == "tool_call") return kToolNames;
  if (type == "model_output") return kModelNames;
  if (type == "user_request") return kUserNames;
  if (type == "run_started") return kStartNames;
  if (type == "run_finished") return kEndNames;
  return {};
}

std::string_view renamed(Names names, std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const Renamed& one) { return one.of_event == name; });
  return found == names.end() ? name : found->of_run;
}

// Of the step that an event becomes.
std::string_view step_kind_of(std::string_view type) {
  if (type == "tool_call") return "tool";
  if (type == "model_output") return "model";
  return type == "user_request" ? "user" : type;
}

// The type of event for steps of a kind, and the names that a client may expect it to have for their members.
struct SuggestedType {
  std::string_view type;
  Names names;
};
SuggestedType suggested_type(model::StepKind kind) {
  switch (kind) {
    case model::StepKind::tool: return {"tool_call", kToolNames};
    case model::StepKind::model: return {"model_output", kTextStepNames};
    case model::StepKind::user: return {"user_request", kTextStepNames};
    default: return {};
  }
}

class EventsReader final : public ShapeReader {
 public:
  EventsReader(TextArena& arena, const EventLimits& limits, std::vector<Warning>* warnings)
      : ShapeReader(kRequestShape, arena, warnings), limits_(limits) {}

  Result<EventsRequest> run(std::string_view json) {
    if (Status status = read(json, limits_.max_json_depth); !status.ok()) return std::move(status.error());
    return std::move(request_);
  }

 private:
  void begin() override {
    request_ = {};
    has_run_id_ = has_events_ = too_many_ = false;
  }

  void enter(const Shape& shape) override {
    if (&shape != &kEventShape) return;
    if (request_.events.size() == limits_.max_events) {
      if (!std::exchange(too_many_, true)) {
        fault("", "too_many",
              "is one too many: a request may contain at most " + std::to_string(limits_.max_events) + " events; send the rest in another");
      }
      return;
    }
    request_.events.emplace_back();
    start_ = document_text().size() - 1;
    own_type_ = has_second_name_ = false;
    step_kind_ = {};
  }

  void enter_array(const Field&) override { has_events_ = true; }

  void take(const Shape& shape, const Field& field, const FieldValue& value) override {
    if (&shape == &kRequestShape && field.slot == kRunId) {
      has_run_id_ = true;
      request_.run_id = value.text;
      if (auto wrong = run_id_fault(value.text)) fault(field.name, wrong->code, wrong->detail);
    }
    if (&shape == &kRequestShape && field.slot == kFinal) request_.final = value.boolean;
    if (&shape != &kEventShape || too_many_) return;
    if (field.slot == kType) take_type(value.text);
    if (field.slot == kEventId) take_event_id(field, value.text);
    if (field.slot == kStepKind) step_kind_ = value.text;
    if (field.slot == kSecondName) has_second_name_ = true;
    if (field.slot == kStatus && status_outcome(value.text) == model::Outcome::unknown)
      warn_of_value(field.name, value.text, status_words());
  }

  void take_type(std::string_view type) {
    request_.events.back().type = type;
    request_.events.back().finishes = type == "run_finished";
    own_type_ = std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes);
    if (own_type_) warn_of_value("type", type, kTypes);
  }

  // The step can hold one value under each name, and none may be lost.
  void refuse_two_values(const Event& event) {
    refuse_two_values(event, names_of(event.type));
    if (event.type == "user_request") refuse_two_values(event, kFirstRequestNames);
  }

  void refuse_two_values(const Event& event, Names names) {
    for (const Renamed& one : names) {
      const auto first = json_member_view(event.json, one.of_event);
      const auto second = json_member_view(event.json, one.of_run);
      if (first && second && *first != *second) refuse_second(one.of_run, one.of_event, event.type);
    }
  }

  void refuse_other_kind(std::string_view type) {
    const bool makes_a_step = type != "run_started" && type != "run_finished";
    if (makes_a_step && step_kind_ != type && step_kind_ != step_kind_of(type)) refuse_second("stepKind", "type", type);
  }

  void refuse_second(std::string_view second, std::string_view first, std::string_view type) {
    fault(second, "conflict",
          "has another value than \"" + std::string(first) + "\", which means the same in a " + std::string(utf8_prefix(type, 80)) +
              "; send one of them");
  }

  void warn_of_misplaced(std::string_view type) {
    for (const Misplaced& one : kMisplaced) {
      if (one.type != type || !has(one.member) || has(one.read_from)) continue;
      warn(one.member, std::string(type) + "/" + std::string(one.member),
           "is stored as an unknown member: a " + std::string(type) + " is read from \"" + std::string(one.read_from) + "\"");
    }
  }

  // An event of any other type becomes a step with its members as they are, so the names of an event are not read.
  void warn_of_event_names(std::string_view kind) {
    const SuggestedType suggested = suggested_type(step_kind(kind));
    for (const Renamed& one : suggested.names) {
      if (!has(one.of_event) || has(one.of_run)) continue;
      warn(one.of_event, std::string(kind) + "/" + std::string(one.of_event),
           "is stored as an unknown member: a step of kind \"" + std::string(kind) + "\" is read from \"" + std::string(one.of_run) +
               "\"; use that name, or the type \"" + std::string(suggested.type) + "\"");
    }
  }

  // An event of a custom type may have any members.
  bool warns_of(const Shape& shape) const override { return &shape != &kEventShape || !own_type_; }

  void take_event_id(const Field& field, std::string_view id) {
    if (id.empty() || id.size() > kMaxEventIdBytes) {
      fault(field.name, "out_of_range", "must have 1 to 256 bytes, has " + std::to_string(id.size()));
    }
    request_.events.back().event_id = id;
  }

  void leave(const Shape& shape) override {
    if (&shape == &kEventShape && !too_many_) {
      Event& event = request_.events.back();
      if (warns()) warn_of_misplaced(event.type);
      if (warns() && (own_type_ || event.type.empty())) warn_of_event_names(event.type.empty() ? step_kind_ : event.type);
      event.json = document_text().substr(start_) + "}";
      if (has_second_name_) refuse_two_values(event);
      if (!step_kind_.empty() && !event.type.empty()) refuse_other_kind(event.type);
    }
    if (&shape != &kRequestShape) return;
    if (!has_run_id_) missing("runId", "is missing: every event belongs to a run");
    if (!has_events_) missing("events", "is missing; it may be empty");
  }

  const EventLimits& limits_;
  EventsRequest request_;
  std::size_t start_ = 0;
  bool has_run_id_ = false;
  bool has_events_ = false;
  bool too_many_ = false;
  // Of the event being read:
  bool own_type_ = false;
  bool has_second_name_ = false;
  std::string_view step_kind_;
};

constexpr std::string_view kRequest = "userRequestText";

// Run members that only the service sets.
constexpr std::string_view kTaken[] = {"type", "eventId", "metadata", "runId", "steps"};

bool is_taken(std::string_view name) {
  return std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken);
}

// Assembles a run event by event.
class RunOfEvents {
 public:
  void begin_with(std::string_view whole) {
    for (auto& [name, json] : cut_json_members(whole)) {
      if (name == "steps") {
        for (std::string& step : cut_json_elements(json)) steps_.push_back(std::move(step));
      } else if (name == "metadata") {
        metadata_ = cut_json_members(json);
      } else if (name == "outcomeSummary") {
        last_output_ = std::move(json);  // later output of the model replaces it
      } else if (name != "runId") {
        members_.push_back({name, std::move(json)});
      }
    }
  }

  void add(std::string_view event_json) {
    const std::vector<JsonMember> event = cut_json_members(event_json);
    const std::string* const quoted = find_json_member(event, "type");
    const std::string_view type = quoted == nullptr ? std::string_view() : std::string_view(*quoted).substr(1, quoted->size() - 2);
    if (type == "run_started" || type == "run_finished") return run_members(event, names_of(type));
    if (type == "user_request") return user_request(event);
    if (type == "model_output") {
      if (const std::string* text = said(event)) last_output_ = *text;
    }
    step(event, type);
  }

  bool has(std::string_view name) const {
    return std::any_of(members_.begin(), members_.end(), [&](const JsonMember& one) { return one.name == name; });
  }

  std::vector<std::string> take_steps() { return std::move(steps_); }

  std::string json(std::string_view run_id) {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("runId").string(run_id);
    for (const auto& [name, value] : members_) out.key(name).raw(value);
    if (!has("outcomeSummary") && !last_output_.empty()) out.key("outcomeSummary").raw(last_output_);
    if (!metadata_.empty()) {
      out.key("metadata").begin_object();
      for (const auto& [name, value] : metadata_) out.key(name).raw(value);
      out.end_object();
    }
    out.key("steps").begin_array();
    for (const std::string& one : steps_) out.raw(one);
    out.end_array().end_object();
    return text;
  }

 private:
  static const std::string* said(const std::vector<JsonMember>& event) {
    for (const std::string_view name : kSaid) {
      if (const std::string* text = find_json_member(event, name); text != nullptr && *text != kSaidNothing) return text;
    }
    return nullptr;
  }

  static void put(std::vector<JsonMember>& members, std::string_view name, const std::string& json) {
    for (JsonMember& one : members) {
      if (one.name != name) continue;
      one.json = json;
      return;
    }
    members.push_back({std::string(name), json});
  }

  void run_members(const std::vector<JsonMember>& event, Names names) {
    for (const auto& [name, json] : event) {
      const std::string_view of_run = renamed(names, name);
      if (name == "metadata") {
        for (const auto& [inner, value] : cut_json_members(json)) put(metadata_, inner, value);
      } else if (of_run == kRequest) {
        request(json);
      } else if (!is_taken(name)) {
        put(members_, of_run, json);
      }
    }
  }

  // The run has one request. A further one is what the user said later, whichever event brings it.
  void request(const std::string& json) {
    const std::string* const first = find_json_member(members_, kRequest);
    if (first == nullptr) {
      members_.push_back({std::string(kRequest), json});
    } else if (*first != json) {
      step({{"text", json}}, "user_request");
    }
  }

  // Many clients give the request to run_started and send it as an event, too. Until a step follows, it is the same request.
  void user_request(const std::vector<JsonMember>& event) {
    const std::string* const text = said(event);
    const std::string* const first = find_json_member(members_, kRequest);
    const bool is_first = text != nullptr && (first == nullptr || (steps_.empty() && *first == *text));
    is_first ? run_members(event, kFirstRequestNames) : step(event, "user_request");
  }

  // Copies members under their step names. `type` is the JSON text of a string, without its quotation marks.
  void step(const std::vector<JsonMember>& event, std::string_view type) {
    std::vector<JsonMember> members;
    const Names names = names_of(type);
    if (!type.empty()) members.push_back({"stepKind", "\"" + std::string(step_kind_of(type)) + "\""});
    for (const auto& [name, json] : event) {
      if (name == "type" || (name == "stepKind" && !type.empty())) continue;
      put(members, renamed(names, name), json);
    }
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    for (const auto& [name, json] : members) out.key(name).raw(json);
    out.end_object();
    steps_.push_back(std::move(text));
  }

  std::vector<JsonMember> members_;   // of the run
  std::vector<JsonMember> metadata_;  // of the run
  std::vector<std::string> steps_;
  std::string last_output_;  // text of the last model_output, with quotation marks
};

}  // namespace

Result<EventsRequest> read_events(std::string_view json, const EventLimits& limits, std::vector<Warning>* warnings) {
  TextArena arena;
  return EventsReader(arena, limits, warnings).run(json);
}

AssembledRun assemble_run(std::string_view run_id, const std::vector<std::string>& events, std::string_view whole) {
  RunOfEvents run;
  if (!whole.empty()) run.begin_with(whole);
  for (const std::string& event : events) run.add(event);
  return {run.json(run_id), run.has("outcomeSummary") ? model::OutcomeFrom::told : model::OutcomeFrom::last_output};
}

std::vector<std::string> steps_of_events(const std::vector<std::string>& events) {
  RunOfEvents run;
  for (const std::string& event : events) run.add(event);
  return run.take_steps();
}

// Must follow the same rules as RunOfEvents.
model::EventOutline outline_of(const Event& event) {
  using Kind = model::EventOutline::Kind;
  const bool sets_members = event.type == "run_started" || event.type == "run_finished";
  const bool asks = event.type == "user_request";
  if (!sets_members && !asks && event.type != "model_output") return {};
  std::optional<std::string_view> text;
  for (const std::string_view name : kSaid) {
    if (!sets_members && (!text || *text == kSaidNothing)) text = json_member_view(event.json, name);
  }
  if (text == kSaidNothing) text.reset();
  if (!sets_members && !asks) return {Kind::output, text ? model::cut_texts(*text) : std::string(), 0};
  if (asks && !text) return {};
  const Names names = asks ? Names(kFirstRequestNames) : names_of(event.type);
  std::vector<JsonMemberView> of_run;
  for (JsonMemberView& member : json_member_views(event.json)) {
    if (member.name != "metadata" && is_taken(member.name)) continue;
    member.name = renamed(names, member.name);
    of_run.push_back(std::move(member));
  }
  model::RunOutline outline = model::outline_of(of_run, model::OutcomeFrom::told);
  return {asks ? Kind::user_request : Kind::members, std::move(outline.members), outline.left_out};
}

}  // namespace runwarden::intake
