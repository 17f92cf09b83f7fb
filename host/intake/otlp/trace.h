// The spans of a trace, and the part that each has in the trace's run. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json_members.h"
#include "model/otlp_mapping.h"

namespace runwarden::intake::otlp {

constexpr std::size_t kNoSpan = ~std::size_t{0};

// A member of a step that a span inside it gave.
struct TakenMember {
  std::string name;
  std::size_t from = kNoSpan;
};

// A span's facts (SpanFacts::json), and its place in the trace.
struct SpanInTrace {
  std::string id;
  std::string parent_id;
  std::string name;
  std::string scope;
  std::string from;  // SpanFacts::json
  model::SpanKind kind = model::SpanKind::none;
  bool is_root = false;
  bool failed = false;
  bool ok = false;
  bool spoke = false;  // its output is what the model said, not its tool calls
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::vector<JsonMember> members;   // of its step, and of the run
  std::vector<JsonMember> metadata;  // the same
  std::size_t parent = kNoSpan;      // index in the trace; kNoSpan: not there, or among the span's descendants
  std::size_t caller = kNoSpan;      // the nearest ancestor that is a step or an agent

  std::size_t agent = kNoSpan;    // the outermost agent around the span, or the span itself
  bool is_turn = false;           // of an agent: it speaks with the user
  std::size_t request = kNoSpan;  // of an agent that begins with a further turn of the user: the span that has its text
  bool is_merged = false;         // tells of the same call as its caller, which has its members
  bool has_inner = false;         // such a span was merged into this one
  std::vector<TakenMember> taken;

  bool is_step() const { return kind == model::SpanKind::model || kind == model::SpanKind::tool; }
  bool is_step_or_agent() const { return is_step() || kind == model::SpanKind::agent; }
  const std::string* json(std::string_view member) const { return find_json_member(members, member); }
  const std::string* meta(std::string_view member) const { return find_json_member(metadata, member); }
  std::string_view attribute_of(std::string_view member) const;  // that gave the member; empty: none did
  bool has_given_name() const { return meta("name") != nullptr && attribute_of("name") != "span.name"; }
};

// Spans are named by their index in spans().
class Trace {
 public:
  // `spans` are SpanFacts::json in the order of arrival. The last version of a span wins. Texts that are not facts of a span are skipped.
  explicit Trace(const std::vector<std::string>& spans);

  const std::vector<SpanInTrace>& spans() const { return spans_; }
  std::size_t root() const { return root_; }

  // Model and tool spans, and agents that begin with a further turn of the user, in order.
  const std::vector<std::size_t>& steps() const { return steps_; }
  // The same apart: those inside the turns, and the calls beside them, such as one that makes a title. If none is inside, all count as
  // such.
  const std::vector<std::size_t>& steps_of_turns() const { return steps_of_turns_; }
  const std::vector<std::size_t>& other_steps() const { return other_steps_; }

  // The runs of the agent that make up the trace, usually one. Without an agent it is a structure: the root, or else the first.
  const std::vector<std::size_t>& turns() const { return turns_; }
  std::size_t first_turn() const { return turns_.empty() ? kNoSpan : turns_.front(); }
  std::size_t last_turn() const { return turns_.empty() ? kNoSpan : turns_.back(); }

  // The spans that may speak for the run about that turn: a structure that is the root, or else the turn and then the root.
  std::vector<std::size_t> speakers(std::size_t turn) const;

  // True for a single model call without any span that could show tools: whatever else the agent did is not in the trace.
  bool has_only_model_span() const;

  // The span that gave this member of a step: itself, or one inside it that tells of the same call.
  std::size_t giver(std::size_t at, std::string_view member) const;

 private:
  using Requests = std::unordered_map<std::size_t, std::size_t>;           // by agent: itself or its first model step, which has the text
  using Answers = std::unordered_multimap<std::string_view, std::size_t>;  // texts and the agents that gave them

  void read(const std::vector<std::string>& spans);
  void link_parents();
  void cut_cycles();
  void find_callers();
  bool is_told_before(std::size_t at) const;
  void merge_calls();
  void merge_into(std::size_t outer_at, std::size_t inner_at);
  bool is_around(std::size_t outer, std::size_t inner) const;
  void put_outer_first();
  void find_steps();
  void sort_steps();
  void sort_by_start(std::vector<std::size_t>& spans) const;
  void find_root();
  std::vector<std::size_t> outermost(model::SpanKind kind);
  void mark_inside(model::SpanKind kind);
  void find_turns();
  void take_agents(const std::vector<std::size_t>& agents);
  std::size_t main_of(const std::vector<std::size_t>& agents) const;
  bool is_same_agent(std::size_t a, std::size_t b) const;
  std::unordered_set<std::size_t> leading_to(std::size_t main, const std::vector<std::size_t>& agents, const Requests& requests,
                                             const Answers& answers) const;
  Requests requests_of(const std::vector<std::size_t>& agents) const;
  const std::string* text_of(const Requests& requests, std::size_t agent) const;
  Answers answers_of(const std::vector<std::size_t>& agents) const;
  bool is_asked_around(std::size_t agent) const;
  void split_steps();

  std::vector<SpanInTrace> spans_;
  std::unordered_map<std::string, std::size_t> by_id_;
  std::vector<std::size_t> parents_first_;
  std::vector<std::size_t> steps_;
  std::vector<std::size_t> steps_of_turns_;
  std::vector<std::size_t> other_steps_;
  std::vector<std::size_t> turns_;
  std::size_t root_ = kNoSpan;
};

}  // namespace runwarden::intake::otlp
