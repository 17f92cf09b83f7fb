#include "store/record_lines.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/hex.h"
#include "base/json_check.h"
#include "base/json_cursor.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "model/cluster.h"
#include "store/group_codec.h"
#include "store/review_codec.h"

namespace runwarden::store {
namespace {

constexpr int kDeepest = 1024;

template <class... Each>
struct Overloaded : Each... {
  using Each::operator()...;
};
template <class... Each>
Overloaded(Each...) -> Overloaded<Each...>;

constexpr const char* kStates[] = {"open", "resolved"};
constexpr const char* kSources[] = {"client", "otlp"};
constexpr const char* kResolutions[] = {"whole", "final", "idle", "max_age", "max_events"};
constexpr const char* kSeverities[] = {"low", "medium", "high", "critical"};
constexpr const char* kAnswerKinds[] = {"run", "events", "change", "policy", "triage", "review"};
constexpr const char* kTriageKinds[] = {"none", "ongoing", "resolved", "ignored", "regressed"};

template <class Enum, std::size_t Count>
const char* name_in(const char* const (&names)[Count], Enum value) {
  return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t Count>
Enum value_in(const char* const (&names)[Count], std::string_view name) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  throw BadValue("\"" + std::string(name) + "\" is not known to this program");
}

std::string from_hex(std::string_view text) {
  auto bytes = bytes_from_hex(text);
  if (!bytes) throw BadValue("expected hexadecimal digits, two per byte");
  return *std::move(bytes);
}

model::Digest digest_of(std::string_view text) {
  const std::string bytes = from_hex(text);
  model::Digest digest{};
  if (bytes.size() != digest.size()) throw BadValue("\"" + std::string(text) + "\" is not a SHA-256");
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(digest.data()));
  return digest;
}

bool is_json_of_one_line(std::string_view text) {
  if (text.empty() || text.find_first_of("\n\r") != std::string_view::npos) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.front() == '\t' || text.back() == '\t') return false;
  return check_json(text, kDeepest).ok();
}

// Adds JSON verbatim, and any other text as an object {"text": ...}. No JSON of ours has a member "text" alone.
void add_json(JsonWriter& out, std::string_view json) {
  if (is_json_of_one_line(json) && !json.starts_with(R"({"text":)")) {
    out.raw(json);
  } else {
    out.begin_object().key("text").string(json).end_object();
  }
}

std::string json_of(std::string_view raw) {
  return raw.starts_with(R"({"text":)") ? json_member_text(raw, "text") : std::string(raw);
}

void add_place(JsonWriter& out, const model::RecordKey& key) {
  out.key("timeMs").integer(key.time_ms).key("seq").string(std::to_string(key.seq));
}

std::int64_t integer_of(std::string_view raw) {
  std::int64_t number = 0;
  const auto end = raw.data() + raw.size();
  if (std::from_chars(raw.data(), end, number).ptr != end || raw.empty()) {
    throw BadValue("expected an integer, got " + std::string(raw.substr(0, 40)));
  }
  return number;
}

std::uint64_t unsigned_of(std::string_view raw) {
  std::uint64_t number = 0;
  const auto end = raw.data() + raw.size();
  if (std::from_chars(raw.data(), end, number).ptr != end || raw.empty()) {
    throw BadValue("expected an integer of at least 0, got " + std::string(raw.substr(0, 40)));
  }
  return number;
}

double real_of(std::string_view raw) {
  double number = 0;
  const auto end = raw.data() + raw.size();
  if (std::from_chars(raw.data(), end, number).ptr != end || raw.empty()) {
    throw BadValue("expected a number, got " + std::string(raw.substr(0, 40)));
  }
  return number;
}

void expect_bracket(std::string_view json, char bracket) {
  if (!JsonCursor(json).enter(bracket)) throw BadValue(std::string("expected a JSON value that begins with ") + bracket);
}

std::vector<std::string_view> elements_of(std::string_view array) {
  expect_bracket(array, '[');
  return json_element_views(array);
}

