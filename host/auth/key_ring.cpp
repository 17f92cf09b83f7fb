#include "auth/key_ring.h"

#include <openssl/crypto.h>

#include <cstring>

#include "base/ascii.h"
#include "base/time_text.h"

namespace runwarden::auth {
namespace {

constexpr std::size_t kMaxKeyBytes = 512;

Error refused(Code code, std::string detail, std::string log = {}) {
  return Error{code, std::move(detail), std::move(log), {}};
}

std::uint64_t prefix_of(const model::Digest& digest) {
  std::uint64_t prefix = 0;
  std::memcpy(&prefix, digest.data(), sizeof prefix);
  return prefix;
}

// b64token: the characters of a Bearer key.
bool is_token_character(char c) {
  return ascii::is_alphanumeric(c) || std::strchr("-._~+/=", c) != nullptr;
}

bool equal_without_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = ascii::to_lower(text[i]);
    if (c != lower[i]) return false;
  }
  return true;
}

bool may(const model::KeyRecord& key, Scope scope) {
  switch (scope) {
    case Scope::ingest: return key.may_ingest;
    case Scope::read: return key.may_read;
    case Scope::manage: break;
  }
  return key.may_manage;
}

// Why the key is not valid now; empty if it is.
std::optional<std::string> ended(const model::KeyRecord& key, std::int64_t now_ms) {
  const bool revoked = key.revoked_at_once || (key.revoked_ms != model::kNever && now_ms >= key.revoked_ms);
  if (revoked) return "the key " + key.id + " was revoked; use another one";
  if (key.expires_ms != model::kNever && now_ms >= key.expires_ms) {
    return "the key " + key.id + " expired at " + format_time(key.expires_ms) + "; use another one";
  }
  return std::nullopt;
}

}  // namespace

const char* name(Scope scope) {
  switch (scope) {
    case Scope::ingest: return "ingest";
    case Scope::read: return "read";
    case Scope::manage: break;
  }
  return "manage";
}

std::optional<std::string_view> bearer_key(std::string_view authorization) {
  const auto space = authorization.find(' ');
  if (space == std::string_view::npos || !equal_without_case(authorization.substr(0, space), "bearer")) return std::nullopt;
  const auto start = authorization.find_first_not_of(' ', space);
  if (start == std::string_view::npos) return std::nullopt;
  const auto end = authorization.find_last_not_of(" \t");
  const std::string_view key = authorization.substr(start, end - start + 1);
  if (key.empty() || key.size() > kMaxKeyBytes) return std::nullopt;
  for (const char c : key) {
    if (c == '\0' || !is_token_character(c)) return std::nullopt;
  }
  return key;
}

KeyRing::KeyRing(KeySource source, const Clock& clock)
    : version_(std::move(source.version)), look_(std::move(source.look)), clock_(clock), load_(std::move(source.load)) {}

std::shared_ptr<const KeyRing::Snapshot> KeyRing::current() {
  const std::uint64_t version = version_();
  const auto held = [&]() -> std::shared_ptr<const Snapshot> {
    const MutexLock lock(mutex_);
    return snapshot_ && snapshot_->version == version ? snapshot_ : nullptr;
  };
  if (auto snapshot = held()) return snapshot;
  const MutexLock loading(load_mutex_);
  if (auto snapshot = held()) return snapshot;
  auto fresh = std::make_shared<Snapshot>();
  fresh->version = version_();  // read before the keys, so that a change in between is noticed next time
  fresh->keys = load_();
  for (std::size_t i = 0; i < fresh->keys.size(); ++i) {
    fresh->by_digest.emplace(prefix_of(fresh->keys[i].digest), i);
    fresh->by_id.emplace(fresh->keys[i].id, i);
  }
  const MutexLock lock(mutex_);
  snapshot_ = fresh;
  return fresh;
}

// Compares the whole digest in constant time. Its prefix reveals nothing useful about a key of 256 random bits.
const model::KeyRecord* KeyRing::find(const Snapshot& snapshot, std::string_view key) {
  const model::Digest digest = digest_of(key);
  const auto [first, last] = snapshot.by_digest.equal_range(prefix_of(digest));
  const model::KeyRecord* found = nullptr;
  for (auto it = first; it != last; ++it) {
    const model::KeyRecord& candidate = snapshot.keys[it->second];
    if (CRYPTO_memcmp(candidate.digest.data(), digest.data(), digest.size()) == 0) found = &candidate;
  }
  return found;
}

template <class Find>
std::shared_ptr<const model::KeyRecord> KeyRing::look_up(Find find) {
  auto snapshot = current();
  const model::KeyRecord* record = find(*snapshot);
  if (record == nullptr && look_ && look_()) {
    snapshot = current();
    record = find(*snapshot);
  }
  return record == nullptr ? nullptr : std::shared_ptr<const model::KeyRecord>(snapshot, record);
}

Result<Principal> KeyRing::admit(const std::vector<std::string>& authorization, Scope scope) {
  if (authorization.empty()) return refused(Code::unauthorized, "no Authorization header; send Authorization: Bearer <key>");
  if (authorization.size() > 1)
    return refused(Code::unauthorized, "several Authorization headers; send exactly one: Authorization: Bearer <key>");
  const auto key = bearer_key(authorization.front());
  if (!key) return refused(Code::unauthorized, "Authorization is not of the form \"Bearer <key>\"");
  const auto record = look_up([&](const Snapshot& known) { return find(known, *key); });
  if (!record) return refused(Code::unauthorized, "unknown key; create one with: runwarden keys create");
  return principal_of(*record, scope);
}

Result<Principal> KeyRing::admit_id(const std::string& key_id, Scope scope) {
  const auto record = look_up([&](const Snapshot& known) -> const model::KeyRecord* {
    const auto found = known.by_id.find(key_id);
    return found == known.by_id.end() ? nullptr : &known.keys[found->second];
  });
  if (!record) return refused(Code::unauthorized, "the key " + key_id + " no longer exists; use another one");
  return principal_of(*record, scope);
}

Result<Principal> KeyRing::principal_of(const model::KeyRecord& record, Scope scope) {
  const std::int64_t now_ms = clock_.wall_ms();
  if (const auto why = ended(record, now_ms)) return refused(Code::unauthorized, *why);
  if (!may(record, scope)) {
    const std::string wanted = name(scope);
    return refused(Code::forbidden, "the key lacks scope \"" + wanted + "\" (" + record.id + "); use one created with --scopes " + wanted);
  }
  {
    const MutexLock lock(mutex_);
    used_[record.id] = now_ms;
  }
  return Principal{record.tenant, record.tenant_name, record.id, record.name, record.may_ingest, record.may_read, record.may_manage};
}

std::optional<Error> KeyRing::recheck(const Principal& principal) {
  const auto snapshot = current();
  const auto found = snapshot->by_id.find(principal.key_id);
  if (found == snapshot->by_id.end())
    return refused(Code::unauthorized, "the key " + principal.key_id + " no longer exists; use another one");
  if (const auto why = ended(snapshot->keys[found->second], clock_.wall_ms())) return refused(Code::unauthorized, *why);
  return std::nullopt;
}

std::vector<std::pair<std::string, std::int64_t>> KeyRing::take_last_used() {
  std::unordered_map<std::string, std::int64_t> used;
  {
    const MutexLock lock(mutex_);
    used.swap(used_);
  }
  return {used.begin(), used.end()};
}

}  // namespace runwarden::auth
