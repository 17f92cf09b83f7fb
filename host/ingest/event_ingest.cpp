#include "ingest/event_ingest.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "ingest/answers.h"
#include "ingest/faults.h"
#include "ingest/keyed_lock.h"
#include "ingest/stored_run.h"

namespace runwarden::ingest {
namespace {

constexpr std::uint64_t kSmallAnswerBytes = 64 * 1024;  // larger ones count as reads
constexpr std::int64_t kLongestWaitMs = kLeaseMs + 1'000;  // for another host
constexpr int kOpenRunsRetryS = 5;                      // clients or buffer.idle_timeout end runs all the time

// Without an eventId or an Idempotency-Key, a retry cannot be distinguished from new events.
void warn_of_missing_ids(const intake::EventsRequest& request, std::vector<Warning>& warnings) {
  const auto has_none = [](const intake::Event& event) { return event.event_id.empty(); };
  const auto first = std::find_if(request.events.begin(), request.events.end(), has_none);
  if (first == request.events.end()) return;
  const auto count = std::count_if(first, request.events.end(), has_none);
  warnings.push_back(
      {"/events/" + std::to_string(first - request.events.begin()) + "/eventId",
       "is missing, in " + std::to_string(count) + " of " + std::to_string(request.events.size()) +
           " events: if sent again, these would be stored twice; give each event an eventId, or the request an Idempotency-Key"});
}

// Identifies a run_finished besides its eventId: its other members, in any order.
std::string content_id(std::string_view event_json) {
  auto members = cut_json_members(event_json);
  std::erase_if(members, [](const JsonMember& member) { return member.name == "eventId"; });
  std::sort(members.begin(), members.end(), [](const JsonMember& a, const JsonMember& b) { return a.name < b.name; });
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  for (const auto& [name, json] : members) out.key(name).raw(json);
  out.end_object();
  return "run_finished by content: " + to_hex(sha256(text));
}

// RunRecord::end_mark.
std::uint64_t mark_of(const std::string& content_id) {
  const model::Digest digest = sha256(content_id);
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < sizeof mark; ++i) mark = mark << 8 | digest[i];
  return std::max<std::uint64_t>(mark, 1);
}

// The run's events when the request was stored, including those of previous revisions.
std::uint32_t total_of(const store::Buffered& buffered) {
  return buffered.buffer.previous + buffered.buffer.events;
}

// Whether none of the request's new events is among the run's first `upto`.
bool is_beyond(const store::Buffered& buffered, std::uint32_t upto) {
  return buffered.accepted > 0 && total_of(buffered) - buffered.accepted >= upto;
}

// How the request left the run, given that the revision ended with the run's first `upto` events and those of the request opened the next.
store::Buffered beyond(store::Buffered buffered, std::uint32_t revision, std::uint32_t upto) {
  buffered.buffer.events = total_of(buffered) - upto;
  buffered.buffer.previous = upto;
  buffered.buffer.first_ms = buffered.buffer.last_ms;
  buffered.revision = revision + 1;
  buffered.reopened = true;
  buffered.ends.reset();
  return buffered;
}

}  // namespace

struct EventIngest::Job {
  explicit Job(KeyedQueue& queue) : lock(queue) {}

  KeyedLock lock;
  IngestRequest request;
  IngestDone done;
  intake::EventsRequest events;
  bool final = false;  // the run ends with these events
  model::Digest content{};
  IngestAnswer::Kind kind = IngestAnswer::Kind::created;  // of the answer; replayed if the request was answered before
  std::vector<Warning> warnings;
  std::int64_t looks_until_ns = 0;  // for the result of another host; 0: it has not looked yet

  // Called once. Releases the keys so that waiting requests continue even if the job is still referenced.
  void tell(IngestAnswer what_came_of_it) {
    if (what_came_of_it.kind != IngestAnswer::Kind::refused) what_came_of_it.warnings = std::move(warnings);
    done(std::move(what_came_of_it));
    lock.release();
  }
};

EventIngest::EventIngest(const Parts& parts) : parts_(parts) {}

