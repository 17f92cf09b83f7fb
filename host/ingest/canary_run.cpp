#include "ingest/canary_run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "base/digest.h"
#include "ingest/answers.h"
#include "ingest/faults.h"
#include "intake/run_reader.h"
#include "model/record_ids.h"

namespace runwarden::ingest {
namespace {

// Contains something for every detector to evaluate.
constexpr std::string_view kRun =
    R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",)"
    R"("metadata":{"model":"gpt-4o","inputTokens":1200,"costUsd":0.01},"steps":[)"
    R"({"stepKind":"tool","stepName":"get_order","inputSummary":"{\"order\":8842}","outputSummary":"{\"order\":8842,\"state\":\"paid\"}","status":"completed"},)"
    R"({"stepKind":"tool","stepName":"issue_refund","inputSummary":"{\"order\":8842}","outputSummary":"{\"refunded\":true}","status":"completed"},)"
    R"({"stepKind":"model","outputSummary":"Your refund has been processed."}]})";

}  // namespace

struct CanaryRun::Flight {
  explicit Flight(Done told) : done(std::move(told)) {}

  // Only the first call counts: a failed part may be reported twice.
  void land(std::string fault) {
    if (!landed.exchange(true)) done(std::move(fault));
  }

  Done done;
  std::atomic<bool> landed{false};
  std::shared_ptr<const model::Run> run;
  model::RunRecord record;
};

void CanaryRun::send(Done done) {
  auto flight = std::make_shared<Flight>(std::move(done));
  parts_.pool.post([this, flight](std::size_t worker) {
    try {
      judge(worker, flight);
    } catch (const std::exception& fault) {
      flight->land(std::string("canary run: ") + fault.what());
    }
  });
}

void CanaryRun::judge(std::size_t worker, const std::shared_ptr<Flight>& flight) {
  flight->record.key = {parts_.clock.wall_ms(), parts_.store.next_seq()};
  flight->record.run_id = model::make_run_id(flight->record.key);
  auto run = intake::read_run(kRun, {}, flight->record.run_id);
  if (!run.ok()) return flight->land("canary run: normalize: " + run.error().detail);
  flight->run = std::make_shared<const model::Run>(std::move(*run));
  const auto judged = [this, flight](std::size_t, const detect::EvaluationResult& evaluated) { commit(flight, evaluated); };
  const auto failed = [flight] { flight->land("canary run: detect: the detectors could not be run; see the log"); };
  parts_.detectors()->evaluate({flight->run, {}, sha256(kRun)}, worker, parts_.pool, {judged, failed});
}

// Optional detectors may fail.
std::string CanaryRun::fault_of(const model::Verdict& verdict) const {
  const auto detectors = parts_.detectors()->list();
  std::string text;
  for (const model::DetectorReport& report : verdict.reports) {
    if (report.status != model::DetectorStatus::error && report.status != model::DetectorStatus::timeout) continue;
    const auto same = [&](const detect::DetectorInfo& one) { return one.key == report.key && one.optional; };
    if (std::any_of(detectors.begin(), detectors.end(), same)) continue;
    text += (text.empty() ? "canary run: detect: \"" : "; \"") + report.key + "\" answered " + model::name(report.status) + ": " +
            report.reason;
  }
  return text;
}

void CanaryRun::commit(const std::shared_ptr<Flight>& flight, const detect::EvaluationResult& evaluated) {
  if (std::string fault = fault_of(evaluated.verdict); !fault.empty()) return flight->land(std::move(fault));
  model::RunRecord& record = flight->record;
  record.resolved_ms = record.key.time_ms;
  record.document = flight->run->document;
  record.failures_json = "[]";
  record.detectors_json = detectors_json(evaluated.verdict.reports);
  record.policies_json = "[]";
  const bool queued = parts_.queue.submit(store::CanaryWrite{record}, [this, flight](const store::WriteResult& result) {
    if (result.outcome != store::WriteResult::Outcome::stored) return flight->land("canary run: commit: " + result.detail);
    parts_.pool.post([this, flight](std::size_t) {
      try {
        read_back(flight);
      } catch (const store::EngineFault& fault) {  // everybody may read why a host is not ready
        flight->land("canary run: read back: " + fault.client_text);
      } catch (const std::exception& fault) {
        flight->land(std::string("canary run: read back: ") + fault.what());
      }
    });
  });
  if (!queued) flight->land("canary run: commit: " + not_queued(parts_.queue).detail);
}

void CanaryRun::read_back(const std::shared_ptr<Flight>& flight) {
  const auto found = parts_.store.canary();
  const model::RunRecord& sent = flight->record;
  const bool same = found && found->key == sent.key && found->run_id == sent.run_id && found->document == sent.document &&
                    found->detectors_json == sent.detectors_json;
  flight->land(same ? std::string()
                    : "canary run: read back: the store does not return what it reported as stored; run `runwarden verify`");
}

}  // namespace runwarden::ingest
