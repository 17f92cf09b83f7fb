#include "api/cluster_walk.h"

namespace runwarden::api {
namespace {

constexpr std::int64_t kLongestCommitMs = 60'000;  // from a failure's detection until readers can see it
constexpr char kBetween = '.';                     // does not occur in a sealed place

std::string meaning_of(const std::string& meaning, const char* what) {
  return meaning + "\n" + what;
}

const char* name(ClusterWalk::Part part) {
  return part == ClusterWalk::Part::ranked ? "ranked" : "failed anew";
}

constexpr const char* kBegan = "began";
constexpr const char* kBeginning = "from the beginning";

}  // namespace

bool ClusterWalk::failed_again(std::int64_t last_ms) const {
  return last_ms >= began_ms - kLongestCommitMs;
}

model::RecordKey place_of(const model::ClusterKey& key) {
  const auto number = [&](std::size_t from) {
    std::uint64_t bytes = 0;
    for (std::size_t i = from; i < from + 8; ++i) bytes = bytes << 8 | static_cast<std::uint8_t>(key[i]);
    return bytes;
  };
  return {static_cast<std::int64_t>(number(0)), number(8)};
}

std::string seal_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning, const ClusterWalk& walk) {
  std::string text = seal.seal(tenant, meaning_of(meaning, kBegan), {walk.began_ms, walk.began_commit});
  text += kBetween;
  return text + (walk.after ? seal.seal(tenant, meaning_of(meaning, name(walk.part)), *walk.after)
                            : seal.seal(tenant, meaning_of(meaning, kBeginning), {static_cast<std::int64_t>(walk.part), 0}));
}

std::optional<ClusterWalk> open_walk(const auth::CursorSeal& seal, model::TenantId tenant, const std::string& meaning,
                                     std::string_view cursor) {
  const auto between = cursor.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  const auto began = seal.open(tenant, meaning_of(meaning, kBegan), cursor.substr(0, between));
  if (!began) return std::nullopt;
  ClusterWalk walk;
  walk.began_ms = began->time_ms;
  walk.began_commit = began->seq;
  const std::string_view place = cursor.substr(between + 1);
  for (const auto part : {ClusterWalk::Part::ranked, ClusterWalk::Part::failed_again}) {
    walk.part = part;
    walk.after = seal.open(tenant, meaning_of(meaning, name(part)), place);
    if (walk.after) return walk;
  }
  if (!seal.open(tenant, meaning_of(meaning, kBeginning), place)) return std::nullopt;
  return walk;  // always the second part: no cursor points to the start of the first
}

}  // namespace runwarden::api
