// Authenticates requests: matches their Authorization against the keys in the store. Any thread.
//
// Holds digests only, never keys. Reloads the keys when their version changes, so that keys created or revoked by another process take
// effect at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "auth/key.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "model/key_record.h"
#include "model/record_key.h"

namespace runwarden::auth {

// The identity behind a key.
struct Principal {
  model::TenantId tenant = 0;
  std::string tenant_name;
  std::string key_id;
  std::string key_name;
  bool may_ingest = false;
  bool may_read = false;
  bool may_manage = false;
};

// The source of the keys. Called concurrently from any thread.
struct KeySource {
  std::function<std::vector<model::KeyRecord>()> load;
  std::function<std::uint64_t()> version;  // cheap: called for every request
  std::function<bool()> look = {};         // whether `version` may have changed; called for unknown keys
};

class KeyRing {
 public:
  KeyRing(KeySource source, const Clock& clock);  // the clock outlives the ring

  // Takes the values of all Authorization fields of a request and the scope that it needs. `unauthorized` unless there is exactly one valid
  // Bearer key; `forbidden` if the key lacks the scope.
  Result<Principal> admit(const std::vector<std::string>& authorization, Scope scope);

  // The same for the key id of a session.
  Result<Principal> admit_id(const std::string& key_id, Scope scope);

  // Whether the admitted key is still valid. The error says that the key was revoked or has expired. Does not count as a use of the key.
  std::optional<Error> recheck(const Principal& principal);

  // The times of use since the last call, by key id, to be stored.
  std::vector<std::pair<std::string, std::int64_t>> take_last_used();

 private:
  struct Snapshot {
    std::uint64_t version = 0;
    std::vector<model::KeyRecord> keys;
    std::unordered_multimap<std::uint64_t, std::size_t> by_digest;  // its first 8 bytes -> index of the key
    std::unordered_map<std::string, std::size_t> by_id;
  };

  std::shared_ptr<const Snapshot> current();
  // Of a key that `find` returns from a snapshot, or null. If it is unknown, asks once whether another process has made it.
  template <class Find>
  std::shared_ptr<const model::KeyRecord> look_up(Find find);
  Result<Principal> principal_of(const model::KeyRecord& record, Scope scope);
  static const model::KeyRecord* find(const Snapshot& snapshot, std::string_view key);

  const std::function<std::uint64_t()> version_;
  const std::function<bool()> look_;
  const Clock& clock_;
  Mutex load_mutex_;
  const std::function<std::vector<model::KeyRecord>()> load_ RW_GUARDED_BY(load_mutex_);  // one thread reads the store at a time
  Mutex mutex_;                                                                           // held briefly
  std::shared_ptr<const Snapshot> snapshot_ RW_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::int64_t> used_ RW_GUARDED_BY(mutex_);  // at most one entry per key
};

// The key of one `Bearer` credential, or nothing: scheme in any case, then one key of visible characters (RFC 6750, RFC 9110).
std::optional<std::string_view> bearer_key(std::string_view authorization);

}  // namespace runwarden::auth
