#include "ingest/keyed_queue.h"

#include <gtest/gtest.h>

namespace runwarden::ingest {
namespace {

TEST(KeyedQueue, OneNameIsTakenOnce_AndTheNextHasItWhenTheFirstLeaves) {
  KeyedQueue queue;
  std::string called;
  ASSERT_TRUE(queue.enqueue({"a"}, [] {}));
  EXPECT_FALSE(queue.enqueue({"a"}, [&] { called += "1"; }));
  EXPECT_FALSE(queue.enqueue({"a"}, [&] { called += "2"; }));
  EXPECT_TRUE(queue.enqueue({"b"}, [] {}));
  EXPECT_EQ(called, "");
  queue.release({"a"});
  EXPECT_EQ(called, "1");
  queue.release({"a"});
  EXPECT_EQ(called, "12");
  queue.release({"a"});
  EXPECT_TRUE(queue.enqueue({"a"}, [] {}));
}

TEST(KeyedQueue, WhoWaitsForSeveralNames_HasItsTurnWhenAllAreFree) {
  KeyedQueue queue;
  std::string called;
  ASSERT_TRUE(queue.enqueue({"a"}, [] {}));
  ASSERT_TRUE(queue.enqueue({"b"}, [] {}));
  EXPECT_FALSE(queue.enqueue({"a", "b"}, [&] { called += "1"; }));
  EXPECT_FALSE(queue.enqueue({"b"}, [&] { called += "2"; })) << "it came later";
  queue.release({"b"});
  EXPECT_EQ(called, "");
  queue.release({"a"});
  EXPECT_EQ(called, "1");
  queue.release({"a", "b"});
  EXPECT_EQ(called, "12");
}

TEST(KeyedQueue, ATurnMayLeaveAndEnterAtOnce) {
  KeyedQueue queue;
  bool inside = false;
  ASSERT_TRUE(queue.enqueue({"a"}, [] {}));
  ASSERT_FALSE(queue.enqueue({"a"}, [&] {
    queue.release({"a"});
    inside = queue.enqueue({"a"}, [] {});
  }));
  queue.release({"a"});
  EXPECT_TRUE(inside);
}

}  // namespace
}  // namespace runwarden::ingest
