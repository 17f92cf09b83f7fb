#include "model/run_outline.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/json_events.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/utf8.h"

namespace runwarden::model {
namespace {

constexpr std::size_t kMembersBytes = 8 * 1024;
constexpr std::size_t kFailuresBytes = 32 * 1024;
constexpr std::size_t kReportsBytes = 12 * 1024;
constexpr int kMaxDepth = 1000;  // the input was bounded when it was ingested

constexpr std::array<std::string_view, 8> kIdNames = {"runId",       "failureId",   "stepId",  "primaryStepId",
                                                      "fingerprint", "detectorKey", "pointer", "policy"};
// In every outline, because once cut they are small whatever they hold.
constexpr std::array<std::string_view, 6> kAlwaysShown = {"runId", "userRequestText", "success", "outcomeSummary", "startedAt", "endedAt"};

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The beginning of a UTF-8 text, ending between two characters.
std::string_view first_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < most && at < text.size(); ++i) at += std::max<std::size_t>(utf8_length_at(text, at), 1);
  return text.substr(0, at);
}

// Whether a string in compact JSON may exceed what an outline shows, judging by bytes. If so, it must be parsed.
bool has_long_string(std::string_view json) {
  if (json.size() <= kOutlineCharacters) return false;
  if (json.find('\\') == std::string_view::npos) {
    // Every quote bounds a string, so a stretch of that length without one is too long.
    while (json.size() > kOutlineCharacters) {
      const std::size_t quote = json.substr(0, kOutlineCharacters + 1).rfind('"');
      if (quote == std::string_view::npos) return true;
      json.remove_prefix(quote + 1);
    }
    return false;
  }
  const char* const end = json.data() + json.size();
  const char* begin = nullptr;  // of the open string
  for (const char* at = json.data();
       (at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)))) != nullptr;) {
    if (begin == nullptr) {
      begin = ++at;
      continue;
    }
    const char* before = at;
    while (before > begin && before[-1] == '\\') --before;
    if ((at - before) % 2 == 0) {
      if (static_cast<std::size_t>(at - begin) > kOutlineCharacters) return true;
      begin = nullptr;
    }
    ++at;
    if (at == end) break;
  }
  return false;
}

// Rewrites a value with its texts cut.
class TextCutter final : public JsonEvents {
 public:
  std::string text;

  bool scalar(const JsonScalar& value) override {
    if (value.type != JsonScalar::Type::string) {
      write_json_scalar(out_, value);
    } else {
      out_.string(first_characters(value.text, is_in(kIdNames, name_) ? kOutlineIdCharacters : kOutlineCharacters));
    }
    return true;
  }
  bool open_object() override { return open('{'); }
  bool open_array() override { return open('['); }
  bool key(std::string_view name) override {
    name_ = name;
    out_.key(name);
    return true;
  }
  bool close() override {
    open_.back() == '{' ? out_.end_object() : out_.end_array();
    open_.pop_back();
    return true;
  }
  void restart() override {
    text.clear();
    open_.clear();
    out_ = JsonWriter(text);
  }

 private:
  bool open(char bracket) {
    open_ += bracket;
    bracket == '{' ? out_.begin_object() : out_.begin_array();
    return true;
  }

  JsonWriter out_{text};
  std::string open_;
  std::string name_;
};

std::string cut_value(std::string_view name, std::string_view json) {
  if (!has_long_string(json)) return std::string(json);
  if (is_in(kIdNames, name)) {
    std::string text;
    append_json_string(text, first_characters(json_string_value(json), kOutlineIdCharacters));
    return text;
  }
  return cut_texts(json);
}

// Collects members up to a number of bytes.
class Members {
 public:
  explicit Members(std::size_t most_bytes) : most_bytes_(most_bytes) { out_.begin_object(); }

  std::uint32_t left_out = 0;

  void add(std::string_view name, std::string_view json) {
    if (bytes_ + name.size() + json.size() + 4 > most_bytes_) {
      ++left_out;
    } else {
      add_anyway(name, json);
    }
  }
  void add_anyway(std::string_view name, std::string_view json) {
    bytes_ += name.size() + json.size() + 4;
    out_.key(name).raw(json);
  }
  std::size_t space() const { return bytes_ < most_bytes_ ? most_bytes_ - bytes_ : 0; }
  std::string end() {
    out_.end_object();
    return std::move(text_);
  }

