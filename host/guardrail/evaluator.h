// Looks whether a draft catches a run: at each moment of the run that is of the draft's point, whether the condition holds for what the run
// had told until then. One run at a time; one thread.
//
// before_tool and after_tool: each call. before_model: each step of the model or with a token count, and the end of a run that has its
// count in its own metadata. before_reply: each output of the model, and the end, where the reply is the outcome, or else what was said
// since the last call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "guardrail/draft.h"
#include "guardrail/phrases.h"
#include "model/run.h"

namespace runwarden::guardrail {

class Evaluator {
 public:
  explicit Evaluator(const Draft& draft);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Nothing: `expired` said true before it was known; it is asked every few steps. Linear in the run for a draft.
  std::optional<bool> catches(const model::Run& run, const std::function<bool()>& expired = {});

 private:
  struct SeenCalls {
    std::int64_t count = 0;
    std::int64_t in_row = 0;       // of the latest
    std::uint64_t latest = 0;      // input of the latest that counted
    std::int64_t same_in_row = 0;  // of the latest with that input
    std::unordered_map<std::uint64_t, std::int64_t> by_input;
  };
  struct Node {
    const Condition* condition = nullptr;
    std::vector<std::size_t> inner;
    std::unordered_set<std::string_view> tools;
    std::optional<Phrases> phrases;
    SeenCalls calls;
    bool seen = false;  // no_call: such a call; request: such a word
  };

  std::size_t add(const Condition& condition);
  void start();
  void note_request(std::string_view text);
  void note_call(const model::Step& step);
  void note_call(Node& node, const model::Step& step);
  void note_reply(std::string_view text);
  bool at_end(const model::Run& run);
  bool holds(std::size_t node) const;
  bool holds_call(const Node& node) const;
  bool holds_reply(const Node& node) const;
  bool holds_model(const Node& node) const;
  bool holds() const { return holds(0); }

  Point point_;
  Condition root_;
  std::vector<Node> nodes_;
  bool reads_replies_ = false;

  const model::Step* pending_ = nullptr;  // the call about to be made
  std::string reply_words_ = " ";
  std::int64_t reply_digits_ = 0;
  std::string model_words_ = " ";
  std::optional<std::int64_t> tokens_;
};

}  // namespace runwarden::guardrail
