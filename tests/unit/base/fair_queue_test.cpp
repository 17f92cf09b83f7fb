#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runwarden {
namespace {

std::vector<std::string> drain(FairQueue<std::string>& queue) {
  std::vector<std::string> order;
  while (!queue.empty()) order.push_back(queue.pop());
  return order;
}

TEST(FairQueue, OneFlow_KeepsItsOrder) {
  FairQueue<std::string> queue;
  for (const char* item : {"a", "b", "c"}) queue.push(7, item);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(FairQueue, CountsWhatWaitsOfAFlow) {
  FairQueue<std::string> queue;
  EXPECT_EQ(queue.waiting(7), 0u);
  queue.push(7, "a");
  queue.push(7, "b");
  queue.push(8, "c");
  EXPECT_EQ(queue.waiting(7), 2u);
  queue.pop();
  EXPECT_EQ(queue.waiting(7), 1u);
  EXPECT_EQ(queue.waiting(8), 1u);
}

TEST(FairQueue, AFlowThatSendsMuch_HoldsUpOnlyItself) {
  FairQueue<std::string> queue;
  for (int i = 0; i < 100; ++i) queue.push(1, "flood");
  queue.push(2, "first");
  queue.push(2, "second");
  const auto order = drain(queue);
  EXPECT_EQ(order[1], "first");
  EXPECT_EQ(order[3], "second");
  EXPECT_EQ(order.size(), 102u);
}

TEST(FairQueue, UrgentItems_ComeBeforeAllOthersTheLastFirst) {
  FairQueue<std::string> queue;
  queue.push(1, "item");
  queue.push_urgent("urgent");
  queue.push_urgent("more urgent");
  EXPECT_EQ(queue.front(), "more urgent");
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"more urgent", "urgent", "item"}));
}

TEST(FairQueue, ManyFlowsThatComeAndGo_AreEachServedOnceARound) {
  FairQueue<int> queue;
  for (int round = 0; round < 3; ++round) {
    for (int flow = 0; flow < 1000; ++flow) {
      queue.push(static_cast<std::uint64_t>(flow), round);
    }
  }
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(queue.pop(), i / 1000);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace runwarden