// An object of a line: its members by name.
class Members {
 public:
  explicit Members(std::string_view object) : members_(json_member_views(object)) { expect_bracket(object, '{'); }

  std::optional<std::string_view> find(std::string_view name) const {
    for (const JsonMemberView& one : members_) {
      if (one.name == name) return one.json;
    }
    return std::nullopt;
  }
  std::string_view at(std::string_view name) const {
    const auto raw = find(name);
    if (!raw || raw->empty()) throw BadValue("the member \"" + std::string(name) + "\" is missing");
    return *raw;
  }
  std::int64_t integer(std::string_view name) const { return integer_of(at(name)); }
  std::uint32_t u32(std::string_view name) const {
    const std::uint64_t number = unsigned_of(at(name));
    if (number > 0xFFFFFFFFu) throw BadValue("\"" + std::string(name) + "\" is too large");
    return static_cast<std::uint32_t>(number);
  }
  std::uint64_t u64(std::string_view name) const { return unsigned_of(at(name)); }
  bool flag(std::string_view name) const { return at(name) == "true"; }
  double real(std::string_view name) const { return real_of(at(name)); }
  std::string text(std::string_view name) const {
    const std::string_view raw = at(name);
    if (raw.front() != '"') throw BadValue("\"" + std::string(name) + "\" is not a string");
    return json_string_value(raw);
  }
  std::string json(std::string_view name) const { return json_of(at(name)); }
  model::RecordKey place() const { return {integer("timeMs"), unsigned_of(text("seq"))}; }
  model::Digest digest(std::string_view name) const {
    return digest_of(text(name));
  }

 private:
  std::vector<JsonMemberView> members_;
};

void add_buffering(JsonWriter& out, const Buffering& buffering) {
  out.key("buffering").begin_object().key("firstMs").integer(buffering.first_ms).key("lastMs").integer(buffering.last_ms);
  out.key("former").integer(buffering.previous).key("total").integer(buffering.total).key("cut").integer(buffering.cut);
  if (buffering.ending) out.key("ending").string(name_in(kResolutions, *buffering.ending));
  out.key("tailFinal").boolean(buffering.tail_final).key("bytes").string(std::to_string(buffering.bytes));
  out.key("maxEvents").integer(buffering.max_events).key("maxBytes").string(std::to_string(buffering.max_bytes)).end_object();
}

Buffering read_buffering(const Members& in) {
  Buffering buffering;
  buffering.first_ms = in.integer("firstMs");
  buffering.last_ms = in.integer("lastMs");
  buffering.previous = in.u32("former");
  buffering.total = in.u32("total");
  buffering.cut = in.u32("cut");
  if (in.find("ending")) buffering.ending = value_in<model::Resolution>(kResolutions, in.text("ending"));
  buffering.tail_final = in.flag("tailFinal");
  buffering.bytes = unsigned_of(in.text("bytes"));
  buffering.max_events = in.u32("maxEvents");
  buffering.max_bytes = unsigned_of(in.text("maxBytes"));
  return buffering;
}

void add(JsonWriter& out, const HeaderLine& header) {
  out.key("format").string(kExportFormat).key("version").integer(kExportVersion).key("tenant").string(header.tenant);
  out.key("exportedMs").integer(header.exported_ms);
  if (header.since_ms) out.key("sinceMs").integer(*header.since_ms);
}

void add(JsonWriter& out, const EndLine& end) {
  out.key("lines").integer(static_cast<std::int64_t>(end.lines)).key("sha256").string(end.sha256);
  out.key("unreadableRecords").integer(static_cast<std::int64_t>(end.unreadable)).key("unreadable").begin_array();
  for (const StoreFault& row : end.first_unreadable) {
    out.begin_object().key("table").string(row.table).key("key").string(row.key).key("detail").string(row.detail).end_object();
  }
  out.end_array();
}

void add_outline(JsonWriter& out, const model::RunOutline& outline) {
  out.key("outline").begin_object();
  add_json(out.key("members"), outline.members);
  const auto add_present = [&out](const char* name, const std::string& json) {
    if (!json.empty()) add_json(out.key(name), json);
  };
  add_present("lastOutput", outline.last_output);
  add_present("failures", outline.failures);
  add_present("detectors", outline.detectors);
  add_present("policies", outline.policies);
  out.key("steps").integer(outline.steps).key("leftOut").integer(outline.left_out).end_object();
}