void EventIngest::take(std::size_t worker, IngestRequest request, IngestDone done) {
  intake::EventLimits limits = parts_.limits;
  limits.max_json_depth = request.max_json_depth;
  auto job = std::make_shared<Job>(parts_.keyed_queue);
  auto events = intake::read_events(request.body, limits, &job->warnings);
  if (!events.ok()) return done(refused(parts_.redaction.error(std::move(events.error()), request.body)));
  if (!request.idempotency) warn_of_missing_ids(*events, job->warnings);
  job->content = sha256(request.body);
  job->events = std::move(*events);
  job->final = job->events.final ||
               std::any_of(job->events.events.begin(), job->events.events.end(), [](const intake::Event& event) { return event.finishes; });
  parts_.redaction.events(job->events);
  job->request = std::move(request);
  job->request.body = {};
  job->done = std::move(done);
  job->lock.add(run_key(job->request.tenant, job->events.run_id));
  if (job->request.idempotency) job->lock.add(idempotency_key(job->request.tenant, to_hex(*job->request.idempotency)));
  enter(worker, std::move(job));
}

void EventIngest::enter(std::size_t worker, std::shared_ptr<Job> job) {
  const auto again = [this, job] { parts_.pool.post([this, job](std::size_t then) { enter(then, job); }); };
  if (!job->lock.acquire(again)) return;
  std::optional<IngestAnswer> answer;
  try {
    answer = answered_before(job, worker);
  } catch (const store::StoreAway& away) {
    answer = refused(store_away(away));
  }
  if (answer) return job->tell(std::move(*answer));
  if (job->kind == IngestAnswer::Kind::created) buffer(job);
}

// The answer to a request that was answered before. If the replayed run has not been ended yet (the process died in between), it is ended
// here and answered from there; the job's kind then says so.
std::optional<IngestAnswer> EventIngest::answered_before(const std::shared_ptr<Job>& job, std::size_t worker) {
  if (job->request.idempotency) {
    const auto before = parts_.store.find_replay(job->request.tenant, *job->request.idempotency);
    if (before && before->content != job->content) return refused(idempotency_conflict());
    if (before) {
      job->kind = IngestAnswer::Kind::replayed;
      if (before->buffered && before->buffered->ends) {
        if (!is_to_end(*job, *before->buffered, before->run)) return as_ended(*job, *before->buffered);
        end(worker, job, *before->buffered);
        return std::nullopt;
      }
      if (before->buffered && !before->buffered->unchanged) return open_answer(*job, *before->buffered);
      return as_it_stands(*job, before->buffered ? std::optional(before->buffered->revision) : std::nullopt);
    }
  }
  // Final events leave no run open, and a run that is open may go on. One that is resolved counts like a new one: new events open it.
  if (job->final || parts_.buffer.open_count() < parts_.max_open_runs) return std::nullopt;
  const auto head = parts_.store.run_head(job->request.tenant, job->events.run_id, std::nullopt);
  if (head && head->state == model::RunState::open) return std::nullopt;
  Error full = too_many_open_runs(parts_.max_open_runs, kOpenRunsRetryS);
  full.detail += "; a request with \"final\": true needs no room";
  return refused(std::move(full));
}

void EventIngest::buffer(const std::shared_ptr<Job>& job) {
  store::EventsWrite write;
  write.tenant = job->request.tenant;
  write.key = {parts_.clock.wall_ms(), parts_.store.next_seq()};
  write.run_id = job->events.run_id;
  write.final = job->events.final;
  for (intake::Event& event : job->events.events) {
    model::EventOutline outline = intake::outline_of(event);  // of the event after redaction
    std::string content = event.finishes ? content_id(event.json) : std::string();
    const std::uint64_t end_mark = event.finishes ? mark_of(content) : 0;
    const bool known_by_content = event.finishes && event.event_id.empty();
    std::string id = known_by_content ? std::move(content) : std::move(event.event_id);
    write.events.push_back({std::move(id), std::move(event.json), known_by_content, std::move(outline), end_mark});
  }
  write.max_events = parts_.max_events;
  if (job->request.idempotency) write.idempotency = store::Idempotency{*job->request.idempotency, job->content};
  const bool queued = parts_.queue.submit(
      std::move(write),
      [this, job](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        switch (result.outcome) {
          case Outcome::stored:
          case Outcome::replayed: return answer(job, *result.buffered);
          case Outcome::run_conflict:  // the run has another source
            return job->tell(refused(run_conflict(job->events.run_id, model::RunSource::otlp)));
          default: return job->tell(not_stored(std::move(result)));
        }
      },
      job->request.permit);
  if (!queued) job->tell(refused(not_queued(parts_.queue)));
}

