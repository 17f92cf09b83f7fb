#include "store/postgres/open_run_hints.h"

#include <functional>
#include <string_view>

namespace runwarden::store::postgres {
namespace {

// Not 0, which marks a slot that is not in use. Two names with the same hash share their guess, and one of them is then wrong.
std::uint64_t hash_of(const RunName& run) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  return (std::hash<std::string_view>{}(run.run_id) ^ (run.tenant * kOdd)) | 1;
}

}  // namespace

std::optional<model::RecordKey> OpenRunHints::place_of(const RunName& run) const {
  const std::uint64_t hash = hash_of(run);
  const Slot& slot = slots_[(hash >> 1) % kSlots];
  return slot.name_hash == hash ? std::optional(slot.place) : std::nullopt;
}

void OpenRunHints::note_open(const RunName& run, const model::RecordKey& place) {
  const std::uint64_t hash = hash_of(run);
  slots_[(hash >> 1) % kSlots] = {hash, place};
}

void OpenRunHints::forget(const RunName& run) {
  const std::uint64_t hash = hash_of(run);
  Slot& slot = slots_[(hash >> 1) % kSlots];
  if (slot.name_hash == hash) slot = {};
}

}  // namespace runwarden::store::postgres
