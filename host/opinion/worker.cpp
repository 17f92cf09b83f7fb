#include "opinion/worker.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "http_client/retry_schedule.h"
#include "model/cluster.h"
#include "opinion/answer.h"
#include "opinion/outcome.h"
#include "opinion/request.h"
#include "opinion/usage.h"

namespace runwarden::opinion {
namespace {

constexpr std::int64_t kLookMs = 100;         // between polls for due questions
constexpr std::int64_t kStateMs = 1000;       // between counts for the metrics
constexpr std::int64_t kAfterFaultMs = 1000;  // until the store is tried again
constexpr std::int64_t kFirstPauseMs = 1000;
constexpr std::int64_t kLongestPauseMs = 300'000;
constexpr std::uint32_t kTellingFailures = 5;  // in a row: then the endpoint is reported as failing, whatever the reason
const std::vector<std::int64_t> kRetryMs{1'000, 5'000, 30'000, 300'000};

// A question from its claim until its answer is processed.
struct OpinionJob {
  model::TenantId tenant = 0;
  model::Opinion opinion;
  const model::OpinionPrompt* prompt = nullptr;
  std::string failure_json;  // of an alarm
  std::string cluster_id;
  std::vector<model::Review> reviews;
  std::int64_t executed_ms = model::kNotExecuted;
  std::shared_ptr<const model::Run> run;
  AnswerFormat format = AnswerFormat::json_schema;
  std::uint64_t estimated_tokens = 0;
  std::int64_t sent_ns = 0;
};

}  // namespace

class Worker::Work : public std::enable_shared_from_this<Work> {
 public:
  Work(Parts parts, ModelEndpoint endpoint, WorkerSettings settings)
      : parts_(std::move(parts)),
        endpoint_(std::move(endpoint)),
        sender_(endpoint_.rules, endpoint_.timeout_ms),
        random_(std::random_device()()),
        settings_(std::move(settings)) {}

