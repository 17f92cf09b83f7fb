// What becomes of a run, and of those beside it, when a detector does not return.
#include <gmock/gmock.h>

#include <future>

#include "base/digest.h"
#include "base/work_pool.h"
#include "detect/abandoned_calls.h"
#include "detect/crash_marks.h"
#include "zoo.h"

namespace runwarden::detect {
namespace {

using model::DetectorStatus;
using testing::ContainsRegex;
using testing::HasSubstr;

class AbandonedCallsTest : public Zoo {
 protected:
  AbandonedCallsTest() {
    settings.deadline_ms = 600;
    settings.quarantine_failures = 1000;
    context.clock = &real_clock;
    context.abandoned_calls = &abandoned_calls;
    context.workers = 2;
    context.log = [this](LogLevel, std::string_view text) {
      const std::lock_guard lock(log_mutex);
      log += std::string(text) + "\n";
    };
    put("obedient.so", bytes_of("obedient"));
  }
  ~AbandonedCallsTest() override {
    let_go();
    pool.finish();
    while (abandoned_count() > 0) std::this_thread::yield();  // they use what goes now
  }

  void enable_key(const std::string& key) { settings.entries.push_back({key, "obedient.so", {}, false, {}}); }
  std::shared_ptr<DetectorSet> loaded() {
    auto set = load();
    EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().detail);
    return set.ok() ? std::move(*set) : nullptr;
  }
  std::future<EvaluationResult> evaluate(const std::shared_ptr<DetectorSet>& set, const std::string& request,
                                         Explain explain = Explain::no) {
    auto asked = std::make_shared<model::Run>();
    asked->id = "run_1";
    asked->document = request;
    asked->user_request = asked->document;
    auto promise = std::make_shared<std::promise<EvaluationResult>>();
    pool.post([set, asked, promise, explain, this](std::size_t worker) {
      set->evaluate({asked, "acme", {}, explain}, worker, pool,
                    {[promise](std::size_t, EvaluationResult said) { promise->set_value(std::move(said)); }, {}});
    });
    return promise->get_future();
  }
  std::string sleep() const { return "wait " + (folder / "let_go").string(); }
  void let_go() const { std::ofstream(folder / "let_go") << "now"; }
  int abandoned_count() const { return static_cast<int>(pool.abandoned()); }

  const SystemClock real_clock;
  AbandonedCalls abandoned_calls;
  std::mutex log_mutex;
  WorkPool pool{2, [](const std::string& why) { ADD_FAILURE() << why; }};
};

TEST_F(AbandonedCallsTest, WhenADetectorDoesNotReturn_ItsRunIsAnsweredWithoutIt) {
  enable_key("zoo");
  enable_key("zoo_two");
  const auto set = loaded();
  const EvaluationResult said = evaluate(set, sleep()).get();
  ASSERT_EQ(said.verdict.reports.size(), 2U);
  EXPECT_EQ(said.verdict.reports[0].status, DetectorStatus::timeout);
  EXPECT_THAT(said.verdict.reports[0].reason, HasSubstr(" ms, the deadline is 600 ms; the run continued without it"));
  EXPECT_EQ(said.verdict.reports[1].status, DetectorStatus::fired);
  ASSERT_EQ(said.verdict.findings.size(), 1U);
  EXPECT_EQ(said.verdict.findings[0].detector_key, "zoo_two");
  EXPECT_TRUE(said.run_in_use);
  EXPECT_EQ(abandoned_count(), 1);
  const auto info = set->list()[0];
  EXPECT_EQ(info.timeouts, 1U);
  EXPECT_EQ(info.evaluations, 1U);
  const std::lock_guard lock(log_mutex);
  EXPECT_THAT(log,
              HasSubstr("detector \"zoo\" (" + (detectors / "obedient.so").string() + "), called for run \"run_1\", had not returned"));
}

TEST_F(AbandonedCallsTest, WhileCallsStick_OthersAreAnswered_AndTheDetectorIsAskedAgainWhenOneReturns) {
  enable_key("zoo");
  const auto set = loaded();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(set, sleep()).get().verdict.reports[0].status, DetectorStatus::timeout);
  EXPECT_EQ(abandoned_count(), 2) << "as many as the pool has threads";
  const EvaluationResult skipped = evaluate(set, "something else").get();
  EXPECT_EQ(skipped.verdict.reports[0].status, DetectorStatus::timeout);
  EXPECT_EQ(skipped.verdict.reports[0].reason, "2 of its calls for other runs have not returned yet, so it was not called");
  EXPECT_FALSE(skipped.run_in_use);
  let_go();
  while (abandoned_count() > 0) std::this_thread::yield();
  const EvaluationResult said = evaluate(set, "something else").get();
  EXPECT_EQ(said.verdict.reports[0].status, DetectorStatus::fired);
  EXPECT_FALSE(said.run_in_use);
  const std::lock_guard lock(log_mutex);
  EXPECT_THAT(log, ContainsRegex(" returned from an abandoned call after [0-9]+ ms"));
}

