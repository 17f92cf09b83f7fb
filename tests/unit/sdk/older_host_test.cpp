// A library that targets 1.2 and says that it loads in 1.0, in a host of 1.0: what is newer than the host is not touched.
#include <gtest/gtest.h>

#include <runwarden/testing.hpp>

class Wavers : public rw::Detector {
 public:
  static constexpr rw::Info info() { return {"wavers", "1", "Wavers"}; }
  void evaluate(const rw::Run&, rw::Call& call) override {
    call.explain(rw::Explanation(rw::ExplanationKind::rule, "mood", "no"));
    call.candidate("vague", RW_NO_STEP, "it names nothing", 0.5);
  }
};
RW_DETECTORS(Wavers);

namespace rw::testing {
namespace {

TEST(OlderHost, TheEntrySaysWhatItNeeds) {
  EXPECT_EQ(runwarden_entry_v1.min_host_minor, 0U);
}

TEST(OlderHost, WhatItDoesNotHave_IsNotCalled) {
  int suppressed = 0;
  rw_call call{};
  call.struct_size = offsetof(rw_call, explain);
  call.ctx = &suppressed;
  call.suppress = [](void* ctx, rw_str, std::int32_t, rw_str) -> rw_status { return ++*static_cast<int*>(ctx), RW_OK; };
  call.fail = [](void*, rw_str) -> rw_status { return RW_OK; };
  call.explain = [](void*, const rw_explanation*) -> rw_status { return ADD_FAILURE(), RW_INTERNAL; };
  call.candidate = [](void*, rw_str, std::int32_t, rw_str, double) -> rw_status { return ADD_FAILURE(), RW_INTERNAL; };
  FakeRun run;
  Wavers wavers;
  EXPECT_EQ(rw::Entry<Wavers>::evaluate(&wavers, &run.view(), &call), RW_OK);
  EXPECT_EQ(suppressed, 1);
}

TEST(OlderHost, ANewerOneGetsItAll) {
  FakeRun run;
  const Answer answer = Subject("wavers").explain(run);
  EXPECT_EQ(answer.explanation.size(), 1U);
  ASSERT_EQ(answer.suppressed.size(), 1U);
  EXPECT_EQ(answer.suppressed[0].confidence, std::optional(0.5));
}

}  // namespace
}  // namespace rw::testing
