// The spans of a trace, and the part that each has in the trace's run. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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
  std::string from;
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

  bool is_merged = false;  // tells of the same call as its caller, which has its members
  bool has_inner = false;  // such a span was merged into this one
  std::vector<TakenMember> taken;

  bool is_step() const { return kind == model::SpanKind::model || kind == model::SpanKind::tool; }
  bool is_step_or_agent() const { return is_step() || kind == model::SpanKind::agent; }
  const std::string* json(std::string_view member) const { return find_json_member(members, member); }
  const std::string* meta(std::string_view member) const { return find_json_member(metadata, member); }
};

// Spans are named by their index in spans().
class Trace {
 public:
  // `spans` are SpanFacts::json in the order of arrival. The last version of a span wins. Texts that are not facts of a span are skipped.
  explicit Trace(const std::vector<std::string>& spans);

  const std::vector<SpanInTrace>& spans() const { return spans_; }
  const std::vector<std::size_t>& steps() const { return steps_; }  // in order
  std::size_t root() const { return root_; }
  std::size_t agent() const { return agent_; }

  // True for a single model call without any span that could show tools: whatever else the agent did is not in the trace.
  bool has_only_model_span() const;

  // The spans that may speak for the run: the agent, then the root.
  std::vector<std::size_t> speakers() const;

  std::size_t first_model() const;

  // The span that gave this member of a step: itself, or one inside it that tells of the same call.
  std::size_t giver(std::size_t at, std::string_view member) const;

 private:
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
  void find_root();
  void find_agent();

  std::vector<SpanInTrace> spans_;
  std::unordered_map<std::string, std::size_t> by_id_;
  std::vector<std::size_t> parents_first_;
  std::vector<std::size_t> steps_;
  std::size_t root_ = kNoSpan;
  std::size_t agent_ = kNoSpan;
};

}  // namespace runwarden::intake::otlp
