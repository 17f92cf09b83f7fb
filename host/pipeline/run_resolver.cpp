#include "pipeline/run_resolver.h"

#include <memory>
#include <utility>

#include "intake/event_reader.h"
#include "pipeline/faults.h"
#include "pipeline/ingest_answer.h"

namespace runwarden::pipeline {
namespace {

constexpr std::size_t kHand = 64;  // runs that poke() ends at a time

}  // namespace

RunResolver::RunResolver(Steps steps, store::BufferRules rules) : steps_(std::move(steps)), rules_(rules) {}

struct RunResolver::Ending {
  store::Claim claim;
  Done done;
};

void RunResolver::resolve(std::size_t worker, const store::Claim& claim, Done done) {
  const store::ClaimedRun claimed = steps_.store.fetch(claim);
  Judged what;
  what.tenant = claim.tenant;
  what.tenant_name = steps_.tenant_name(claim.tenant);
  what.key = claim.run;
  what.revision = claim.revision;
  what.resolution = claim.resolution;
  what.now_ms = steps_.clock.wall_ms();
  auto [text, outcome] =
      intake::assemble_run(claim.run_id, claimed.events, claimed.whole ? std::string_view(claimed.whole->document) : std::string_view());
  what.outcome = outcome;
  auto run = intake::read_run(text, steps_.limits, {});
  // Its events were redacted as they came; the rules may have become more since.
  auto redacted = run.ok() ? steps_.redaction.run(std::move(*run)) : Result<RedactedRun>(std::move(run.error()));
  const auto ending = std::make_shared<Ending>(Ending{claim, std::move(done)});
  if (!redacted.ok()) {
    steps_.on_fault("run \"" + claim.run_id + "\" is kept unjudged: " + redacted.error().detail);
    return keep(ending, steps_.judge.keep_unread(claim.run_id, std::move(text), redacted.error().detail, what));
  }
  const auto keep_it = [this, ending](std::size_t, store::RunWrite write) { keep(ending, std::move(write)); };
  const auto failed = [this, ending] {
    give_up(*ending, {Code::internal, "the run \"" + ending->claim.run_id + "\" could not be ended; it is tried again", {}, {}});
  };
  steps_.judge.judge(std::move(*redacted), what, worker, {keep_it, failed});
}

void RunResolver::keep(const std::shared_ptr<Ending>& ending, store::RunWrite write) {
  write.claim = ending->claim;
  auto record = std::make_shared<model::RunRecord>(write.run);
  const bool queued = steps_.queue.submit(std::move(write), [this, ending, record](const store::WriteResult& result) {
    if (result.outcome == store::WriteResult::Outcome::stored) return ending->done(std::move(*record));
    give_up(*ending,
            no_room(result.detail.empty() ? "the run \"" + ending->claim.run_id + "\" was ended by another request" : result.detail));
  });
  if (!queued) give_up(*ending, queue_full());
}

void RunResolver::give_up(const Ending& ending, Error why) {
  steps_.store.release(ending.claim);
  ending.done(std::move(why));
}

void RunResolver::poke() {
  std::size_t none = 0;
  if (!in_hand_.compare_exchange_strong(none, kHand + 1)) return;  // the former hand is still being played
  const auto claims = steps_.store.claim(rules_, kHand, kLeaseMs);
  full_hand_ = claims.size() == kHand;
  in_hand_ = claims.size() + 1;
  for (const store::Claim& claim : claims) {
    steps_.pool.post([this, claim](std::size_t worker) {
      try {
        resolve(worker, claim, [this](const Result<model::RunRecord>& result) {
          if (!result.ok()) steps_.on_fault(result.error().detail);
          end_one();
        });
      } catch (const std::exception& fault) {
        steps_.on_fault("run \"" + claim.run_id + "\" could not be ended: " + fault.what());
        end_one();
      }
    });
  }
  end_one();
}

void RunResolver::end_one() {
  if (--in_hand_ > 0 || !full_hand_) return;
  steps_.pool.post([this](std::size_t) { poke(); });
}

}  // namespace runwarden::pipeline
