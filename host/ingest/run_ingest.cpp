#include "ingest/run_ingest.h"

#include <utility>

#include "base/digest.h"
#include "ingest/answers.h"
#include "ingest/faults.h"
#include "ingest/keyed_lock.h"
#include "ingest/missing_steps.h"
#include "intake/event_reader.h"
#include "model/record_ids.h"

namespace runwarden::ingest {
namespace {

IngestAnswer replayed(const model::RunRecord& run) {
  return run_answer(IngestAnswer::Kind::replayed, run);
}

}  // namespace

// One request in progress. Holds the keys of its runId and Idempotency-Key until it answers or is destroyed.
struct RunIngest::Job {
  explicit Job(KeyedQueue& queue) : lock(queue) {}

  KeyedLock lock;
  IngestRequest request;
  IngestDone done;
  RunMetadata metadata;
  RedactedRun run;
  model::Digest content{};
  std::optional<model::Digest> document_digest;  // set if the document is stored exactly as sent: then it equals the content's digest
  bool named_by_client = false;
  std::optional<store::Claim> claim;               // the open run that this one ends
  std::optional<store::AnswerWrite> unremembered;  // the run was known by its runId, but not by this Idempotency-Key
  IngestAnswer answer;                             // built before the commit, sent after it
  std::vector<Warning> warnings;

  // Called once. Releases the keys so that waiting requests continue even if the job is still referenced.
  void tell(IngestAnswer outcome) {
    if (outcome.kind != IngestAnswer::Kind::refused) outcome.warnings = std::move(warnings);
    done(std::move(outcome));
    lock.release();
  }
  void tell_failed() {
    tell(refused({Code::internal, "the run could not be processed; retry it, and contact the operator if the problem persists", {}, {}}));
  }
};

RunIngest::RunIngest(const Parts& parts) : parts_(parts) {}

void RunIngest::take(std::size_t worker, IngestRequest request, IngestDone done) {
  const PendingRun pending = read(std::move(request), std::move(done));
  if (pending && enqueue(pending)) resume(worker, pending);
}

RunIngest::PendingRun RunIngest::read(IngestRequest request, IngestDone done) {
  auto job = std::make_shared<Job>(parts_.keyed_queue);
  job->metadata.now_ms = parts_.clock.wall_ms();
  job->metadata.key = {job->metadata.now_ms, parts_.store.next_seq()};
  const std::string generated = model::make_run_id(job->metadata.key);
  auto run = intake::read_run(request.body, {.max_json_depth = request.max_json_depth}, generated, &job->warnings);
  if (!run.ok()) {
    done(refused(parts_.redaction.error(std::move(run.error()), request.body)));
    return nullptr;
  }
  auto redacted = parts_.redaction.run(std::move(*run));
  if (!redacted.ok()) {
    done(refused(std::move(redacted.error())));
    return nullptr;
  }
  job->content = sha256(request.body);  // as sent, so that a retry is recognized although its secrets are not stored
  job->metadata.content = job->content;
  if (redacted->document() == request.body) job->document_digest = job->content;
  job->run = std::move(*redacted);
  job->named_by_client = job->run.seen.id != generated;
  job->request = std::move(request);
  job->request.body = {};
  job->done = std::move(done);
  job->metadata.tenant = job->request.tenant;
  job->metadata.tenant_name = job->request.tenant_name;
  if (job->named_by_client) job->lock.add(run_key(job->request.tenant, job->run.seen.id));
  if (job->request.idempotency) job->lock.add(idempotency_key(job->request.tenant, to_hex(*job->request.idempotency)));
  return job;
}

bool RunIngest::enqueue(const PendingRun& job) {
  const auto wake = [this, job](std::size_t worker) { in_own_task(job, [&] { resume(worker, job); }); };
  return job->lock.acquire([this, wake] { parts_.pool.post(wake); });
}

// Runs a task that has no caller: reports exceptions to the client itself.
void RunIngest::in_own_task(const PendingRun& job, const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    job->tell_failed();
    throw;
  }
}

bool RunIngest::resume(std::size_t worker, const PendingRun& job) {
  return unless_away(job, [&] { return look_up(worker, job); });
}

// Nothing was written yet, so a store that cannot be reached is the client's answer. Every caller of the steps gets it the same way.
bool RunIngest::unless_away(const PendingRun& job, const std::function<bool()>& work) {
  try {
    return work();
  } catch (const store::StoreAway& away) {
    job->tell(refused(store_away(away)));
    return true;
  }
}

bool RunIngest::look_up(std::size_t worker, const PendingRun& job) {
  store::LookUp asked;
  asked.tenant = job->request.tenant;
  if (job->named_by_client) asked.run_id = std::string(job->run.seen.id);
  asked.identity = job->request.idempotency;
  asked.at_ms = executed_ms(job->run.seen, job->metadata);
  auto known = parts_.store.look_up(asked, [this, job](store::LookedUp later) {
    const auto shared = std::make_shared<store::LookedUp>(std::move(later));
    parts_.pool.post([this, job, shared](std::size_t other) {
      in_own_task(job, [&] { unless_away(job, [&] { return proceed(other, job, std::move(*shared)); }); });
    });
  });
  return !known || proceed(worker, job, std::move(*known));
}

