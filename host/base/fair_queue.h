// A queue of many flows (tenants): items of a flow keep their order and flows take turns, so a busy flow delays only itself. Not
// synchronized. Has no limit of its own: callers bound what they push.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

namespace runwarden {

template <class Item>
class FairQueue {
 public:
  using Flow = std::uint64_t;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(Flow flow, Item item) {
    auto& items = flows_[flow];
    if (items.empty()) turns_.push_back(flow);
    items.push_back(std::move(item));
    ++size_;
  }

  // The item comes before all others.
  void push_urgent(Item item) {
    urgent_.push_front(std::move(item));
    ++size_;
  }

  // The item that pop() returns. The queue must not be empty.
  const Item& front() const { return urgent_.empty() ? flows_.at(turns_.front()).front() : urgent_.front(); }
  // The flow whose turn it is; empty for an urgent item and for an empty queue.
  std::optional<Flow> turn() const { return urgent_.empty() && !turns_.empty() ? std::optional(turns_.front()) : std::nullopt; }

  // How many items of the flow wait.
  std::size_t waiting(Flow flow) const {
    const auto items = flows_.find(flow);
    return items == flows_.end() ? 0 : items->second.size();
  }

  Item pop() {
    --size_;
    if (!urgent_.empty()) {
      Item item = std::move(urgent_.front());
      urgent_.pop_front();
      return item;
    }
    const Flow flow = turns_.front();
    turns_.pop_front();
    const auto items = flows_.find(flow);
    Item item = std::move(items->second.front());
    items->second.pop_front();
    if (!items->second.empty()) {
      turns_.push_back(flow);
    } else if (flows_.size() > kFlowsKept) {
      flows_.erase(items);
    }
    return item;
  }

 private:
  static constexpr std::size_t kFlowsKept = 64;  // keeps empty flows and their memory, so that a steady flow does not allocate

  std::unordered_map<Flow, std::deque<Item>> flows_;
  std::deque<Flow> turns_;  // flows with items
  std::deque<Item> urgent_;
  std::size_t size_ = 0;
};

}  // namespace runwarden