 private:
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::string text_;
  JsonWriter out_{text_};
};

// Adds a member of a run; of metadata that does not fit, as many members as fit.
void add_member(Members& members, std::string_view name, std::string_view cut) {
  if (is_in(kAlwaysShown, name)) return members.add_anyway(name, cut.size() <= 6 * kOutlineIdCharacters ? cut : "null");
  if (name != "metadata" || cut.size() + name.size() + 4 <= members.space()) return members.add(name, cut);
  Members inner(members.space() > 64 ? members.space() - 64 : 0);
  for (const JsonMember& one : cut_json_members(cut)) inner.add(one.name, one.json);
  members.left_out += inner.left_out;
  members.add(name, inner.end());
}

// Erases a member of compact JSON, with the comma that separates it from its neighbor.
void erase_member(std::string& object, std::size_t at, std::size_t size) {
  if (at > 1 && object[at - 1] == ',') {
    --at;
    ++size;
  } else if (at + size < object.size() && object[at + size] == ',') {
    ++size;
  }
  object.erase(at, size);
}

constexpr std::string_view kEmptySteps = "\"steps\":[]";

// The document as written by its reader, but with `"steps":[]` at `steps_at`. Empty if it has no steps or was written differently.
std::string without_steps(const Run& run, std::size_t& steps_at) {
  if (run.steps.empty()) return {};
  const std::string_view document = run.document;
  const std::string_view begun = kEmptySteps.substr(0, kEmptySteps.size() - 1);
  const auto from = static_cast<std::size_t>(run.steps.front().raw_json.data() - document.data());
  const auto end = static_cast<std::size_t>(run.steps.back().raw_json.data() + run.steps.back().raw_json.size() - document.data());
  if (from < begun.size() || document.substr(from - begun.size(), begun.size()) != begun) return {};
  steps_at = from - begun.size();
  std::string rest;
  rest.reserve(document.size() - (end - from));
  return rest.append(document.substr(0, from)).append(document.substr(end));
}

// Handles ordinary runs, whose texts are short, without parsing them again. False: the run must be parsed.
bool outline_by_text(std::string rest, std::size_t steps_at, OutcomeFrom outcome, RunOutline& outline) {
  constexpr std::string_view kOutcome = "\"outcomeSummary\":\"";
  const bool plain = rest.find(kStepCount) == std::string::npos && rest.find(kLeftOut) == std::string::npos;
  if (rest.size() > kMembersBytes || !plain || has_long_string(rest)) return false;
  erase_member(rest, steps_at, kEmptySteps.size());
  const std::size_t at = outcome == OutcomeFrom::last_output ? rest.find(kOutcome) : std::string::npos;
  if (at != std::string::npos) {
    const std::size_t value_at = at + kOutcome.size() - 1;
    std::size_t end = value_at + 1;
    while (rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    outline.last_output = rest.substr(value_at, end + 1 - value_at);
    if (rest.find(kOutcome, end) != std::string::npos) return false;  // one of them is not a member of the run itself
    erase_member(rest, at, end + 1 - at);
  }
  outline.members = std::move(rest);
  return true;
}

std::string cut_array(std::string_view array, std::size_t most_bytes, std::uint32_t& left_out) {
  if (array.size() <= most_bytes && !has_long_string(array)) return std::string(array);
  std::string text;
  JsonWriter out(text);
  out.begin_array();
  for (const std::string& element : cut_json_elements(array)) {
    const std::string cut = cut_texts(element);
    if (text.size() + cut.size() + 2 > most_bytes) {
      ++left_out;
    } else {
      out.raw(cut);
    }
  }
  out.end_array();
  return text;
}

void put(std::vector<JsonMember>& members, const JsonMember& member) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& one) { return one.name == member.name; });
  if (found == members.end()) {
    members.push_back(member);
  } else {
    found->json = member.json;
  }
}

