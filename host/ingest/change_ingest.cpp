#include "ingest/change_ingest.h"

#include <optional>
#include <utility>

#include "base/canonical_json.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "ingest/answers.h"
#include "ingest/faults.h"
#include "ingest/keyed_lock.h"
#include "intake/change_reader.h"
#include "model/record_ids.h"

namespace runwarden::ingest {
namespace {

IngestAnswer answer_of(IngestAnswer::Kind kind, std::string body) {
  IngestAnswer answer;
  answer.kind = kind;
  answer.body = std::move(body);
  return answer;
}

Error policy_conflict(const model::PolicyRecord& policy) {
  return {Code::conflict,
          "revision \"" + policy.revision + "\" of policy \"" + policy.policy +
              "\" is already stored with different content; send it as a new revision",
          {},
          {}};
}

bool same_content(const model::PolicyRecord& a, const model::PolicyRecord& b) {
  const auto content_of = [](const model::PolicyRecord& policy) {
    return canonical_json(json_member_view(policy.document, "content").value_or("null"));
  };
  return content_of(a) == content_of(b);
}

}  // namespace

struct ChangeIngest::Job {
  explicit Job(KeyedQueue& queue) : lock(queue) {}

  KeyedLock lock;
  IngestRequest request;
  IngestDone done;
  model::Digest content{};
  std::optional<store::Write> write;
  std::vector<Warning> warnings;

  void tell(IngestAnswer what_came_of_it) {
    if (what_came_of_it.kind != IngestAnswer::Kind::refused) what_came_of_it.warnings = std::move(warnings);
    done(std::move(what_came_of_it));
  }

  std::optional<store::Idempotency> idempotency() const {
    if (!request.idempotency) return std::nullopt;
    return store::Idempotency{*request.idempotency, content};
  }
};

ChangeIngest::ChangeIngest(const Parts& parts) : parts_(parts) {}

std::shared_ptr<ChangeIngest::Job> ChangeIngest::job_of(IngestRequest request, IngestDone done) {
  auto job = std::make_shared<Job>(parts_.keyed_queue);
  job->content = sha256(request.body);
  job->request = std::move(request);
  job->done = std::move(done);
  if (job->request.idempotency) job->lock.add(idempotency_key(job->request.tenant, to_hex(*job->request.idempotency)));
  return job;
}

void ChangeIngest::take_change(IngestRequest request, IngestDone done) {
  std::vector<Warning> warnings;
  auto read = intake::read_change(request.body, request.max_json_depth, &warnings);
  if (!read.ok()) return done(refused(parts_.redaction.error(std::move(read.error()), request.body)));
  parts_.redaction.change(*read);
  auto job = job_of(std::move(request), std::move(done));
  job->warnings = std::move(warnings);
  store::ChangeWrite write;
  write.tenant = job->request.tenant;
  write.idempotency = job->idempotency();
  write.change.received_ms = parts_.clock.wall_ms();
  write.change.key = {read->at_ms.value_or(write.change.received_ms), parts_.store.next_seq()};
  write.change.id = model::make_change_id(write.change.key);
  write.change.kind = std::move(read->kind);
  write.change.document = std::move(read->document);
  job->write = std::move(write);
  enter(job);
}

void ChangeIngest::take_policy(IngestRequest request, IngestDone done) {
  std::vector<Warning> warnings;
  auto read = intake::read_policy(request.body, request.max_json_depth, &warnings);
  if (!read.ok()) return done(refused(parts_.redaction.error(std::move(read.error()), request.body)));
  parts_.redaction.policy(*read);
  auto job = job_of(std::move(request), std::move(done));
  job->warnings = std::move(warnings);
  store::PolicyWrite write;
  write.tenant = job->request.tenant;
  write.idempotency = job->idempotency();
  model::PolicyRecord& policy = write.policy;
  policy.received_ms = parts_.clock.wall_ms();
  policy.key = {read->at_ms.value_or(policy.received_ms), parts_.store.next_seq()};
  policy.id = model::make_policy_revision_id(policy.key);
  policy.policy = std::move(read->policy);
  policy.revision = read->revision.value_or("");
  policy.author = read->author.value_or(job->request.key_name);
  policy.content = sha256(read->content);
  policy.document = std::move(read->document);
  job->write = std::move(write);
  enter(job);
}

void ChangeIngest::enter(const std::shared_ptr<Job>& job) {
  const auto again = [this, job] { parts_.pool.post([this, job](std::size_t) { enter(job); }); };
  if (!job->lock.acquire(again)) return;
  if (job->request.idempotency) {
    const auto before = parts_.store.find_replay(job->request.tenant, *job->request.idempotency);
    if (before && before->content != job->content) return job->tell(refused(idempotency_conflict()));
    if (before && before->policy) return job->tell(answer_of(IngestAnswer::Kind::replayed, policy_json(*before->policy)));
    if (before && before->change) return job->tell(answer_of(IngestAnswer::Kind::replayed, change_json(*before->change)));
  }
  submit(job);
}

void ChangeIngest::submit(const std::shared_ptr<Job>& job) {
  const bool of_policy = std::holds_alternative<store::PolicyWrite>(*job->write);
  std::string created = of_policy ? std::string() : change_json(std::get<store::ChangeWrite>(*job->write).change);
  const bool queued = parts_.queue.submit(
      *job->write,
      [this, job, created = std::move(created)](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        const auto kind = result.outcome == Outcome::stored ? IngestAnswer::Kind::created : IngestAnswer::Kind::replayed;
        switch (result.outcome) {
          case Outcome::stored:
          case Outcome::replayed:
            if (result.policy) return job->tell(answer_of(kind, policy_json(*result.policy)));
            return job->tell(answer_of(kind, result.change ? change_json(*result.change) : created));
          case Outcome::run_conflict:
            // Large contents take time to compare, so not on the writer's thread.
            return parts_.pool.post([this, job, known = std::move(*result.policy)](std::size_t) { answer_conflict(job, known); });
          default: return job->tell(not_stored(std::move(result)));
        }
      },
      job->request.permit);
  if (!queued) job->tell(refused(not_queued(parts_.queue)));
}

// The store compares contents as sent. Equal ones that are written differently are submitted again, as those that it has.
void ChangeIngest::answer_conflict(const std::shared_ptr<Job>& job, const model::PolicyRecord& known) {
  model::PolicyRecord& policy = std::get<store::PolicyWrite>(*job->write).policy;
  if (policy.content == known.content || !same_content(policy, known)) return job->tell(refused(policy_conflict(known)));
  policy.content = known.content;
  submit(job);
}

}  // namespace runwarden::ingest