// [writer] Posts to the pool, where the store is read and runs are judged.
void EventIngest::answer(const std::shared_ptr<Job>& job, const store::Buffered& buffered) {
  if (!buffered.ends && !buffered.unchanged) return job->tell(open_answer(*job, buffered));
  parts_.pool.post([this, job, buffered](std::size_t worker) {
    if (buffered.ends) return end(worker, job, buffered);
    job->kind = IngestAnswer::Kind::replayed;
    IngestAnswer answer;
    try {
      answer = as_it_stands(*job, buffered.revision);
    } catch (const store::StoreAway& away) {  // nothing in the request was new
      answer = refused(store_away(away));
    }
    job->tell(std::move(answer));
  });
}

// Whether a later revision, of events after the first `upto`, is complete with the request's events.
bool EventIngest::completes_another(const Job& job, const store::Buffered& buffered, std::uint32_t upto) const {
  const std::uint32_t total = total_of(buffered);
  return total > upto && (job.final || total - upto >= parts_.max_events);
}

// Whether the run is open in a revision that the request completed.
bool EventIngest::is_to_end(const Job& job, const store::Buffered& buffered, const model::RunRecord& run) const {
  if (run.state != model::RunState::open) return false;
  return run.revision == buffered.revision || (run.buffer && completes_another(job, buffered, run.buffer->previous));
}

// Ends the revisions that the request completed, and answers with the last one. Its events are stored, so if the store has gone away since,
// they are ended later.
void EventIngest::end(std::size_t worker, const std::shared_ptr<Job>& job, const store::Buffered& buffered) {
  std::optional<store::Claim> claim;
  std::optional<IngestAnswer> at_once;
  try {
    claim = parts_.buffer.claim_run(job->request.tenant, buffered.run, std::nullopt, kLeaseMs);
    if (claim && claim->revision > buffered.revision && !completes_another(*job, buffered, claim->previous)) {
      parts_.buffer.release(*claim);  // others ended the request's revision, and completed this one
      claim.reset();
      at_once = as_ended(*job, buffered);
    } else if (!claim) {
      at_once = as_ended_by_another(*job, buffered);
    }
  } catch (const store::StoreAway&) {
    at_once = open_answer(*job, buffered);
  }
  if (!claim && !at_once) return look_again_later(job, buffered);
  if (at_once) return job->tell(std::move(*at_once));
  parts_.resolver.resolve(worker, *claim, [this, job, buffered, upto = claim->upto](const Result<model::RunRecord>& run) {
    if (!run.ok()) return job->tell(open_answer(*job, buffered));  // the events are on disk; the run is ended later
    if (completes_another(*job, buffered, upto)) {
      return parts_.pool.post([this, job, buffered](std::size_t next) { end(next, job, buffered); });
    }
    job->tell(is_beyond(buffered, upto) ? open_answer(*job, beyond(buffered, run->revision, upto)) : run_answer(job->kind, *run));
    parts_.resolver.poke();
  });
}

// A little longer than the other host's lease: if that host is gone, the run is claimed here afterwards.
void EventIngest::look_again_later(const std::shared_ptr<Job>& job, const store::Buffered& buffered) {
  const std::int64_t now_ns = parts_.clock.monotonic_ns();
  if (job->looks_until_ns == 0) job->looks_until_ns = now_ns + kLongestWaitMs * 1'000'000;
  {
    const MutexLock lock(mutex_);
    if (!stopping_ && now_ns < job->looks_until_ns) return waiting_.push_back({job, buffered});
  }
  job->tell(open_answer(*job, buffered));
}

void EventIngest::poke() {
  std::vector<Waiting> waiting;
  {
    const MutexLock lock(mutex_);
    std::swap(waiting, waiting_);
  }
  for (Waiting& one : waiting) {
    parts_.pool.post([this, one = std::move(one)](std::size_t worker) { end(worker, one.job, one.buffered); });
  }
}

