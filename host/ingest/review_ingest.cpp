#include "ingest/review_ingest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "ingest/faults.h"
#include "ingest/json_request.h"
#include "model/cluster.h"
#include "model/opinion.h"

namespace runwarden::ingest {
namespace {

constexpr std::size_t kMostDetectorBytes = 256;
constexpr std::size_t kMostHistory = 1000;  // reviews examined for the model's

Error no_failure(const std::string& id) {
  return {Code::not_found, "no failure \"" + id.substr(0, 256) + "\"", {}, {}};
}
Error no_run(const std::string& id) {
  return {Code::not_found, "no run with the runId \"" + id.substr(0, 256) + "\"", {}, {}};
}
Error gone() {
  return {Code::not_found, "the failure or run was deleted a moment ago; nothing was stored", {}, {}};
}

// The status of a detector in the run's answer; empty: it did not look at the run.
std::string status_of(const model::RunRecord& run, std::string_view detector) {
  for (const std::string& element : json_elements(run.detectors_json)) {
    const auto members = json_members(element);
    if (json_member_text(members, "key") == detector) return json_member_text(members, "status");
  }
  return {};
}

// {"runId", "revision"} and the provenance come from the failure's own JSON.
void describe(model::Review& review, const model::FailureRecord& failure) {
  const auto members = json_members(failure.json);
  const auto provenance = json_members(json_member(members, "provenance"));
  review.run = failure.run;
  review.run_id = json_member_text(members, "runId");
  review.revision = model::revision_of(failure);
  review.failure_id = failure.id;
  if (!failure.shadow) review.cluster_id = model::cluster_id(model::cluster_key(failure.fingerprint));
  review.of_candidate = !json_member_text(members, "confirmedBy").empty();
  review.detector_key = failure.detector_key;
  review.detector_version = json_member_text(provenance, "detectorVersion");
  review.settings_hash = json_member_text(provenance, "settingsHash");
}

const char* verdicts_of(Reviewed of) {
  return of == Reviewed::failure ? "right, false_alarm or unsure" : "missed or clean";
}

}  // namespace

Result<ReviewRequest> read_review(std::string_view body, Reviewed of, int max_json_depth) {
  if (Status status = check_object(body, max_json_depth); !status.ok()) return std::move(status.error());
  ReviewRequest request;
  RequestFaults faults;
  const bool of_failure = of == Reviewed::failure;
  bool has_detector = of_failure;
  bool has_verdict = false;
  const auto known =
      of_failure ? std::vector<std::string_view>{"verdict", "note"} : std::vector<std::string_view>{"detector", "verdict", "note"};
  for (const JsonMember& member : known_members(body, "", known, faults)) {
    if (member.name == "verdict") {
      has_verdict = true;
      const auto verdict = is_json_string(member.json) ? model::review_verdict(json_string_value(member.json)) : std::nullopt;
      const bool fits = verdict && (of_failure ? model::is_of_failure(*verdict) : model::is_of_run(*verdict));
      if (!fits) faults.add("/verdict", "invalid", std::string("must be ") + verdicts_of(of));
      request.verdict = fits ? *verdict : model::ReviewVerdict::none;
    } else if (member.name == "detector") {
      has_detector = true;
      if (auto text = text_of(member, "/detector", kMostDetectorBytes, faults)) request.detector = std::move(*text);
    } else if (auto text = text_of(member, "/note", kMostNoteBytes, faults)) {
      request.note = std::move(*text);
    }
  }
  if (!has_detector) faults.add("/detector", "missing", "is missing; send the key of a detector, as GET /v1/detectors lists them");
  if (!has_verdict) faults.add("/verdict", "missing", std::string("is missing; send ") + verdicts_of(of));
  if (!faults.none()) return faults.error();
  return request;
}

model::Review ReviewIngest::begun(const IngestRequest& request) {
  model::Review review;
  review.key = {parts_.clock.wall_ms(), parts_.store.next_seq()};
  review.author = request.key_name;
  return review;
}

std::vector<model::Review> ReviewIngest::withdrawal(const IngestRequest& request, model::Review withdrawn) {
  const std::string subject = model::review_subject(withdrawn);
  std::vector<model::Review> reviews{withdrawn};
  bool by_person = false;
  store::Range range;
  range.limit = kMostHistory;
  for (model::Review& said : parts_.reviews.review_history(request.tenant, withdrawn.run, withdrawn.failure_id, range)) {
    if (model::review_subject(said) != subject) continue;
    if (said.verdict == model::ReviewVerdict::none) break;
    if (!model::is_by_model(said.author)) {
      by_person = true;
      continue;
    }
    if (!by_person) break;  // the model's review itself is taken back
    said.key = {withdrawn.key.time_ms, parts_.store.next_seq()};
    reviews.push_back(std::move(said));
    break;
  }
  return reviews;
}

void ReviewIngest::review_failure(IngestRequest request, const std::string& failure_id, Done done) {
  auto wanted = read_review(request.body, Reviewed::failure, request.max_json_depth);
  if (!wanted.ok()) return done(parts_.redaction.error(std::move(wanted.error()), request.body));
  const auto failure = parts_.store.find_failure(request.tenant, failure_id);
  if (!failure) return done(no_failure(failure_id));
  parts_.redaction.note(wanted->note);
  model::Review review = begun(request);
  describe(review, *failure);
  review.verdict = wanted->verdict;
  review.document = model::write_document(review, wanted->note);
  write(std::move(request), {std::move(review)}, std::move(done));
}

void ReviewIngest::review_run(IngestRequest request, const std::string& run_id, Done done) {
  auto wanted = read_review(request.body, Reviewed::run, request.max_json_depth);
  if (!wanted.ok()) return done(parts_.redaction.error(std::move(wanted.error()), request.body));
  const auto run = parts_.store.find_run(request.tenant, run_id);
  if (!run) return done(no_run(run_id));
  const auto detectors = parts_.detectors()->list(request.tenant_name);
  const auto known = std::find_if(detectors.begin(), detectors.end(), [&](const auto& one) { return one.key == wanted->detector; });
  const std::string status = status_of(*run, wanted->detector);
  if (known == detectors.end() && status.empty()) {
    RequestFaults faults;
    faults.add("/detector", "unknown_detector", "names no detector that judged this run or is configured; GET /v1/detectors lists them");
    return done(parts_.redaction.error(faults.error(), request.body));
  }
  if (run->state == model::RunState::open) {
    return done(Error{Code::conflict, "the run is open, and is judged when it resolves; review it then", {}, {}});
  }
  const bool fired = status == model::name(model::DetectorStatus::fired) ||
                     std::find(run->fired.begin(), run->fired.end(), wanted->detector) != run->fired.end();
  if (fired) {
    return done(Error{
        Code::conflict, "this detector found a failure in the run; review that failure: POST /v1/failures/{failureId}/review", {}, {}});
  }
  parts_.redaction.note(wanted->note);
  model::Review review = begun(request);
  review.run = run->key;
  review.run_id = run->run_id;
  review.revision = run->revision;
  review.detector_key = wanted->detector;
  if (known != detectors.end()) {
    review.detector_version = known->version;
    review.settings_hash = known->settings_hash;
  }
  review.verdict = wanted->verdict;
  review.document = model::write_document(review, wanted->note);
  write(std::move(request), {std::move(review)}, std::move(done));
}

void ReviewIngest::take_back_failure(IngestRequest request, const std::string& failure_id, Done done) {
  const auto failure = parts_.store.find_failure(request.tenant, failure_id);
  if (!failure) return done(no_failure(failure_id));
  if (failure->reviewed == model::ReviewVerdict::none) return done(Stored{});
  model::Review review = begun(request);
  describe(review, *failure);
  review.document = model::write_document(review, "");
  auto reviews = withdrawal(request, std::move(review));
  write(std::move(request), std::move(reviews), std::move(done));
}

void ReviewIngest::take_back_run(IngestRequest request, const std::string& run_id, const std::string& detector, Done done) {
  const auto run = parts_.store.run_head(request.tenant, run_id, std::nullopt);
  if (!run) return done(no_run(run_id));
  std::vector<model::Review> reviews;
  for (model::Review& said : parts_.reviews.reviews_of_run(request.tenant, run->key)) {
    if (!said.failure_id.empty() || (!detector.empty() && said.detector_key != detector)) continue;
    model::Review review = begun(request);
    review.run = said.run;
    review.run_id = std::move(said.run_id);
    review.revision = said.revision;
    review.detector_key = std::move(said.detector_key);
    review.detector_version = std::move(said.detector_version);
    review.settings_hash = std::move(said.settings_hash);
    review.document = model::write_document(review, "");
    for (model::Review& one : withdrawal(request, std::move(review))) reviews.push_back(std::move(one));
  }
  if (reviews.empty()) {
    const Status known = detector.empty() ? Status(Nothing{}) : check_detector(request, run_id, detector);
    return known.ok() ? done(Stored{}) : done(known.error());
  }
  write(std::move(request), std::move(reviews), std::move(done));
}

Status ReviewIngest::check_detector(const IngestRequest& request, const std::string& run_id, const std::string& detector) {
  const auto detectors = parts_.detectors()->list(request.tenant_name);
  const bool configured = std::any_of(detectors.begin(), detectors.end(), [&](const auto& one) { return one.key == detector; });
  if (configured) return Nothing{};
  const auto run = parts_.store.find_run(request.tenant, run_id);
  if (run && !status_of(*run, detector).empty()) return Nothing{};
  return Error{Code::bad_request,
               "the query's detector must be one that judged this run or is configured (GET /v1/detectors lists them), got \"" +
                   detector.substr(0, 80) + "\"",
               {},
               {}};
}

void ReviewIngest::write(IngestRequest request, std::vector<model::Review> reviews, Done done) {
  store::ReviewWrite write;
  write.tenant = request.tenant;
  write.reviews = reviews;
  if (request.idempotency) write.idempotency = store::Idempotency{*request.idempotency, sha256(request.body)};
  const bool queued = parts_.queue.submit(
      std::move(write),
      [done, reviews = std::move(reviews), on_review = parts_.on_review](store::WriteResult result) {
        using Outcome = store::WriteResult::Outcome;
        if (result.not_there) return done(gone());
        if (result.outcome == Outcome::stored && on_review) std::for_each(reviews.begin(), reviews.end(), on_review);
        if (result.outcome == Outcome::stored || result.outcome == Outcome::replayed) return done(Stored{result.decided});
        IngestAnswer answer = not_stored(std::move(result));
        if (answer.kind == IngestAnswer::Kind::in_doubt) return done(std::nullopt);
        done(std::move(answer.error));
      },
      request.permit);
  if (!queued) done(not_queued(parts_.queue));
}

}  // namespace runwarden::ingest
