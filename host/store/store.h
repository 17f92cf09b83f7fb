// Where records are kept. Speaks in whole batches and knows no engine's words, so that another engine can stand in its place.
//
// Threads: writes (commit, put_key, touch_keys) come from one thread at a time; everything else may be called from any thread.
// A write that returned is on stable storage. A fault of the medium (an fsync error) is thrown as FatalStoreError: what was
// asked for is then in doubt, nothing more may be acknowledged, and the process has to end. StoreError says that one thing
// could not be read or done; the store goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/records.h"

namespace runwarden::store {

struct FatalStoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What an Idempotency-Key names: SHA-256 over tenant-independent parts (path, key, line number), and over the decoded bytes.
struct Idempotency {
  model::Digest identity{};
  model::Digest content{};
};

// One run to keep with all that was found in it, unless its runId or its idempotency identity is there already.
struct RunWrite {
  model::TenantId tenant = 0;
  model::RunRecord run;
  std::vector<model::FailureRecord> failures;
  std::optional<Idempotency> idempotency;
  std::vector<std::string> prepared;  // by Store::prepare(), for that store alone
};

using Write = std::variant<RunWrite>;

// How much a write holds in memory, about.
std::uint64_t bytes_of(const Write& write);

struct WriteResult {
  enum class Outcome : std::uint8_t {
    stored,
    replayed,              // the same content was there: `first` is what was answered then
    run_conflict,          // the runId is there with other content
    idempotency_conflict,  // the Idempotency-Key is there with other content
    unavailable,           // no room: nothing of this write was stored; `detail` says why
  };
  Outcome outcome = Outcome::stored;
  std::optional<model::RunRecord> first;
  std::string detail;
};

struct Space {
  std::uint64_t map_bytes = 0;   // the most the store may grow to
  std::uint64_t used_bytes = 0;  // pages that hold records
  std::uint64_t file_bytes = 0;
  bool refusing = false;  // no room for another run now
  std::string reason;     // why, and the remedy
};

class Store {
 public:
  virtual ~Store() = default;

  // Does what of a write needs no place in the order (encoding, compression), so that the writing thread need not. Optional;
  // any thread, before commit(), and the write must not be changed after it.
  virtual void prepare(Write& /*write*/) {}

  // All in one transaction, in order; results stand in the order of the writes. What does not fit is `unavailable`, the rest stands.
  virtual std::vector<WriteResult> commit(std::span<const Write> batch) = 0;

  // A number never handed out before, also across restarts: the seq of a RecordKey.
  virtual std::uint64_t next_seq() = 0;

  virtual std::optional<model::RunRecord> find_run(model::TenantId tenant, std::string_view run_id) = 0;
  // What was answered to that idempotency identity: the run, and the content it was for.
  struct Replay {
    model::Digest content{};
    model::RunRecord run;
  };
  virtual std::optional<Replay> find_replay(model::TenantId tenant, const model::Digest& identity) = 0;

  // Adds the key, or replaces the one of that id; makes its tenant if the name is new and fills in the tenant id.
  // Throws StoreError when there is no room for it.
  virtual model::KeyRecord put_key(model::KeyRecord key) = 0;
  virtual std::vector<model::KeyRecord> keys() = 0;
  // Changes whenever a key was added or changed, by whichever process; cheap enough for every request.
  virtual std::uint64_t keys_version() = 0;
  // Notes when keys were last used; does not change keys_version().
  virtual void touch_keys(std::span<const std::pair<std::string, std::int64_t>> last_used) = 0;

  // Housekeeping: to be called by the writing thread at least once a minute.
  virtual void tend() {}

  virtual Space space() = 0;
  // Whether a write would succeed now, and why not.
  virtual Status writable() = 0;
};

}  // namespace runwarden::store
