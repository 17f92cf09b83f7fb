#include "store/writes.h"

#include "store/change_writes.h"
#include "store/review_writes.h"
#include "store/run_writes.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kBesidesTexts = 512;

std::uint64_t size_of(const RunWrite& write) {
  const model::RunRecord& run = write.run;
  std::uint64_t bytes =
      kBesidesTexts + run.document.size() + run.failures_json.size() + run.detectors_json.size() + run.policies_json.size();
  for (const model::FailureRecord& failure : write.failures) bytes += kBesidesTexts + failure.json.size();
  bytes += kBesidesTexts * write.opinions.size();
  return bytes;
}

std::uint64_t size_of(const EventsWrite& write) {
  std::uint64_t bytes = kBesidesTexts;
  for (const EventsWrite::Event& event : write.events) bytes += sizeof event + event.id.size() + event.json.size();
  return bytes;
}

std::uint64_t size_of(const TracesWrite& write) {
  std::uint64_t bytes = kBesidesTexts;
  for (const EventsWrite& trace : write.traces) bytes += size_of(trace);
  return bytes;
}

std::uint64_t size_of(const AnswerWrite&) {
  return kBesidesTexts;
}

std::uint64_t size_of(const ChangeWrite& write) {
  return kBesidesTexts + write.change.document.size();
}
std::uint64_t size_of(const PolicyWrite& write) {
  return kBesidesTexts + write.policy.document.size();
}
std::uint64_t size_of(const CanaryWrite& write) {
  return kBesidesTexts + write.run.document.size() + write.run.detectors_json.size();
}

std::uint64_t size_of(const TriageWrite& write) {
  return kBesidesTexts + write.entry.note.size();
}

std::uint64_t size_of(const ReviewWrite& write) {
  std::uint64_t bytes = kBesidesTexts;
  for (const model::Review& review : write.reviews) bytes += kBesidesTexts + review.document.size();
  return bytes;
}

std::uint64_t size_of(const OpinionWrite& write) {
  std::uint64_t bytes = kBesidesTexts + write.opinion.review.size();
  if (write.failure) bytes += kBesidesTexts + write.failure->json.size();
  for (const model::Review& review : write.reviews) bytes += kBesidesTexts + review.document.size();
  return bytes;
}

}  // namespace

model::TenantId tenant_of(const Write& write) {
  return std::visit(
      [](const auto& one) -> model::TenantId {
        if constexpr (requires { one.tenant; }) return one.tenant;
        return 0;
      },
      write);
}

std::uint64_t bytes_of(const Write& write) {
  return std::visit([](const auto& one) { return size_of(one); }, write);
}

}  // namespace runwarden::store
