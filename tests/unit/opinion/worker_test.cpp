// The worker on a store and a clock that the test turns, with a scripted endpoint on loopback.
#include "opinion/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/opinion_prompts.h"
#include "store/lmdb/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/sample_values.h"
#include "support/temp_folder.h"
#include "support/webhook_receiver.h"
#include "unit/store/sample_records.h"
#include "unit/store/sample_reviews.h"

namespace runwarden::opinion {
namespace {

using Json = nlohmann::json;
using test::ReceivedMessage;
using test::WebhookAnswer;
using test::WebhookReceiver;
using State = model::OpinionState;

constexpr const char* kRun =
    R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",)"
    R"("steps":[{"stepId":"s1","stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})";

// An answer of the endpoint in which the model says that.
WebhookAnswer says(const std::string& content) {
  const Json body = {{"choices", {{{"message", {{"role", "assistant"}, {"content", content}}}}}},
                     {"usage", {{"prompt_tokens", 700}, {"completion_tokens", 50}, {"total_tokens", 750}}}};
  return {200, "Content-Type: application/json\r\n", body.dump()};
}
WebhookAnswer says(const std::string& verdict, const std::string& pointer, const std::string& quote) {
  Json evidence = Json::array();
  if (!pointer.empty()) evidence.push_back({{"pointer", pointer}, {"quote", quote}});
  return says(Json{{"verdict", verdict}, {"reason", "as I read it"}, {"evidence", evidence}}.dump());
}
WebhookAnswer confirms() {
  return says("present", "/steps/0/errorMessage", "502 Bad Gateway");
}

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    store::LmdbSettings settings;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    store_ = std::move(*store::open_lmdb(settings, clock_));
  }
  ~WorkerTest() override {
    if (worker_) worker_->stop();
    store_->drain();
  }

  void start(const std::string& url, WorkerSettings settings = {}, std::int64_t timeout_ms = 60'000) {
    if (worker_) worker_->stop();
    worker_ = std::make_unique<Worker>(
        Worker::Parts{.opinions = store_->opinions(),
                      .records = *store_,
                      .reviews = store_->reviews(),
                      .queue = *store_,
                      .clock = clock_,
                      .prompts = config::built_in_opinion_prompts(),
                      .on_asked = [this] { ++asked_; },
                      .on_answer = [this](std::string_view verdict) { note("answer " + std::string(verdict)); },
                      .on_failure = [this](std::string_view reason) { note("failure " + std::string(reason)); },
                      .on_tokens = [this](std::uint64_t prompt, std::uint64_t completion) { tokens_ += 1000 * prompt + completion; },
                      .on_review = [this](const model::Review& review) { note(std::string("review ") + model::name(review.verdict)); },
                      .log = [this](LogLevel, std::string_view event, std::string_view) { note(std::string(event)); }},
        ModelEndpoint{.url = url,
                      .model = "judge-1",
                      .rules = *http_client::AddressRules::make({"127.0.0.1"}, true, http_client::AddressRules::Ports::any),
                      .timeout_ms = timeout_ms,
                      .user_agent = "runwarden/test"},
        std::move(settings));
  }

  // A run with a question about it.
  model::Opinion add(const std::string& run_id, bool of_alarm = false, std::optional<double> confidence = 0.6) {
    store::RunWrite write = store::sample_run(kTenant, {clock_.wall_ms(), store_->next_seq()}, run_id);
    write.run.document = kRun;
    model::Opinion opinion;
    opinion.key = {clock_.wall_ms(), store_->next_seq()};
    opinion.id = model::make_candidate_id(opinion.key);
    opinion.run = write.run.key;
    opinion.run_id = run_id;
    opinion.detector_key = "false_success";
    opinion.rule = of_alarm ? "" : "weak_claim";
    opinion.reason = "the claim is weak";
    opinion.primary_step_id = "s1";
    opinion.confidence = confidence;
    opinion.due_ms = clock_.wall_ms();
    if (of_alarm) {
      write.failures = {store::sample_failure({clock_.wall_ms(), store_->next_seq()})};
      opinion.of_alarm = true;
      opinion.failure_id = write.failures.front().id;
    }
    write.opinions = {opinion};
    test::commit(*store_, std::move(write));
    return opinion;
  }
  model::Opinion now(const model::Opinion& opinion) { return store_->opinions().opinions_of_run(kTenant, opinion.run).at(0); }
  Json review_of(const model::Opinion& opinion) { return Json::parse(now(opinion).review); }
  std::vector<std::string> verdicts(const model::Opinion& opinion) {
    std::vector<std::string> found;
    for (const model::Review& review : store_->reviews().reviews_of_run(kTenant, opinion.run)) found.push_back(model::name(review.verdict));
    return found;
  }

  // Time goes on a little at a time, until it is so: twenty times as fast as the real one, so that a lease outlasts a request.
  bool wait_until(const std::function<bool()>& is) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is() && std::chrono::steady_clock::now() < end) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(1));
      clock_.advance_ms(20);
    }
    return is();
  }
  // Lets so much time go on, in which the worker looks for questions many times.
  void pass_ms(std::int64_t ms) {
    wait_until([&, until = clock_.wall_ms() + ms] { return clock_.wall_ms() > until; });
  }
  bool settles(const model::Opinion& opinion, State state) {
    return wait_until([&] { return now(opinion).state == state; });
  }
  void note(const std::string& what) {
    {
      const std::lock_guard lock(mutex_);
      ++noted_[what];
    }
    changed_.notify_all();
  }
  int noted(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return noted_[what];
  }

  test::FakeClock clock_;
  test::TempFolder folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Worker> worker_;
  std::atomic<int> asked_{0};
  std::atomic<std::uint64_t> tokens_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> noted_;
};

