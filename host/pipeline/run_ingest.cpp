#include "pipeline/run_ingest.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "model/record_ids.h"
#include "pipeline/answers.h"

namespace runwarden::pipeline {
namespace {

IngestAnswer refused(Error error) {
  return {.kind = IngestAnswer::Kind::refused, .run_id = {}, .body = {}, .failures_json = {}, .error = std::move(error)};
}

IngestAnswer replayed(const model::RunRecord& run) {
  return {.kind = IngestAnswer::Kind::replayed,
          .run_id = run.run_id,
          .body = ingest_answer(run),
          .failures_json = run.failures_json,
          .error = {}};
}

Error run_conflict(std::string_view run_id) {
  return {Code::conflict,
          "runId \"" + std::string(run_id) + "\" is stored already, with other content; send the change as a run with a new runId",
          {},
          {}};
}

Error idempotency_conflict() {
  return {Code::conflict, "this Idempotency-Key was used for a request with other content; use a new key for a new request", {}, {}};
}

Error no_room(const std::string& why) {
  return {Code::unavailable, why, {}, {}};
}

}  // namespace

// One request on its way. While it is inside, its names are taken; they are given back when the job goes, however it ends.
struct RunIngest::Job {
  explicit Job(Turnstile& of) : turnstile(of) {}
  ~Job() {
    if (inside) turnstile.leave(names);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Turnstile& turnstile;
  bool inside = false;
  std::vector<std::string> names;
  IngestRequest request;
  Done done;
  model::RecordKey key;
  model::Run run;
  model::Digest content{};
  bool named_by_client = false;
  IngestAnswer answer;  // made before the commit, given after it
};

RunIngest::RunIngest(Steps steps) : steps_(std::move(steps)) {}

void RunIngest::take(std::size_t worker, IngestRequest request, Done done) {
  auto job = std::make_shared<Job>(turnstile_);
  job->key = {steps_.clock.wall_ms(), steps_.store.next_seq()};
  const std::string generated = model::make_run_id(job->key);
  auto run = intake::read_run(request.body, steps_.limits, generated);
  if (!run.ok()) return done(refused(std::move(run.error())));
  job->content = sha256(request.body);
  job->run = std::move(*run);
  job->named_by_client = job->run.id != generated;
  job->request = std::move(request);
  job->request.body = {};
  job->done = std::move(done);
  const std::string tenant = std::to_string(job->request.tenant);
  if (job->named_by_client) job->names.push_back("run " + tenant + " " + std::string(job->run.id));
  if (job->request.idempotency) job->names.push_back("key " + tenant + " " + to_hex(*job->request.idempotency));
  enter(worker, std::move(job));
}

void RunIngest::enter(std::size_t worker, std::shared_ptr<Job> job) {
  if (job->names.empty()) return judge(worker, job);
  const auto again = [this, job] { steps_.pool.post([this, job](std::size_t then) { enter(then, job); }); };
  if (!turnstile_.enter(job->names, again)) return;
  job->inside = true;
  if (auto answer = answered_before(*job)) return job->done(std::move(*answer));
  judge(worker, job);
}

std::optional<IngestAnswer> RunIngest::answered_before(const Job& job) {
  if (job.request.idempotency) {
    if (const auto before = steps_.store.find_replay(job.request.tenant, *job.request.idempotency)) {
      return before->content == job.content ? replayed(before->run) : refused(idempotency_conflict());
    }
  }
  if (job.named_by_client) {
    if (const auto before = steps_.store.find_run(job.request.tenant, job.run.id)) {
      return before->content == job.content ? replayed(*before) : refused(run_conflict(job.run.id));
    }
  }
  return std::nullopt;
}

void RunIngest::judge(std::size_t worker, const std::shared_ptr<Job>& job) {
  const model::Verdict verdict = steps_.detectors()->evaluate(job->run, job->request.tenant_name, worker);
  steps_.on_verdict(verdict);
  store::RunWrite write = make_run_write(std::move(job->run), verdict, job->key, steps_.store);
  write.tenant = job->request.tenant;
  write.run.content = job->content;
  if (job->request.idempotency) write.idempotency = store::Idempotency{*job->request.idempotency, job->content};
  job->answer = {.kind = IngestAnswer::Kind::created,
                 .run_id = write.run.run_id,
                 .body = ingest_answer(write.run),
                 .failures_json = write.run.failures_json,
                 .error = {}};
  store::Write prepared(std::move(write));
  steps_.store.prepare(prepared);
  const bool queued = steps_.queue.submit(std::move(prepared), [job](store::WriteResult result) {
    using Outcome = store::WriteResult::Outcome;
    switch (result.outcome) {
      case Outcome::stored: return job->done(std::move(job->answer));
      case Outcome::replayed: return job->done(replayed(*result.first));
      case Outcome::run_conflict: return job->done(refused(run_conflict(job->answer.run_id)));
      case Outcome::idempotency_conflict: return job->done(refused(idempotency_conflict()));
      case Outcome::unavailable: return job->done(refused(no_room(result.detail)));
    }
  });
  if (!queued) job->done(refused(no_room("the queue to the store is full; nothing was stored, send it again in a moment")));
}

store::RunWrite make_run_write(model::Run run, const model::Verdict& verdict, const model::RecordKey& key, store::Store& store) {
  store::RunWrite write;
  model::RunRecord& record = write.run;
  record.key = key;
  record.run_id = run.id;
  record.resolved_ms = key.time_ms;
  record.failures_json = "[";
  for (const model::Finding& finding : verdict.findings) {
    model::FailureRecord failure;
    failure.key = {key.time_ms, store.next_seq()};
    failure.id = model::make_failure_id(failure.key);
    failure.detector_key = finding.detector_key;
    failure.severity = finding.severity;
    failure.score = finding.suspicion_score;
    failure.fingerprint = finding.fingerprint;
    failure.json = failure_json(finding, failure.id, record.run_id, record.revision, key.time_ms);
    record.failures_json.append(record.failures_json.size() > 1 ? "," : "").append(failure.json);
    record.max_score = std::max(record.max_score, finding.suspicion_score);
    if (std::find(record.fired.begin(), record.fired.end(), finding.detector_key) == record.fired.end()) {
      record.fired.push_back(finding.detector_key);
    }
    write.failures.push_back(std::move(failure));
  }
  std::sort(record.fired.begin(), record.fired.end());
  record.failures_json += ']';
  record.detectors_json = detectors_json(verdict.reports);
  record.policies_json = "[]";
  record.document = std::move(run.document);
  return write;
}

}  // namespace runwarden::pipeline