void add_dimensions(JsonWriter& out, const std::vector<model::Dimension>& dimensions) {
  out.key("dimensions").begin_object();
  for (const model::Dimension& one : dimensions) out.key(one.name).string(one.value);
  out.end_object();
}

void add_places(JsonWriter& out, const std::vector<model::RecordKey>& keys) {
  out.begin_array();
  for (const model::RecordKey& key : keys) {
    out.begin_object();
    add_place(out, key);
    out.end_object();
  }
  out.end_array();
}

void add(JsonWriter& out, const RunLine& line) {
  const model::RunRecord& run = line.stored.run;
  add_place(out, run.key);
  out.key("runId").string(run.run_id).key("revision").integer(run.revision);
  if (line.previous) out.key("former").boolean(true);
  out.key("state").string(name_in(kStates, run.state)).key("resolution").string(name_in(kResolutions, run.resolution));
  out.key("resolvedMs").integer(run.resolved_ms).key("contentSha256").string(to_hex(run.content)).key("maxScore").integer(run.max_score);
  add_places(out.key("fired").strings(run.fired).key("failureKeys"), line.stored.failures);
  out.key("packedEvents").integer(run.events);
  if (!run.confirmed.empty()) add_places(out.key("confirmedKeys"), run.confirmed);
  if (run.source != model::RunSource::client) out.key("source").string(name_in(kSources, run.source));
  if (run.end_mark != 0) out.key("endMark").integer(static_cast<std::int64_t>(run.end_mark));
  if (run.root_arrived) out.key("rootArrived").boolean(true);
  if (run.grouped) out.key("grouped").boolean(true);
  if (run.executed_ms != model::kNotExecuted) out.key("executedMs").integer(run.executed_ms);
  if (!run.policy_contents.empty()) {
    out.key("policySha256").begin_array();
    for (const model::Digest& content : run.policy_contents) out.string(to_hex(content));
    out.end_array();
  }
  if (!run.dimensions.empty()) add_dimensions(out, run.dimensions);
  if (run.outline) add_outline(out, *run.outline);
  if (line.stored.buffering) return add_buffering(out, *line.stored.buffering);
  add_json(out.key("document"), run.document);
  add_json(out.key("failures"), run.failures_json);
  add_json(out.key("detectors"), run.detectors_json);
  add_json(out.key("policies"), run.policies_json);
}

model::RunOutline read_outline(const Members& in) {
  const auto json = [&in](const char* name) { return in.find(name) ? in.json(name) : std::string(); };
  return {in.json("members"), json("lastOutput"), json("failures"), json("detectors"),
          json("policies"),   in.u32("steps"),    in.u32("leftOut")};
}

std::vector<model::Dimension> read_dimensions(std::string_view object) {
  std::vector<model::Dimension> dimensions;
  for (const JsonMember& member : json_members(object)) dimensions.push_back({member.name, json_string_value(member.json)});
  return dimensions;
}

std::vector<model::Digest> read_digests(std::string_view array) {
  std::vector<model::Digest> digests;
  for (const std::string_view one : elements_of(array)) digests.push_back(digest_of(json_string_value(one)));
  return digests;
}

