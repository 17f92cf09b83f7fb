#include "ops/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

namespace runwarden::ops {
namespace {

struct SignalsTest : ::testing::Test {
  SignalsTest() { block_signals(); }
};

TEST_F(SignalsTest, Hangup_ReloadsAndTheOthersStop) {
  pthread_kill(pthread_self(), SIGHUP);
  EXPECT_EQ(wait_for_signal(), Signal::reload);
  pthread_kill(pthread_self(), SIGTERM);
  EXPECT_EQ(wait_for_signal(), Signal::stop);
  pthread_kill(pthread_self(), SIGINT);
  EXPECT_EQ(wait_for_signal(60'000), Signal::stop);
}

TEST_F(SignalsTest, WhenNoneComes_TheWaitEnds) {
  EXPECT_EQ(wait_for_signal(1), std::nullopt);
}

}  // namespace
}  // namespace runwarden::ops