TEST_F(WorkerTest, CandidateThatIsConfirmed_BecomesAFailure) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return confirms(); });
  const auto candidate = add("run-1");
  WorkerSettings settings;
  settings.api_key = "secret-key";
  start(endpoint.url("/v1/chat/completions"), settings);
  ASSERT_TRUE(settles(candidate, State::confirmed));
  const auto failure = store_->find_failure(kTenant, now(candidate).failure_id);
  ASSERT_TRUE(failure);
  EXPECT_EQ(Json::parse(failure->json)["confirmedBy"], "model:judge-1");
  EXPECT_EQ(failure->reviewed, model::ReviewVerdict::right);
  EXPECT_EQ(review_of(candidate)["opinion"], "present");
  EXPECT_EQ(review_of(candidate)["tokens"], 750);
  const auto came = endpoint.wait_for("/v1/chat/completions", 1).at(0);
  EXPECT_EQ(came.header("authorization"), "Bearer secret-key");
  EXPECT_EQ(came.header("x-runwarden-run"), "run-1");
  EXPECT_EQ(came.header("x-runwarden-detector"), "false_success");
  EXPECT_EQ(came.header("content-type"), "application/json");
  const Json body = Json::parse(came.body);
  EXPECT_EQ(body["model"], "judge-1");
  EXPECT_EQ(body["response_format"]["type"], "json_schema");
  EXPECT_TRUE(wait_until([&] { return noted("answer present") == 1 && noted("review right") == 1; }));
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(tokens_, 700'050u);
}

TEST_F(WorkerTest, WithoutMayConfirm_TheRunIsReviewedAsMissed) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return confirms(); });
  const auto candidate = add("run-1");
  WorkerSettings settings;
  settings.may_confirm = false;
  start(endpoint.url("/"), settings);
  ASSERT_TRUE(settles(candidate, State::confirmed));
  EXPECT_EQ(now(candidate).failure_id, "");
  EXPECT_THAT(verdicts(candidate), testing::ElementsAre("missed"));
}