RunLine read_run_line(const Members& in) {
  RunLine line;
  model::RunRecord& run = line.stored.run;
  run.key = in.place();
  run.run_id = in.text("runId");
  run.revision = in.u32("revision");
  line.previous = in.find("former").has_value();
  run.state = value_in<model::RunState>(kStates, in.text("state"));
  run.resolution = value_in<model::Resolution>(kResolutions, in.text("resolution"));
  run.resolved_ms = in.integer("resolvedMs");
  run.content = in.digest("contentSha256");
  run.max_score = static_cast<int>(in.integer("maxScore"));
  for (const std::string_view key : elements_of(in.at("fired"))) run.fired.push_back(json_string_value(key));
  for (const std::string_view key : elements_of(in.at("failureKeys"))) line.stored.failures.push_back(Members(key).place());
  run.events = in.u32("packedEvents");
  if (in.find("endMark")) run.end_mark = static_cast<std::uint64_t>(in.integer("endMark"));
  if (const auto confirmed = in.find("confirmedKeys")) {
    for (const std::string_view key : elements_of(*confirmed)) run.confirmed.push_back(Members(key).place());
  }
  if (in.find("source")) run.source = value_in<model::RunSource>(kSources, in.text("source"));
  if (in.find("rootArrived")) run.root_arrived = in.flag("rootArrived");
  run.grouped = in.find("grouped").has_value();
  if (in.find("executedMs")) run.executed_ms = in.integer("executedMs");
  if (const auto contents = in.find("policySha256")) run.policy_contents = read_digests(*contents);
  if (const auto dimensions = in.find("dimensions")) run.dimensions = read_dimensions(*dimensions);
  if (const auto outline = in.find("outline")) run.outline = read_outline(Members(*outline));
  if (const auto buffering = in.find("buffering")) {
    line.stored.buffering = read_buffering(Members(*buffering));
    return line;
  }
  run.document = in.json("document");
  run.failures_json = in.json("failures");
  run.detectors_json = in.json("detectors");
  run.policies_json = in.json("policies");
  return line;
}

void add(JsonWriter& out, const EventsLine& line) {
  add_place(out, line.run);
  out.key("packed").boolean(line.packed).key("first").integer(line.first).key("receivedMs").integer(line.received_ms);
  out.key("events").begin_array();
  for (const std::string& event : line.events) event.empty() ? static_cast<void>(out.null()) : add_json(out, event);
  out.end_array();
}

EventsLine read_events_line(const Members& in) {
  EventsLine line{in.place(), in.flag("packed"), in.u32("first"), in.integer("receivedMs"), {}};
  for (const std::string_view event : elements_of(in.at("events"))) line.events.push_back(event == "null" ? std::string() : json_of(event));
  return line;
}

void add(JsonWriter& out, const EventIdsLine& line) {
  add_place(out, line.run);
  out.key("ids").begin_array();
  for (const std::string& half : line.halves) out.string(bytes_to_hex(half));
  out.end_array();
}

EventIdsLine read_event_ids_line(const Members& in) {
  EventIdsLine line{in.place(), {}};
  for (const std::string_view half : elements_of(in.at("ids"))) line.halves.push_back(from_hex(json_string_value(half)));
  return line;
}

void add(JsonWriter& out, const model::FailureRecord& failure) {
  add_place(out, failure.key);
  out.key("failureId").string(failure.id).key("run").begin_object();
  add_place(out, failure.run);
  out.end_object().key("detectorKey").string(failure.detector_key).key("severity").string(name_in(kSeverities, failure.severity));
  out.key("score").integer(failure.score).key("fingerprint").string(failure.fingerprint);
  if (failure.shadow) out.key("shadow").boolean(true);
  if (failure.grouped) out.key("executed").integer(failure.executed_ms);
  add_json(out.key("failure"), failure.json);
}

model::FailureRecord read_failure_line(const Members& in) {
  model::FailureRecord failure;
  failure.key = in.place();
  failure.id = in.text("failureId");
  failure.run = Members(in.at("run")).place();
  failure.detector_key = in.text("detectorKey");
  failure.severity = value_in<model::Severity>(kSeverities, in.text("severity"));
  failure.score = static_cast<int>(in.integer("score"));
  failure.fingerprint = in.text("fingerprint");
  failure.shadow = in.find("shadow").has_value();
  failure.json = in.json("failure");
  failure.grouped = in.find("executed").has_value();
  if (failure.grouped) {
    failure.executed_ms = in.integer("executed");
    model::read_summary(failure);
  }
  return failure;
}

void add(JsonWriter& out, const model::ChangeRecord& change) {
  add_place(out, change.key);
  out.key("changeId").string(change.id).key("kind").string(change.kind).key("receivedMs").integer(change.received_ms);
  if (!change.document.empty()) add_json(out.key("document"), change.document);
}

