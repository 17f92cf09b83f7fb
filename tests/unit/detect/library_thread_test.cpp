#include "detect/library_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "detect/crash_context.h"
#include "support/fake_clock.h"

namespace runwarden::detect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A call of a library that goes on until the test lets it go.
class LibraryThreadTest : public testing::Test {
 protected:
  LibraryThread::Job stuck(DetectorCode code, std::function<void(const std::string&)> given_up = {}) {
    return {[this, code, go = let_go_.get_future().share()] {
              const CrashContext context{.detector_key = "dh", .library = "/usr/lib/dh.so", .code = code};
              const CrashContextScope scope(context);
              inside_.set_value();
              go.wait();
            },
            std::move(given_up)};
  }
  void wait_until_inside() { inside_.get_future().wait(); }
  // Ends once all jobs before it are done.
  void expect_jobs_to_run() {
    std::promise<void> ran;
    thread_.post({[&] { ran.set_value(); }});
    ran.get_future().wait();
  }

  test::FakeClock clock_;
  std::vector<std::string> log_;
  std::promise<void> let_go_, inside_;
  LibraryThread thread_{clock_, [this](LogLevel, std::string_view text) { log_.emplace_back(text); }};
};

TEST_F(LibraryThreadTest, JobsRunInTheirOrder_AndAreDoneWhenItHasFinished) {
  std::vector<int> done;
  for (const int i : {1, 2, 3}) thread_.post({[&done, i] { done.push_back(i); }});
  EXPECT_TRUE(thread_.finish(60'000));
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  thread_.post({[&done] { done.push_back(4); }});
  EXPECT_EQ(done.back(), 4) << "on the thread that posts it";
}

TEST_F(LibraryThreadTest, AJobMayOwnWhatPostsWhenItIsDestroyed) {
  std::vector<std::string> done;
  const auto posts_at_its_end = [&](const char* text) {
    return std::shared_ptr<void>(nullptr, [&done, this, text](void*) { thread_.post({[&done, text] { done.emplace_back(text); }}); });
  };
  thread_.post({.run = [last = posts_at_its_end("run")] {}, .given_up = [last = posts_at_its_end("given up")](const std::string&) {}});
  expect_jobs_to_run();  // after this other job, too
  EXPECT_TRUE(thread_.finish(60'000));
  EXPECT_THAT(done, ElementsAre("run", "given up"));
}

TEST_F(LibraryThreadTest, ACallThatTakesLong_IsNamedOnce) {
  thread_.post(stuck(DetectorCode::destroy));
  wait_until_inside();
  thread_.look();
  EXPECT_THAT(log_, IsEmpty());
  clock_.advance_ms(LibraryThread::kNoticeMs);
  thread_.look();
  thread_.look();
  EXPECT_THAT(log_, ElementsAre("waiting: detector \"dh\" (/usr/lib/dh.so) has not returned from destroy for 5 s"));
  let_go_.set_value();
  EXPECT_TRUE(thread_.finish(60'000));
}

TEST_F(LibraryThreadTest, ACallThatDoesNotReturn_IsGivenUp_AndTheNextJobRuns) {
  std::string why;
  thread_.post(stuck(DetectorCode::create, [&why](const std::string& text) { why = text; }));
  wait_until_inside();
  clock_.advance_ms(LibraryThread::kGiveUpMs);
  thread_.look();
  EXPECT_THAT(why, HasSubstr("detector \"dh\" (/usr/lib/dh.so) has not returned from create for 60 s: it is given up"));
  expect_jobs_to_run();
  EXPECT_FALSE(thread_.finish(60'000)) << "the call still uses what it was given";
  let_go_.set_value();
  while (!thread_.finish(60'000)) std::this_thread::yield();
}

TEST_F(LibraryThreadTest, AGivenUpCallThatReturnsAfterAll_IsForgotten) {
  std::promise<void> gone;
  auto job = stuck(DetectorCode::load);
  job.run = [run = std::move(job.run), last = std::shared_ptr<void>(nullptr, [&gone](void*) { gone.set_value(); })] { run(); };
  thread_.post(std::move(job));
  wait_until_inside();
  clock_.advance_ms(LibraryThread::kGiveUpMs);
  thread_.look();
  EXPECT_THAT(log_, ElementsAre(HasSubstr("/usr/lib/dh.so has not returned from the constructors of the library for 60 s")));
  let_go_.set_value();
  gone.get_future().wait();
  while (!thread_.finish(60'000)) std::this_thread::yield();
}

TEST_F(LibraryThreadTest, WhenItCannotFinish_ItSaysWhatItWaitedFor) {
  thread_.post(stuck(DetectorCode::destroy));
  wait_until_inside();
  EXPECT_FALSE(thread_.finish(1));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("detector \"dh\" (/usr/lib/dh.so) has not returned from destroy")));
  let_go_.set_value();
}

}  // namespace
}  // namespace runwarden::detect