TEST_F(WorkerTest, PersonWhoSaysCleanWhileTheModelIsAsked_Outweighs) {
  for (const bool may_confirm : {true, false}) {
    const auto candidate = add(may_confirm ? "run-1" : "run-2");
    WebhookReceiver endpoint([&](const ReceivedMessage&, std::size_t) {
      model::Review clean =
          store::review_of_run({clock_.wall_ms(), store_->next_seq()}, candidate.run, candidate.detector_key, model::ReviewVerdict::clean);
      test::commit(*store_, store::ReviewWrite{kTenant, {clean}, std::nullopt});
      return confirms();
    });
    WorkerSettings settings;
    settings.may_confirm = may_confirm;
    start(endpoint.url("/"), settings);
    ASSERT_TRUE(settles(candidate, State::denied));
    EXPECT_EQ(now(candidate).failure_id, "");
    EXPECT_EQ(review_of(candidate)["opinion"], "present") << "what the model said stays";
    EXPECT_THAT(verdicts(candidate), testing::ElementsAre("clean"));
    EXPECT_THAT(store_->failures(kTenant, {}).items, testing::IsEmpty());
    EXPECT_TRUE(wait_until([&] { return noted("answer present") == (may_confirm ? 1 : 2); }));
    EXPECT_EQ(noted("review right") + noted("review missed"), 0) << "reviews that were not stored are not counted";
  }
}

TEST_F(WorkerTest, CandidateThatIsDenied_LeavesAReviewAndNoFailure) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("absent", "", ""); });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(candidate, State::denied));
  EXPECT_EQ(now(candidate).failure_id, "");
  EXPECT_THAT(verdicts(candidate), testing::ElementsAre("clean"));
}

TEST_F(WorkerTest, UnclearAnswer_LeavesNoReview) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("unclear", "", ""); });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(candidate, State::unclear));
  EXPECT_EQ(review_of(candidate)["opinion"], "unclear");
  EXPECT_TRUE(verdicts(candidate).empty());
}

TEST_F(WorkerTest, QuoteThatIsNotInTheRun_MakesTheAnswerUnclear) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("present", "/steps/0/errorMessage", "the disk is full"); });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(candidate, State::unclear));
  EXPECT_EQ(now(candidate).failure_id, "");
}

TEST_F(WorkerTest, Nonsense_IsAFailedAttemptOfWhichNothingIsKept) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t number) {
    if (number == 0) return WebhookAnswer{200, {}, "<html>SECRET WORDS</html>"};
    return number == 1 ? says("I'd rather tell SECRET WORDS") : says("absent", "", "");
  });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  ASSERT_TRUE(wait_until([&] { return now(candidate).attempts == 2; }));
  EXPECT_EQ(now(candidate).last_error, "unreadable_answer");
  EXPECT_GE(now(candidate).due_ms, clock_.wall_ms()) << "the next attempt waits";
  ASSERT_TRUE(settles(candidate, State::denied));
  EXPECT_EQ(noted("failure unreadable_answer"), 2);
  EXPECT_EQ(now(candidate).last_error, "");
  EXPECT_THAT(model::candidate_json(now(candidate)), testing::Not(testing::HasSubstr("SECRET")));
}

TEST_F(WorkerTest, AnswerThatBreaksOff_IsAskedForAgain) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t number) {
    return number == 0 ? says(R"({"verdict":"present","reason":"the refund was repe)") : says("absent", "", "");
  });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  EXPECT_TRUE(settles(candidate, State::denied));
  EXPECT_EQ(noted("failure unreadable_answer"), 1);
}

TEST_F(WorkerTest, SlowEndpoint_IsATimeout_AndTheNextAttemptComes) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t number) {
    return number == 0 ? std::optional<WebhookAnswer>() : says("absent", "", "");
  });
  const auto candidate = add("run-1");
  start(endpoint.url("/"), {}, 100);
  ASSERT_TRUE(wait_until([&] { return noted("failure timeout") >= 1; }));
  EXPECT_TRUE(settles(candidate, State::denied));
}