model::ChangeRecord read_change_line(const Members& in) {
  model::ChangeRecord change;
  change.key = in.place();
  change.id = in.text("changeId");
  change.kind = in.text("kind");
  change.received_ms = in.integer("receivedMs");
  if (in.find("document")) change.document = in.json("document");
  return change;
}

void add(JsonWriter& out, const model::PolicyRecord& policy) {
  add_place(out, policy.key);
  out.key("policyRevisionId").string(policy.id).key("policy").string(policy.policy).key("revision").string(policy.revision);
  out.key("author").string(policy.author).key("contentSha256").string(to_hex(policy.content));
  out.key("receivedMs").integer(policy.received_ms);
  add_json(out.key("document"), policy.document);
}

model::PolicyRecord read_policy_line(const Members& in) {
  model::PolicyRecord policy;
  policy.key = in.place();
  policy.id = in.text("policyRevisionId");
  policy.policy = in.text("policy");
  policy.revision = in.text("revision");
  policy.author = in.text("author");
  policy.content = in.digest("contentSha256");
  policy.received_ms = in.integer("receivedMs");
  policy.document = in.json("document");
  return policy;
}

void add(JsonWriter& out, const PolicyNameLine& line) {
  out.key("policy").string(line.policy).key("highestRevision").string(line.highest);
}

void add_until(JsonWriter& out, const model::IgnoreUntil& until) {
  if (until.at_ms) out.key("untilMs").integer(*until.at_ms);
  if (until.failures) out.key("untilFailures").integer(static_cast<std::int64_t>(*until.failures));
  if (until.share) out.key("untilShare").number(*until.share);
}

model::IgnoreUntil read_until(const Members& in) {
  model::IgnoreUntil until;
  if (in.find("untilMs")) until.at_ms = in.integer("untilMs");
  if (in.find("untilFailures")) until.failures = in.u64("untilFailures");
  if (in.find("untilShare")) until.share = in.real("untilShare");
  return until;
}

void add(JsonWriter& out, const GroupLine& line) {
  const model::Cluster& cluster = line.cluster;
  out.key("fingerprint").string(cluster.fingerprint).key("detectorKey").string(cluster.detector_key).key("title").string(cluster.title);
  out.key("severity").string(name_in(kSeverities, cluster.severity)).key("maxScore").integer(cluster.max_score);
  out.key("firstMs").integer(cluster.first_ms).key("lastMs").integer(cluster.last_ms);
  if (!line.decided) return;
  const model::Triage& triage = cluster.triage;
  out.key("triage").begin_object().key("state").string(name_in(kTriageKinds, triage.kind)).key("sinceMs").integer(triage.since_ms);
  out.key("fixedMs").integer(triage.fixed_ms).key("failuresSince").integer(static_cast<std::int64_t>(triage.failures_since));
  if (triage.for_false_alarms) {
    out.key("falseAlarmMarks").begin_array();
    for (const std::uint64_t mark : triage.false_alarm_marks) out.string(std::to_string(mark));
    out.end_array();
  }
  add_until(out, triage.until);
  out.end_object();
}

GroupLine read_group_line(const Members& in) {
  GroupLine line;
  model::Cluster& cluster = line.cluster;
  cluster.fingerprint = in.text("fingerprint");
  cluster.key = model::cluster_key(cluster.fingerprint);
  cluster.detector_key = in.text("detectorKey");
  cluster.title = in.text("title");
  cluster.severity = value_in<model::Severity>(kSeverities, in.text("severity"));
  cluster.max_score = static_cast<int>(in.integer("maxScore"));
  cluster.first_ms = in.integer("firstMs");
  cluster.last_ms = in.integer("lastMs");
  const auto triage = in.find("triage");
  line.decided = triage.has_value();
  if (!line.decided) return line;
  const Members from(*triage);
  cluster.triage.kind = value_in<model::Triage::Kind>(kTriageKinds, from.text("state"));
  cluster.triage.since_ms = from.integer("sinceMs");
  cluster.triage.fixed_ms = from.integer("fixedMs");
  cluster.triage.failures_since = from.u64("failuresSince");
  cluster.triage.until = read_until(from);
  if (const auto marks = from.find("falseAlarmMarks")) {
    cluster.triage.for_false_alarms = true;
    for (const std::string_view mark : elements_of(*marks))
      cluster.triage.false_alarm_marks.push_back(unsigned_of(json_string_value(mark)));
  }
  return line;
}

