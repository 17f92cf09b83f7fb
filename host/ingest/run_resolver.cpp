#include "ingest/run_resolver.h"

#include <memory>
#include <utility>
#include <vector>

#include "ingest/assemble.h"
#include "ingest/faults.h"
#include "ingest/ingest_answer.h"

namespace runwarden::ingest {
namespace {

constexpr std::size_t kClaimsPerPoll = 64;
constexpr std::int64_t kRenewEveryNs = kLeaseMs / 3 * 1'000'000;

}  // namespace

RunResolver::RunResolver(Parts parts, store::BufferRules rules) : parts_(std::move(parts)), rules_(rules) {}

// Holds its claim until the outcome is known or can no longer be known.
struct RunResolver::Ending {
  Ending(RunResolver& by, store::Claim of, Done then) : resolver(by), claim(std::move(of)), done(std::move(then)) { resolver.hold(claim); }
  ~Ending() { resolver.forget(claim); }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  RunResolver& resolver;
  const store::Claim claim;
  const Done done;
};

void RunResolver::hold(const store::Claim& claim) {
  const MutexLock lock(mutex_);
  if (held_.empty()) renewed_ns_ = parts_.clock.monotonic_ns();
  held_.emplace(claim.token, claim);
}

void RunResolver::forget(const store::Claim& claim) {
  const MutexLock lock(mutex_);
  held_.erase(claim.token);
}

// A lost claim is detected when its run is stored.
void RunResolver::renew_held() {
  std::vector<store::Claim> held;
  {
    const MutexLock lock(mutex_);
    const std::int64_t now_ns = parts_.clock.monotonic_ns();
    if (held_.empty() || now_ns - renewed_ns_ < kRenewEveryNs) return;
    renewed_ns_ = now_ns;
    for (const auto& [token, claim] : held_) held.push_back(claim);
  }
  parts_.buffer.renew(held, kLeaseMs);
}

void RunResolver::resolve(std::size_t worker, const store::Claim& claim, Done done) {
  const auto ending = std::make_shared<Ending>(*this, claim, std::move(done));
  try {
    judge(worker, ending);
  } catch (const store::StoreAway& away) {  // releasing the claim would wait for the store again, so let its lease expire
    forget(claim);
    ending->done(store_away(away));
  }
}

void RunResolver::judge(std::size_t worker, const std::shared_ptr<Ending>& ending) {
  const store::Claim& claim = ending->claim;
  store::ClaimedRun claimed = parts_.buffer.fetch(claim);
  RunMetadata metadata;
  metadata.tenant = claim.tenant;
  metadata.tenant_name = parts_.tenant_name(claim.tenant);
  metadata.key = claim.run;
  metadata.revision = claim.revision;
  metadata.resolution = claim.resolution;
  metadata.source = claim.source;
  metadata.root_arrived = claim.root_arrived;
  metadata.now_ms = parts_.clock.wall_ms();
  metadata.earlier = std::move(claimed.failures);
  auto [text, outcome] =
      assemble(claim.source, claim.run_id, claimed.events, claimed.whole ? std::string_view(claimed.whole->document) : std::string_view());
  metadata.outcome = outcome;
  intake::RunLimits limits = parts_.limits;
  limits.marks = marks_of(claim.source);
  limits.statuses = intake::Statuses::may_repeat;  // the run that the events continue is a stored one
  // Assembling copies the events' members unread; reading the whole is the only parse, and gives what no single event has: ids of steps, an
  // outcome.
  auto run = intake::read_run(text, limits, {});
  // The events were redacted on arrival, but rules may have been added since.
  auto redacted = run.ok() ? parts_.redaction.run(std::move(*run)) : Result<RedactedRun>(std::move(run.error()));
  if (!redacted.ok()) {
    parts_.on_fault("run \"" + claim.run_id + "\" is stored unjudged: " + redacted.error().detail);
    return commit(ending, parts_.judge.write_unread(claim.run_id, std::move(text), redacted.error().detail, metadata));
  }
  const auto commit_it = [this, ending](std::size_t, store::RunWrite write) { commit(ending, std::move(write)); };
  const auto failed = [this, ending] { give_up(*ending, {Code::internal, "judging it failed; it will be retried", {}, {}}); };
  parts_.judge.judge(std::move(*redacted), metadata, worker, {commit_it, failed});
}

void RunResolver::commit(const std::shared_ptr<Ending>& ending, store::RunWrite write) {
  write.claim = ending->claim;
  write.run.end_mark = ending->claim.end_mark;
  auto record = std::make_shared<model::RunRecord>(write.run);
  const bool queued = parts_.queue.submit(std::move(write), [this, ending, record](const store::WriteResult& result) {
    forget(ending->claim);
    if (result.outcome == store::WriteResult::Outcome::stored) return ending->done(std::move(*record));
    // The store is full: the lease keeps the run from being judged again and again until there is room.
    if (result.outcome == store::WriteResult::Outcome::unavailable) return ending->done(no_room(result.detail));
    give_up(*ending, no_room(result.detail.empty() ? "it was resolved by another request" : result.detail));
  });
  if (!queued) give_up(*ending, not_queued(parts_.queue));
}

void RunResolver::give_up(const Ending& ending, Error why) {
  forget(ending.claim);
  parts_.buffer.release(ending.claim);
  ending.done(std::move(why));
}

void RunResolver::poke() {
  try {
    renew_held();
    start_due();
  } catch (const store::StoreAway&) {  // the next poke tries again; the store's monitor logs it
  }
}

void RunResolver::start_due() {
  std::size_t none = 0;
  if (!claims_in_work_.compare_exchange_strong(none, kClaimsPerPoll + 1)) return;  // the previous claims are still in work
  std::vector<store::Claim> claims;
  try {
    claims = parts_.buffer.claim(rules_, kClaimsPerPoll, kLeaseMs);
  } catch (...) {  // the next poke tries again
    claims_in_work_ = 0;
    throw;
  }
  more_due_ = claims.size() == kClaimsPerPoll;
  claims_in_work_ = claims.size() + 1;
  for (const store::Claim& claim : claims) {
    parts_.pool.post([this, claim](std::size_t worker) {
      const auto tell = [this, run_id = claim.run_id](const std::string& why) {
        parts_.on_fault("run \"" + run_id + "\" could not be resolved: " + why);
      };
      try {
        resolve(worker, claim, [this, tell](const Result<model::RunRecord>& result) {
          if (!result.ok()) tell(result.error().detail);
          end_one();
        });
      } catch (const std::exception& fault) {
        tell(fault.what());
        end_one();
      }
    });
  }
  end_one();
}

void RunResolver::end_one() {
  if (--claims_in_work_ > 0 || !more_due_) return;
  parts_.pool.post([this](std::size_t) { poke(); });
}

}  // namespace runwarden::ingest
