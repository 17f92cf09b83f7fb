#include "store/store.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kBesidesTexts = 512;

std::uint64_t size_of(const RunWrite& write) {
  const model::RunRecord& run = write.run;
  std::uint64_t bytes =
      kBesidesTexts + run.document.size() + run.failures_json.size() + run.detectors_json.size() + run.policies_json.size();
  for (const model::FailureRecord& failure : write.failures) bytes += kBesidesTexts + failure.json.size();
  for (const std::string& value : write.prepared) bytes += value.size();
  return bytes;
}

}  // namespace

std::uint64_t bytes_of(const Write& write) {
  return std::visit([](const auto& one) { return size_of(one); }, write);
}

}  // namespace runwarden::store