TEST_F(WorkerTest, ConnectionThatIsHungUp_IsAFailedAttempt) {
  auto endpoint = std::make_unique<WebhookReceiver>([](const ReceivedMessage&, std::size_t) { return std::optional<WebhookAnswer>(); });
  const auto candidate = add("run-1");
  start(endpoint->url("/"));
  wait_until([&] { return asked_ == 1; });
  endpoint->wait_for("/", 1);
  endpoint.reset();
  ASSERT_TRUE(wait_until([&] { return now(candidate).attempts == 1; }));
  EXPECT_EQ(now(candidate).last_error, "connection_broken");
  EXPECT_EQ(worker_->state().failing, "connection_broken");
}

TEST_F(WorkerTest, RetryAfter_IsHeeded_AndNobodyElseIsAskedMeanwhile) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t number) {
    return number == 0 ? WebhookAnswer{429, "Retry-After: 3600\r\n", {}} : says("absent", "", "");
  });
  const auto candidate = add("run-1");
  WorkerSettings settings;
  settings.max_in_flight = 1;
  start(endpoint.url("/"), settings);
  ASSERT_TRUE(wait_until([&] { return now(candidate).attempts == 1; }));
  EXPECT_EQ(now(candidate).last_error, "rate_limited");
  EXPECT_GT(now(candidate).due_ms, clock_.wall_ms() + 3'500'000);
  const auto other = add("run-2");
  clock_.advance_ms(3'000'000);
  pass_ms(5000);
  EXPECT_EQ(endpoint.wait_for("/", 2, 0).size(), 1U) << "the endpoint asked to be left alone";
  clock_.advance_ms(700'000);
  EXPECT_TRUE(settles(other, State::denied));
  EXPECT_TRUE(settles(candidate, State::denied));
}

TEST_F(WorkerTest, FiveFailedAttempts_AreTheLast) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return WebhookAnswer{500, {}, "SECRET"}; });
  const auto candidate = add("run-1");
  start(endpoint.url("/"));
  for (std::uint32_t attempt = 1; attempt < 5; ++attempt) {
    ASSERT_TRUE(wait_until([&] { return now(candidate).attempts == attempt; })) << attempt;
    clock_.advance_ms(std::max<std::int64_t>(0, now(candidate).due_ms - clock_.wall_ms()) + 400'000);
  }
  ASSERT_TRUE(settles(candidate, State::dead));
  EXPECT_EQ(now(candidate).last_error, "http_500");
  EXPECT_EQ(now(candidate).attempts, 5U);
  EXPECT_EQ(noted("second_opinion_dead"), 1);
  EXPECT_EQ(noted("second_opinion_failing"), 1) << "told once";
  clock_.advance_ms(10'000'000);
  ASSERT_TRUE(wait_until([&] { return worker_->state().queue.dead == 1; }));
  EXPECT_EQ(endpoint.wait_for("/", 6, 0).size(), 5U);
}

// Of many that wait only those that were on their way, and one at a time after them, spend an attempt.
TEST_F(WorkerTest, WhileTheEndpointIsDown_OneAtATimeTriesIt) {
  std::atomic<bool> down{true};
  WebhookReceiver endpoint([&](const ReceivedMessage&, std::size_t) { return down ? WebhookAnswer{503, {}, {}} : says("absent", "", ""); });
  std::vector<model::Opinion> all;
  for (int i = 0; i < 12; ++i) all.push_back(add("run-" + std::to_string(i)));
  WorkerSettings settings;
  settings.max_in_flight = 2;
  start(endpoint.url("/"), settings);
  const auto attempts = [&] {
    std::uint32_t sum = 0;
    for (const auto& one : all) sum += now(one).attempts;
    return sum;
  };
  ASSERT_TRUE(wait_until([&] { return attempts() >= 2; }));
  const std::int64_t begun_ms = clock_.wall_ms();
  ASSERT_TRUE(wait_until([&] { return attempts() >= 6; }));
  EXPECT_GE(clock_.wall_ms() - begun_ms, 1000 + 2000 + 4000) << "pauses of 1, 2, 4, ... seconds between probes";
  EXPECT_EQ(worker_->state().failing, "http_503");
  down = false;
  for (const auto& one : all) EXPECT_TRUE(settles(one, State::denied)) << one.run_id;
  EXPECT_EQ(worker_->state().failing, "");
  EXPECT_EQ(noted("second_opinion_recovered"), 1);
}