bool RunIngest::proceed(std::size_t worker, const PendingRun& job, store::LookedUp known) {
  if (known.fault) std::rethrow_exception(known.fault);
  job->metadata.policies = std::make_shared<const std::vector<model::PolicyInForce>>(std::move(known.policies));
  auto answer = answered_before(*job, known);
  if (!answer) return judge(worker, job);
  if (!job->unremembered) {
    job->tell(std::move(*answer));
  } else {
    job->answer = std::move(*answer);
    remember(job);
  }
  return true;
}

std::optional<IngestAnswer> RunIngest::answered_before(Job& job, const store::LookedUp& known) {
  if (job.request.idempotency && known.has_identity) {
    if (const auto before = parts_.store.find_replay(job.request.tenant, *job.request.idempotency)) {
      return before->content == job.content ? replayed(before->run) : refused(idempotency_conflict());
    }
  }
  if (job.named_by_client && known.has_run) {
    if (const auto before = parts_.store.find_run(job.request.tenant, job.run.seen.id)) {
      if (const auto same = revision_of(job, *before)) {
        if (job.request.idempotency)
          job.unremembered = store::AnswerWrite{job.request.tenant, {*job.request.idempotency, job.content}, same->key, same->revision};
        return replayed(*same);
      }
      return before->state == model::RunState::open && before->source == model::RunSource::client
                 ? end_open_run(job, *before)
                 : refused(run_conflict(job.run.seen.id, before->source));
    }
  }
  return std::nullopt;
}

// The revision that was sent whole with exactly this content; events may have opened later ones.
std::optional<model::RunRecord> RunIngest::revision_of(const Job& job, const model::RunRecord& current) const {
  const auto same = [&](const model::RunRecord& run) {
    return run.state == model::RunState::resolved && run.resolution == model::Resolution::whole && run.content == job.content;
  };
  if (same(current)) return current;
  for (std::uint32_t revision = current.revision - 1; revision > 0; --revision) {
    auto previous = parts_.store.find_revision(job.request.tenant, current.run_id, revision);
    if (previous && same(*previous)) return previous;
  }
  return std::nullopt;
}

// A whole run for a runId that is open from events wins if it has every step from the events; then it ends the open run.
std::optional<IngestAnswer> RunIngest::end_open_run(Job& job, const model::RunRecord& open) {
  const auto events = parts_.store.events(job.request.tenant, open.key);
  const std::size_t missing = steps_missing(intake::steps_of_events(events), job.run.document());
  if (missing > 0) {
    return refused({Code::conflict,
                    "runId \"" + open.run_id + "\" is open from events, and " + std::to_string(missing) +
                        (missing == 1 ? " of its steps is" : " of its steps are") +
                        " not in this run; send the missing steps, or resolve the run with \"final\": true on /v1/ingest/events",
                    {},
                    {}});
  }
  job.claim = parts_.buffer.claim_run(job.request.tenant, open.key, model::Resolution::whole, kLeaseMs);
  if (!job.claim)
    return refused(
        {Code::conflict, "runId \"" + open.run_id + "\" is being resolved from its events right now; read it and try again", {}, {}});
  job.metadata.key = job.claim->run;
  job.metadata.revision = job.claim->revision;
  job.metadata.policies = nullptr;  // the receipt changes to that of the first event
  return std::nullopt;
}

// Has the store remember the answer under the request's Idempotency-Key, then gives it.
void RunIngest::remember(const std::shared_ptr<Job>& job) {
  const bool queued = parts_.queue.submit(
      *job->unremembered,
      [job](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        switch (result.outcome) {
          case Outcome::stored: return job->tell(std::move(job->answer));
          case Outcome::replayed: return job->tell(replayed(*result.first));
          default: return job->tell(not_stored(std::move(result)));
        }
      },
      job->request.permit);
  if (!queued) job->tell(refused(not_queued(parts_.queue)));
}

bool RunIngest::judge(std::size_t worker, const std::shared_ptr<Job>& job) {
  const auto commit_it = [this, job](std::size_t, store::RunWrite write) { commit(job, std::move(write)); };
  return parts_.judge.judge(std::move(job->run), job->metadata, worker, {commit_it, [job] { job->tell_failed(); }});
}

void RunIngest::commit(const std::shared_ptr<Job>& job, store::RunWrite write) {
  write.run.content = job->content;
  write.document_digest = job->document_digest;
  if (job->request.idempotency) write.idempotency = store::Idempotency{*job->request.idempotency, job->content};
  write.claim = job->claim;
  job->answer = run_answer(IngestAnswer::Kind::created, write.run);
  const bool queued = parts_.queue.submit(
      std::move(write),
      [this, job](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        switch (result.outcome) {
          case Outcome::stored: return job->tell(std::move(job->answer));
          case Outcome::replayed: return job->tell(replayed(*result.first));
          case Outcome::run_conflict:
            return job->tell(refused(run_conflict(job->answer.run_id, result.first ? result.first->source : model::RunSource::client)));
          default:
            if (job->claim) parts_.buffer.release(*job->claim);
            return job->tell(not_stored(std::move(result)));
        }
      },
      job->request.permit);
  if (queued) return;
  if (job->claim) parts_.buffer.release(*job->claim);
  job->tell(refused(not_queued(parts_.queue)));
}

}  // namespace runwarden::ingest
