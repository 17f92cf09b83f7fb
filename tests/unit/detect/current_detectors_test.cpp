#include "detect/current_detectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "support/fake_clock.h"

namespace runwarden::detect {
namespace {

using testing::HasSubstr;

class CurrentDetectorsTest : public testing::Test {
 protected:
  // A library that does not exist, which is logged on the library thread.
  static model::DetectorSettings with_missing_library() {
    model::DetectorSettings settings;
    settings.entries.push_back({"missing", "/nowhere/missing.so", {}, true, {}});
    return settings;
  }

  test::FakeClock clock_;
  std::function<void(std::string_view)> on_log_ = [](std::string_view) {};
  CurrentDetectors detectors_{
      {.clock = clock_, .private_folder = {}, .workers = 1, .log = [this](LogLevel, std::string_view text) { on_log_(text); }}};
};

TEST_F(CurrentDetectorsTest, ALoadedSet_IsInForceOncePut) {
  EXPECT_EQ(detectors_.get(), nullptr);
  std::promise<void> loaded;
  auto set = detectors_.load(with_missing_library(), {},
                             {.wake = [&] { loaded.set_value(); },
                              .is_to_stop =
                                  [done = loaded.get_future().share()] {
                                    done.wait();
                                    return false;
                                  }});
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_EQ(detectors_.get(), nullptr);
  detectors_.put(*set);
  EXPECT_EQ(detectors_.get(), *set);
  EXPECT_EQ((*set)->enabled_count(), 1u);
  EXPECT_EQ((*set)->list().size(), 1u);
  *set = nullptr;
  EXPECT_TRUE(detectors_.release(60'000));
  EXPECT_EQ(detectors_.get(), nullptr);
}

TEST_F(CurrentDetectorsTest, AStoppedWait_LeavesTheLoadBehind) {
  std::promise<void> let_go;
  on_log_ = [go = let_go.get_future().share()](std::string_view) { go.wait(); };
  const auto set = detectors_.load(with_missing_library(), {}, {.wake = [] {}, .is_to_stop = [] { return true; }});
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, Code::unavailable);
  EXPECT_THAT(set.error().detail, HasSubstr("was stopped while it loaded"));
  EXPECT_EQ(detectors_.get(), nullptr);
  let_go.set_value();
  EXPECT_TRUE(detectors_.release(60'000));
}

}  // namespace
}  // namespace runwarden::detect