TEST_F(WorkerTest, RequestsOfAnHour_AreHeldToTheBudget) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("absent", "", ""); });
  std::vector<model::Opinion> all;
  for (int i = 0; i < 5; ++i) all.push_back(add("run-" + std::to_string(i)));
  WorkerSettings settings;
  settings.budget.requests_per_hour = 2;
  start(endpoint.url("/"), settings);
  ASSERT_EQ(endpoint.wait_for("/", 2).size(), 2U);
  ASSERT_TRUE(wait_until([&] { return noted("answer absent") == 2; }));
  clock_.advance_ms(3'500'000);
  ASSERT_TRUE(wait_until([&] { return noted("second_opinion_budget") == 1; }));
  EXPECT_EQ(endpoint.wait_for("/", 3, 0).size(), 2U);
  clock_.advance_ms(200'000);
  ASSERT_TRUE(wait_until([&] { return noted("answer absent") == 4; }));
  EXPECT_EQ(endpoint.wait_for("/", 5, 0).size(), 4U);
}

TEST_F(WorkerTest, TokensOfADay_AreHeldToTheBudget) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("absent", "", ""); });
  for (int i = 0; i < 4; ++i) add("run-" + std::to_string(i));
  WorkerSettings settings;
  settings.max_in_flight = 1;
  settings.budget.tokens_per_day = 1000;
  start(endpoint.url("/"), settings);
  ASSERT_TRUE(wait_until([&] { return noted("answer absent") == 2; })) << "750 tokens leave room for one more";
  ASSERT_TRUE(wait_until([&] { return noted("second_opinion_budget") == 1; }));
  clock_.advance_ms(86'000'000);
  pass_ms(5000);
  EXPECT_EQ(endpoint.wait_for("/", 3, 0).size(), 2U);
  clock_.advance_ms(1'500'000);
  EXPECT_TRUE(wait_until([&] { return noted("answer absent") == 4; }));
}

TEST_F(WorkerTest, ServerWithoutResponseFormat_IsAskedOnceMoreWithoutIt_AndSoFromThenOn) {
  WebhookReceiver endpoint([](const ReceivedMessage& message, std::size_t) {
    return message.body.find("response_format") == std::string::npos ? says("absent", "", "") : WebhookAnswer{400, {}, {}};
  });
  const auto first = add("run-1");
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(first, State::denied));
  EXPECT_EQ(now(first).attempts, 1U) << "it is one attempt";
  EXPECT_EQ(endpoint.wait_for("/", 2).size(), 2U);
  const auto second = add("run-2");
  ASSERT_TRUE(settles(second, State::denied));
  EXPECT_EQ(endpoint.wait_for("/", 4, 0).size(), 3U);
  EXPECT_EQ(noted("failure http_400"), 0);
}

TEST_F(WorkerTest, AtMostSoManyAreOnTheirWay) {
  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  WebhookReceiver endpoint([&](const ReceivedMessage&, std::size_t) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return released; });
    return says("absent", "", "");
  });
  std::vector<model::Opinion> all;
  for (int i = 0; i < 5; ++i) all.push_back(add("run-" + std::to_string(i)));
  WorkerSettings settings;
  settings.max_in_flight = 2;
  start(endpoint.url("/"), settings);
  ASSERT_TRUE(wait_until([&] { return asked_ == 2; }));
  pass_ms(5000);
  EXPECT_EQ(asked_, 2);
  {
    const std::lock_guard lock(mutex);
    released = true;
  }
  changed.notify_all();
  for (const auto& one : all) EXPECT_TRUE(settles(one, State::denied));
}