void EventIngest::stop() {
  std::vector<Waiting> waiting;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    std::swap(waiting, waiting_);
  }
  for (const Waiting& one : waiting) one.job->tell(open_answer(*one.job, one.buffered));
}

IngestAnswer EventIngest::open_answer(const Job& job, const store::Buffered& buffered) const {
  const store::BufferRules rules = parts_.resolver.rules();
  std::int64_t due_ms = std::min(buffered.buffer.last_ms + rules.idle_ms, buffered.buffer.first_ms + rules.max_age_ms);
  // A complete run is claimed already, or has been for a moment: at the latest it is taken up again when that lease ends.
  if (buffered.ends) due_ms = std::min(due_ms, parts_.clock.wall_ms() + kLeaseMs);
  IngestAnswer answer;
  answer.kind = job.kind == IngestAnswer::Kind::replayed ? job.kind : IngestAnswer::Kind::buffered;
  answer.run_id = job.events.run_id;
  JsonWriter out(answer.body);
  out.begin_object().key("runId").string(job.events.run_id).key("state").string(buffered.reopened ? "reopened" : "open");
  if (buffered.revision > 1) out.key("revision").integer(buffered.revision);
  out.key("accepted").integer(buffered.accepted).key("bufferedEvents").integer(buffered.buffer.events);
  out.key("resolvesAt").string(format_time(due_ms)).end_object();
  return answer;
}

// The answer given when the request's last complete revision ended. If that has none of the request's events, they are open in the next.
IngestAnswer EventIngest::as_ended(const Job& job, const store::Buffered& buffered) const {
  const auto head_of = [&](std::uint32_t revision) { return parts_.store.run_head(job.request.tenant, job.events.run_id, revision); };
  std::uint32_t revision = buffered.revision;
  for (auto head = head_of(revision); head && completes_another(job, buffered, head->events); ++revision) {
    head = head_of(revision + 1);
    if (!head || head->state != model::RunState::resolved) break;
    if (buffered.accepted == 0 && head->events > total_of(buffered)) break;  // others ended it
  }
  const auto run = parts_.store.find_revision(job.request.tenant, job.events.run_id, revision);
  if (!run) return as_it_stands(job);
  if (is_beyond(buffered, run->events)) return open_answer(job, beyond(buffered, run->revision, run->events));
  return run_answer(IngestAnswer::Kind::replayed, *run);
}

// Another host holds the claim, perhaps one that does not cover these events. Its result is the answer once it includes all that they
// complete.
std::optional<IngestAnswer> EventIngest::as_ended_by_another(const Job& job, const store::Buffered& buffered) const {
  const auto head = parts_.store.run_head(job.request.tenant, job.events.run_id, std::nullopt);
  if (head && head->state == model::RunState::open) {
    if (head->revision <= buffered.revision || !head->buffer) return std::nullopt;
    if (head->buffer->complete && completes_another(job, buffered, head->buffer->previous)) return std::nullopt;
  }
  return as_ended(job, buffered);
}

IngestAnswer EventIngest::as_it_stands(const Job& job, std::optional<std::uint32_t> revision) const {
  Error gone{Code::internal, "the run \"" + job.events.run_id + "\" was deleted while its events arrived; send them again", {}, {}};
  const auto head = parts_.store.run_head(job.request.tenant, job.events.run_id, revision);
  if (!head) return refused(std::move(gone));
  IngestAnswer answer;
  if (job.request.may_read && head->json_bytes > kSmallAnswerBytes) {
    auto lease = parts_.reads.take(job.request.tenant, head->json_bytes);
    if (!lease) return refused(no_room_for_reply(head->json_bytes));
    answer.lease = std::move(*lease);
  }
  const auto run = revision ? parts_.store.find_revision(job.request.tenant, job.events.run_id, *revision)
                            : parts_.store.find_run(job.request.tenant, job.events.run_id);
  if (!run) return refused(std::move(gone));
  answer.kind = IngestAnswer::Kind::replayed;
  answer.run_id = run->run_id;
  // Who may only send learns no more of the run than its first answer told.
  answer.body = job.request.may_read ? stored_run_json(parts_.store, job.request.tenant, *run) : ingest_answer(*run);
  answer.failures_json = run->state == model::RunState::open ? "[]" : run->failures_json;
  return answer;
}

}  // namespace runwarden::ingest
