// Knows who may enter: the keys of the store, and what a request's Authorization says. Any thread.
//
// Never keeps a key, only digests. Reads the keys anew when their version has changed, so that a key made or revoked by
// another process counts at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "auth/key.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/records.h"

namespace runwarden::auth {

// Who a key speaks for.
struct Principal {
  model::TenantId tenant = 0;
  std::string tenant_name;
  std::string key_id;
  std::string key_name;
  bool may_ingest = false;
  bool may_read = false;
};

// Where the keys come from; both are called from any thread, several at once.
struct KeySource {
  std::function<std::vector<model::KeyRecord>()> load;
  std::function<std::uint64_t()> version;  // cheap: asked at every request
};

class KeyRing {
 public:
  KeyRing(KeySource source, const Clock& clock);  // the clock outlives the ring

  // The values of all Authorization fields of a request, and what it wants to do. Answers `unauthorized` where there is not
  // exactly one good Bearer key, `forbidden` where the key lacks the scope.
  Result<Principal> admit(const std::vector<std::string>& authorization, Scope scope);

  // Whether the key that was admitted still counts: the error says that it was revoked or has expired since. Not a use of the key.
  std::optional<Error> recheck(const Principal& principal);

  // When keys were used since the last call, by id: for whoever writes that down.
  std::vector<std::pair<std::string, std::int64_t>> take_last_used();

 private:
  struct Snapshot {
    std::uint64_t version = 0;
    std::vector<model::KeyRecord> keys;
    std::unordered_multimap<std::uint64_t, std::size_t> by_digest;  // its first 8 bytes -> index of the key
    std::unordered_map<std::string, std::size_t> by_id;
  };

  std::shared_ptr<const Snapshot> current();
  static const model::KeyRecord* find(const Snapshot& snapshot, std::string_view key);

  KeySource source_;
  const Clock& clock_;
  std::mutex load_mutex_;  // one thread reads the store at a time
  std::mutex mutex_;       // held for a few instructions: guards what follows
  std::shared_ptr<const Snapshot> snapshot_;
  std::unordered_map<std::string, std::int64_t> used_;  // at most one entry a key
};

// The key of one `Bearer` credential, or nothing: scheme in any case, then one key of visible characters (RFC 6750, RFC 9110).
std::optional<std::string_view> bearer_key(std::string_view authorization);

}  // namespace runwarden::auth