  void start() {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "second-opinion");
      while (!stopping_) turn();
    });
  }
  void stop() {
    stopping_ = true;
    sender_.wake();
    if (thread_.joinable()) thread_.join();
    const MutexLock lock(mutex_);
    closed_ = true;
    answers_.clear();  // they own this object
  }

  void change(WorkerSettings settings) {
    const MutexLock lock(mutex_);
    settings_ = std::move(settings);
  }
  WorkerState state() const {
    const MutexLock lock(mutex_);
    return state_;
  }

 private:
  struct Pause {
    std::int64_t length_ms = 0;  // 0: no pause
    std::int64_t until_ns = 0;
  };

  void turn() {
    try {
      for (http_client::SendResult& result : sender_.work(wait_ms())) ended(std::move(result));
      take_answers();
      submit_writes();
      if (due(counted_ns_, kStateMs)) count();
      if (!claiming_ && due(looked_ns_, kLookMs)) claim();
    } catch (const std::exception& fault) {
      wait_a_moment(std::string("second opinions paused: ") + fault.what());
    }
  }

  std::int64_t now_ns() const { return parts_.clock.monotonic_ns(); }
  std::int64_t now_ms() const { return now_ns() / 1'000'000; }
  std::int64_t wait_ms() const {
    if (now_ns() < quiet_until_ns_) return kLookMs;
    return std::clamp<std::int64_t>((looked_ns_ + kLookMs * 1'000'000 - now_ns()) / 1'000'000, 1, kLookMs);
  }
  bool due(std::int64_t& last_ns, std::int64_t interval_ms) const {
    const std::int64_t now = now_ns();
    if (now < quiet_until_ns_ || (last_ns != 0 && now - last_ns < interval_ms * 1'000'000)) return false;
    last_ns = now;
    return true;
  }
  void wait_a_moment(const std::string& why) {
    parts_.log(LogLevel::warn, "second_opinion_wait", why);
    quiet_until_ns_ = now_ns() + kAfterFaultMs * 1'000'000;
  }
  WorkerSettings settings() const {
    const MutexLock lock(mutex_);
    return settings_;
  }

  // How many more questions may be asked.
  std::size_t places(const WorkerSettings& now) {
    const std::size_t busy = sending_.size() + writes_.size() + writing_;
    std::size_t most = now.max_in_flight;
    if (pause_.length_ms > 0) most = now_ns() < pause_.until_ns ? 0 : 1;
    if (busy >= most) return 0;
    const std::size_t left = budget_.requests_left(now.budget, now_ms());
    if (left == 0 && !std::exchange(budget_told_, true)) {
      parts_.log(LogLevel::info, "second_opinion_budget", "second_opinion.budget is exhausted: further questions wait");
    }
    if (left > 0) budget_told_ = false;
    return std::min(most - busy, left);
  }

  void claim() {
    const WorkerSettings now = settings();
    const std::size_t most = places(now);
    if (most == 0) return;
    claiming_ = true;
    const auto self = shared_from_this();
    parts_.queue.run_between([self, most] {
      auto claimed = std::make_shared<std::vector<store::TenantOpinion>>();
      std::string fault;
      const std::int64_t at_ms = self->parts_.clock.wall_ms();
      try {
        *claimed = self->parts_.opinions.claim_due(at_ms, at_ms + self->endpoint_.timeout_ms + kLeaseBeyondTimeoutMs, most);
      } catch (const store::FatalStoreError&) {
        throw;
      } catch (const store::StoreError& bad) {
        fault = bad.what();
      }
      self->answer([self, claimed, fault, most] { self->were_claimed(*claimed, fault, most); });
    });
  }

  void were_claimed(std::vector<store::TenantOpinion>& claimed, const std::string& fault, std::size_t most) {
    claiming_ = false;
    if (!fault.empty()) return wait_a_moment("taking questions for the second opinion is postponed: " + fault);
    if (claimed.size() == most) looked_ns_ = 0;  // there may be more
    for (store::TenantOpinion& one : claimed) {
      try {
        ask(one.tenant, std::move(one.opinion));
      } catch (const store::StoreError& bad) {
        wait_a_moment(std::string("cannot read a run for its second opinion: ") + bad.what());  // retried after its lease
      }
    }
  }

  void ask(model::TenantId tenant, model::Opinion opinion) {
    OpinionJob job;
    job.tenant = tenant;
    job.prompt = parts_.prompts.find(opinion.detector_key);
    job.opinion = std::move(opinion);
    if (job.prompt == nullptr) return settle_unasked(job, "no_prompt");
    const auto record = parts_.records.run_at(tenant, job.opinion.run);
    if (!record) return settle_unasked(job, "run_deleted");
    if (record->revision != job.opinion.revision) return settle_unasked(job, "run_revised");
    if (job.opinion.of_alarm) {
      const auto failure = parts_.records.find_failure(tenant, job.opinion.failure_id);
      if (!failure) return settle_unasked(job, "record_deleted");
      job.failure_json = failure->json;
      if (!failure->shadow) job.cluster_id = model::cluster_id(model::cluster_key(failure->fingerprint));
    } else if (record->revision > 1) {
      job.reviews = parts_.reviews.reviews_of_run(tenant, job.opinion.run);
    }
    auto run = read_document(record->document, record->run_id);
    if (!run.ok()) return settle_unasked(job, "run_unreadable");
    job.executed_ms = record->executed_ms;
    job.run = std::make_shared<const model::Run>(std::move(*run));
    job.format = format_;
    send(std::move(job));
  }

  void send(OpinionJob job) {
    const WorkerSettings now = settings();
    RequestSettings request_settings;
    request_settings.model = endpoint_.model;
    request_settings.max_input_tokens = now.max_input_tokens;
    request_settings.format = job.format;
    const auto nonce = make_nonce();
    if (!nonce.ok()) throw std::runtime_error(nonce.error().detail);  // retried after its lease
    auto request = make_request({parts_.prompts.frame, *job.prompt, job.opinion, *job.run, focus_of(job.opinion, job.failure_json)},
                                request_settings, *nonce);
    if (!request.ok()) return settle_unasked(job, "no_room_for_prompt");
    job.estimated_tokens = request->input_tokens;
    job.sent_ns = now_ns();
    budget_.asked(job.estimated_tokens, now_ms());
    parts_.on_asked();
    const std::uint64_t number = ++numbers_;
    sender_.post(number, to_send_request(endpoint_, now.api_key, job.opinion, std::move(request->body)));
    sending_.emplace(number, std::move(job));
  }

  void ended(http_client::SendResult result) {
    const auto found = sending_.find(result.id);
    OpinionJob job = std::move(found->second);
    sending_.erase(found);
    looked_ns_ = 0;  // a slot is free
    const Usage used = result.status / 100 == 2 ? read_usage(result.body) : Usage{};
    // An answer without token usage counts as estimated; a refused request counts as none.
    const std::uint64_t unsaid = result.status == 0 || result.status / 100 == 2 ? job.estimated_tokens : 0;
    budget_.ended(job.estimated_tokens, used.all() > 0 ? used.all() : unsaid, now_ms());
    if (used.all() > 0) parts_.on_tokens(used.prompt, used.completion);
    if (job.format == AnswerFormat::json_schema && refuses_format(result)) {
      job.format = AnswerFormat::none;
      if (now_ns() - job.sent_ns < kLeaseBeyondTimeoutMs / 2 * 1'000'000) return send(std::move(job));
      format_ = AnswerFormat::none;  // the lease may end before another answer, so this applies from the next question on
    }
    if (!result.error.empty()) return failed(std::move(job), fault_of(result), result.retry_after);
    auto answer = read_answer(result.body);
    if (!answer.ok()) return failed(std::move(job), {"unreadable_answer", false}, {});
    format_ = job.format;  // the format that this endpoint accepts
    recovered();
    answered(std::move(job), std::move(*answer));
  }

  void answered(OpinionJob job, ParsedAnswer answer) {
    const WorkerSettings now = settings();
    const std::int64_t elapsed_ms = (now_ns() - job.sent_ns) / 1'000'000;
    const std::int64_t at_ms = parts_.clock.wall_ms();
    ParsedAnswer checked = with_checked_quotes(std::move(answer), *job.run);
    if (parts_.redact) parts_.redact(checked.reason);
    const char* const verdict = name(checked.verdict);
    const OutcomeKeys keys{{at_ms, parts_.records.next_seq()}, parts_.records.next_seq()};
    AnsweredOpinion all{job.tenant,
                        std::move(job.opinion),
                        *job.prompt,
                        model::prompt_version(parts_.prompts.frame, *job.prompt),
                        std::move(checked),
                        elapsed_ms,
                        job.executed_ms,
                        std::move(job.cluster_id),
                        std::move(job.reviews)};
    writes_.push_back({outcome_of(std::move(all), *job.run, {endpoint_.model, now.may_confirm, now.may_silence}, keys), verdict});
  }

  void failed(OpinionJob job, const EndpointFault& fault, const std::string& retry_after) {
    const std::int64_t wall_ms = parts_.clock.wall_ms();
    const auto retry_after_ms = http_client::read_retry_after(retry_after, wall_ms);
    parts_.on_failure(fault.reason);
    note_failure(fault, retry_after_ms.value_or(0));
    model::Opinion& opinion = job.opinion;
    opinion.attempts += 1;
    opinion.last_error = fault.reason;
    const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
    const auto next_ms = http_client::next_attempt_ms(kRetryMs, opinion.attempts, chance, retry_after_ms, wall_ms);
    opinion.due_ms = next_ms.value_or(0);
    if (!next_ms) give_up(opinion);
    writes_.push_back({{job.tenant, std::move(opinion), std::nullopt, {}}, {}});
  }

  // The model was not asked and will not be.
  void settle_unasked(OpinionJob& job, const char* why) {
    job.opinion.last_error = why;
    job.opinion.due_ms = 0;
    job.opinion.state = model::OpinionState::dead;
    writes_.push_back({{job.tenant, std::move(job.opinion), std::nullopt, {}}, {}});
  }

  void give_up(model::Opinion& opinion) {
    opinion.state = model::OpinionState::dead;
    parts_.log(LogLevel::warn, "second_opinion_dead",
               "the question " + opinion.id + " about a run was given up after " + std::to_string(opinion.attempts) + " attempts (" +
                   opinion.last_error + "); it will not be retried");
  }

  void note_failure(const EndpointFault& fault, std::int64_t retry_after_ms) {
    ++failures_;
    if (fault.of_all) lengthen_pause(retry_after_ms);
    if (pause_.length_ms == 0 && failures_ < kTellingFailures) return;
    std::string was;
    {
      const MutexLock lock(mutex_);
      was = std::exchange(state_.failing, fault.reason);
    }
    if (was.empty()) {
      parts_.log(LogLevel::warn, "second_opinion_failing",
                 "the endpoint at second_opinion.url does not answer correctly (" + fault.reason + "); questions wait until it does");
    }
  }

  // Requests that were in flight when the pause began do not lengthen it.
  void lengthen_pause(std::int64_t retry_after_ms) {
    const std::int64_t now = now_ns();
    if (pause_.length_ms == 0 || now >= pause_.until_ns) {
      pause_.length_ms = pause_.length_ms == 0 ? kFirstPauseMs : std::min(pause_.length_ms * 2, kLongestPauseMs);
      pause_.until_ns = now + pause_.length_ms * 1'000'000;
    }
    pause_.until_ns = std::max(pause_.until_ns, now + retry_after_ms * 1'000'000);
  }

  void recovered() {
    failures_ = 0;
    pause_ = {};
    std::string was;
    {
      const MutexLock lock(mutex_);
      was = std::exchange(state_.failing, {});
    }
    if (!was.empty()) parts_.log(LogLevel::info, "second_opinion_recovered", "the endpoint at second_opinion.url answers again");
  }

  struct Settled {
    store::OpinionWrite write;
    std::string verdict;  // empty: no answer
  };

  // Writes wait if the store is full. After the lease ends, another answer may be stored first.
  void submit_writes() {
    if (writes_.empty() || now_ns() < quiet_until_ns_) return;
    const auto self = shared_from_this();
    for (Settled& one : std::exchange(writes_, {})) {
      const auto settled = std::make_shared<Settled>(std::move(one));
      const bool taken = parts_.queue.submit(settled->write, [self, settled](const store::WriteResult& result) {
        self->answer([self, settled, result] { self->was_written(*settled, result); });
      });
      taken ? void(++writing_) : write_later(*settled);
    }
  }

  void write_later(Settled& settled) {
    writes_.push_back(std::move(settled));
    wait_a_moment("storing the outcome of questions is postponed: the store is full or unavailable");
  }

  void was_written(Settled& settled, const store::WriteResult& result) {
    using Outcome = store::WriteResult::Outcome;
    --writing_;
    looked_ns_ = 0;
    if (result.outcome == Outcome::unavailable || result.outcome == Outcome::away) return write_later(settled);
    if (result.outcome != Outcome::stored || result.not_there || settled.verdict.empty()) return;
    parts_.on_answer(settled.verdict);
    if (result.overruled) return;
    for (const model::Review& review : settled.write.reviews) parts_.on_review(review);
  }

  // Called on the writer's thread; the worker runs `done` in its next turn.
  void answer(std::function<void()> done) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return;
      answers_.push_back(std::move(done));
    }
    sender_.wake();
  }

  void take_answers() {
    std::vector<std::function<void()>> answers;
    {
      const MutexLock lock(mutex_);
      std::swap(answers, answers_);
    }
    for (const auto& one : answers) one();
  }

  void count() {
    const store::OpinionQueue queue = parts_.opinions.opinion_queue();
    const std::int64_t wall_ms = parts_.clock.wall_ms();
    const MutexLock lock(mutex_);
    state_.queue = queue;
    state_.oldest_ms = queue.oldest_ms ? std::max<std::int64_t>(0, wall_ms - *queue.oldest_ms) : 0;
  }

  const Parts parts_;
  const ModelEndpoint endpoint_;
  http_client::HttpSender sender_;
  std::mt19937_64 random_;
  std::atomic<bool> stopping_{false};

  // Used on the worker's thread only:
  std::map<std::uint64_t, OpinionJob> sending_;  // by request number
  std::vector<Settled> writes_;             // to be submitted
  std::size_t writing_ = 0;                 // submitted and not yet settled
  AnswerFormat format_ = AnswerFormat::json_schema;
  Budget budget_;
  Pause pause_;
  std::uint32_t failures_ = 0;  // in a row
  bool budget_told_ = false;
  bool claiming_ = false;
  std::uint64_t numbers_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t counted_ns_ = 0;
  std::int64_t quiet_until_ns_ = 0;

  mutable Mutex mutex_;
  std::vector<std::function<void()>> answers_ RW_GUARDED_BY(mutex_);
  WorkerSettings settings_ RW_GUARDED_BY(mutex_);
  WorkerState state_ RW_GUARDED_BY(mutex_);
  bool closed_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

Worker::Worker(Parts parts, ModelEndpoint endpoint, WorkerSettings settings)
    : work_(std::make_shared<Work>(std::move(parts), std::move(endpoint), std::move(settings))) {
  work_->start();
}
Worker::~Worker() {
  stop();
}
void Worker::stop() {
  work_->stop();
}
void Worker::change(WorkerSettings settings) {
  work_->change(std::move(settings));
}
WorkerState Worker::state() const {
  return work_->state();
}

}  // namespace runwarden::opinion