TEST_F(AbandonedCallsTest, WhenCallsNeverReturn_TheFifthRunQuarantinesTheDetector_AndAReloadCountsAnew) {
  settings.quarantine_failures = model::DetectorSettings{}.quarantine_failures;
  enable_key("zoo");
  auto set = loaded();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(set, sleep()).get().verdict.reports[0].status, DetectorStatus::timeout);
  for (const char* const load : {"first", "second"}) {
    for (int i = static_cast<int>(set->list()[0].timeouts); i < 5; ++i) {
      EXPECT_FALSE(set->list()[0].quarantined) << i;
      EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::timeout) << i;
    }
    const auto said = evaluate(set, "something else").get().verdict.reports[0];
    EXPECT_EQ(said.status, DetectorStatus::quarantined) << load;
    EXPECT_THAT(said.reason, HasSubstr("failed 5 times within 60 s, last: 2 of its calls for other runs have not returned yet"));
    set = loaded();
  }
  let_go();
  while (abandoned_count() > 0) std::this_thread::yield();
  EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
}

TEST_F(AbandonedCallsTest, RunsMissedWhileCallsAreOnlyLate_AreNoFailuresOfIts) {
  settings.quarantine_failures = 3;
  settings.deadline_ms = 2000;
  enable_key("zoo");
  const auto set = loaded();
  auto one = evaluate(set, sleep()), another = evaluate(set, sleep());
  one.get();
  another.get();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::timeout);
  EXPECT_EQ(set->list()[0].timeouts, 2U);
  EXPECT_FALSE(set->list()[0].quarantined);
}

TEST_F(AbandonedCallsTest, WhileExplanationsStick_TheDetectorJudges) {
  settings.quarantine_failures = 5;
  enable_key("zoo");
  const auto set = loaded();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(set, sleep(), Explain::yes).get().verdict.reports[0].status, DetectorStatus::timeout);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(evaluate(set, "something else", Explain::yes).get().verdict.reports[0].status, DetectorStatus::timeout);
  EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
  EXPECT_EQ(set->list()[0].timeouts, 0U);
}

TEST_F(AbandonedCallsTest, WhenAnExplanationCrashed_TheRunIsStillJudged) {
  enable_key("zoo");
  settings.quarantine_failures = 1;
  CrashMarks marks;
  context.crash_marks = &marks;
  context.earlier_crashes = EarlierCrashes::counted;
  model::CrashMark mark;
  mark.key.time_ms = real_clock.wall_ms();
  mark.tenant_name = "acme";
  mark.run_id = "run_1";
  mark.detector_key = "zoo (explaining)";
  mark.library_sha256 = to_hex(sha256(bytes_of("obedient")));
  marks.add(mark);
  const auto set = loaded();
  EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
  EXPECT_EQ(evaluate(set, "something else", Explain::yes).get().verdict.reports[0].status, DetectorStatus::quarantined);
}

TEST_F(AbandonedCallsTest, WhileOneCallSticks_ItsWorkerGetsAnotherInstance) {
  enable_key("zoo");
  const auto set = loaded();
  EXPECT_EQ(evaluate(set, sleep()).get().verdict.reports[0].status, DetectorStatus::timeout);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
}

TEST_F(AbandonedCallsTest, WhenTheSetIsReplaced_AStuckCallKeepsItsOwn_AndStillCounts) {
  enable_key("zoo");
  auto set = loaded();
  for (int i = 0; i < 2; ++i) evaluate(set, sleep()).get();
  const std::weak_ptr<DetectorSet> previous = set;
  set = loaded();
  EXPECT_FALSE(previous.expired());
  EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::timeout);
  let_go();
  while (abandoned_count() > 0) std::this_thread::yield();
  EXPECT_TRUE(previous.expired());
  EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
}

TEST_F(AbandonedCallsTest, WhenADetectorIsConcurrent_ItsOneInstanceServesOn) {
  enable_key("zoo_many");
  const auto set = loaded();
  EXPECT_EQ(evaluate(set, sleep()).get().verdict.reports[0].status, DetectorStatus::timeout);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(evaluate(set, "something else").get().verdict.reports[0].status, DetectorStatus::fired);
}

TEST_F(AbandonedCallsTest, WhenWhatComesAfterThrowsOnTheOtherThread_WhoeverWaitsIsTold) {
  enable_key("zoo");
  const auto set = loaded();
  auto asked = std::make_shared<model::Run>();
  asked->document = sleep();
  asked->user_request = asked->document;
  std::promise<void> failed, told;
  WorkPool other_pool(1, [&](const std::string& why) {
    EXPECT_EQ(why, "no policies today");
    told.set_value();
  });
  other_pool.post([&](std::size_t worker) {
    EXPECT_FALSE(set->evaluate(
        {asked, "acme", {}}, worker, other_pool,
        {[](std::size_t, const EvaluationResult&) { throw std::runtime_error("no policies today"); }, [&] { failed.set_value(); }}));
  });
  failed.get_future().wait();
  told.get_future().wait();
  let_go();
  while (other_pool.abandoned() > 0) std::this_thread::yield();
}

TEST_F(AbandonedCallsTest, WhenCallsAreLeftBehindOften_TheDetectorIsQuarantined) {
  settings.quarantine_failures = 2;
  enable_key("zoo");
  const auto set = loaded();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluate(set, sleep()).get().verdict.reports[0].status, DetectorStatus::timeout);
  const auto said = evaluate(set, "something else").get().verdict.reports[0];
  EXPECT_EQ(said.status, DetectorStatus::quarantined);
  EXPECT_THAT(said.reason, HasSubstr("failed 2 times within 60 s, last: had not returned after"));
}

}  // namespace
}  // namespace runwarden::detect