void add(JsonWriter& out, const TriageLine& line) {
  const model::TriageEntry& entry = line.entry;
  add_place(out, entry.key);
  out.key("fingerprint").string(line.fingerprint).key("action").string(name(entry.action)).key("author").string(entry.author);
  if (!entry.note.empty()) out.key("note").string(entry.note);
  if (!entry.fixed_by.empty()) out.key("fixedBy").string(entry.fixed_by);
  out.key("fixedMs").integer(entry.fixed_ms);
  add_until(out, entry.until);
  if (entry.for_false_alarms) out.key("reason").string(model::kFalseAlarmsReason);
  out.key("state").string(name(entry.state));
}

TriageLine read_triage_line(const Members& in) {
  TriageLine line;
  line.fingerprint = in.text("fingerprint");
  model::TriageEntry& entry = line.entry;
  entry.key = in.place();
  const auto action = model::triage_action(in.text("action"));
  const auto state = model::cluster_state(in.text("state"));
  if (!action || !state) throw BadValue("the group's action or state is not known to this program");
  entry.action = *action;
  entry.state = *state;
  entry.author = in.text("author");
  if (in.find("note")) entry.note = in.text("note");
  if (in.find("fixedBy")) entry.fixed_by = in.text("fixedBy");
  entry.fixed_ms = in.integer("fixedMs");
  entry.until = read_until(in);
  entry.for_false_alarms = in.find("reason").has_value();
  return line;
}

void add(JsonWriter& out, const ReviewLine& review) {
  add_place(out, review.key);
  out.key("run").begin_object();
  add_place(out, review.run);
  out.end_object().key("runId").string(review.run_id).key("revision").integer(review.revision);
  if (!review.failure_id.empty()) out.key("failureId").string(review.failure_id);
  if (!review.cluster_id.empty()) out.key("clusterId").string(review.cluster_id);
  if (review.of_candidate) out.key("ofCandidate").boolean(true);
  out.key("detectorKey").string(review.detector_key);
  if (!review.detector_version.empty()) out.key("detectorVersion").string(review.detector_version);
  if (!review.settings_hash.empty()) out.key("settingsHash").string(review.settings_hash);
  out.key("verdict").string(name(review.verdict)).key("author").string(review.author);
  add_json(out.key("document"), review.document);
}

ReviewLine read_review_line(const Members& in) {
  const auto text = [&in](const char* name) { return in.find(name) ? in.text(name) : std::string(); };
  ReviewLine review;
  review.key = in.place();
  review.run = Members(in.at("run")).place();
  review.run_id = in.text("runId");
  review.revision = in.u32("revision");
  review.failure_id = text("failureId");
  review.cluster_id = text("clusterId");
  if (in.find("ofCandidate")) review.of_candidate = in.flag("ofCandidate");
  review.detector_key = in.text("detectorKey");
  review.detector_version = text("detectorVersion");
  review.settings_hash = text("settingsHash");
  const std::string verdict = in.text("verdict");
  const auto known = model::review_verdict(verdict);
  if (!known && verdict != model::name(model::ReviewVerdict::none))
    throw BadValue("the verdict \"" + verdict + "\" is not known to this program");
  review.verdict = known.value_or(model::ReviewVerdict::none);
  const bool of_failure = !review.failure_id.empty();
  if (known && of_failure != model::is_of_failure(*known))
    throw BadValue("the verdict \"" + verdict + "\" does not apply to the subject of the review");
  review.author = in.text("author");
  review.document = in.json("document");
  return review;
}

