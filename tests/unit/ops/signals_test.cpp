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

TEST_F(SignalsTest, WhoWaitsForAStop_IsWoken_AndLeavesAHangupForLater) {
  pthread_kill(pthread_self(), SIGHUP);
  wake();
  EXPECT_FALSE(wait_for_stop(60'000));
  pthread_kill(pthread_self(), SIGTERM);
  EXPECT_TRUE(wait_for_stop(60'000));
  EXPECT_EQ(wait_for_signal(), Signal::reload);
}

TEST_F(SignalsTest, WhenNoneComes_TheWaitEnds) {
  EXPECT_EQ(wait_for_signal(1), std::nullopt);
}

}  // namespace
}  // namespace runwarden::ops
