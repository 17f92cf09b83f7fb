// Tests whether a draft catches a run: replays the run and checks the condition at every moment that matches the draft's point, using only
// what the run has shown by then. One run at a time; one thread.
//
// before_tool and after_tool: each call. before_model: each step that is the model's or has a token count, and the end of a run whose own
// metadata has the count. before_reply: each output of the model, and the end of the run, where the reply is the outcome or, without one,
// what the model said after the last call.
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

  // Empty if `expired`, which is called every few steps, returned true first. Linear in the run for a given draft.
  std::optional<bool> catches(const model::Run& run, const std::function<bool()>& expired = {});

 private:
  struct SeenCalls {
    std::int64_t count = 0;
    std::int64_t in_row = 0;       // without interruption, up to the latest
    std::uint64_t latest = 0;      // hash of the latest counted input
    std::int64_t same_in_row = 0;  // the same, with that input
    std::unordered_map<std::uint64_t, std::int64_t> by_input;
  };
  struct Node {
    const Condition* condition = nullptr;
    std::vector<std::size_t> inner;
    std::unordered_set<std::string_view> tools;
    std::optional<Phrases> phrases;
    SeenCalls calls;
    bool seen = false;  // no_call: a matching call; request: a matching word
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