std::string object_of(const std::vector<JsonMember>& members) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  for (const JsonMember& one : members) out.key(one.name).raw(one.json);
  out.end_object();
  return text;
}

constexpr std::string_view kRequest = "userRequestText";

void put_members(RunOutline& outline, const EventOutline& event) {
  std::vector<JsonMember> all = cut_json_members(outline.members);
  for (const JsonMember& one : cut_json_members(event.json)) {
    const std::string* const first = one.name == kRequest ? find_json_member(all, kRequest) : nullptr;
    if (first != nullptr) {
      outline.steps += *first == one.json ? 0 : 1;
      continue;
    }
    if (one.name != "metadata") {
      put(all, one);
      continue;
    }
    const std::string* const known = find_json_member(all, "metadata");
    std::vector<JsonMember> metadata = known == nullptr ? std::vector<JsonMember>() : cut_json_members(*known);
    for (const JsonMember& inner : cut_json_members(one.json)) put(metadata, inner);
    put(all, {"metadata", object_of(metadata)});
  }
  Members members(kMembersBytes);
  for (const JsonMember& one : all) add_member(members, one.name, one.json);
  outline.left_out += event.left_out + members.left_out;
  outline.members = members.end();
}

bool is_later_request(const RunOutline& outline, const EventOutline& event) {
  const auto first = json_member_view(outline.members, kRequest);
  return first && (outline.steps > 0 || first != json_member_view(event.json, kRequest));
}

}  // namespace

std::string cut_texts(std::string_view json) {
  if (!has_long_string(json)) return std::string(json);
  TextCutter cutter;
  if (!parse_json(json, kMaxDepth, cutter).ok()) return "null";
  return std::move(cutter.text);
}

RunOutline outline_of(const Run& run, OutcomeFrom outcome) {
  RunOutline outline;
  std::size_t steps_at = 0;
  const std::string rest = without_steps(run, steps_at);
  if (!present(run.outcome)) outcome = OutcomeFrom::told;  // any outcome in the text is not the run's own
  if (rest.empty() || !outline_by_text(rest, steps_at, outcome, outline)) {
    outline = outline_of(rest.empty() ? std::string_view(run.document) : std::string_view(rest), outcome);
  }
  outline.steps = static_cast<std::uint32_t>(run.steps.size());
  return outline;
}

RunOutline outline_of(std::string_view document, OutcomeFrom outcome) {
  return outline_of(json_member_views(document), outcome);
}

RunOutline outline_of(const std::vector<JsonMemberView>& document, OutcomeFrom outcome) {
  RunOutline outline;
  Members members(kMembersBytes);
  for (const JsonMemberView& one : document) {
    if (one.name == "steps") {
      outline.steps = static_cast<std::uint32_t>(json_element_views(one.json).size());
    } else if (one.name == "outcomeSummary" && outcome == OutcomeFrom::last_output) {
      outline.last_output = cut_value(one.name, one.json);
    } else if (one.name != kStepCount && one.name != kLeftOut) {
      add_member(members, one.name, cut_value(one.name, one.json));
    }
  }
  outline.left_out = members.left_out;
  outline.members = members.end();
  return outline;
}

void set_arrays(RunOutline& outline, const RunRecord& run) {
  outline.failures = cut_array(run.failures_json, kFailuresBytes, outline.left_out);
  outline.detectors = cut_array(run.detectors_json, kReportsBytes, outline.left_out);
  outline.policies = cut_array(run.policies_json, kReportsBytes, outline.left_out);
}

// Counts steps as assemble_run() makes them. Of two requests only the beginnings are compared, so the count may miss a user's step until
// the run resolves.
void add_event(RunOutline& outline, const EventOutline& event) {
  switch (event.kind) {
    case EventOutline::Kind::step: ++outline.steps; return;
    case EventOutline::Kind::output:
      ++outline.steps;
      if (!event.json.empty()) outline.last_output = event.json;
      return;
    case EventOutline::Kind::user_request:
      if (is_later_request(outline, event)) {
        ++outline.steps;
        return;
      }
      return put_members(outline, event);
    case EventOutline::Kind::members: return put_members(outline, event);
  }
}

}  // namespace runwarden::model
