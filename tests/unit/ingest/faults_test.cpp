#include "ingest/faults.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace runwarden::ingest {
namespace {

using Kind = IngestAnswer::Kind;
using Outcome = store::WriteResult::Outcome;

store::WriteResult result_of(Outcome outcome, std::string detail = {}) {
  store::WriteResult result;
  result.outcome = outcome;
  result.detail = std::move(detail);
  return result;
}

TEST(NotStored, WhatTheStoreRefuses_IsRefusedWithItsReasonAndWhenToComeBack) {
  const IngestAnswer full = not_stored(result_of(Outcome::unavailable, "the disk is full"));
  EXPECT_EQ(full.kind, Kind::refused);
  EXPECT_EQ(full.error.code, Code::unavailable);
  EXPECT_EQ(full.error.detail, "the disk is full");
  const IngestAnswer away = not_stored(result_of(Outcome::away, "the store cannot be reached"));
  EXPECT_EQ(away.error.code, Code::unavailable);
  EXPECT_EQ(away.error.detail, "the store cannot be reached");
  EXPECT_LT(away.error.retry_after_s, full.error.retry_after_s);
  EXPECT_EQ(not_stored(result_of(Outcome::idempotency_conflict)).error.code, Code::conflict);
}

// Takes nothing.
class ClosedQueue final : public store::WriteQueue {
 public:
  explicit ClosedQueue(std::string why) : why_(std::move(why)) {}
  bool submit(store::Write, Done, Permit) override { return false; }
  std::string refuses_for() const override { return why_; }
  void run_between(Job) override {}
  void drain() override {}
  Depth depth() const override { return {}; }
  bool is_progressing(std::int64_t) const override { return true; }

 private:
  const std::string why_;
};

TEST(NotQueued, WhereTheStoreCannotBeReached_SaysSoInsteadOfAFullQueue) {
  const Error away = not_queued(ClosedQueue("the database is unreachable; nothing was stored, retry later"));
  EXPECT_EQ(away.code, Code::unavailable);
  EXPECT_EQ(away.detail, "the database is unreachable; nothing was stored, retry later");
  EXPECT_GT(away.retry_after_s, 0);
  EXPECT_EQ(not_queued(ClosedQueue("")).detail, "the store's write queue is full; nothing was stored, retry in a moment");
}

TEST(NotStored, APermitThatWasWithdrawn_IsRefusedAsItSays) {
  store::WriteResult denied = result_of(Outcome::denied);
  denied.refusal = Error{Code::unauthorized, "the key was revoked", {}, {}};
  EXPECT_EQ(not_stored(std::move(denied)).error.detail, "the key was revoked");
}

TEST(NotStored, AWriteInDoubt_IsNeitherStoredNorRefused) {
  EXPECT_EQ(not_stored(result_of(Outcome::in_doubt)).kind, Kind::in_doubt);
}

}  // namespace
}  // namespace runwarden::ingest