void add(JsonWriter& out, const OpinionLine& line) {
  add_place(out, line.key);
  out.key("candidateId").string(line.id).key("run").begin_object();
  add_place(out, line.run);
  out.end_object();
}

void add(JsonWriter& out, const WebhookLine& line) {
  add_place(out, line.key);
  out.key("url").string(line.url);
}

void add(JsonWriter& out, const DeliveryLine& line) {
  add_place(out, line.key);
  out.key("webhook").begin_object();
  add_place(out, line.webhook);
  out.end_object();
}

void add(JsonWriter& out, const IdempotentAnswer& answer) {
  add_place(out, answer.record);
  out.key("of").string(name_in(kAnswerKinds, answer.kind)).key("revision").integer(answer.revision);
  out.key("identity").string(to_hex(answer.idempotency.identity)).key("contentSha256").string(to_hex(answer.idempotency.content));
  out.key("createdMs").integer(answer.created_ms);
  if (answer.kind != IdempotentAnswer::Kind::events) return;
  const Buffered& buffered = answer.buffered;
  out.key("buffered").begin_object().key("accepted").integer(buffered.accepted).key("reopened").boolean(buffered.reopened);
  out.key("unchanged").boolean(buffered.unchanged).key("firstMs").integer(buffered.buffer.first_ms);
  out.key("lastMs").integer(buffered.buffer.last_ms).key("events").integer(buffered.buffer.events);
  out.key("former").integer(buffered.buffer.previous);
  if (buffered.ends) out.key("ends").string(name_in(kResolutions, *buffered.ends));
  out.end_object();
}

IdempotentAnswer read_answer_line(const Members& in) {
  IdempotentAnswer answer;
  answer.record = in.place();
  answer.kind = value_in<IdempotentAnswer::Kind>(kAnswerKinds, in.text("of"));
  answer.revision = in.u32("revision");
  answer.idempotency = {in.digest("identity"), in.digest("contentSha256")};
  answer.created_ms = in.integer("createdMs");
  if (answer.kind != IdempotentAnswer::Kind::events) return answer;
  const Members from(in.at("buffered"));
  Buffered& buffered = answer.buffered;
  buffered.run = answer.record;
  buffered.revision = answer.revision;
  buffered.accepted = from.u32("accepted");
  buffered.reopened = from.flag("reopened");
  buffered.unchanged = from.flag("unchanged");
  buffered.buffer = {from.integer("firstMs"), from.integer("lastMs"), from.u32("events"), from.u32("former")};
  if (from.find("ends")) buffered.ends = value_in<model::Resolution>(kResolutions, from.text("ends"));
  return answer;
}

HeaderLine read_header_line(const Members& in) {
  if (in.text("format") != kExportFormat) throw BadValue("this is not a runwarden export");
  if (in.u32("version") != kExportVersion) {
    throw BadValue("the export has version " + std::string(in.at("version")) + ", but this program reads version " +
                   std::to_string(kExportVersion) + "; import it with the runwarden that wrote it, or a later one");
  }
  return {in.text("tenant"), in.integer("exportedMs"), in.find("sinceMs") ? std::optional(in.integer("sinceMs")) : std::nullopt};
}

const char* kind_of(const RecordLine& record) {
  return std::visit(Overloaded{[](const HeaderLine&) { return "header"; }, [](const EndLine&) { return "end"; },
                               [](const RunLine&) { return "run"; }, [](const EventsLine&) { return "events"; },
                               [](const EventIdsLine&) { return "event_ids"; }, [](const model::FailureRecord&) { return "failure"; },
                               [](const model::ChangeRecord&) { return "change"; }, [](const model::PolicyRecord&) { return "policy"; },
                               [](const PolicyNameLine&) { return "policy_name"; }, [](const GroupLine&) { return "group"; },
                               [](const TriageLine&) { return "triage"; }, [](const ReviewLine&) { return "review"; },
                               [](const OpinionLine&) { return "opinion"; }, [](const WebhookLine&) { return "webhook"; },
                               [](const DeliveryLine&) { return "delivery"; }, [](const IdempotentAnswer&) { return "answer"; }},
                    record);
}

