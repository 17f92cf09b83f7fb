// The memory of answers that nobody reads, at full scale.
#include "reply_memory.h"

namespace runwarden::test {
namespace {

// Without a bound they held 2.9 GiB.
TEST(ReplyMemoryFullScale, When150ClientsAskAndDoNotRead_HoldsAtMost600MiB) {
  expect_bounded({.runs = 200, .run_bytes = kMiB, .clients = 150, .most_above_idle = 600 * kMiB});
}

}  // namespace
}  // namespace runwarden::test
