#include "api/review_gauges.h"

#include <map>
#include <string>

#include "ingest/reviews.h"

namespace runwarden::api {
namespace {

constexpr std::int64_t kCountEveryNs = 3'600'000'000'000;

}  // namespace

void ReviewGauges::stored(const model::Review& review) {
  parts_.metrics.review(review.detector_key, review.verdict);
  changed_ = true;
}

void ReviewGauges::tick() {
  const std::int64_t now_ns = parts_.clock.monotonic_ns();
  const bool long_ago = now_ns - counted_ns_ >= kCountEveryNs;
  if (!changed_.exchange(false) && !long_ago) return;
  counted_ns_ = now_ns;
  parts_.pool.post([this](std::size_t) {
    try {
      count();
    } catch (const store::EngineFault&) {  // says nothing about a record, and the engine reports it
    } catch (const store::StoreError& fault) {
      parts_.reports.unreadable(fault.what());
    }
  });
}

void ReviewGauges::count() {
  const std::int64_t since_ms = parts_.clock.wall_ms() - ingest::kReviewWindowDays * 86'400'000LL;
  std::map<std::string, model::ReviewCounts> by_detector;
  for (const model::Tenant& tenant : parts_.store.tenants()) {
    for (const store::ReviewedVersion& one : parts_.store.reviews().review_counts(tenant.id, since_ms))
      by_detector[one.detector_key] += one.counts;
  }
  for (const auto& [detector, counts] : by_detector) parts_.metrics.detector_reviews(detector, counts, ingest::precision_of(counts));
}

}  // namespace runwarden::api