RecordLine read_record(const Members& in) {
  const std::string kind = in.text("record");
  if (kind == "run") return read_run_line(in);
  if (kind == "events") return read_events_line(in);
  if (kind == "event_ids") return read_event_ids_line(in);
  if (kind == "failure") return read_failure_line(in);
  if (kind == "change") return read_change_line(in);
  if (kind == "policy") return read_policy_line(in);
  if (kind == "policy_name") return PolicyNameLine{in.text("policy"), in.text("highestRevision")};
  if (kind == "group") return read_group_line(in);
  if (kind == "triage") return read_triage_line(in);
  if (kind == "review") return read_review_line(in);
  if (kind == "opinion") return OpinionLine{in.place(), Members(in.at("run")).place(), in.text("candidateId")};
  if (kind == "webhook") return WebhookLine{in.place(), in.text("url")};
  if (kind == "delivery") return DeliveryLine{in.place(), Members(in.at("webhook")).place()};
  if (kind == "answer") return read_answer_line(in);
  if (kind == "header") return read_header_line(in);
  if (kind == "end") return EndLine{in.u64("lines"), in.text("sha256"), 0, {}};
  throw BadValue("a record of kind \"" + kind + "\" is not known to this program");
}

std::string begun(const RecordLine& record) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("record").string(kind_of(record));
  std::visit([&out](const auto& one) { add(out, one); }, record);
  return text;
}

bool has_body(std::string_view value) {
  return value.size() > 1 && value[1] != 0;
}

}  // namespace

std::string line_of(const RecordLine& record) {
  return begun(record) + "}";
}

std::string value_of(std::string_view key, const RecordLine& record) {
  return std::visit(
      Overloaded{[&](const RunLine& line) { return encode_run(key, line.stored); },
                 [&](const EventsLine& line) { return encode_events(key, line.received_ms, line.events); },
                 [&](const model::FailureRecord& failure) { return encode_failure(key, failure); },
                 [&](const model::ChangeRecord& change) { return encode_change(key, change); },
                 [&](const model::PolicyRecord& policy) { return encode_policy(key, policy); },
                 [&](const PolicyNameLine& line) { return seal(key, line.highest, line.policy); },
                 [&](const TriageLine& line) { return encode_triage(key, line.entry); },
                 [&](const ReviewLine& review) { return encode_review(key, review); },
                 [&](const IdempotentAnswer& answer) { return encode_answer(key, answer); }, [](const auto&) { return std::string(); }},
      record);
}

bool same_value(std::string_view key, std::string_view one, std::string_view other) {
  if (one == other) return true;
  return has_body(one) == has_body(other) && open_head(key, one) == open_head(key, other) && open_body(key, one) == open_body(key, other);
}

std::string line_of_row(std::string_view key, std::string_view value, const RecordLine& record) {
  std::string text = begun(record);
  bool exact = false;
  try {
    exact = same_value(key, read_line(text + "}").value(key), value);
  } catch (const BadValue&) {
  }
  if (exact) return text + "}";
  text += R"(,"bytes":{"head":")" + bytes_to_hex(open_head(key, value)) + "\"";
  if (has_body(value)) text += R"(,"body":")" + bytes_to_hex(open_body(key, value)) + "\"";
  return text + "}}";
}

std::string ReadLine::value(std::string_view key) const {
  if (!bytes) return value_of(key, record);
  return bytes->has_body ? seal(key, bytes->head, bytes->body) : seal(key, bytes->head);
}

ReadLine read_line(std::string_view line) {
  if (const Status status = check_json(line, kDeepest); !status.ok()) throw BadValue(status.error().detail);
  const Members in(line);
  ReadLine read{read_record(in), std::nullopt};
  if (const auto raw = in.find("bytes")) {
    const Members bytes(*raw);
    read.bytes = ReadLine::Bytes{};
    read.bytes->head = from_hex(bytes.text("head"));
    read.bytes->has_body = bytes.find("body").has_value();
    if (read.bytes->has_body) read.bytes->body = from_hex(bytes.text("body"));
  }
  return read;
}

}  // namespace runwarden::store