TEST_F(WorkerTest, WhatWasOnItsWayWhenItStopped_IsAskedAgainAfterItsLease) {
  WebhookReceiver silent([](const ReceivedMessage&, std::size_t) { return std::optional<WebhookAnswer>(); });
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("absent", "", ""); });
  const auto candidate = add("run-1");
  start(silent.url("/"));
  ASSERT_TRUE(wait_until([&] { return asked_ == 1; }));
  const std::int64_t lease_ms = now(candidate).due_ms - clock_.wall_ms();
  EXPECT_GT(lease_ms, 0);
  EXPECT_LE(lease_ms, 65'000);
  start(endpoint.url("/"));
  clock_.advance_ms(std::max<std::int64_t>(0, lease_ms - 10'000));
  pass_ms(1000);
  EXPECT_TRUE(endpoint.wait_for("/", 1, 0).empty()) << "it is still claimed";
  EXPECT_TRUE(settles(candidate, State::denied));
  EXPECT_EQ(endpoint.wait_for("/", 1).size(), 1U);
}

TEST_F(WorkerTest, DetectorWithoutAPrompt_IsSettledWithoutAsking) {
  WebhookReceiver endpoint;
  store::RunWrite write = store::sample_run(kTenant, {clock_.wall_ms(), store_->next_seq()}, "run-1");
  model::Opinion opinion;
  opinion.key = {clock_.wall_ms(), store_->next_seq()};
  opinion.id = model::make_candidate_id(opinion.key);
  opinion.run = write.run.key;
  opinion.run_id = "run-1";
  opinion.detector_key = "own_detector";
  opinion.due_ms = clock_.wall_ms();
  write.opinions = {opinion};
  test::commit(*store_, std::move(write));
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(opinion, State::dead));
  EXPECT_EQ(now(opinion).last_error, "no_prompt");
  EXPECT_TRUE(endpoint.wait_for("/", 1, 0).empty());
}

TEST_F(WorkerTest, RunThatIsDeletedWhileItIsAskedAbout_IsForgotten) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return confirms(); });
  const auto candidate = add("run-1");
  store::Retention retention;
  retention.runs_before_ms = clock_.wall_ms() + 1;
  retention.failures_before_ms = clock_.wall_ms() + 1;
  store_->expire(retention, 100);
  EXPECT_TRUE(store_->opinions().opinions_of_run(kTenant, candidate.run).empty());
  const auto other = add("run-2");
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(other, State::confirmed));
  EXPECT_EQ(endpoint.wait_for("/", 1).size(), 1U);
}

TEST_F(WorkerTest, AlarmThatIsDenied_IsSilencedOnlyWhereThatIsAllowedAndItsConfidenceIsNotHigh) {
  WebhookReceiver endpoint([](const ReceivedMessage&, std::size_t) { return says("absent", "", ""); });
  const auto kept = add("run-1", true, 0.5);
  start(endpoint.url("/"));
  ASSERT_TRUE(settles(kept, State::denied));
  EXPECT_EQ(store_->find_failure(kTenant, kept.failure_id)->reviewed, model::ReviewVerdict::unsure);
  WorkerSettings settings;
  settings.may_silence = true;
  worker_->change(settings);
  const auto silenced = add("run-2", true, 0.5);
  const auto certain = add("run-3", true, 0.95);
  const auto untold = add("run-4", true, std::nullopt);
  ASSERT_TRUE(settles(silenced, State::denied));
  ASSERT_TRUE(settles(certain, State::denied));
  ASSERT_TRUE(settles(untold, State::denied));
  EXPECT_EQ(store_->find_failure(kTenant, silenced.failure_id)->reviewed, model::ReviewVerdict::false_alarm);
  EXPECT_EQ(store_->find_failure(kTenant, certain.failure_id)->reviewed, model::ReviewVerdict::unsure);
  EXPECT_EQ(store_->find_failure(kTenant, untold.failure_id)->reviewed, model::ReviewVerdict::unsure);
}

}  // namespace
}  // namespace runwarden::opinion
